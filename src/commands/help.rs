//! `ctxgauge help`: what commands do, and the documentation in the terminal.

mod markdown;
mod pager;
mod topics;

use super::exit::Exit;
use super::options::MonitorOptions;
use super::{Call, Cli, Run, examples, locale};
use anyhow::{Result, bail};
use assets::PAGES;
use clap::builder::Styles;
use clap::{Args, Command, CommandFactory};
use markdown::wrapped;
use render::ascii;
use std::fmt::Write as _;

/// The columns of a page in a pipe or a file.
const PIPE_COLUMNS: usize = 100;
/// The most columns of a page: longer lines are hard to read.
const MOST_COLUMNS: usize = 120;

/// `ctxgauge help`. The configuration is not read: it may be what the user needs help with.
#[derive(Debug, Args)]
pub struct Help {
    /// A command, a page of the documentation, or a word in a heading of one.
    pub topic: Vec<String>,
    /// Use ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
}

impl Run for Help {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.ascii |= std::mem::take(&mut before.ascii);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let env = &call.user.env;
        let columns = call.columns().unwrap_or(PIPE_COLUMNS).min(MOST_COLUMNS);
        let mut text = self.text(columns, locale::has_styles(env, call.terminals))?;
        if self.ascii || locale::is_ascii(env) {
            text = ascii::in_ascii(&text, |c, out| ascii::push(c, 1, out));
        }
        if !(locale::takes_escapes(env, call.terminals) && pager::show(&text, env)) {
            call.out.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

impl Help {
    /// Returns the help on the topic: the command's options and the page of its name, or else the sections that have it
    /// in their heading.
    fn text(&self, columns: usize, has_styles: bool) -> Result<String> {
        let Some(topic) = self.topic.first() else {
            return Ok(overview(has_styles));
        };
        let mut parts: Vec<String> = command_help(&self.topic, has_styles).into_iter().collect();
        let page = topics::page(topic).filter(|_| self.topic.len() == 1);
        parts.extend(page.map(|page| wrapped(page.text, columns, has_styles)));
        if parts.is_empty() {
            let sections = topics::sections(&self.topic.join(" ")).into_iter();
            parts.extend(sections.map(|(page, section)| {
                let from = format!("From `ctxgauge help {}`:\n\n", page.name);
                wrapped(&(from + section), columns, has_styles)
            }));
        }
        if parts.is_empty() {
            bail!(no_topic(&self.topic.join(" ")));
        }
        Ok(parts.join("\n"))
    }
}

/// The commands that few people need: the help on the program only names them.
const ADVANCED: [&str; 7] = [
    "audit",
    "completions",
    "follow",
    "hook",
    "mcp",
    "metrics",
    "serve",
];

/// Returns the command line, of which the help on the program describes the usual commands and names the others.
pub(super) fn program() -> Command {
    let all = Cli::command();
    let is_there = |name: &&str| all.find_subcommand(name).is_some();
    let advanced: Vec<&str> = ADVANCED.into_iter().filter(is_there).collect();
    let names = advanced.join(", ");
    let examples = examples::of("");
    let more = format!("Advanced: {names}\n\n{examples}");
    let hide = |program: Command, name| program.mut_subcommand(name, |command| command.hide(true));
    advanced.into_iter().fold(all, hide).after_help(more)
}

/// Returns the help on the program, its commands and the topics.
fn overview(has_styles: bool) -> String {
    let mut text = command_help(&[], has_styles).unwrap_or_default();
    text.push_str("\nTopics of `ctxgauge help TOPIC`:\n");
    for page in &PAGES {
        let _ = writeln!(text, "  {:<15} {}", page.name, page.about);
    }
    text
}

/// Returns the help of a command, which is named by its own name and those of its subcommands.
fn command_help(names: &[String], has_styles: bool) -> Option<String> {
    let mut program = program();
    if !has_styles {
        program = program.styles(Styles::plain());
    }
    program.build();
    let mut command = &mut program;
    for name in names {
        command = command.find_subcommand_mut(name)?;
    }
    let help = command.render_long_help();
    Some(if has_styles {
        help.ansi().to_string()
    } else {
        help.to_string()
    })
}

fn no_topic(topic: &str) -> Exit {
    let program = Cli::command();
    let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    let advice = match topics::meant(topic, &commands) {
        Some(name) => format!("did you mean `ctxgauge help {name}`?"),
        None => "`ctxgauge help` lists the commands and topics".to_owned(),
    };
    Exit::WrongUsage(format!("no command and no topic '{topic}'; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(topic: &str) -> Result<String> {
        let help = Help {
            topic: topic.split_whitespace().map(str::to_owned).collect(),
            ascii: false,
        };
        help.text(80, false)
    }

    #[test]
    fn commands_pages_and_sections_are_shown() {
        for (topic, shown) in [
            ("", "\n  keys            all keys, and"),
            ("ls", "Usage: ctxgauge ls [OPTIONS]"),
            ("agents check", "Usage: ctxgauge agents check"),
            ("keys", "move up"),
            ("alerts", "From `ctxgauge help configuration`:"),
        ] {
            let text = help(topic).unwrap();
            assert!(text.contains(shown), "{topic}: {text}");
        }
        // A command that is a page, too.
        let agents = help("agents").unwrap();
        assert!(
            agents.contains("Usage: ctxgauge agents") && agents.contains("# Supported agents\n")
        );
    }

    #[test]
    fn the_usual_commands_are_described_and_the_others_named() {
        let text = help("").unwrap();
        let (usual, more) = text.split_once("\nAdvanced: ").unwrap();
        let described = |name: &str| usual.contains(&format!("\n  {name:<10} "));
        let program = program();
        let all = program.get_subcommands().map(Command::get_name);
        let (shown, others): (Vec<&str>, Vec<&str>) = all.partition(|name| described(name));
        assert!(shown.len() <= 14 && shown.contains(&"report"), "{text}");
        let names: Vec<&str> = more.lines().next().unwrap().split(", ").collect();
        assert!(
            !others.is_empty() && others.iter().all(|other| names.contains(other)),
            "{text}"
        );
        // All that is named has a help of its own.
        assert!(others.iter().all(|other| help(other).is_ok()));
    }

    #[test]
    fn a_topic_that_is_none_gets_the_nearest() {
        let error = |topic| help(topic).unwrap_err().to_string();
        assert!(error("confguration").contains("`ctxgauge help configuration`"));
        assert!(error("xyzzy").contains("lists the commands and topics"));
    }
}
