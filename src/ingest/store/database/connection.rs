//! Opens a database that belongs to an agent and leaves no trace of that.
//!
//! SQLite alone would make files beside a database that it only reads: the write-ahead log, its index, or
//! both. How a database is opened depends on what is there:
//!
//! | there is | it is opened |
//! |---|---|
//! | a write-ahead log with its index | read-only, the index too: shared locks, which no writer waits for |
//! | no write-ahead log, or an empty one without index | as a file that nobody changes: no locks; what was read counts only if that was so |
//! | a write-ahead log without its index | from a private copy: only a writer can make the index |
//! | no use of write-ahead logs | read-only: shared locks, for as long as a query takes |
//! | a journal that only a writer can roll back | from a private copy |
//!
//! On POSIX systems a process loses its locks on a file when it closes any descriptor of it, also one that was
//! opened elsewhere. So a connection is used only as long as the files are those that it was opened with.

use crate::agents::database::MAGIC;
use crate::files;
use crate::ingest::store::Stamp;
use jiff::Timestamp;
use rusqlite::functions::FunctionFlags;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use ruzstd::decoding::StreamingDecoder;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Of the header: the versions of the format that are needed to write and to read; 2: a write-ahead log.
const VERSIONS: [usize; 2] = [18, 19];
const HEADER: usize = 100;
/// The largest database that is copied, its log included, in bytes.
const LARGEST_COPY: u64 = 256 << 20;
/// The longest value that is read, in bytes.
const LONGEST: i32 = 64 << 20;
/// The most bytes that a zstd decoder holds, as in `zst.rs`.
const WINDOW: u64 = 32 << 20;
/// Instructions of SQLite's machine between two looks at the clock.
const INSTRUCTIONS: i32 = 100_000;

/// The files of a database, as they were at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Files {
    main: Stamp,
    wal: Option<Stamp>,
}

impl Files {
    /// The files now.
    pub fn of(path: &Path) -> io::Result<Files> {
        Ok(Files {
            main: Stamp::of(path)?,
            wal: Stamp::of(&beside(path, WAL)).ok(),
        })
    }

    /// Whether a later write is sure to show.
    pub fn is_sure(&self) -> bool {
        self.main.is_sure() && self.wal.is_none_or(|wal| wal.is_sure())
    }

    /// Whether the database has no bytes yet.
    pub fn is_empty(&self) -> bool {
        self.main.bytes() == 0
    }

    /// When one of them was last written to.
    pub fn modified(&self) -> Option<Timestamp> {
        let wal = self.wal.and_then(|wal| wal.modified());
        self.main.modified().max(wal)
    }

    fn bytes(&self) -> u64 {
        self.main.bytes() + self.wal.map_or(0, |wal| wal.bytes())
    }
}

const WAL: &str = "-wal";
const INDEX: &str = "-shm";
const JOURNAL: &str = "-journal";
/// The magic number of a rollback journal.
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Bytes of the write-ahead log of the database at a path.
pub fn log_bytes(path: &Path) -> u64 {
    fs::metadata(beside(path, WAL)).map_or(0, |meta| meta.len())
}

/// The database that this file belongs to, if it is one that SQLite keeps beside it.
pub fn owner(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let owner = [WAL, INDEX, JOURNAL].iter();
    let owner = owner
        .filter_map(|suffix| name.strip_suffix(suffix))
        .next()?;
    Some(path.with_file_name(owner))
}

/// An open database.
pub struct Opened {
    /// The connection.
    pub connection: Connection,
    /// The files when it was opened.
    files: Files,
    how: How,
    longest_query: Duration,
    /// When the present query is given up, in milliseconds after `epoch`.
    until: Arc<AtomicU64>,
    epoch: Instant,
    /// Deleted with the connection.
    #[expect(dead_code, reason = "held for as long as the connection")]
    copy: Option<TempDir>,
}

/// See the table above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Shared,
    Unchanged,
    Copied,
}

impl Opened {
    /// Opens the database at a path, which has these files. A query that takes longer than `longest_query` is given up.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if it changes meanwhile; [`io::ErrorKind::InvalidData`] if it is none.
    pub fn new(path: &Path, files: Files, longest_query: Duration) -> io::Result<Opened> {
        are_files(path)?;
        let how = how(path, files)?;
        let at = |how, uri: &str| Opened::at(uri, how, files, longest_query);
        let copied = || Opened::copied(path, files, longest_query);
        let opened = match how {
            How::Copied => return copied(),
            How::Shared => at(how, &uri(path, "mode=ro&readonly_shm=1")),
            How::Unchanged => at(how, &uri(path, "mode=ro&immutable=1")),
        };
        match opened {
            // The journal of a writer that is gone, which only a writer can roll back.
            Err(e) if is_for_writers(&e) && beside(path, JOURNAL).exists() => copied(),
            opened => opened.map_err(error),
        }
    }

    fn copied(path: &Path, files: Files, longest_query: Duration) -> io::Result<Opened> {
        let folder = copy(path, files)?;
        let uri = uri(&folder.path().join(COPY), "mode=rw");
        let opened = Opened::at(&uri, How::Copied, files, longest_query).map_err(error)?;
        Ok(Opened {
            copy: Some(folder),
            ..opened
        })
    }

    fn at(uri: &str, how: How, files: Files, longest_query: Duration) -> rusqlite::Result<Opened> {
        let access = match how {
            How::Copied => OpenFlags::SQLITE_OPEN_READ_WRITE,
            How::Shared | How::Unchanged => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri, flags)?;
        let (until, epoch) = (Arc::new(AtomicU64::new(u64::MAX)), Instant::now());
        prepare(&connection, &until, epoch)?;
        // The first look at the tables shows whether it can be read at all.
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
        Ok(Opened {
            connection,
            files,
            how,
            longest_query,
            until,
            epoch,
            copy: None,
        })
    }

