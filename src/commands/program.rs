//! The program as a function: arguments in; what it prints, and its exit code, out.

use super::exit::{self, Exit, WRONG_USAGE};
use super::locale::Terminals;
use super::streams::Output;
use super::wrapped::Wrapped;
use super::{Call, Cli, help, locale, mistakes};
use clap::builder::Styles;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use files::paths::User;
use std::ffi::OsString;
use std::io::{self, Read, Write};

/// The exit code of a command that did what it was asked to.
const SUCCESS: u8 = 0;

/// The input and the outputs of a command line.
pub struct Streams<'a, W: Write> {
    /// The bytes that an agent passes to it.
    pub input: Box<dyn Read + Send>,
    /// Reports.
    pub out: &'a mut Output<W>,
    /// Problems.
    pub err: &'a mut dyn Write,
    /// The streams that are terminals.
    pub terminals: Terminals,
}

/// Runs a command line, turns errors into messages, and returns the exit code. `arguments` begin with the program's own
/// name.
pub fn run<W: Write>(arguments: &[OsString], user: &User, streams: Streams<'_, W>) -> u8 {
    let Streams {
        input,
        out,
        err,
        terminals,
    } = streams;
    let columns = || locale::columns(&user.env);
    let err = &mut Wrapped::new(err, terminals.stderr.then(columns).flatten());
    let err: &mut dyn Write = err;
    if let Some(why) = mistakes::unknown_command(arguments) {
        let _ = writeln!(err, "ctxgauge: {why}");
        return WRONG_USAGE;
    }
    let parsed = help::program().try_get_matches_from(arguments);
    let done = match parsed.and_then(|parsed| Cli::from_arg_matches(&parsed)) {
        Ok(cli) => super::run(
            cli.command,
            cli.monitor,
            Call {
                config: cli.config,
                user,
                input,
                terminals,
                out,
                err,
            },
        ),
        Err(usage) if usage.use_stderr() => {
            let usage = without_styles(usage, arguments);
            let _ = write!(err, "{}", usage.render().ansi());
            return code(WRONG_USAGE, arguments);
        }
        // Help and version.
        Err(wanted) => {
            let text = wanted.render();
            let written = if locale::has_styles(&user.env, terminals) {
                write!(out, "{}", text.ansi())
            } else {
                write!(out, "{text}")
            };
            return after_write(written.and_then(|()| out.flush()).err().as_ref(), err);
        }
    };
    let done = done.and_then(|()| Ok(out.flush()?));
    let Err(error) = done else {
        return SUCCESS;
    };
    let exit = error.downcast_ref::<Exit>();
    let is_ended = error.is::<tui::EndedBy>();
    // A signal is the reason for the end, whether anybody reads the output or not.
    if let Some(failed) = out.failure().filter(|_| !is_ended) {
        let is_gone = failed.kind() == io::ErrorKind::BrokenPipe;
        return match exit {
            // A reader that has read enough still gets the answer.
            Some(exit) if is_gone && exit.is_answer() => code(exit.code(), arguments),
            Some(_) if !is_gone => {
                after_write(Some(failed), err);
                code(exit::code(&error), arguments)
            }
            _ => after_write(Some(failed), err),
        };
    }
    let is_printed = exit.is_some_and(Exit::is_answer) || is_ended;
    if !is_printed {
        // Indented: a newline in a path must not begin what looks like another message.
        let message = format!("{error:#}").trim_end().replace('\n', "\n  ");
        let _ = writeln!(err, "ctxgauge: {message}");
    }
    code(exit::code(&error), arguments)
}

/// Returns the exit code for these arguments. An agent stops if a hook ends with the code of wrong usage.
fn code(code: u8, arguments: &[OsString]) -> u8 {
    if code == WRONG_USAGE && mistakes::is_hook(arguments) {
        exit::FAILURE
    } else {
        code
    }
}

/// Takes the colours out of an error: its text repeats arguments, whose escape sequences must not look like its own. Nobody
/// who mistypes an option wants it to be a path, so that advice is left out.
fn without_styles(usage: clap::Error, arguments: &[OsString]) -> clap::Error {
    let plain = Cli::command().styles(Styles::plain());
    let mut usage = plain.try_get_matches_from(arguments).err().unwrap_or(usage);
    if let Some(ContextValue::StyledStrs(mut tips)) = usage.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        if !tips.is_empty() {
            usage.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    usage
}

/// Returns the exit code after standard output was written to, with this error.
fn after_write(failed: Option<&io::Error>, err: &mut dyn Write) -> u8 {
    match failed {
        None => SUCCESS,
        // A reader of our output that has gone is no error.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => SUCCESS,
        Some(error) => {
            let _ = writeln!(err, "ctxgauge: could not write to standard output: {error}");
            exit::FAILURE
        }
    }
}
