//! Keeps the state of a database, and when to look at it again.

use super::connection::OpenDatabase;
use super::tables::{SessionRow, Tables};
use super::version::Files;
use super::{Database, Session, Sessions, is_busy};
use crate::bytes::patience::PATIENCE;
use crate::bytes::source::Stamp;
use formats::database::DatabaseSpec;
use rusqlite::Connection;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time for which a connection stays open without use.
pub const IDLE_TIME: Duration = Duration::from_secs(1);
/// The least time between two looks at the list of sessions, or at one of them: this long, and this many times
/// as long as the last look took.
pub const LOOK_INTERVAL: Duration = Duration::from_millis(50);
const LOOK_COST_FACTOR: u32 = 20;
/// The number of times that a piece which was read while the agent wrote is read again at once.
const MOST_READ_TRIES: u32 = 3;

/// The state of a database, as far as it was read.
#[derive(Default)]
pub struct State {
    pub(super) open: Option<OpenDatabase>,
    used: Option<Instant>,
    /// Its tables. Another of its versions may begin to use its own.
    tables: Option<Tables>,
    /// The time that the next piece may take; `None`: none was read.
    pub(super) piece: Option<Duration>,
    pub(super) sessions: Sessions,
    /// The files when the sessions were listed, if a write since is sure to show.
    seen: Option<Files>,
    /// The error of the files, which a look at the same files would find again.
    pub(super) failed: Option<(Files, io::ErrorKind, String)>,
    /// The list is not looked at before.
    pub(super) next_look: Option<Instant>,
    /// The time at which to look at the list again, if it was not looked at this time.
    pub(super) due: Option<Instant>,
    /// Sessions that were looked at since.
    looks: HashMap<Arc<str>, SessionCheck>,
    locked_since: Option<Instant>,
}

/// A look at one session, which takes less than the list.
#[derive(Clone, Copy)]
struct SessionCheck {
    stamp: Stamp,
    /// The files then, if a write since is sure to show.
    seen: Option<Files>,
    /// The earliest time of the next look.
    next: Instant,
}

impl State {
    pub(super) fn list(&mut self, database: &Database) -> io::Result<()> {
        let now = database.clock.now();
        if self
            .used
            .is_some_and(|used| now.duration_since(used) > IDLE_TIME)
        {
            self.open = None;
        }
        self.due = self.next_look.filter(|next| now < *next);
        if self.due.is_some() {
            return Ok(());
        }
        let files = database.files()?;
        self.next_look = Some(now + LOOK_INTERVAL);
        if self.seen == Some(files) {
            return Ok(());
        }
        if let Some(error) = self.refusal(files) {
            return Err(error);
        }
        self.tables = self.tables.filter(|tables| tables.is_final);
        let listed = self.read(database, |connection, tables| tables.sessions(connection));
        let took = database.clock.now().duration_since(now);
        self.note_refusal(files, listed.as_ref().err());
        self.due = listed
            .as_ref()
            .err()
            .and_then(retry)
            .map(|pause| now + pause);
        let listed = listed?;
        let sessions = listed.into_iter().flatten().map(|session| {
            let id: Arc<str> = session.id.as_str().into();
            let session = Session {
                id: Arc::clone(&id),
                stamp: stamp(&session),
                parent: session.parent.map(Into::into),
            };
            (id, session)
        });
        self.sessions = Arc::new(sessions.collect());
        self.looks.clear();
        self.seen = Some(files).filter(Files::is_sure);
        self.next_look = Some(after(now, took));
        Ok(())
    }

    pub(super) fn look(&mut self, database: &Database, id: &Arc<str>) -> io::Result<Stamp> {
        let now = database.clock.now();
        let files = database.files()?;
        let listed = self.sessions.get(id).filter(|_| self.seen == Some(files));
        if let Some(session) = listed {
            return Ok(session.stamp);
        }
        if let Some(look) = self.looks.get(id)
            && (now < look.next || look.seen == Some(files))
        {
            return Ok(look.stamp);
        }
        let last = self
            .looks
            .get(id)
            .map(|look| look.stamp)
            .or_else(|| Some(self.sessions.get(id)?.stamp));
        if let Some(error) = self.refusal(files) {
            return last.ok_or(error);
        }
        let found = self.read(database, |connection, tables| {
            tables.session(connection, id)
        });
        let took = database.clock.now().duration_since(now);
        let session = match found {
            Ok(found) => found.flatten().ok_or(io::ErrorKind::NotFound)?,
            // A problem of the database shows when its sessions are listed.
            Err(e) => {
                self.note_refusal(files, Some(&e));
                return last.ok_or(e);
            }
        };
        let look = SessionCheck {
            stamp: stamp(&session),
            seen: Some(files).filter(Files::is_sure),
            next: after(now, took),
        };
        self.looks.insert(Arc::clone(id), look);
        Ok(look.stamp)
    }

