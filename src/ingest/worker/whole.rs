//! Logs that are read whole while nobody waits for them: what is to be read, and what was.

use crate::ingest::cache::{self, LogKey};
use crate::ingest::lanes::Sessions;
use crate::ingest::log::{Cursor, LogFile, Reading};
use crate::ingest::source::Stamp;
use crate::model::event::Measure;
use crate::model::session::Coverage;
use std::io;

/// A log to be read whole.
pub(in crate::ingest) struct Job {
    pub(in crate::ingest) log: LogFile,
    /// Its stamp when it was last looked at.
    pub(in crate::ingest) stamp: Stamp,
    /// With exact counts rather than estimates by length.
    pub(in crate::ingest) exact: bool,
    /// Whether its past is let go, since nobody writes to it.
    pub(in crate::ingest) trim: bool,
    /// The key under which it is kept, if it is.
    pub(in crate::ingest) key: Option<LogKey>,
}

/// What became of a job.
pub(in crate::ingest) struct Done {
    pub(in crate::ingest) job: Job,
    /// The number of the job, which tells it from later ones of the same file.
    pub(super) ticket: u64,
    pub(in crate::ingest) read: io::Result<Option<Whole>>,
}

/// What was read of a log: all of it, or enough of its end for a gauge.
pub(in crate::ingest) struct Whole {
    pub(in crate::ingest) sessions: Sessions,
    pub(in crate::ingest) cursor: Box<dyn Cursor>,
    /// What the cache keeps of it.
    pub(in crate::ingest) stored: Option<Vec<u8>>,
    /// Why its end could not be read.
    pub(in crate::ingest) end: io::Result<()>,
}

impl Whole {
    /// What a reading has read that is at its end. It is trimmed, or what the cache keeps of it is made, or both.
    /// Only a log that was read to its end from its beginning is kept.
    pub(in crate::ingest) fn of(
        mut reading: Reading,
        log: &LogFile,
        measure: &dyn Measure,
        trim: bool,
        store: bool,
    ) -> Whole {
        let end = reading.settle(log, measure);
        let store = store && log.store.is_one_file() && reading.coverage() == Coverage::Whole;
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
        self.stored = self.stored.as_deref().map(<[u8]>::to_vec);
    }
}
