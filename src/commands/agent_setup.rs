//! `ctxgauge setup AGENT`: shows the change to an agent's settings that enters ctxgauge, and makes it when asked.

mod list;

use super::{Call, Run, ended};
use crate::nearest::nearest;
use anyhow::{Result, bail};
use clap::Args;
use files::paths::User;
use integrations::agent::Agent;
use integrations::settings::{self, Change, OtherCommand, Part, Program, Refusal};
use render::text::inert;
use similar::TextDiff;
use std::io::Write;
use std::path::{Path, PathBuf};
use strum::VariantArray;

/// Lines around a change that are shown too.
const CONTEXT_LINES: usize = 3;
/// The spaces that a tab is shown as.
const TAB: &str = "    ";

/// `ctxgauge setup`.
#[derive(Debug, Args)]
pub struct AgentSetup {
    /// The agent: claude-code, codex, gemini-cli, qwen-code, cursor, copilot-cli, opencode or pi. Without it, all agents are
    /// listed with their parts.
    #[arg(value_name = "AGENT")]
    pub agent: Option<String>,
    /// The status line. Without an option, the first of these parts that the agent has.
    #[arg(long)]
    pub statusline: bool,
    /// The hooks.
    #[arg(long)]
    pub hooks: bool,
    /// The MCP server, which the agent can ask what fills its context.
    #[arg(long)]
    pub mcp: bool,
    /// The plugin for Claude Code, which passes on Claude Code's own numbers.
    #[arg(long = "mod")]
    pub plugin: bool,
    /// Make the change. The original is kept beside the file.
    #[arg(long)]
    pub write: bool,
    /// Remove what setup added: everything, or the parts that you name.
    #[arg(long)]
    pub undo: bool,
    /// Keep another tool's status line: ctxgauge runs it as well.
    #[arg(long, conflicts_with_all = ["replace", "undo"])]
    pub chain: bool,
    /// Replace another tool's status line by ctxgauge's.
    #[arg(long, conflicts_with = "undo")]
    pub replace: bool,
    /// Write the name of the program instead of its path: the agent must find it in its own PATH.
    #[arg(long)]
    pub by_name: bool,
}

impl Run for AgentSetup {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let program = program(call.user, self.by_name);
        let Some(agent) = &self.agent else {
            return list::write(call.user, &program, call.out);
        };
        let agent = named(agent)?;
        let parts = self.parts(agent);
        let (parts, by_hand): (Vec<Part>, Vec<Part>) = parts
            .iter()
            .partition(|part| settings::parts(agent).contains(part));
        if parts.is_empty()
            && let Some(part) = by_hand.first()
            && step(agent, *part, &program, self.undo).is_none()
        {
            let has: Vec<&str> = settings::parts(agent).into_iter().map(option).collect();
            let no_part = Refusal::NoPart(agent.id(), *part);
            bail!("{no_part}; it has {}", has.join(" and "));
        }
        let changes = if self.undo {
            settings::take_out(agent, &parts, call.user, &program)?
        } else {
            settings::enter(agent, &parts, call.user, &program, self.other())?
        };
        self.make(&changes, !parts.is_empty(), call)?;
        if self.undo {
            self.write_left(&changes, call)?;
        } else if let Some(note) = note(agent, &parts) {
            writeln!(call.out, "{note}")?;
        }
        if !self.undo && !self.by_name && std::env::current_exe().is_ok_and(|own| is_in_cache(&own))
        {
            writeln!(call.out, "{IN_CACHE}")?;
        }
        for part in by_hand {
            let step = step(agent, part, &program, self.undo);
            let step = step.unwrap_or_else(|| format!("{}.", Refusal::NoPart(agent.id(), part)));
            writeln!(call.out, "{step}")?;
        }
        Ok(())
    }
}

impl AgentSetup {
    /// Returns the parts that the options select.
    fn parts(&self, agent: Agent) -> Vec<Part> {
        let named = [
            (self.statusline, Part::StatusLine),
            (self.hooks, Part::Hooks),
            (self.mcp, Part::Server),
            (self.plugin, Part::Plugin),
        ];
        let named = named.into_iter().filter(|(is, _)| *is);
        let named: Vec<Part> = named.map(|(_, part)| part).collect();
        let mut all = settings::parts(agent);
        if !named.is_empty() {
            return named;
        }
        if !self.undo {
            all.truncate(1);
        }
        all
    }

    fn other(&self) -> OtherCommand {
        match (self.chain, self.replace) {
            (true, _) => OtherCommand::Chain,
            (_, true) => OtherCommand::Replace,
            _ => OtherCommand::Refuse,
        }
    }

    /// Shows the changes, and makes them when asked.
    fn make(&self, changes: &[Change], is_any: bool, call: &mut Call<'_>) -> Result<()> {
        let folders = &call.user.folders;
        let shown = |path: &Path| inert(&folders.display(path)).into_owned();
        if self.write {
            for change in changes {
                settings::sweep(&change.path);
            }
        }
        let changes = changes.iter().filter(|change| change.is_some());
        let changes: Vec<&Change> = changes.collect();
        if changes.is_empty() {
            match (is_any, self.undo) {
                (false, _) => {}
                (true, true) => writeln!(call.out, "setup has added nothing here.")?,
                (true, false) => writeln!(call.out, "Everything is set up already.")?,
            }
            return Ok(());
        }
        for change in &changes {
            write_diff(change, &shown(&change.path), call.out)?;
        }
        if !self.write {
            let then = if self.undo {
                "The same with --write removes it"
            } else {
                "The same with --write makes this change, and --undo reverts it"
            };
            writeln!(call.out, "Nothing was written. {then}.")?;
            return Ok(());
        }
        ended::remove_unfinished_on_exit()?;
        for change in changes {
            let kept = settings::write(change)?;
            let path = shown(&change.path);
            match (kept, &change.after) {
                (Some(kept), _) => {
                    let original = shown(&kept);
                    writeln!(call.out, "Written: {path}. The original is {original}.")?;
                }
                (None, Some(_)) => writeln!(call.out, "Written: {path}.")?,
                (None, None) => writeln!(call.out, "Removed: {path}.")?,
            }
        }
        Ok(())
    }

