//! Runs what the command line asks for: puts configuration, logs, reports and screens together.

mod locale;
pub mod mistakes;
mod monitor;
mod setup;
pub mod streams;

use crate::cli::{AgentsCommand, Audit, Cli, Command, Estimate, Logs, Ls, Monitor, Print};
use anyhow::{Result, bail};
use clap::CommandFactory;
use files;
use files::paths::{Env, User};
use monitor::Plan;
use report::ls::Sums;
use report::session::Asked;
use report::{self, Charset, Style};
use setup::{LeftOut, Setup};
use std::io::{IsTerminal, Write};
use tui::Start;

/// How many files reports have open at once: logs in several threads, and databases with their journals.
const FILES_FOR_REPORTS: usize = 12;
/// How many files the screens have open at once: those, the terminal, signals and the watch on folders.
const FILES_FOR_SCREENS: usize = 24;

/// Runs a command, or the monitor if there is none. Reports are written to `out`, problems that do not end
/// the command to `err`.
///
/// # Errors
///
/// If options contradict each other, the configuration is wrong, or the command fails.
pub fn run(cli: Cli, user: &User, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let env = &user.env;
    let mut options = cli.monitor;
    let Some(mut command) = cli.command else {
        files::check_room(FILES_FOR_SCREENS)?;
        return monitor::run(&Setup::load(cli.config, user)?, options);
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
        // The script is written from memory: the generator panics where it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "ctxgauge", &mut script);
        return Ok(out.write_all(&script)?);
    }
    files::check_room(FILES_FOR_REPORTS)?;
    let setup = Setup::load(cli.config, user)?;
    // A check is of the mappings too, unless it names one.
    let checks_mappings = matches!(
        &command,
        Command::Agents { command: Some(AgentsCommand::Check(cli)), .. } if cli.mapping.is_none()
    );
    for LeftOut { path, error, .. } in &setup.left_out {
        if checks_mappings {
            bail!("{error:#}");
        }
        writeln!(err, "{}: it is left out: {error:#}", path.display())?;
    }
    report::print_problems(&setup.problems(), err)?;
    match command {
        Command::Report(cli) => {
            let logs = Logs {
                only: cli.only,
                ..Logs::default()
            };
            let context = match &cli.path {
                Some(_) => setup.context(&logs.only, &cli.estimate)?,
                None => setup.context_of(&[], &logs, &cli.estimate)?,
            };
            let asked = Asked {
                path: cli.path.as_deref(),
                session: cli.session.as_deref(),
                here: &setup.user.working_folder(),
            };
            let style = style(&cli.print, env);
            if cli.follow {
                report::session::follow(&context, &asked, style, out, err)
            } else {
                report::session::run(&context, &asked, style, out)
            }
        }
        Command::Ls(Ls { all, totals }) => {
            let context = setup.context_of(&all.paths, &all.logs, &all.estimate)?;
            let sums = if totals { Sums::Totals } else { Sums::None };
            report::ls::run(&context, style(&all.print, env), sums, out, err)
        }
        Command::Audit(Audit { all, worst }) => {
            let context = setup.context_of(&all.paths, &all.logs, &all.estimate)?;
            // This bypasses `err`, which would make the escapes visible.
            let mut terminal = std::io::stderr();
            let progress: Option<&mut dyn Write> = if terminal.is_terminal() {
                Some(&mut terminal)
            } else {
                None
            };
            report::audit::run(&context, style(&all.print, env), worst, progress, out, err)
        }
        Command::Models { pattern, print } => {
            let rules = setup.rules()?;
            report::models::run(&rules, pattern.as_deref(), style(&print, env), out)
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
            report::check::run(
                &context,
                &cli.file,
                cli.records,
                style(&cli.print, env),
                out,
            )
        }
        Command::Agents { logs, print, .. } => {
            let context = setup.context_of(&[], &logs, &Estimate::default())?;
            report::agents::run(&context, style(&print, env), out)
        }
        Command::Completions { .. } => Ok(()),
    }
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
    Plan::new(&setup, cli.monitor)?.start()
}

/// How to write a report. A report for people has the characters of their locale and fits their terminal.
fn style(print: &Print, env: &Env) -> Style {
    let mut style = print.style();
    if style.format.for_people {
        style.columns = locale::columns(env);
        if locale::is_ascii(env) {
            style.charset = Charset::Ascii;
        }
    }
    style
}
