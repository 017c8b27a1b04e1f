//! Opens a database that belongs to an agent, takes no lock, and leaves no trace of that.
//!
//! With locks, writers would meet readers: one that waits for nobody is refused. An agent that ends removes its
//! write-ahead log only if nobody else has the database open. And SQLite alone would make files beside a database that it
//! only reads. So whatever there is, it is read without locks, and what was read counts only if nobody wrote to it
//! meanwhile; see `moment`:
//!
//! | there is | it is opened |
//! |---|---|
//! | no write-ahead log, or an empty one | as a file that nobody changes |
//! | a write-ahead log | with an index of the log that is made in memory |
//! | a journal that is being written | not now |
//! | a journal of a writer that is gone | not before the agent has rolled it back: only a writer can |
//!
//! A write-ahead log that is removed in the microseconds in which it is opened is made again, without content.

use super::version::{DatabaseVersion, Files, WAL_SUFFIX, beside};
use crate::bytes::patience::busy;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use ruzstd::decoding::StreamingDecoder;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// SQLite's access to files without locks.
const UNLOCKED_VFS: &str = files::of_system("unix-none", "unix-none", "win32-none");
/// The longest value that is read, in bytes.
const LONGEST_VALUE: i32 = 64 << 20;
/// The most bytes that a zstd decoder holds, as in `zst.rs`.
const ZSTD_WINDOW: u64 = 32 << 20;
/// Instructions of SQLite's machine between two looks at the clock.
const INSTRUCTIONS_PER_CHECK: i32 = 100_000;

/// An open database.
pub struct OpenDatabase {
    connection: Connection,
    /// The state of its files when it was opened.
    moment: DatabaseVersion,
    longest_query: Duration,
    /// The time at which the present query is given up, in milliseconds after `epoch`.
    until: Arc<AtomicU64>,
    epoch: Instant,
}

impl OpenDatabase {
    /// Opens the database at a path. A query that takes longer than `longest_query` is given up.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ResourceBusy`] if it is being written to; [`io::ErrorKind::InvalidData`] if it is no database.
    pub fn new(path: &Path, longest_query: Duration) -> io::Result<OpenDatabase> {
        let moment = DatabaseVersion::of(path)?;
        if moment.has_journal {
            return Err(if moment.is_left(path) {
                io::Error::other(
                    "it has the journal of a writer that is gone: start the agent once, it takes the journal in",
                )
            } else {
                busy()
            });
        }
        let parameters = if moment.has_log() {
            format!("mode=ro&vfs={UNLOCKED_VFS}")
        } else {
            "mode=ro&immutable=1".to_owned()
        };
        let uri = uri(path, &parameters);
        let opened = OpenDatabase::at(&uri, moment, longest_query).map_err(error)?;
        // SQLite would make the log again.
        if moment.has_log() && !beside(path, WAL_SUFFIX).exists() {
            return Err(busy());
        }
        // The first look at the tables shows whether it can be read at all.
        opened.read(path, |connection| {
            connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))
        })?;
        Ok(opened)
    }

    fn at(
        uri: &str,
        moment: DatabaseVersion,
        longest_query: Duration,
    ) -> rusqlite::Result<OpenDatabase> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri, flags)?;
        if moment.has_log() {
            // The index of the log is made in memory, and the log stays as it is.
            connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        }
        let (until, epoch) = (Arc::new(AtomicU64::new(u64::MAX)), Instant::now());
        prepare(&connection, &until, epoch)?;
        Ok(OpenDatabase {
            connection,
            moment,
            longest_query,
            until,
            epoch,
        })
    }

    /// Returns true if this connection shows the files as they are now.
    pub fn is_of(&self, files: Files) -> bool {
        self.moment.is_sure && self.moment.files == files
    }

    /// Reads the database at its path: all of it at one moment.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ResourceBusy`] if it was written to meanwhile: what was read does not count.
    pub fn read<T>(
        &self,
        path: &Path,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> io::Result<T> {
        let until = self.epoch.elapsed() + self.longest_query;
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.until.store(until, Ordering::Relaxed);
        let transaction = self.connection.unchecked_transaction().map_err(error)?;
        let result = read(&self.connection);
        drop(transaction);
        if self.moment.holds(path) {
            result.map_err(error)
        } else {
            Err(busy())
        }
    }
}

/// Returns a path as SQLite takes it with parameters.
fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri + "?" + parameters
}

fn prepare(
    connection: &Connection,
    until: &Arc<AtomicU64>,
    epoch: Instant,
) -> rusqlite::Result<()> {
    // Waiting is for who reads the error: it is tried again.
    connection.busy_timeout(Duration::ZERO)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    // Without it a statement is prepared anew for each session that it is run for: a fifth of the time of a list.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Nothing in a schema is run that its author chose, and nothing is written for sorting.
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY")?;
    let until = Arc::clone(until);
    let is_late = move || epoch.elapsed().as_millis() > u128::from(until.load(Ordering::Relaxed));
    connection.progress_handler(INSTRUCTIONS_PER_CHECK, Some(is_late))?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("unzstd", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Blob(frame) => unzstd(frame),
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        })
    })
}

/// Returns the text of a zstd frame; `None`: these bytes are no frame, or it is too long.
fn unzstd(frame: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    let decoder = StreamingDecoder::new_with_max_window_size(frame, ZSTD_WINDOW).ok()?;
    let most = u64::from(LONGEST_VALUE.unsigned_abs());
    decoder.take(most).read_to_end(&mut text).ok()?;
    String::from_utf8(text).ok()
}

/// Returns an error whose kind shows what can be done about it.
pub fn error(error: rusqlite::Error) -> io::Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => busy(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => io::Error::new(
            io::ErrorKind::InvalidData,
            "the database is damaged or only half written; it is tried again when it changes",
        ),
        _ => io::Error::other(error),
    }
}
