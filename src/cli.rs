//! The command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use model::estimators::Estimator;
use report::{Charset, FORMATS, OutputFormat, Style};
use std::path::PathBuf;

/// A terminal monitor for the context windows of LLM agents.
///
/// Without a command it opens the monitor on the logs of this machine, or on the given files and folders.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Cli {
    /// The command; without one the monitor is opened.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Read the configuration from this file.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Options of the monitor.
    #[command(flatten)]
    pub monitor: Monitor,
}

/// Options of the monitor.
#[derive(Debug, Default, PartialEq, Args)]
pub struct Monitor {
    /// Log files or folders to watch; `-` reads standard input.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Which logs to read.
    #[command(flatten)]
    pub logs: Logs,
    /// How to estimate.
    #[command(flatten)]
    pub estimate: Estimate,
    /// Use ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// Use this theme: terminal, dark, light, colour-blind, monochrome, or one of your own.
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Ignore and do not save the screen's state.
    #[arg(long)]
    pub fresh: bool,
    /// Play the built-in demo instead of reading logs.
    #[arg(long)]
    pub demo: bool,
}

/// Which logs to find.
#[derive(Debug, Default, PartialEq, Args)]
pub struct Logs {
    /// Search this folder too; can be repeated.
    #[arg(long, value_name = "FOLDER")]
    pub root: Vec<PathBuf>,
    /// Which agent's.
    #[command(flatten)]
    pub only: Only,
}

/// Which agent's logs to read.
#[derive(Debug, Default, PartialEq, Args)]
pub struct Only {
    /// Read only the logs of this agent, by its id or its name on the screens; files you name are read as its
    /// logs, whatever they contain.
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
}

/// How to estimate.
#[derive(Debug, Default, PartialEq, Args)]
pub struct Estimate {
    /// Estimate context size with this estimator; `ctxgauge audit` compares them. Default: calibrated.
    #[arg(long, value_name = "NAME")]
    pub estimator: Option<Estimator>,
}

impl Only {
    /// Takes the options given before the command; those after it win.
    fn add(&mut self, before: &mut Only) {
        self.agent = self.agent.take().or(before.agent.take());
    }
}

impl Logs {
    fn add(&mut self, before: &mut Logs) {
        self.root.append(&mut before.root);
        self.only.add(&mut before.only);
    }
}

impl Estimate {
    fn add(&mut self, before: &mut Estimate) {
        self.estimator = self.estimator.or(before.estimator.take());
    }
}

/// How to write a report.
#[derive(Debug, Args)]
pub struct Print {
    /// Output format.
    #[arg(long, default_value = FORMATS[0].name, value_parser = format_parser())]
    pub format: &'static OutputFormat,
    /// Same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Use ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// Accepted because scripts pass it: reports have no state to ignore.
    #[arg(long, hide = true)]
    pub fresh: bool,
}

fn format_parser() -> impl TypedValueParser<Value = &'static OutputFormat> {
    let names = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.help));
    PossibleValuesParser::new(names).map(|name| named_format(&name))
}

/// The format of this name; the default if there is none.
fn named_format(name: &str) -> &'static OutputFormat {
    let named = FORMATS.iter().find(|format| format.name == name);
    named.unwrap_or(&FORMATS[0])
}

impl Print {
    /// The style that was asked for.
    pub fn style(&self) -> Style {
        Style {
            format: if self.json {
                named_format("json")
            } else {
                self.format
            },
            charset: if self.ascii {
                Charset::Ascii
            } else {
                Charset::Unicode
            },
            columns: None,
        }
    }
}

/// The commands that need no screen.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report on one session: how full it is, what fills it, what is known and what is estimated.
    Report(Report),
    /// List all sessions and how full they are.
    Ls(Ls),
    /// Replay logs and compare how well each estimator predicts what the provider reports.
    Audit(Audit),
    /// List windows, policies, prices and tokenizers of models and agents, each with its source.
    Models {
        /// Only what concerns the models, agents and tokenizers of this name, or with it in their names; `*` is any
        /// text.
        pattern: Option<String>,
        /// How to write it.
        #[command(flatten)]
        print: Print,
    },
    /// List all agents: where their logs are, which numbers are known, when they compact.
    #[command(args_conflicts_with_subcommands = true)]
    Agents {
        /// A command on agents.
        #[command(subcommand)]
        command: Option<AgentsCommand>,
        /// Which logs to count.
        #[command(flatten)]
        logs: Logs,
        /// How to write it.
        #[command(flatten)]
        print: Print,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// `ctxgauge report`.
#[derive(Debug, Args)]
pub struct Report {
    /// A log file, a folder (its newest session), or `-` for standard input. Default: the newest session of the
    /// project in the working directory.
    pub path: Option<PathBuf>,
    /// Keep running, and report again whenever the session has changed.
    #[arg(long)]
    pub follow: bool,
    /// Select a session by its id, the beginning or end of it, or a part of its title; `ctxgauge ls` lists them.
    /// Without PATH, any of this machine.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Whose log it is.
    #[command(flatten)]
    pub only: Only,
    /// How to estimate.
    #[command(flatten)]
    pub estimate: Estimate,
    /// How to write it.
    #[command(flatten)]
    pub print: Print,
}

/// `ctxgauge ls`.
#[derive(Debug, Args)]
pub struct Ls {
    /// Read all logs completely and add totals per agent, each response counted once.
    #[arg(long)]
    pub totals: bool,
    /// Which sessions.
    #[command(flatten)]
    pub all: All,
}

/// `ctxgauge audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// List the N requests that the estimator predicted worst, with the items in between.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub worst: usize,
    /// Which sessions.
    #[command(flatten)]
    pub all: All,
}

/// Arguments of the commands on many sessions.
#[derive(Debug, Args)]
pub struct All {
    /// Files or folders; default: all logs of this machine.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Which logs to read.
    #[command(flatten)]
    pub logs: Logs,
    /// How to estimate.
    #[command(flatten)]
    pub estimate: Estimate,
    /// How to write it.
    #[command(flatten)]
    pub print: Print,
}

/// Commands on agents.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Show how the first records of a log are decoded, to try a mapping of your own.
    Check(Check),
}

/// `ctxgauge agents check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The log.
    pub file: PathBuf,
    /// A mapping: a file, or the name of one in `agents/` beside the configuration. Default: the
    /// format is recognised by the log's content.
    #[arg(long, value_name = "NAME.toml")]
    pub mapping: Option<PathBuf>,
    /// How many records to show.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub records: usize,
    /// Whose log it is.
    #[command(flatten)]
    pub only: Only,
    /// How to write it.
    #[command(flatten)]
    pub print: Print,
}

impl Command {
    /// Takes those options of the monitor, given before the command, that the command has as well.
    pub fn add_options(&mut self, before: &mut Monitor) {
        let (logs, estimate) = (&mut before.logs, &mut before.estimate);
        match self {
            Command::Report(report) => {
                report.only.add(&mut logs.only);
                report.estimate.add(estimate);
            }
            Command::Ls(Ls { all, .. }) | Command::Audit(Audit { all, .. }) => {
                all.logs.add(logs);
                all.estimate.add(estimate);
            }
            Command::Agents {
                command, logs: own, ..
            } => match command {
                Some(AgentsCommand::Check(check)) => check.only.add(&mut logs.only),
                None => own.add(logs),
            },
            Command::Completions { .. } | Command::Models { .. } => {}
        }
    }
}