    /// Writes which entries of ours stay, since they are not as they were entered.
    fn write_left(&self, changes: &[Change], call: &mut Call<'_>) -> Result<()> {
        if self.statusline || self.hooks || self.mcp || self.plugin {
            // The others are meant to stay.
            return Ok(());
        }
        for change in changes {
            let text = change.after.as_deref().unwrap_or_default();
            let lines = text.lines().filter(|line| line.contains(Program::NAME));
            for line in lines.take(MOST_LEFT) {
                let path = call.user.folders.display(&change.path);
                let line = format!(
                    "Left in {path}, because setup did not write it like this: {}",
                    line.trim()
                );
                writeln!(call.out, "{}", inert(&line))?;
            }
        }
        Ok(())
    }
}

/// The most lines of a file that are listed as left in it.
const MOST_LEFT: usize = 20;

/// Returns the step that the user has to do by hand for a part in a file that is not changed here; `None`: there is
/// none.
fn step(agent: Agent, part: Part, program: &Program, is_undone: bool) -> Option<String> {
    let is_its = (agent, part) == (Agent::ClaudeCode, Part::Server);
    is_its.then(|| {
        let command = if is_undone {
            "claude mcp remove --scope user ctxgauge".to_owned()
        } else {
            format!("claude mcp add --scope user ctxgauge -- {}", program.command("mcp"))
        };
        format!(
            "Claude Code keeps its servers in a file that it writes to all the time, so run this yourself: `{command}`"
        )
    })
}

fn option(part: Part) -> &'static str {
    match part {
        Part::StatusLine => "--statusline",
        Part::Hooks => "--hooks",
        Part::Server => "--mcp",
        Part::Plugin => "--mod",
    }
}

/// Returns the agent with this id, or this name on the screens.
fn named(name: &str) -> Result<Agent> {
    let labelled = |name: &str| agents::ALL.iter().find(|format| format.label == name);
    let agent = Agent::of_id(name).or_else(|| Agent::of_id(labelled(name)?.id));
    if let Some(agent) = agent {
        return Ok(agent);
    }
    let ids = Agent::VARIANTS.iter().map(|agent| agent.id());
    let meant = nearest(name, ids.clone()).map(|id| format!("did you mean '{id}'? "));
    let ids: Vec<&str> = ids.collect();
    bail!(
        "there is nothing to set up for '{name}'; {}there is for {}",
        meant.unwrap_or_default(),
        ids.join(", ")
    );
}

/// Finds this program: by the path that the user's `PATH` has for it, which an update does not change, or else by its
/// own path.
fn program(user: &User, by_name: bool) -> Program {
    let own = std::env::current_exe().ok().filter(|_| !by_name);
    let Some(own) = own else {
        return Program::by_name();
    };
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let path = user.env.get("PATH").unwrap_or_default();
    let name = format!("ctxgauge{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let paths: Vec<PathBuf> = folders.map(|folder| folder.join(&name)).collect();
    let first = paths.into_iter().find(|path| path.is_file());
    let is_own = |path: &PathBuf| real(path).is_some_and(|it| Some(it) == real(&own));
    Program::at(&first.filter(is_own).unwrap_or(own))
}

/// The note about a path that is entered and may be gone tomorrow.
const IN_CACHE: &str = "The path of the program is in a cache of npx or the like, which may be emptied. Install ctxgauge \
    first, for example with `npm install -g ctxgauge`, and run this again.";

/// Returns true if a program was fetched to be run once: by npx, `bunx`, or `dlx` of pnpm and Yarn.
fn is_in_cache(program: &Path) -> bool {
    let mut folders = program.iter().map(|folder| folder.to_string_lossy());
    folders
        .any(|folder| folder == "_npx" || folder.starts_with("bunx-") || folder.starts_with("dlx"))
}

/// Returns the step that the user has to do besides; `None`: there is none.
fn note(agent: Agent, parts: &[Part]) -> Option<&'static str> {
    let is_codex = agent == Agent::Codex && parts.contains(&Part::Hooks);
    is_codex.then_some(
        "Codex runs a new or changed hook only after you have reviewed it: enter /hooks in Codex.",
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_run_once_are_in_caches() {
        for (path, is) in [
            (
                "/home/dev/.npm/_npx/3596fc/node_modules/@ctxgauge/linux-x64/ctxgauge",
                true,
            ),
            (
                "/home/dev/.cache/pnpm/dlx/ab12/node_modules/@ctxgauge/linux-x64/ctxgauge",
                true,
            ),
            (
                "/tmp/bunx-0-ctxgauge@latest/node_modules/@ctxgauge/linux-x64/ctxgauge",
                true,
            ),
            (
                "/usr/lib/node_modules/ctxgauge/node_modules/@ctxgauge/linux-x64/ctxgauge",
                false,
            ),
            ("/usr/bin/ctxgauge", false),
        ] {
            assert_eq!(is_in_cache(Path::new(path)), is, "{path}");
        }
    }
}
