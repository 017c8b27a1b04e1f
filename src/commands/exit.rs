//! Exit codes of commands that scripts branch on.

use std::fmt;

/// How a command ends that did not fail, or whose failure must not look like an answer.
#[derive(Debug)]
pub enum Exit {
    /// A bound was passed. It is printed already.
    BoundPassed,
    /// The command could not answer.
    Trouble(anyhow::Error),
}

impl Exit {
    /// The exit code. It is not 2, with which a hook blocks its agent.
    pub fn code(&self) -> u8 {
        match self {
            Exit::BoundPassed => 1,
            Exit::Trouble(_) => 3,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::BoundPassed => f.write_str("a bound was passed"),
            Exit::Trouble(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for Exit {}
