//! The command line: its commands, and what they are run with.
//!
//! A command is a file below: its arguments, and [`Run`] for them. A new one needs the file, and here its module, its
//! entry in [`Command`] and in the function below it. What it shows is an [`Output`](::report::Output), in its own file or
//! in the crate `report`.

mod agent_setup;
mod agents;
mod audit;
mod check;
mod completions;
mod config;
mod diff;
mod ended;
mod examples;
pub mod exit;
mod export;
mod follow;
mod help;
mod hook;
mod in_time;
pub mod locale;
mod ls;
#[cfg(feature = "mcp")]
mod mcp;
mod metrics;
pub mod mistakes;
mod models;
mod monitor;
mod options;
pub mod program;
mod report;
mod search;
mod serve;
mod setup;
mod since;
mod so_far;
mod status;
mod statusline;
pub mod streams;
mod why;
mod wrapped;
mod wrapped_status_line;

use ::report::print_problems;
use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use exit::Exit;
use files::paths::User;
use locale::Terminals;
use monitor::Monitor;
use options::MonitorOptions;
use setup::Setup;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use tui::Start;

/// The number of files that reports have open at once: logs in several threads, and databases with their journals.
const FILES_FOR_REPORTS: usize = 12;
/// The number of files that the screens have open at once: those of reports, the terminal, signals and the watch on
/// folders.
const FILES_FOR_SCREENS: usize = 24;

/// A terminal monitor for the context windows of LLM agents.
///
/// Without a command it opens the monitor on the logs of this machine, or on the given files and folders.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true, after_help = examples::of(""))]
pub struct Cli {
    /// The command; without one the monitor is opened.
    #[command(subcommand)]
    command: Option<Command>,
    /// Read the configuration from this file.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Options of the monitor.
    #[command(flatten)]
    monitor: Monitor,
}

/// The commands that need no screen.
#[derive(Debug, Subcommand)]
enum Command {
    /// Report on one session: how full it is, what fills it, what is known and what is estimated.
    #[command(after_help = examples::of("report"))]
    Report(report::Report),
    /// List all sessions and how full they are.
    #[command(after_help = examples::of("ls"))]
    Ls(ls::Ls),
    /// Show where the tokens and the money went, and what to change.
    #[command(after_help = examples::of("why"))]
    Why(why::Why),
    /// Search the texts of all sessions, even escaped or compressed ones and those in databases.
    #[command(after_help = examples::of("search"))]
    Search(search::Search),
    /// Compare sessions with limits that you set, for scripts, hooks and CI: ends with 1 if one is passed.
    #[command(after_help = check::after_help())]
    Check(check::Check),
    /// Compare two sessions, or two moments of one: what grew, what is new, what is gone.
    #[command(after_help = examples::of("diff"))]
    Diff(diff::Diff),
    /// Write flat tables of sessions, requests, items or compactions, for DuckDB, Polars or a spreadsheet.
    #[command(after_help = examples::of("export"))]
    Export(export::Export),
    /// Print a line of JSON for each change of any session, until it is stopped: for programs on this or another machine.
    #[command(after_help = examples::of("follow"))]
    Follow(follow::Follow),
    /// Write the numbers of all sessions for Prometheus: once, or into a file that node_exporter reads.
    #[command(after_help = examples::of("metrics"))]
    Metrics(metrics::Metrics),
    /// Serve the numbers of all sessions to Prometheus, without screens, until it is stopped.
    #[command(after_help = examples::of("serve"))]
    Serve(serve::Serve),
    /// Print the line that Claude Code, Cursor, Copilot or Qwen Code shows as its status line.
    #[command(name = "statusline", after_help = examples::of("statusline"))]
    StatusLine(statusline::StatusLine),
    /// Print the same line for tmux, a prompt or a bar: for the session in this pane or folder.
    #[command(after_help = examples::of("status"))]
    Status(status::Status),
    /// Warn before a compaction, and record what it did: a hook for Claude Code, Codex, Gemini CLI, Qwen Code, Cursor and
    /// Copilot.
    #[command(after_help = examples::of("hook"))]
    Hook(hook::Hook),
    /// Replay logs and compare how well each estimator predicts what the provider reports.
    #[command(after_help = examples::of("audit"))]
    Audit(audit::Audit),
    /// List windows, policies, prices and tokenizers of models and agents, each with its source.
    #[command(after_help = examples::of("models"))]
    Models(models::Models),
    /// List all agents: where their logs are, which numbers are known, when they compact.
    #[command(after_help = examples::of("agents"))]
    Agents(agents::Agents),
    /// Run a server of the Model Context Protocol on standard input and output: an agent asks it what fills its context.
    #[cfg(feature = "mcp")]
    #[command(after_help = examples::of("mcp"))]
    Mcp(mcp::Mcp),
    /// Show, make or undo the change that adds the status line, the hooks or the server to an agent's settings.
    #[command(name = "setup", after_help = examples::of("setup"))]
    AgentSetup(agent_setup::AgentSetup),
    /// Write or check the configuration file, or show what is set and where.
    #[command(after_help = examples::of("config"))]
    Config(config::Config),
    /// Print a completion script for a shell, or write those of all shells and the manual pages.
    #[command(after_help = examples::of("completions"))]
    Completions(completions::Completions),
    /// Show the help of a command, or a page of the documentation: `ctxgauge help` lists them.
    #[command(after_help = examples::of("help"))]
    Help(help::Help),
}

