//! Databases, which agents write while they run: each of their sessions is a log of its own.
//!
//! A database is read without locks, which leaves no trace and makes no writer wait; see `connection`. What has
//! changed is noticed by the times of its files, then by the row of each session. What was read while the agent wrote
//! does not count. So rows are read in pieces, shorter ones while that happens: they fit between two transactions. A
//! connection is closed after a second without use.

mod connection;
mod copy;
mod cursor;
#[cfg(test)]
mod fixtures;
mod moment;
mod tables;
#[cfg(test)]
mod tests;

pub use moment::{log_bytes, owner};

use super::bytes::head;
use super::{Cursor, Stamp, Store};
use crate::agents::database::DatabaseSpec;
use crate::ingest::discover::LogFile;
use crate::ingest::lock;
use crate::ingest::reader::Reading;
use crate::ingest::text::{self, Pieces};
use crate::model::event::Measure;
use crate::model::text::TextRequest;
use crate::model::window::Rules;
use connection::Opened;
use cursor::RowCursor;
use jiff::Timestamp;
use moment::Files;
use rusqlite::Connection;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tables::{Limits, Listed, Tables};

/// A connection without use is closed after so long.
const IDLE: Duration = Duration::from_secs(1);
/// The list of sessions, or one of them, is looked at again no earlier than after so long, and after this many times
/// what it took.
const LOOK: Duration = Duration::from_millis(50);
const LOOK_SHARE: u32 = 20;
/// If a database could not be read for longer, that is reported.
const LOCKED: Duration = Duration::from_secs(2);
/// What was read while the agent wrote is read again at once, so often.
const TRIES: u32 = 3;
/// A piece of a session's rows: no more than so many bytes, or a row; and no longer than the first of these times, which
/// is halved when a piece does not count, and then doubled up to the second.
const PIECE: usize = 2 << 20;
const FIRST_TIME: Duration = Duration::from_millis(50);
const LONGEST_TIME: Duration = Duration::from_secs(1);
const SHORTEST_TIME: Duration = Duration::from_micros(100);
/// Between two tries of what is read patiently.
const PAUSE: Duration = Duration::from_millis(2);
/// A query that takes longer is given up: a hostile schema can make one endless.
const LONGEST_QUERY: Duration = Duration::from_secs(20);

/// A database that contains sessions.
pub struct Database {
    path: Arc<PathBuf>,
    spec: &'static DatabaseSpec,
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

struct State {
    open: Option<Opened>,
    used: Option<Instant>,
    /// Its tables. Another of its versions may begin to use its own.
    tables: Option<Tables>,
    /// How long the next piece may take.
    piece: Duration,
    sessions: Sessions,
    /// The files when the sessions were listed, if a write since is sure to show.
    seen: Option<Files>,
    /// What was wrong with the files, which a look at the same files would find again.
    failed: Option<(Files, io::ErrorKind, String)>,
    /// The list is not looked at before.
    next_look: Option<Instant>,
    /// When to look at the list again, if it was not looked at this time.
    due: Option<Instant>,
    /// Sessions that were looked at since.
    looks: HashMap<Arc<str>, Look>,
    locked_since: Option<Instant>,
}

/// A look at one session, which takes less than the list.
#[derive(Clone, Copy)]
struct Look {
    stamp: Stamp,
    /// The files then, if a write since is sure to show.
    seen: Option<Files>,
    /// It is not looked at before.
    next: Instant,
}

impl Database {
    /// The database at a path.
    pub fn new(path: &Arc<PathBuf>, spec: &'static DatabaseSpec) -> Database {
        Database {
            path: Arc::clone(path),
            spec,
            longest_query: LONGEST_QUERY,
            state: Mutex::new(State::default()),
        }
    }

    /// Whether its tables are those of the spec.
    pub fn fits(&self) -> bool {
        let mut state = lock(&self.state);
        let tables = state.read(self, Instant::now(), |_, _| Ok(()));
        state.open = None;
        matches!(tables, Ok(Some(())))
    }

    /// Its sessions. With an error, they are those that were last seen.
    pub fn sessions(&self) -> (Sessions, Option<io::Error>) {
        self.sessions_at(Instant::now())
    }

    /// When to look at the sessions again, if they were not looked at this time.
    pub fn due(&self) -> Option<Instant> {
        lock(&self.state).due
    }

