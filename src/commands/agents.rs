//! `ctxgauge agents` and the commands below it.

mod draft;

use super::examples;
use super::options::{AgentOption, Logs, MonitorOptions, Print, PrintDocument, Redact};
use super::{Call, Run};
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use report::{about::agents, session::records};
use std::path::PathBuf;

/// `ctxgauge agents`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Agents {
    /// A command on agents.
    #[command(subcommand)]
    pub command: Option<AgentsCommand>,
    /// Only this agent, with everything that is known about it: the same as `--agent`.
    pub name: Option<String>,
    /// The logs to count.
    #[command(flatten)]
    pub logs: Logs,
    /// The format of the output.
    #[command(flatten)]
    pub print: PrintDocument,
}

/// Commands on agents.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Show how the first records of a log are decoded, to try a mapping of your own.
    #[command(after_help = examples::of("agents check"))]
    Check(Check),
    /// Draft a mapping for the log of an agent that is not listed, and check it.
    #[command(after_help = examples::of("agents draft"))]
    Draft(draft::Draft),
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
    /// The agent whose log it is.
    #[command(flatten)]
    pub only: AgentOption,
    /// The format of the output.
    #[command(flatten)]
    pub print: Print,
}

impl Run for Agents {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        match &mut self.command {
            Some(AgentsCommand::Check(check)) => {
                check.only.add(&mut before.logs.only);
                check.print.plain.add(before);
            }
            Some(AgentsCommand::Draft(draft)) => draft.print.plain.add(before),
            None => {
                self.logs.add(&mut before.logs);
                self.print.plain.add(before);
            }
        }
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        match &self.command {
            Some(AgentsCommand::Check(check)) => return check.run(call),
            Some(AgentsCommand::Draft(draft)) => return draft.run(call),
            None => {}
        }
        let mut logs = self.logs.clone();
        let only = &mut logs.only;
        only.agent = self.name.clone().or(only.agent.take());
        let setup = call.setup()?;
        let context = setup.context_of(&[], &logs, Redact::OFF)?;
        let style = self.print.style(call);
        agents::run(&context, style, call.out)
    }
}

impl Check {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let setup = call.load()?;
        // A check is of the mappings too, unless it names one.
        if let (None, Some((_, error))) = (&self.mapping, setup.left_out.first()) {
            bail!("{error:#}");
        }
        call.name_problems(&setup)?;
        let mut context = setup.context(&self.only, Redact::OFF)?;
        if let Some(path) = &self.mapping {
            let format = setup.named_mapping(path)?;
            (context.forced, context.formats) = (Some(format), vec![format]);
        }
        let style = self.print.style(call);
        records::run(&context, &self.file, self.records, style, call.out)
    }
}
