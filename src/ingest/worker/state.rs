//! Holds the worker's state of the sessions of a log.

use crate::bytes::source::Stamp;
use crate::index::stamps_beside;
use crate::log::{Cursor, LogFile};

/// The state of the sessions of a file, as it is held.
pub(crate) enum State {
    /// Nothing, or what was read before reading failed.
    Found,
    /// The data that a list shows of them.
    Summarised(SummarisedLog),
    /// All of them, and where to read on.
    Followed(Box<dyn Cursor>),
    /// It cannot be read as it is: it is read again when it has changed.
    Refused,
}

/// A log of which only summaries are held: they cannot grow, it is read again when it does.
pub(crate) struct SummarisedLog {
    /// [The part](model::window::Overrides::summary_hash) of the settings that the summaries depend on.
    pub(super) settings: u64,
    /// The stamps of the files beside it.
    beside: Vec<Option<Stamp>>,
    /// True if its last record may be incomplete.
    is_incomplete: bool,
    /// True if a file beside it has changed already.
    has_news: bool,
}

impl SummarisedLog {
    /// Returns the log as it is now.
    pub(super) fn of(log: &LogFile, settings: u64) -> SummarisedLog {
        SummarisedLog {
            settings,
            beside: stamps_beside(log),
            is_incomplete: false,
            has_news: false,
        }
    }

    /// Returns the log whose sessions were read as far as this cursor.
    pub(super) fn instead_of(cursor: &dyn Cursor, log: &LogFile, settings: u64) -> SummarisedLog {
        let now = SummarisedLog::of(log, settings);
        // Asked afterwards: what changed in between has changed for one of them.
        SummarisedLog {
            is_incomplete: cursor.is_incomplete(),
            has_news: cursor.has_sidecar_changes(),
            ..now
        }
    }
}

impl State {
    /// Returns true if the last record may be incomplete.
    pub(super) fn is_incomplete(&self) -> bool {
        match self {
            State::Found | State::Refused => false,
            State::Summarised(it) => it.is_incomplete,
            State::Followed(cursor) => cursor.is_incomplete(),
        }
    }

    /// Returns true if there is something to read of the log though it has not changed.
    pub(super) fn has_news(&self, log: &LogFile) -> bool {
        match self {
            State::Found => true,
            State::Refused => false,
            State::Summarised(it) => it.has_news || it.beside != stamps_beside(log),
            State::Followed(cursor) => cursor.has_sidecar_changes(),
        }
    }

    /// Returns the settings that the summaries depend on, if only these are held.
    pub(super) fn summarised_by(&self) -> Option<u64> {
        match self {
            State::Summarised(it) => Some(it.settings),
            _ => None,
        }
    }
}
