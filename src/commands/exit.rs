//! Exit codes.

use std::io::{self, ErrorKind};

/// The exit code when a command fails.
pub const FAILURE: u8 = 1;
/// The exit code when the command line is wrong, as clap has it.
pub const WRONG_USAGE: u8 = 2;
/// The exit code when a database was locked all the time: `EX_TEMPFAIL` of sysexits.h.
const BUSY: u8 = 75;

/// The end of a command that did not fail, or whose failure has an exit code of its own.
#[derive(Debug, thiserror::Error)]
pub enum Exit {
    /// The answer is no: a bound was passed, a check has found a problem, or a search nothing. It is printed already.
    #[error("the answer is no")]
    No,
    /// The command line is wrong, though each of its options is right.
    #[error("{0}")]
    WrongUsage(String),
    /// A command that scripts branch on could not answer.
    #[error("{0:#}")]
    Trouble(anyhow::Error),
}

impl Exit {
    /// Returns the exit of a command that scripts branch on. An error without an exit code of its own is trouble.
    pub fn of(error: anyhow::Error) -> Exit {
        error.downcast::<Exit>().unwrap_or_else(Exit::Trouble)
    }

    /// Returns true if it is an answer: all output is printed.
    pub fn is_answer(&self) -> bool {
        matches!(self, Exit::No)
    }

    /// Returns the exit code. Trouble is not 2, with which a hook blocks its agent.
    pub fn code(&self) -> u8 {
        match self {
            Exit::No => 1,
            Exit::WrongUsage(_) => WRONG_USAGE,
            Exit::Trouble(_) => 3,
        }
    }
}

/// Returns the exit code of a command that ended with this error.
pub fn code(error: &anyhow::Error) -> u8 {
    if let Some(exit) = error.downcast_ref::<Exit>() {
        return exit.code();
    }
    if let Some(signal) = error.downcast_ref::<tui::EndedBy>() {
        return signal.exit_code();
    }
    let busy = error.downcast_ref::<io::Error>();
    if busy.is_some_and(|e| e.kind() == ErrorKind::ResourceBusy) {
        return BUSY;
    }
    FAILURE
}