    fn sessions_at(&self, now: Instant) -> (Sessions, Option<io::Error>) {
        let mut state = lock(&self.state);
        let error = state.list(self, now).err();
        if error
            .as_ref()
            .is_some_and(|e| e.kind() == io::ErrorKind::NotFound)
        {
            state.sessions = Arc::default();
        }
        (Arc::clone(&state.sessions), error)
    }

    /// The stamp of a session when the list was looked at.
    fn listed(&self, session: &str) -> Option<Stamp> {
        Some(lock(&self.state).sessions.get(session)?.stamp)
    }

    /// When it was last written to.
    pub fn modified(&self) -> Option<Timestamp> {
        Files::of(&self.path).ok()?.modified()
    }

    /// The stamp of a session.
    fn stamp(&self, session: &Arc<str>) -> io::Result<Stamp> {
        lock(&self.state).look(self, session, Instant::now())
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

    /// Reads a piece of a session's rows: a shorter one if the last did not count.
    fn read_piece<T>(
        &self,
        mut read: impl FnMut(&Connection, Tables, Limits) -> rusqlite::Result<T>,
    ) -> io::Result<T> {
        let time = lock(&self.state).piece;
        let limits = Limits {
            least: 1,
            rows: u64::MAX,
            bytes: PIECE,
            time,
        };
        let result = self.read(|connection, tables| read(connection, tables, limits));
        lock(&self.state).piece = match &result {
            Ok(_) => LONGEST_TIME.min(time * 2),
            Err(e) if is_busy(e) => SHORTEST_TIME.max(time / 2),
            Err(_) => time,
        };
        result
    }

    /// Reads what the database contained at one moment.
    fn read<T>(
        &self,
        read: impl FnMut(&Connection, Tables) -> rusqlite::Result<T>,
    ) -> io::Result<T> {
        let read = lock(&self.state).read(self, Instant::now(), read)?;
        read.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl State {
    fn list(&mut self, database: &Database, now: Instant) -> io::Result<()> {
        if self
            .used
            .is_some_and(|used| now.duration_since(used) > IDLE)
        {
            self.open = None;
        }
        self.due = self.next_look.filter(|next| now < *next);
        if self.due.is_some() {
            return Ok(());
        }
        let files = Files::of(&database.path)?;
        self.next_look = Some(now + LOOK);
        if self.seen == Some(files) {
            return Ok(());
        }
        if let Some(error) = self.refusal(files) {
            return Err(error);
        }
        self.tables = self.tables.filter(|tables| tables.is_final());
        let begun = Instant::now();
        let listed = self.read(database, now, |connection, tables| {
            tables.sessions(connection)
        });
        let took = begun.elapsed();
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

    fn look(&mut self, database: &Database, id: &Arc<str>, now: Instant) -> io::Result<Stamp> {
        let files = Files::of(&database.path)?;
        let listed = self.sessions.get(id).filter(|_| self.seen == Some(files));
        if let Some(session) = listed {
            return Ok(session.stamp);
        }
        if let Some(look) = self.looks.get(id)
            && (now < look.next || look.seen == Some(files))
        {
            return Ok(look.stamp);
        }
        let last = self.looks.get(id).map(|look| look.stamp);
        let last = last.or_else(|| Some(self.sessions.get(id)?.stamp));
        if let Some(error) = self.refusal(files) {
            return last.ok_or(error);
        }
        let begun = Instant::now();
        let found = self.read(database, now, |connection, tables| {
            tables.session(connection, id)
        });
        let took = begun.elapsed();
        let session = match found {
            Ok(found) => found.flatten().ok_or(io::ErrorKind::NotFound)?,
            // What is wrong with the database shows when its sessions are listed.
            Err(e) => {
                self.note_refusal(files, Some(&e));
                return last.ok_or(e);
            }
        };
        let look = Look {
            stamp: stamp(&session),
            seen: Some(files).filter(Files::is_sure),
            next: after(now, took),
        };
        self.looks.insert(Arc::clone(id), look);
        Ok(look.stamp)
    }

    /// Why the database cannot be read, if that was found with the files as they are.
    fn refusal(&self, files: Files) -> Option<io::Error> {
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
    fn read<T>(
        &mut self,
        database: &Database,
        now: Instant,
        mut read: impl FnMut(&Connection, Tables) -> rusqlite::Result<T>,
    ) -> io::Result<Option<T>> {
        let mut tries = 1;
        let result = loop {
            let may_have_changed = self.tables.is_some();
            // SQLite has no error for a file that is gone since it was looked at.
            let result = self
                .try_read(database, now, &mut read)
                .or_else(|e| Files::of(&database.path).and(Err(e)));
            match &result {
                Err(e) if (is_busy(e) || may_have_changed) && tries < TRIES => tries += 1,
                _ => break result,
            }
        };
        if !result.as_ref().is_err_and(is_busy) {
            self.locked_since = None;
            return result;
        }
        let since = *self.locked_since.get_or_insert(now);
        match now.saturating_duration_since(since) < LOCKED {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => result,
        }
    }

    fn try_read<T>(
        &mut self,
        database: &Database,
        now: Instant,
        read: &mut impl FnMut(&Connection, Tables) -> rusqlite::Result<T>,
    ) -> io::Result<Option<T>> {
        let path = &database.path;
        let files = Files::of(path)?;
        if files.is_empty() {
            return Ok(None);
        }
        // After an error neither the connection nor the tables are used again: both may have changed.
        let open = self.open.take().filter(|open| open.is_of(files));
        let open = match open {
            Some(open) => open,
            None => Opened::new(path, database.longest_query)?,
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
        self.used = Some(now);
        Ok(Some(result))
    }
}

impl Default for State {
    fn default() -> State {
        State {
            open: None,
            used: None,
            tables: None,
            piece: FIRST_TIME,
            sessions: Arc::default(),
            seen: None,
            failed: None,
            next_look: None,
            due: None,
            looks: HashMap::new(),
            locked_since: None,
        }
    }
}

/// Whether the agent was at work: it is tried again.
fn is_busy(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ResourceBusy | io::ErrorKind::WouldBlock
    )
}

/// Reads again while the agent is at work, until that was so for long.
fn patiently<T>(mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let begun = Instant::now();
    loop {
        match read() {
            Err(e) if is_busy(&e) && begun.elapsed() < LOCKED => std::thread::sleep(PAUSE),
            Err(e) if is_busy(&e) => return Err(connection::busy()),
            read => return read,
        }
    }
}

/// When to try again after this error, if it is a lock.
fn retry(error: &io::Error) -> Option<Duration> {
    match error.kind() {
        io::ErrorKind::WouldBlock => Some(LOOK),
        // It was locked for long, and perhaps stays so.
        io::ErrorKind::ResourceBusy => Some(LOCKED),
        _ => None,
    }
}

/// When to look again after a look that took so long.
fn after(now: Instant, took: Duration) -> Instant {
    now + took + LOOK.max(took * LOOK_SHARE)
}

fn stamp(session: &Listed) -> Stamp {
    Stamp::exact((session.version, 0)).at(session.updated)
}

/// The tables of a database; otherwise what is wrong with them, or `None`: there are none yet.
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
            "its tables are not those of the versions that can be read here ({why}): look for a newer \
             ctxgauge"
        ))),
    }
}

/// One session of a database.
pub struct SessionRows {
    database: Arc<Database>,
    id: Arc<str>,
}

impl SessionRows {
    /// The session with this id.
    pub fn new(database: &Arc<Database>, id: &Arc<str>) -> SessionRows {
        SessionRows {
            database: Arc::clone(database),
            id: Arc::clone(id),
        }
    }
}

impl Store for SessionRows {
    fn stamp(&self) -> io::Result<Stamp> {
        self.database.stamp(&self.id)
    }

    fn listed(&self) -> Option<Stamp> {
        self.database.listed(&self.id)
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        head(&*self.database.path)
    }

    fn is_one_of_several(&self) -> bool {
        true
    }

    fn cursor(&self, log: &LogFile, _: &Arc<Rules>) -> Box<dyn Cursor> {
        Box::new(RowCursor::new(&self.database, &self.id, log, 0))
    }

    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<Pieces> {
        let line = patiently(|| {
            self.database.read(|connection, tables| {
                let Some(skip) = wanted.place.line.checked_sub(1) else {
                    return tables.header(connection, &self.id).map(Ok);
                };
                let limits = Limits {
                    least: 1,
                    rows: 1,
                    bytes: PIECE,
                    time: LONGEST_TIME,
                };
                let mut rows = tables.rows(connection, &self.id, skip, limits)?;
                Ok(rows.lines.pop_front().map_or(Ok(None), |line| line.text))
            })
        })?;
        let line = line.map_err(io::Error::other)?.unwrap_or_default();
        text::in_record(log.format, wanted, line.as_bytes())
    }

    fn tail(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
    ) -> io::Result<Reading> {
        cursor::tail(&self.database, &self.id, log, measure, rules)
    }
}
