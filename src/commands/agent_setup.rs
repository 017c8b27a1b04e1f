//! `ctxgauge setup AGENT`: shows the change to an agent's settings that enters ctxgauge, and makes it when asked.

use super::{Call, Run};
use crate::nearest::nearest;
use anyhow::{Result, bail};
use clap::Args;
use clients::agent::Agent;
use clients::settings::{self, Change, Other, Part, Program, Refusal};
use files::paths::User;
use render::text::inert;
use similar::TextDiff;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Lines around a change that are shown too.
const CONTEXT_LINES: usize = 3;
/// What a tab is shown as.
const TAB: &str = "    ";

/// `ctxgauge setup`.
#[derive(Debug, Args)]
pub struct AgentSetup {
    /// The agent: claude-code, codex, gemini-cli, qwen-code, cursor, copilot-cli, opencode or pi.
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// The status line. This is what is meant if nothing else is named.
    #[arg(long)]
    pub statusline: bool,
    /// The hooks.
    #[arg(long)]
    pub hooks: bool,
    /// The server, by which the agent asks what fills its context.
    #[arg(long)]
    pub mcp: bool,
    /// The plugin, by which Claude Code says when it compacts and what fills its context, in its own word.
    #[arg(long = "mod")]
    pub plugin: bool,
    /// Make the change. The original is kept beside the file.
    #[arg(long, conflicts_with = "undo")]
    pub write: bool,
    /// Take the change back: all that was entered or, if some of it is named, that.
    #[arg(long)]
    pub undo: bool,
    /// Where another status line is set: run it too.
    #[arg(long, conflicts_with = "replace")]
    pub chain: bool,
    /// Where another status line is set: put ours in its place.
    #[arg(long)]
    pub replace: bool,
}

impl Run for AgentSetup {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let agent = named(&self.agent)?;
        let parts = self.parts(agent)?;
        let program = program(call.user);
        let changes = if self.undo {
            settings::take_out(agent, &parts, call.user, &program)?
        } else {
            settings::enter(agent, &parts, call.user, &program, self.other())?
        };
        let changes: Vec<Change> = changes.into_iter().filter(Change::is_some).collect();
        let folders = &call.user.folders;
        let shown = |path: &Path| inert(&folders.display(path)).into_owned();
        if changes.is_empty() {
            let done = if self.undo {
                "There is nothing that setup has entered"
            } else {
                "All of it is entered already"
            };
            writeln!(call.out, "{done}.")?;
            return Ok(());
        }
        for change in &changes {
            write_diff(change, &shown(&change.path), call.out)?;
        }
        if !self.write && !self.undo {
            writeln!(
                call.out,
                "Nothing was written. The same with --write makes this change, and --undo takes it back."
            )?;
            return note(agent, &parts, call.out);
        }
        for change in &changes {
            let kept = settings::write(change)?;
            let path = shown(&change.path);
            match (kept, &change.after) {
                (Some(kept), _) => writeln!(
                    call.out,
                    "Written: {path}. The original is {}.",
                    shown(&kept)
                )?,
                (None, Some(_)) => writeln!(call.out, "Written: {path}.")?,
                (None, None) => writeln!(call.out, "Removed: {path}.")?,
            }
        }
        if self.undo {
            Ok(())
        } else {
            note(agent, &parts, call.out)
        }
    }
}

impl AgentSetup {
    /// The parts that are meant.
    fn parts(&self, agent: Agent) -> Result<Vec<Part>> {
        let named = [
            (self.statusline, Part::StatusLine),
            (self.hooks, Part::Hooks),
            (self.mcp, Part::Server),
            (self.plugin, Part::Plugin),
        ];
        let named: Vec<Part> = named
            .into_iter()
            .filter(|(is, _)| *is)
            .map(|(_, part)| part)
            .collect();
        let all = settings::parts(agent);
        if agent == Agent::ClaudeCode && named.contains(&Part::Server) {
            bail!(
                "Claude Code keeps its servers in a file that it writes to all the time; run \
                `claude mcp add --scope user ctxgauge -- ctxgauge mcp`"
            );
        }
        match (named.is_empty(), self.undo) {
            (false, _) => Ok(named),
            (true, true) => Ok(all),
            (true, false) if all.contains(&Part::StatusLine) => Ok(vec![Part::StatusLine]),
            (true, false) => {
                let no_line = Refusal::NoPart(agent.id(), Part::StatusLine);
                let options: Vec<&str> = all.into_iter().map(option).collect();
                bail!("{no_line}; it has {}", options.join(" and "));
            }
        }
    }

    fn other(&self) -> Other {
        match (self.chain, self.replace) {
            (true, _) => Other::Chain,
            (_, true) => Other::Replace,
            _ => Other::Refuse,
        }
    }
}

fn option(part: Part) -> &'static str {
    match part {
        Part::StatusLine => "--statusline",
        Part::Hooks => "--hooks",
        Part::Server => "--mcp",
        Part::Plugin => "--mod",
    }
}

/// The agent with this id, or this name on the screens.
fn named(name: &str) -> Result<Agent> {
    let labelled = |name: &str| agents::ALL.iter().find(|format| format.label == name);
    let agent = Agent::of_id(name).or_else(|| Agent::of_id(labelled(name)?.id));
    if let Some(agent) = agent {
        return Ok(agent);
    }
    let ids = <Agent as strum::VariantArray>::VARIANTS
        .iter()
        .map(|agent| agent.id());
    let meant = nearest(name, ids.clone()).map(|id| format!("did you mean '{id}'? "));
    let ids: Vec<&str> = ids.collect();
    bail!(
        "there is nothing to set up for '{name}'; {}there is for {}",
        meant.unwrap_or_default(),
        ids.join(", ")
    );
}

/// This program, by its name where that leads to it.
fn program(user: &User) -> Program {
    let Ok(own) = std::env::current_exe() else {
        return Program::by_name();
    };
    let real = |path: PathBuf| std::fs::canonicalize(path).ok();
    let path = user.env.get("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let name = format!("ctxgauge{}", std::env::consts::EXE_SUFFIX);
    let first = folders.find_map(|folder| real(folder.join(&name)));
    if first.is_some() && first == real(own.clone()) {
        Program::by_name()
    } else {
        Program::at(&own)
    }
}

/// What a person has to do besides.
fn note(agent: Agent, parts: &[Part], out: &mut dyn Write) -> Result<()> {
    let note = match agent {
        Agent::Codex if parts.contains(&Part::Hooks) => {
            "Codex runs a new or changed hook only after you have reviewed it: enter /hooks in Codex."
        }
        Agent::CopilotCli if parts.contains(&Part::StatusLine) => {
            "Copilot's status line is an experiment: switch it on with `copilot --experimental`."
        }
        _ => return Ok(()),
    };
    Ok(writeln!(out, "{note}")?)
}

/// Writes what a change does, as a unified diff.
fn write_diff(change: &Change, path: &str, out: &mut dyn Write) -> Result<()> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (text(&change.before), text(&change.after));
    let name = |text: &Option<String>| if text.is_some() { path } else { "/dev/null" };
    let diff = TextDiff::from_lines(&before, &after);
    let mut shown = diff.unified_diff();
    shown
        .context_radius(CONTEXT_LINES)
        .header(name(&change.before), name(&change.after));
    for line in shown.to_string().lines() {
        // A carriage return is one of the file's, not ours.
        let line = line.trim_end_matches('\r').replace('\t', TAB);
        writeln!(out, "{}", inert(&line))?;
    }
    writeln!(out)?;
    Ok(())
}
