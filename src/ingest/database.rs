//! Databases, which agents write while they run: each of their sessions is a log of its own.
//!
//! A database is read without locks, which leaves no trace and makes no writer wait; see `connection`. What has
//! changed is noticed by the times of its files, then by the row of each session. What was read while the agent wrote
//! does not count. So rows are read in pieces, shorter ones while that happens: they fit between two transactions. A
//! connection is closed after a second without use.

mod connection;
#[cfg(test)]
mod fixtures;
mod state;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod version;

#[cfg(test)]
pub(crate) use version::JOURNAL_MAGIC;
pub(crate) use version::{JOURNAL_SUFFIX, are_files, beside, names_another};
pub use version::{log_bytes, owner};

use crate::bytes::clock::Clock;
use crate::bytes::patience::{is_busy, retry_while_busy};
use crate::bytes::source::file_system::Location;
use crate::bytes::source::{Stamp, head};
use crate::bytes::sync::lock;
use formats::database::DatabaseSpec;
use jiff::Timestamp;
use rusqlite::Connection;
#[cfg(test)]
pub(crate) use state::LOOK_INTERVAL;
use state::State;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tables::{Limits, Tables};
use version::Files;

/// The size of a piece of a session's rows: this many bytes, or one row.
const PIECE_BYTES: usize = 2 << 20;
/// The time that a piece may take at first. It is halved when a piece does not count, and doubled when one does.
const FIRST_PIECE_TIME: Duration = Duration::from_millis(50);
const LONGEST_PIECE_TIME: Duration = Duration::from_secs(1);
const SHORTEST_PIECE_TIME: Duration = Duration::from_micros(100);
/// The time that a query may take: a hostile schema can make one endless.
const LONGEST_QUERY: Duration = Duration::from_secs(20);

/// A database that contains sessions.
pub struct Database {
    at: Location,
    spec: &'static DatabaseSpec,
    /// Decides when it is looked at again.
    clock: Clock,
    /// A query that takes longer is given up.
    longest_query: Duration,
    state: Mutex<State>,
}

/// A session of a database, as its list has it.
#[derive(Clone)]
pub struct Session {
    /// Its id.
    pub id: Arc<str>,
    /// The id of the session that started it.
    pub parent: Option<Arc<str>>,
    /// Changes with every write to the session.
    pub stamp: Stamp,
}

/// The sessions, by id.
type Sessions = Arc<HashMap<Arc<str>, Session>>;

impl Database {
    /// Returns the database at a place on this machine.
    pub fn new(at: &Location, spec: &'static DatabaseSpec, clock: &Clock) -> Database {
        Database {
            at: at.clone(),
            spec,
            clock: clock.clone(),
            longest_query: LONGEST_QUERY,
            state: Mutex::default(),
        }
    }

    /// Returns the path at which it is opened.
    fn path(&self) -> io::Result<PathBuf> {
        self.at.system.place(&self.at.path)
    }

    /// Returns its files now.
    fn files(&self) -> io::Result<Files> {
        Files::of(&self.path()?)
    }

    /// Returns true if its tables are those of the spec.
    pub fn fits(&self) -> bool {
        let mut state = lock(&self.state);
        let tables = state.read(self, |_, _| Ok(()));
        state.open = None;
        matches!(tables, Ok(Some(())))
    }

    /// Returns its sessions. With an error, they are those that were last seen.
    pub fn sessions(&self) -> (Sessions, Option<io::Error>) {
        let mut state = lock(&self.state);
        let error = state.list(self).err();
        if error
            .as_ref()
            .is_some_and(|e| e.kind() == io::ErrorKind::NotFound)
        {
            state.sessions = Arc::default();
        }
        (Arc::clone(&state.sessions), error)
    }

    /// Returns the time at which to look at the sessions again, if they were not looked at this time.
    pub fn due(&self) -> Option<Instant> {
        lock(&self.state).due
    }

    /// Returns the stamp of a session when the list was looked at.
    pub(crate) fn listed(&self, session: &str) -> Option<Stamp> {
        Some(lock(&self.state).sessions.get(session)?.stamp)
    }

    /// Returns the time at which it was last written to.
    pub fn modified(&self) -> Option<Timestamp> {
        self.files().ok()?.modified()
    }

    /// Returns the stamp of a session.
    pub(crate) fn stamp(&self, session: &Arc<str>) -> io::Result<Stamp> {
        lock(&self.state).look(self, session)
    }

    /// Calls `give` with the lines of a session's rows after the first `skip`.
    ///
    /// # Errors
    ///
    /// A row that cannot be read ends it: the lines before it were given.
    pub fn lines(&self, session: &str, skip: u64, give: &mut dyn FnMut(&str)) -> io::Result<()> {
        let mut at = skip;
        loop {
            let piece = self.read_piece(|connection, tables, limits| {
                tables.rows(connection, session, at, limits)
            })?;
            at += piece.lines.len() as u64;
            for line in piece.lines {
                let text = line.text.map_err(io::Error::other)?;
                give(text.as_deref().unwrap_or_default());
            }
            if piece.is_all {
                return Ok(());
            }
        }
    }

    /// Returns a line of a session; 0: the one about the session.
    ///
    /// # Errors
    ///
    /// The row cannot be read.
    pub(crate) fn line(&self, session: &str, number: u64) -> io::Result<String> {
        let line = retry_while_busy(|| {
            self.read(|connection, tables| {
                let Some(skip) = number.checked_sub(1) else {
                    return tables.header(connection, session).map(Ok);
                };
                let limits = Limits {
                    least: 1,
                    rows: 1,
                    bytes: PIECE_BYTES,
                    time: LONGEST_PIECE_TIME,
                };
                let mut rows = tables.rows(connection, session, skip, limits)?;
                Ok(rows.lines.pop_front().map_or(Ok(None), |line| line.text))
            })
        })?;
        Ok(line.map_err(io::Error::other)?.unwrap_or_default())
    }

    /// Returns the first bytes of its file.
    pub(crate) fn head(&self) -> io::Result<Vec<u8>> {
        head(&self.at)
    }

    /// Reads a piece of a session's rows: a shorter one if the last did not count.
    pub(crate) fn read_piece<T>(
        &self,
        mut read: impl FnMut(&Connection, Tables, Limits) -> rusqlite::Result<T>,
    ) -> io::Result<T> {
        let time = lock(&self.state).piece.unwrap_or(FIRST_PIECE_TIME);
        let limits = Limits {
            least: 1,
            rows: u64::MAX,
            bytes: PIECE_BYTES,
            time,
        };
        let result = self.read(|connection, tables| read(connection, tables, limits));
        lock(&self.state).piece = Some(match &result {
            Ok(_) => LONGEST_PIECE_TIME.min(time * 2),
            Err(e) if is_busy(e) => SHORTEST_PIECE_TIME.max(time / 2),
            Err(_) => time,
        });
        result
    }

    /// Reads what the database contained at one moment.
    pub(crate) fn read<T>(
        &self,
        read: impl FnMut(&Connection, Tables) -> rusqlite::Result<T>,
    ) -> io::Result<T> {
        let read = lock(&self.state).read(self, read)?;
        read.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
