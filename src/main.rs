//! Parses the command line, runs the command, and turns errors into messages and exit codes.

use clap::builder::Styles;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use ctxgauge::commands::{self, Cli, WrongUsage, mistakes, streams};
use ctxgauge::files::paths::User;
use ctxgauge::{files, tui};
use std::io::{self, Write};
use std::process::ExitCode;

/// The exit code when a database was locked all the time: `EX_TEMPFAIL` of sysexits.h.
const BUSY: u8 = 75;
/// The exit code when the command line is wrong, as clap has it.
const WRONG_USAGE: u8 = 2;

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
            let code = usage.exit_code();
            let _ = write!(err, "{}", without_styles(usage).render().ansi());
            return ExitCode::from(u8::try_from(code).unwrap_or(WRONG_USAGE));
        }
        // Help and version.
        Err(wanted) => return ended(wanted.print().as_ref().err(), &mut err),
    };
    let done = done.and_then(|()| Ok(out.flush()?));
    match (done, out.failure()) {
        (Ok(()), _) => ExitCode::SUCCESS,
        (Err(_), Some(failed)) => ended(Some(failed), &mut err),
        (Err(error), None) => match error.downcast_ref::<tui::EndedBy>() {
            Some(signal) => ExitCode::from(signal.exit_code()),
            None => {
                let busy = error.downcast_ref::<io::Error>();
                let is_busy = busy.is_some_and(|e| e.kind() == io::ErrorKind::ResourceBusy);
                // Indented: a newline in a path must not begin what looks like another message.
                let message = format!("{error:#}").trim_end().replace('\n', "\n  ");
                let _ = writeln!(err, "ctxgauge: {message}");
                if is_busy {
                    BUSY.into()
                } else if error.is::<WrongUsage>() {
                    WRONG_USAGE.into()
                } else {
                    ExitCode::FAILURE
                }
            }
        },
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
