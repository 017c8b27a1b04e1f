//! The command line, nothing else.

use crate::model::estimators::Estimator;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// A terminal monitor for the context windows of LLM agents.
///
/// Without a command it opens the monitor on the logs of this machine, or on the files and folders
/// given; `-` follows standard input.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Cli {
    /// What to do; none: open the monitor.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Log files or folders to watch; `-` reads standard input.
    pub paths: Vec<PathBuf>,
    /// How and where to look.
    #[command(flatten)]
    pub common: Common,
}

/// Flags of every command.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Read the configuration from this file.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Look for logs in this folder too; may be given several times.
    #[arg(long, global = true, value_name = "FOLDER")]
    pub root: Vec<PathBuf>,
    /// Consider only this agent's logs; files that are named are read as its logs, whatever they hold.
    #[arg(long, global = true, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Tell how full contexts are by this rule, to compare; `ctxgauge audit` lists them.
    #[arg(long, global = true, value_name = "NAME", default_value_t)]
    pub estimator: Estimator,
    /// Draw with ASCII characters only.
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Take this theme: terminal, dark, light, colour-blind, monochrome, or one of your own.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Neither take up nor write down what is remembered from run to run.
    #[arg(long, global = true)]
    pub fresh: bool,
    /// Play the built-in demo instead of reading logs.
    #[arg(long, global = true)]
    pub demo: bool,
}

/// The headless faces.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report on one session: how full, who filled it, what is known and what is estimated.
    Report {
        /// A log file, a folder (its newest session), or `-` for standard input.
        path: PathBuf,
        /// As JSON, schema `ctxgauge.report/1`.
        #[arg(long)]
        json: bool,
        /// Go on, and report again whenever the session has changed.
        #[arg(long)]
        follow: bool,
        /// Of a file that holds several: the session of this id, or whose name says so; `ls` lists
        /// them. Without it the first.
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
    },
    /// List all sessions with how full they are, from the ends of their logs alone.
    Ls {
        /// Files or folders; none: all logs of this machine.
        paths: Vec<PathBuf>,
        /// As JSON, schema `ctxgauge.ls/1`.
        #[arg(long)]
        json: bool,
        /// Read everything and add the totals per agent, every response counted once.
        #[arg(long)]
        totals: bool,
    },
    /// Replay logs and tell how well each estimator predicts what the provider then reports.
    Audit {
        /// Files or folders; none: all logs of this machine.
        paths: Vec<PathBuf>,
        /// As JSON, schema `ctxgauge.audit/1`.
        #[arg(long)]
        json: bool,
        /// List the requests that the estimator got most wrong, with what lay between.
        #[arg(long, value_name = "N", default_value_t = 0)]
        worst: usize,
    },
    /// List all agents: where their logs are, what is known of them, when they compact.
    #[command(args_conflicts_with_subcommands = true)]
    Agents {
        /// What else to do.
        #[command(subcommand)]
        command: Option<AgentsCommand>,
        /// As JSON, schema `ctxgauge.agents/1`.
        #[arg(long)]
        json: bool,
    },
    /// Print what a shell needs to complete this program's commands and flags.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// List what is known of models and agents: windows, tokenizers, when they compact.
    Models {
        /// As JSON, schema `ctxgauge.models/1`.
        #[arg(long)]
        json: bool,
    },
}

/// What else can be done with agents.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Print what is understood of a log's first records, to try a mapping of one's own.
    Check {
        /// The log.
        file: PathBuf,
        /// The mapping: a file, or the name of one beside the configuration; none: the file tells.
        #[arg(long, value_name = "NAME.toml")]
        mapping: Option<PathBuf>,
        /// So many records.
        #[arg(long, value_name = "N", default_value_t = 20)]
        records: usize,
    },
}
