//! The lines of the list and the sums below it.

use crate::app::Grouping;
use crate::app::tabs::row_id;
use model::sessions::{Row, SessionKey};
use model::spending::Spending;

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
}

/// A line's identity, across changes of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineId {
    /// A group.
    Group(u64),
    /// A session.
    Session(SessionKey),
}

/// The sums of the listed sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Tokens in their contexts that were reported.
    pub known: u64,
    /// Tokens in them that are estimated.
    pub estimated: u64,
    /// The number of sessions that are near their trigger.
    pub near: usize,
    /// The number of sessions that need the user.
    pub needs: usize,
    /// The cost since the user's day began.
    pub today: Spending,
    /// True if all that was written today was read.
    pub is_today_whole: bool,
}

impl Default for Totals {
    fn default() -> Totals {
        Totals {
            known: 0,
            estimated: 0,
            near: 0,
            needs: 0,
            today: Spending::default(),
            is_today_whole: true,
        }
    }
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
        }
    }
}
