//! The file of the index: opens it, reads and writes it, and handles what can go wrong with it.
//!
//! SQLite locks it for a short time while it is read or written. A write that is not complete is undone by whoever opens
//! the file next, from the journal beside it. Nothing waits for the disk: after a power failure the file may be damaged.

use super::is_own_table;
use crate::database::{JOURNAL_SUFFIX, are_files, beside, names_another};
use files::own;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, ffi};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// The time for which another program that holds the file is awaited. It is not awaited again while it still holds the
/// file.
const WAIT: Duration = Duration::from_millis(50);

/// The settings of a connection. The file is not mapped into memory, which a write-ahead log would need. Its pages are
/// read and written in their order, so a cache of 2 MB, the usual one, is of no use.
const SETTINGS: &str =
    "PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cache_size = -256; PRAGMA temp_store = MEMORY;
    PRAGMA synchronous = OFF; PRAGMA journal_mode = TRUNCATE";

/// The file, which is opened when it is first used.
pub(super) struct File {
    pub(super) path: PathBuf,
    connection: Option<Connection>,
    /// Another program held it the last time.
    is_held: bool,
}

/// The reason for which the file was not read or written.
enum FileProblem {
    /// Another program holds it, or its file system has no locks: it stays as it is.
    Busy,
    /// It is damaged, or not a file of this program.
    Damaged,
    /// Another file has taken its place, or none.
    Moved,
    /// The system refused.
    Refused(io::Error),
}

impl File {
    /// Returns the file in a folder.
    pub(super) fn new(folder: &Path) -> File {
        File {
            path: folder.join("index.sqlite"),
            connection: None,
            is_held: false,
        }
    }

    /// Reads the file. `None`: there is none, or it cannot be read now. A damaged one is removed.
    pub(super) fn read<T>(
        &mut self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Option<T> {
        if self.connection.is_none() {
            are_files(&self.path).ok()?;
        }
        let result = self.opened().and_then(read);
        self.check(result).ok()
    }

    /// Writes the file in one transaction. It is made if there is none; a damaged one is replaced. Returns false if
    /// another program holds it.
    ///
    /// # Errors
    ///
    /// If it cannot be made or written.
    pub(super) fn write(
        &mut self,
        mut write: impl FnMut(&Connection) -> rusqlite::Result<()>,
    ) -> io::Result<bool> {
        for _ in 0..TRIES {
            own::create(&self.path)?;
            are_files(&self.path)?;
            let result = self.opened().and_then(|connection| {
                let behavior = TransactionBehavior::Immediate;
                let transaction = Transaction::new_unchecked(connection, behavior)?;
                write(&transaction)?;
                transaction.commit()
            });
            match self.check(result) {
                Ok(()) => return Ok(true),
                Err(FileProblem::Busy) => return Ok(false),
                Err(FileProblem::Refused(error)) => return Err(error),
                Err(FileProblem::Damaged | FileProblem::Moved) => {}
            }
        }
        Err(io::Error::other("it is damaged again and again"))
    }

    fn opened(&mut self) -> rusqlite::Result<&Connection> {
        let wait = if self.is_held { Duration::ZERO } else { WAIT };
        let connection = match self.connection.take() {
            Some(connection) => {
                connection.busy_timeout(wait)?;
                connection
            }
            None => open(&self.path, wait)?,
        };
        limit_steps(&connection)?;
        check_schema(&connection)?;
        Ok(self.connection.insert(connection))
    }

    /// Checks the result of a use of the file. A damaged file is removed, so that the next one is whole.
    fn check<T>(&mut self, result: rusqlite::Result<T>) -> Result<T, FileProblem> {
        let trouble = match result {
            Ok(value) => {
                self.is_held = false;
                return Ok(value);
            }
            Err(error) => FileProblem::of(error),
        };
        self.is_held = matches!(trouble, FileProblem::Busy);
        match &trouble {
            FileProblem::Damaged => {
                self.connection = None;
                for path in [&self.path, &beside(&self.path, JOURNAL_SUFFIX)] {
                    // Another program may have removed it.
                    let _ = fs::remove_file(path);
                }
            }
            FileProblem::Moved => self.connection = None,
            FileProblem::Busy | FileProblem::Refused(_) => {}
        }
        Err(trouble)
    }
}

/// The steps of SQLite's machine that a use of the file may take: a full one takes a tenth of them to be read.
const MOST_STEPS: i32 = 50_000_000;
/// The steps between two looks at their number.
const STEPS_PER_CHECK: i32 = 100_000;
/// The longest value that is read or written, in bytes.
const LONGEST_VALUE: i32 = 64 << 20;
/// The number of times that a write is tried: a damaged file is removed after the first.
const TRIES: usize = 3;

fn open(path: &Path, wait: Duration) -> rusqlite::Result<Connection> {
    // SQLite would delete the file that it names.
    if names_another(&beside(path, JOURNAL_SUFFIX)).is_ok_and(|is| is) {
        return Err(rusqlite::Error::InvalidQuery);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(own::unlinked(path), flags)?;
    connection.busy_timeout(wait)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    limit_steps(&connection)?;
    connection.execute_batch(SETTINGS)?;
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages == 0 {
        // Only a file without tables takes it.
        connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    }
    Ok(connection)
}

/// Gives up what takes longer than any statement of the program from now on: pages of a damaged file may be read over and
/// over.
fn limit_steps(connection: &Connection) -> rusqlite::Result<()> {
    let mut left = MOST_STEPS / STEPS_PER_CHECK;
    let is_over = move || {
        left -= 1;
        left <= 0
    };
    connection.progress_handler(STEPS_PER_CHECK, Some(is_over))
}

/// Refuses a file that has anything but the program's own tables.
fn check_schema(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT type, sql FROM sqlite_schema")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let (kind, sql): (String, String) = (row.get(0)?, row.get(1)?);
        if kind != "table" || !is_own_table(&sql) {
            return Err(rusqlite::Error::InvalidQuery);
        }
    }
    Ok(())
}

impl FileProblem {
    fn of(error: rusqlite::Error) -> FileProblem {
        let rusqlite::Error::SqliteFailure(
            ffi::Error {
                code,
                extended_code,
            },
            _,
        ) = &error
        else {
            // A table or a column is another one.
            return FileProblem::Damaged;
        };
        match code {
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => FileProblem::Busy,
            ErrorCode::ReadOnly if *extended_code == ffi::SQLITE_READONLY_DBMOVED => {
                FileProblem::Moved
            }
            // A link is not followed, and removed.
            ErrorCode::CannotOpen if *extended_code == ffi::SQLITE_CANTOPEN_SYMLINK => {
                FileProblem::Damaged
            }
            ErrorCode::SystemIoFailure if NO_LOCKS.contains(extended_code) => FileProblem::Busy,
            ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::DiskFull
            | ErrorCode::PermissionDenied
            | ErrorCode::OutOfMemory
            | ErrorCode::NoLargeFileSupport => FileProblem::Refused(io::Error::other(error)),
            _ => FileProblem::Damaged,
        }
    }
}

/// The errors of a file system without locks.
const NO_LOCKS: [i32; 4] = [
    ffi::SQLITE_IOERR_LOCK,
    ffi::SQLITE_IOERR_UNLOCK,
    ffi::SQLITE_IOERR_RDLOCK,
    ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
];
