//! Logs that are read whole while nobody waits for them: what is to be read, and what was.

use crate::cache::{self, LogKey};
use crate::lanes::Sessions;
use crate::log::{Cursor, LogFile, Reading};
use crate::source::Stamp;
use model::event::Measure;
use model::session::Coverage;
use std::io;

/// A log to be read whole.
pub(crate) struct Job {
    pub(crate) log: LogFile,
    /// Its stamp when it was last looked at.
    pub(crate) stamp: Stamp,
    /// Whether it is read with exact counts rather than estimates by length.
    pub(crate) exact: bool,
    /// Whether its past is let go, since nobody writes to it.
    pub(crate) trim: bool,
    /// The key under which it is kept, if it is.
    pub(crate) key: Option<LogKey>,
}

/// What became of a job.
pub(crate) struct Done {
    pub(crate) job: Job,
    /// The number of the job, which tells it from later ones of the same file.
    pub(super) ticket: u64,
    pub(crate) read: io::Result<Option<Whole>>,
}

/// What was read of a log: all of it, or enough of its end for a gauge.
pub(crate) struct Whole {
    pub(crate) sessions: Sessions,
    pub(crate) cursor: Box<dyn Cursor>,
    /// What the cache keeps of it.
    pub(crate) stored: Option<cache::Value>,
    /// Why its end could not be read.
    pub(crate) end: io::Result<()>,
}

impl Whole {
    /// What a reading has read that is at its end. It is trimmed, or what the cache keeps of it is made, or both.
    /// Only a log that was read to its end from its beginning is kept.
    pub(crate) fn of(
        mut reading: Reading,
        log: &LogFile,
        measure: &dyn Measure,
        trim: bool,
        store: bool,
    ) -> Whole {
        let end = reading.settle(log, measure);
        let store = store && log.store.is_stamped_whole() && reading.coverage() == Coverage::Whole;
        let (sessions, cursor) = reading.finish();
        let mut whole = Whole {
            sessions,
            cursor,
            stored: None,
            end,
        };
        whole.keep(trim, store);
        whole
    }

    fn keep(&mut self, trim: bool, store: bool) {
        let store = store && self.end.is_ok() && !self.cursor.is_incomplete();
        self.stored = match (store, trim) {
            (_, true) => cache::put_away(&mut self.sessions, store),
            (true, false) => cache::store(&mut self.sessions.clone()),
            (false, false) => None,
        };
        if trim {
            self.cursor.trim();
            self.settle_down();
        }
    }

    /// Moves what stays into the memory that trimming has freed. It was allocated while all of the log was held, and
    /// an allocator gives back only what lies above all that is in use.
    fn settle_down(&mut self) {
        self.sessions = self.sessions.clone();
        self.stored = self.stored.clone();
    }
}
