//! The activity of a running session, as the agent itself reports it.

use serde::{Deserialize, Serialize};

/// The activity of the process of a session, by the agent's own registry of running sessions. Of several processes of
/// one session, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ProcessActivity {
    /// The registry does not say what it does.
    Unspecified,
    /// It waits for the next message.
    Idle,
    /// It waits for an answer or a permission.
    Waiting,
    /// It works on a turn.
    Busy,
}

impl ProcessActivity {
    /// Returns one word for it, where there is one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            ProcessActivity::Unspecified => None,
            ProcessActivity::Idle => Some("idle"),
            ProcessActivity::Waiting => Some("waiting"),
            ProcessActivity::Busy => Some("busy"),
        }
    }

    /// Returns true if it waits for the user.
    pub fn is_quiet(self) -> bool {
        matches!(self, ProcessActivity::Idle | ProcessActivity::Waiting)
    }
}