    /// Whether this connection shows the files as they are now.
    pub fn is_of(&self, files: Files) -> bool {
        match self.how {
            // Another log under the same name is not the one that was opened.
            How::Shared => {
                let wals = self.files.wal.zip(files.wal);
                let is_same_wal = wals.map(|(ours, now)| ours.is_same_file(now));
                self.files.main.is_same_file(files.main)
                    && is_same_wal.unwrap_or(self.files.wal.is_none() && files.wal.is_none())
            }
            How::Unchanged | How::Copied => self.files == files && files.is_sure(),
        }
    }

    /// Reads in one transaction, so that all of it is of one moment.
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> io::Result<T> {
        let until = self.epoch.elapsed() + self.longest_query;
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.until.store(until, Ordering::Relaxed);
        let transaction = self.connection.unchecked_transaction().map_err(error)?;
        let result = read(&self.connection).map_err(error)?;
        drop(transaction);
        Ok(result)
    }

    /// Whether what was read counts: a database that was opened without locks may have changed meanwhile.
    pub fn is_still_true(&self, path: &Path) -> bool {
        self.how != How::Unchanged || Files::of(path).is_ok_and(|files| files == self.files)
    }
}

/// Refuses a database of which a part is not a file: SQLite would wait for who writes to a pipe. No link in the place
/// of a part beside the database leads out of its folder.
fn are_files(path: &Path) -> io::Result<()> {
    files::look(path)?;
    for suffix in [WAL, INDEX, JOURNAL] {
        let part = beside(path, suffix);
        let looked = files::beside(path, &part).and_then(|real| files::look(&real));
        match looked {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(io::Error::new(
                    e.kind(),
                    format!("'…{suffix}' beside it: {e}"),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn how(path: &Path, files: Files) -> io::Result<How> {
    let mut header = Vec::with_capacity(HEADER);
    files::open(path)?
        .take(HEADER as u64)
        .read_to_end(&mut header)?;
    if !header.starts_with(MAGIC) || header.len() < HEADER {
        return Err(invalid(
            "this is no SQLite database, or it is encrypted or only half written",
        ));
    }
    let has_index = beside(path, INDEX).exists();
    let uses_wal = VERSIONS.iter().any(|at| header[*at] == 2);
    Ok(match files.wal {
        _ if !uses_wal => How::Shared,
        None => How::Unchanged,
        Some(_) if has_index => How::Shared,
        Some(wal) if wal.bytes() == 0 => How::Unchanged,
        Some(_) => How::Copied,
    })
}

const COPY: &str = "database";

/// A copy of the files in a folder of its own.
fn copy(path: &Path, files: Files) -> io::Result<TempDir> {
    if files.bytes() > LARGEST_COPY {
        return Err(io::Error::other(format!(
            "its write-ahead log can only be read from a copy, and {} MiB are too many for one: start the \
             agent once, it takes the log in",
            files.bytes() >> 20
        )));
    }
    let folder = tempfile::tempdir()?;
    let to = folder.path().join(COPY);
    let mut left = LARGEST_COPY - files::copy(path, &to, LARGEST_COPY)?;
    for suffix in [WAL, JOURNAL] {
        let copy = beside(&to, suffix);
        match files::copy(&beside(path, suffix), &copy, left) {
            Ok(copied) => left -= copied,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        }
        if suffix == JOURNAL && names_another(&copy)? {
            return Err(invalid(
                "its journal is of a transaction that changed other databases too: start the agent once, it \
                 takes the journal in",
            ));
        }
    }
    match Files::of(path)? == files {
        true => Ok(folder),
        false => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// Whether a journal ends with the path of another one, of a transaction in several databases. SQLite would open that
/// path, and delete what is there when it has rolled the journal back (<https://www.sqlite.org/tempfiles.html>, 2.5).
/// The path is followed by its length, its checksum and the magic number of a journal
/// (<https://www.sqlite.org/fileformat2.html>, 3).
fn names_another(journal: &Path) -> io::Result<bool> {
    let mut file = files::open(journal)?;
    if file.metadata()?.len() < JOURNAL_MAGIC.len() as u64 {
        return Ok(false);
    }
    let mut end = [0; JOURNAL_MAGIC.len()];
    file.seek(SeekFrom::End(-(end.len() as i64)))?;
    file.read_exact(&mut end)?;
    Ok(end == JOURNAL_MAGIC)
}

/// A path as SQLite takes it with parameters.
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
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    // Nothing in a schema is run that its author chose, and nothing is written for sorting.
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY")?;
    let until = Arc::clone(until);
    let is_late = move || epoch.elapsed().as_millis() > u128::from(until.load(Ordering::Relaxed));
    connection.progress_handler(INSTRUCTIONS, Some(is_late))?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("unzstd", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Blob(frame) => unzstd(frame),
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        })
    })
}

/// The text of a zstd frame; `None`: it is none, or too long.
fn unzstd(frame: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    let decoder = StreamingDecoder::new_with_max_window_size(frame, WINDOW).ok()?;
    let most = u64::from(LONGEST.unsigned_abs());
    decoder.take(most).read_to_end(&mut text).ok()?;
    String::from_utf8(text).ok()
}

fn is_for_writers(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// What went wrong, by what can be done about it.
pub fn error(error: rusqlite::Error) -> io::Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => io::Error::new(
            io::ErrorKind::ResourceBusy,
            "the database is locked by another program; it is tried again",
        ),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => invalid(
            "the database is damaged or only half written; it is tried again when it changes",
        ),
        // The index of the log is being made.
        Some(ErrorCode::ReadOnly) => io::ErrorKind::WouldBlock.into(),
        _ => io::Error::other(error),
    }
}
