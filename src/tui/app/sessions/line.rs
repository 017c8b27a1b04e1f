//! The lines of the list.

use crate::app::Grouping;
use crate::app::tabs::row_id;
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
    /// The number of sessions, sub-agents included.
    pub sessions: usize,
    /// The number of them that are live.
    pub live: usize,
    /// The sessions.
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

impl Group {
    pub(super) fn new((grouping, identity): (Grouping, &str), name: &str) -> Group {
        Group {
            id: row_id((grouping.name(), identity)),
            name: name.to_owned(),
            sessions: 0,
            live: 0,
            keys: Vec::new(),
        }
    }
}
