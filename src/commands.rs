//! Runs what the command line asks for: puts configuration, logs, reports and screens together.

mod monitor;
mod setup;

use crate::cli::{AgentsCommand, Cli, Command, Estimate, Monitor};
use crate::report::audit::Progress;
use crate::report::ls::Sums;
use crate::report::{self, Output};
use anyhow::{Result, bail};
use clap::CommandFactory;
use setup::Setup;
use std::io::{IsTerminal, Write};

/// Runs a command, or the monitor if there is none. Reports are written to `out`, problems that do not end
/// the command to `err`.
///
/// # Errors
///
/// If options contradict each other, the configuration is wrong, or the command fails.
pub fn run(cli: Cli, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let mut options = cli.monitor;
    let Some(mut command) = cli.command else {
        return monitor::run(&Setup::load(cli.config)?, options);
    };
    command.add_options(&mut options);
    if options != Monitor::default() {
        bail!(
            "a path or option before the command is not one of its own; put paths after the command, \
            and see `ctxgauge COMMAND --help` for its options"
        );
    }
    // Completions are needed even if the configuration is wrong.
    if let Command::Completions { shell } = command {
        clap_complete::generate(shell, &mut Cli::command(), "ctxgauge", &mut &mut *out);
        return Ok(());
    }
    let setup = Setup::load(cli.config)?;
    match command {
        Command::Report {
            path,
            follow,
            session,
            only,
            estimate,
            print,
        } => {
            let context = setup.context(&only, &estimate)?;
            let run = match follow {
                true => report::session::follow,
                false => report::session::run,
            };
            run(&context, &path, session.as_deref(), print.style(), out)
        }
        Command::Ls {
            paths,
            totals,
            logs,
            estimate,
            print,
        } => {
            let context = setup.context_of(&paths, &logs, &estimate)?;
            let sums = if totals { Sums::Totals } else { Sums::None };
            report::ls::run(&context, print.style(), sums, out, err)
        }
        Command::Audit {
            paths,
            worst,
            logs,
            estimate,
            print,
        } => {
            let context = setup.context_of(&paths, &logs, &estimate)?;
            let progress = match std::io::stderr().is_terminal() {
                true => Progress::Shown,
                false => Progress::Hidden,
            };
            report::audit::run(&context, print.style(), worst, progress, out, err)
        }
        Command::Models { print } => {
            let rules = setup.rules(&setup.formats()?)?;
            print.style().print(Output::Models(&rules), out)
        }
        Command::Agents {
            command: None,
            logs,
            print,
        } => {
            let context = setup.context_of(&[], &logs, &Estimate::default())?;
            report::agents::run(&context, print.style(), out)
        }
        Command::Agents {
            command: Some(command),
            ..
        } => {
            let AgentsCommand::Check {
                file,
                mapping,
                records,
                only,
                print,
            } = command;
            let mut context = setup.context(&only, &Estimate::default())?;
            if let Some(path) = mapping {
                let format = setup.named_mapping(&path)?;
                (context.forced, context.formats) = (Some(format), vec![format]);
            }
            report::check::run(&context, &file, records, print.style(), out)
        }
        Command::Completions { .. } => Ok(()),
    }
}
