//! The lines of the list.

use model::lists::sessions::{Row, SessionKey};

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListLine {
    /// A group's heading.
    Group(Group),
    /// A session.
    Session(Row),
}

/// A group of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its identity.
    pub id: u64,
    /// The project's or the agent's name.
    pub name: String,
    /// The number of its sessions that are live.
    pub live: usize,
    /// The sessions, sub-agents included.
    pub keys: Vec<SessionKey>,
}

/// A line's identity, across changes of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineId {
    /// A group.
    Group(u64),
    /// A session.
    Session(SessionKey),
}

impl ListLine {
    pub(super) fn id(&self) -> LineId {
        match self {
            ListLine::Group(group) => LineId::Group(group.id),
            ListLine::Session(row) => LineId::Session(row.key),
        }
    }

    /// Returns the session; `None`: the line is a heading.
    pub fn session(&self) -> Option<&Row> {
        match self {
            ListLine::Session(row) => Some(row),
            ListLine::Group(_) => None,
        }
    }
}