    /// Returns the reason for which the database cannot be read, if it was found with the present files.
    pub(super) fn refusal(&self, files: Files) -> Option<io::Error> {
        let failed = self.failed.as_ref().filter(|(seen, ..)| *seen == files);
        failed.map(|(_, kind, what)| io::Error::new(*kind, what.clone()))
    }

    fn note_refusal(&mut self, files: Files, error: Option<&io::Error>) {
        let lasts = |e: &&io::Error| {
            files.is_sure() && matches!(e.kind(), io::ErrorKind::Other | io::ErrorKind::InvalidData)
        };
        let error = error.filter(lasts);
        self.failed = error.map(|e| (files, e.kind(), e.to_string()));
    }

    /// Reads what the database contained at one moment; `None`: it has no tables yet.
    pub(super) fn read<T>(
        &mut self,
        database: &Database,
        mut read: impl FnMut(&Connection, Tables) -> rusqlite::Result<T>,
    ) -> io::Result<Option<T>> {
        let mut tries = 1;
        let result = loop {
            let may_have_changed = self.tables.is_some();
            // SQLite has no error for a file that is gone since it was looked at.
            let result = self
                .try_read(database, &mut read)
                .or_else(|e| database.files().and(Err(e)));
            match &result {
                Err(e) if (is_busy(e) || may_have_changed) && tries < MOST_READ_TRIES => tries += 1,
                _ => break result,
            }
        };
        if !result.as_ref().is_err_and(is_busy) {
            self.locked_since = None;
            return result;
        }
        let now = database.clock.now();
        let since = *self.locked_since.get_or_insert(now);
        if now.saturating_duration_since(since) < PATIENCE {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            result
        }
    }

    fn try_read<T>(
        &mut self,
        database: &Database,
        read: &mut impl FnMut(&Connection, Tables) -> rusqlite::Result<T>,
    ) -> io::Result<Option<T>> {
        let path = &database.path()?;
        let files = Files::of(path)?;
        if files.is_empty() {
            return Ok(None);
        }
        // After an error neither the connection nor the tables are used again: both may have changed.
        let open = self.open.take().filter(|open| open.is_of(files));
        let open = match open {
            Some(open) => open,
            None => OpenDatabase::new(path, database.longest_query)?,
        };
        let tables = match self.tables.take() {
            Some(tables) => tables,
            None => match open.read(path, |connection| {
                Ok(find_tables(connection, database.spec))
            })? {
                Ok(tables) => tables,
                Err(None) => return Ok(None),
                Err(Some(why)) => return Err(io::Error::other(why)),
            },
        };
        let result = open.read(path, |connection| read(connection, tables));
        if result.as_ref().err().is_none_or(is_busy) {
            self.tables = Some(tables);
        }
        let result = result?;
        self.open = Some(open);
        self.used = Some(database.clock.now());
        Ok(Some(result))
    }
}

/// Returns the time to wait after this error, if it is a lock.
fn retry(error: &io::Error) -> Option<Duration> {
    match error.kind() {
        io::ErrorKind::WouldBlock => Some(LOOK_INTERVAL),
        // It was locked for long, and perhaps stays so.
        io::ErrorKind::ResourceBusy => Some(PATIENCE),
        _ => None,
    }
}

/// Returns the time of the next look after one that took this long.
fn after(now: Instant, took: Duration) -> Instant {
    now + took + LOOK_INTERVAL.max(took * LOOK_COST_FACTOR)
}

fn stamp(session: &SessionRow) -> Stamp {
    Stamp::exact((session.version, 0)).at(session.updated)
}

/// Returns the tables of a database; otherwise what is wrong with them, or `None`: there are none yet.
fn find_tables(connection: &Connection, spec: &DatabaseSpec) -> Result<Tables, Option<String>> {
    let why = match Tables::of(connection, spec) {
        Ok(tables) => return Ok(tables),
        Err(why) => why,
    };
    let count = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
    let tables = connection.query_row(count, (), |row| row.get::<_, i64>(0));
    match tables {
        Ok(0) => Err(None),
        _ => Err(Some(format!(
            "its tables are not those of the versions that can be read here ({why}): a newer ctxgauge may \
             read them"
        ))),
    }
}
