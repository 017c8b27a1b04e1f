//! Runs what the command line asks for: puts configuration, logs, reports and screens together.

mod monitor;
mod setup;

use crate::cli::{AgentsCommand, Audit, Cli, Command, Estimate, Ls, Monitor};
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
        Command::Report(cli) => {
            let context = setup.context(&cli.only, &cli.estimate)?;
            let run = match cli.follow {
                true => report::session::follow,
                false => report::session::run,
            };
            let wanted = cli.session.as_deref();
            run(&context, &cli.path, wanted, cli.print.style(), out)
        }
        Command::Ls(Ls { all, totals }) => {
            let context = setup.context_of(&all.paths, &all.logs, &all.estimate)?;
            let sums = if totals { Sums::Totals } else { Sums::None };
            report::ls::run(&context, all.print.style(), sums, out, err)
        }
        Command::Audit(Audit { all, worst }) => {
            let context = setup.context_of(&all.paths, &all.logs, &all.estimate)?;
            let progress = match std::io::stderr().is_terminal() {
                true => Progress::Shown,
                false => Progress::Hidden,
            };
            report::audit::run(&context, all.print.style(), worst, progress, out, err)
        }
        Command::Models { print } => {
            let rules = setup.rules(&setup.formats()?)?;
            print.style().print(Output::Models(&rules), out)
        }
        Command::Agents {
            command: Some(AgentsCommand::Check(cli)),
            ..
        } => {
            let mut context = setup.context(&cli.only, &Estimate::default())?;
            if let Some(path) = &cli.mapping {
                let format = setup.named_mapping(path)?;
                (context.forced, context.formats) = (Some(format), vec![format]);
            }
            report::check::run(&context, &cli.file, cli.records, cli.print.style(), out)
        }
        Command::Agents { logs, print, .. } => {
            let context = setup.context_of(&[], &logs, &Estimate::default())?;
            report::agents::run(&context, print.style(), out)
        }
        Command::Completions { .. } => Ok(()),
    }
}