impl Command {
    fn as_run(&mut self) -> &mut dyn Run {
        match self {
            Command::Report(command) => command,
            Command::Ls(command) => command,
            Command::Why(command) => command,
            Command::Search(command) => command,
            Command::Check(command) => command,
            Command::Diff(command) => command,
            Command::Export(command) => command,
            Command::Follow(command) => command,
            Command::Metrics(command) => command,
            Command::Serve(command) => command,
            Command::StatusLine(command) => command,
            Command::Status(command) => command,
            Command::Hook(command) => command,
            Command::Audit(command) => command,
            Command::Models(command) => command,
            Command::Agents(command) => command,
            #[cfg(feature = "mcp")]
            Command::Mcp(command) => command,
            Command::AgentSetup(command) => command,
            Command::Config(command) => command,
            Command::Completions(command) => command,
            Command::Help(command) => command,
        }
    }
}

/// A command that can be run.
trait Run {
    /// Takes those options of the monitor, given before the command, that the command has as well.
    fn add_options(&mut self, _before: &mut MonitorOptions) {}

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If the configuration is wrong, or the command fails.
    fn run(&self, call: &mut Call<'_>) -> Result<()>;
}

/// The inputs and outputs of a command.
struct Call<'a> {
    /// The configuration file that the user names.
    config: Option<PathBuf>,
    user: &'a User,
    /// The bytes that an agent passes to it.
    input: Box<dyn Read + Send>,
    /// The streams that are terminals.
    terminals: Terminals,
    /// Reports.
    out: &'a mut dyn Write,
    /// Problems that do not end the command.
    err: &'a mut dyn Write,
}

impl Call<'_> {
    /// Takes what an agent passes to it.
    fn take_input(&mut self) -> Box<dyn Read + Send> {
        std::mem::replace(&mut self.input, Box::new(io::empty()))
    }

    /// Reads the configuration. What is left out of it is named on `err`.
    fn setup(&mut self) -> Result<Setup> {
        let setup = self.load()?;
        self.name_problems(&setup)?;
        Ok(setup)
    }

    /// Reads the configuration.
    fn load(&self) -> Result<Setup> {
        files::check_room(FILES_FOR_REPORTS)?;
        Setup::load(self.config.clone(), self.user)
    }

    /// Prints which mappings and rows of the models table are left out, and why.
    fn name_problems(&mut self, setup: &Setup) -> Result<()> {
        for (path, error) in &setup.left_out {
            writeln!(self.err, "{}: it is left out: {error:#}", path.display())?;
        }
        print_problems(&setup.problems(), self.err)
    }

    /// Returns the columns of the terminal that reports are written to; `None`: they are written to a pipe or a file.
    fn columns(&self) -> Option<usize> {
        let columns = || locale::columns(&self.user.env);
        self.terminals.stdout.then(columns).flatten()
    }
}

/// Runs a command, or the monitor if there is none.
///
/// # Errors
///
/// If options contradict each other, the configuration is wrong, or the command fails.
fn run(command: Option<Command>, mut options: Monitor, mut call: Call<'_>) -> Result<()> {
    let Some(mut command) = command else {
        files::check_room(FILES_FOR_SCREENS)?;
        if options.plain {
            let setup = call.setup()?;
            return monitor::in_words(&setup, options, &mut call);
        }
        return monitor::run(&Setup::load(call.config, call.user)?, options);
    };
    let command = command.as_run();
    command.add_options(&mut options.shared);
    if let Some(argument) = options.first_set() {
        let why = match &*argument {
            "--demo" | "--plain" | "--theme" => "works only in the monitor, without a command",
            _ => {
                "comes before the command; the paths and options of a command come after it: see \
                `ctxgauge COMMAND --help`"
            }
        };
        bail!(Exit::WrongUsage(format!("{argument} {why}")));
    }
    command.run(&mut call)
}

/// Starts what feeds the screens, without a terminal: [`tui::run_on`] shows them.
///
/// # Errors
///
/// If the command line names a command, the configuration is wrong, or a thread cannot be started.
pub fn screens(cli: Cli, user: &User) -> Result<Start> {
    if cli.command.is_some() {
        bail!("this command has no screens");
    }
    let setup = Setup::load(cli.config, user)?;
    monitor::start(&setup, cli.monitor, || Ok(()))
}
