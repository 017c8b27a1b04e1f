//! Parses the command line, runs the command, and turns errors into messages and exit codes.

use clap::builder::Styles;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use ctxgauge::commands::exit::{self, Exit, WRONG_USAGE};
use ctxgauge::commands::{self, Cli, mistakes, streams};
use ctxgauge::files::paths::User;
use ctxgauge::{files, tui};
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    streams::report_panics();
    files::outlive_size_limit();
    let mut err = streams::stderr();
    let mut out = streams::stdout();
    if let Some(why) = mistakes::unknown_command(std::env::args_os()) {
        let _ = writeln!(err, "ctxgauge: {why}");
        return ExitCode::from(WRONG_USAGE);
    }
    let done = match Cli::try_parse() {
        Ok(cli) => commands::run(cli, &User::of_process(), &mut out, &mut err),
        Err(usage) if usage.use_stderr() => {
            let _ = write!(err, "{}", without_styles(usage).render().ansi());
            return code(WRONG_USAGE);
        }
        // Help and version.
        Err(wanted) => return ended(wanted.print().as_ref().err(), &mut err),
    };
    let done = done.and_then(|()| Ok(out.flush()?));
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    let exit = error.downcast_ref::<Exit>();
    if let Some(failed) = out.failure() {
        let is_gone = failed.kind() == io::ErrorKind::BrokenPipe;
        return match exit {
            // A reader that has read enough still gets the answer.
            Some(answer) if answer.is_answer() && is_gone => code(exit::code(&error)),
            Some(_) if !is_gone => {
                ended(Some(failed), &mut err);
                code(exit::code(&error))
            }
            _ => ended(Some(failed), &mut err),
        };
    }
    let is_printed = exit.is_some_and(Exit::is_answer) || error.is::<tui::EndedBy>();
    if !is_printed {
        // Indented: a newline in a path must not begin what looks like another message.
        let message = format!("{error:#}").trim_end().replace('\n', "\n  ");
        let _ = writeln!(err, "ctxgauge: {message}");
    }
    code(exit::code(&error))
}

/// An exit code. To an agent, that of wrong usage would mean to stop if a hook ended with it.
fn code(code: u8) -> ExitCode {
    if code == WRONG_USAGE && mistakes::is_hook(std::env::args_os()) {
        ExitCode::FAILURE
    } else {
        code.into()
    }
}

/// The same error without colours: its text repeats arguments, whose escape sequences must not look like its own. Nobody
/// who mistypes an option wants it to be a path, so that advice is left out.
fn without_styles(usage: clap::Error) -> clap::Error {
    let plain = Cli::command().styles(Styles::plain());
    let mut usage = plain.try_get_matches().err().unwrap_or(usage);
    if let Some(ContextValue::StyledStrs(mut tips)) = usage.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        if !tips.is_empty() {
            usage.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    usage
}

/// The exit code after standard output could not be written to.
fn ended(failed: Option<&io::Error>, err: &mut dyn Write) -> ExitCode {
    match failed {
        None => ExitCode::SUCCESS,
        // That the reader of our output has gone is no error.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Some(error) => {
            let _ = writeln!(err, "ctxgauge: could not write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
