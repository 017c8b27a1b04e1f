//! The activity of a running session, as the agent itself reports it.

/// The activity of the process of a session, by the agent's own registry of running sessions. Of several processes of
/// one session, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Running {
    /// The registry does not say what it does.
    Unspecified,
    /// It waits for the next message.
    Idle,
    /// It waits for an answer or a permission.
    Waiting,
    /// It works on a turn.
    Busy,
}

impl Running {
    /// Returns one word for it, where there is one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Running::Unspecified => None,
            Running::Idle => Some("idle"),
            Running::Waiting => Some("waiting"),
            Running::Busy => Some("busy"),
        }
    }

    /// Returns true if it waits for the user.
    pub fn is_quiet(self) -> bool {
        matches!(self, Running::Idle | Running::Waiting)
    }
}
