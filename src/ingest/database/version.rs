//! Detects that a database was written to while it was read without locks.
//!
//! **Without a write-ahead log** a transaction is written to the database when it is committed, and earlier if it is
//! too large for its writer's memory. In the meantime there is a journal that begins with a magic number. Page 1, which
//! counts the changes, is written first. So the data that was read is of one moment if there was no such journal before
//! and after, and the counter is the same. The counter is read first and last, for a transaction may end in between.
//!
//! **With one**, transactions are appended to it, which changes nothing of the data before them. A checkpoint copies
//! pages into the database; the index states up to which frame before it does. So the data that was read is of one
//! moment if that frame was there when reading began, and the log was not begun again, with other salts. Without an
//! index, the time of writing shows a checkpoint. See <https://www.sqlite.org/walformat.html>.

use crate::bytes::patience::busy;
use crate::bytes::source::Stamp;
use formats::database::MAGIC;
use jiff::Timestamp;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const WAL_SUFFIX: &str = "-wal";
pub const INDEX_SUFFIX: &str = "-shm";
pub const JOURNAL_SUFFIX: &str = "-journal";
/// The magic number of a rollback journal.
pub const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// The size of a database's header, and the offset of the change counter in it.
const HEADER_BYTES: usize = 100;
const COUNTER_OFFSET: usize = 24;
/// The age of a journal and its database from which on their writer counts as gone.
const ABANDONED_AGE: Duration = Duration::from_secs(60);

/// Returns the path of what SQLite keeps beside a database.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Returns the bytes of the write-ahead log of the database at a path.
pub fn log_bytes(path: &Path) -> u64 {
    fs::metadata(beside(path, WAL_SUFFIX)).map_or(0, |meta| meta.len())
}

/// Returns the database that this file belongs to, if it is one of the files that SQLite keeps next to a database.
pub fn owner(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let owner = [WAL_SUFFIX, INDEX_SUFFIX, JOURNAL_SUFFIX]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))?;
    Some(path.with_file_name(owner))
}

/// The files of a database, as they were at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Files {
    main: Stamp,
    wal: Option<Stamp>,
}

impl Files {
    /// Returns the files now.
    pub fn of(path: &Path) -> io::Result<Files> {
        Ok(Files {
            main: Stamp::of(path)?,
            wal: Stamp::of(&beside(path, WAL_SUFFIX)).ok(),
        })
    }

    /// Returns true if a later write is sure to show.
    pub fn is_sure(&self) -> bool {
        self.main.is_sure() && self.wal.is_none_or(|wal| wal.is_sure())
    }

    /// Returns true if the database has no bytes yet.
    pub fn is_empty(&self) -> bool {
        self.main.len == 0
    }

    /// Returns the time at which one of them was last written to.
    pub fn modified(&self) -> Option<Timestamp> {
        let wal = self.wal.and_then(|wal| wal.modified());
        self.main.modified().max(wal)
    }

    fn log_bytes(&self) -> u64 {
        self.wal.map_or(0, |wal| wal.len)
    }

    /// Returns true if these are the same files, whatever was written to them.
    fn are_same(&self, other: &Files) -> bool {
        let wals = self.wal.zip(other.wal);
        self.main.is_same_file(other.main) && wals.is_some_and(|(a, b)| a.is_same_file(b))
    }
}

/// The state of a database before it is read.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseVersion {
    /// Its files.
    pub files: Files,
    /// True if a later write is sure to show in them.
    pub is_sure: bool,
    counter: [u8; 4],
    log: Option<Log>,
    /// True if a transaction is being written, or was when its writer ended.
    pub has_journal: bool,
}

impl DatabaseVersion {
    /// Returns the database at a path, now.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] if it is no database; [`io::ErrorKind::ResourceBusy`] if its log is just being
    /// removed.
    pub fn of(path: &Path) -> io::Result<DatabaseVersion> {
        are_files(path)?;
        let files = Files::of(path)?;
        let counter = counter(path)?;
        let log = match files.log_bytes() {
            0 => None,
            // It was removed a moment ago: the database itself is still there.
            _ => Some(Log::of(path).map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => busy(),
                _ => e,
            })?),
        };
        Ok(DatabaseVersion {
            files,
            is_sure: files.is_sure(),
            counter,
            log,
            has_journal: has_journal(path)?,
        })
    }

    /// Returns true if there is a write-ahead log to be read.
    pub fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Returns true if nobody goes on with the transaction that is being written.
    pub fn is_left(&self, path: &Path) -> bool {
        let journal = Stamp::of(&beside(path, JOURNAL_SUFFIX));
        self.files.main.age() >= ABANDONED_AGE
            && journal.is_ok_and(|journal| journal.age() >= ABANDONED_AGE)
    }

    /// Returns true if the data that was read since is the content of the database at one moment.
    pub fn holds(&self, path: &Path) -> bool {
        self.still_holds(path).unwrap_or(false)
    }

    fn still_holds(&self, path: &Path) -> io::Result<bool> {
        if has_journal(path)? {
            return Ok(false);
        }
        let Some(log) = &self.log else {
            let files = Files::of(path)?;
            return Ok(files == self.files && counter(path)? == self.counter);
        };
        let now = Log::of(path)?;
        let files = Files::of(path)?;
        Ok(self.files.are_same(&files)
            && now.header == log.header
            && match (log.index, now.index) {
                (Some(then), Some(now)) => now.taken_in <= then.frames,
                (None, _) => self.files.main == files.main,
                (Some(_), None) => false,
            })
    }
}

/// A write-ahead log.
#[derive(Debug, Clone, Copy)]
struct Log {
    header: [u8; 32],
    index: Option<Index>,
}

/// The beginning of a log's index, if it is of this log.
#[derive(Debug, Clone, Copy)]
struct Index {
    /// Frames of the log that count.
    frames: u32,
    /// The number of those frames that a checkpoint has copied into the database, or is about to copy.
    taken_in: u32,
}

impl Log {
    fn of(path: &Path) -> io::Result<Log> {
        let mut header = [0; 32];
        head(&beside(path, WAL_SUFFIX), &mut header)?;
        let index = Index::of(path, &header[16..24])?;
        Ok(Log { header, index })
    }
}

impl Index {
    /// Reads the index; `None`: there is none, it is being written, or it is of a log with other salts.
    fn of(path: &Path, salts: &[u8]) -> io::Result<Option<Index>> {
        let mut bytes = [0; 136];
        match head(&beside(path, INDEX_SUFFIX), &mut bytes) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        }
        // Its header is there twice, the second one written first.
        if bytes[..48] != bytes[48..96] || bytes[32..40] != *salts {
            return Ok(None);
        }
        // In the order of bytes of the machine.
        let number = |at: usize| {
            let bytes = bytes[at..].first_chunk().copied();
            bytes.map(u32::from_ne_bytes)
        };
        let of = number(16).zip(number(128));
        Ok(of.map(|(frames, taken_in)| Index { frames, taken_in }))
    }
}

/// Refuses a database of which a part is not a file: SQLite would wait for who writes to a pipe. No link in the place
/// of a part beside the database leads out of its folder.
pub fn are_files(path: &Path) -> io::Result<()> {
    files::look(path)?;
    for suffix in [WAL_SUFFIX, INDEX_SUFFIX, JOURNAL_SUFFIX] {
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

/// Reads the first bytes of a file; those that it does not have are zeros.
fn head(path: &Path, mut bytes: &mut [u8]) -> io::Result<()> {
    let file = files::open(path)?;
    io::copy(&mut file.take(bytes.len() as u64), &mut bytes)?;
    Ok(())
}

/// Returns the counter of the database's changes.
fn counter(path: &Path) -> io::Result<[u8; 4]> {
    let mut header = [0; HEADER_BYTES];
    head(path, &mut header)?;
    let is_whole = Stamp::of(path)?.len >= HEADER_BYTES as u64;
    let counter = header[COUNTER_OFFSET..].first_chunk().copied();
    counter
        .filter(|_| is_whole && header.starts_with(MAGIC))
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "this is no SQLite database, or it is encrypted or only half written",
            )
        })
}

/// Returns true if pages of the database are being written, and their journal is there to roll them back. Before that,
/// and in some modes after it, the journal has no magic number.
fn has_journal(path: &Path) -> io::Result<bool> {
    let mut magic = [0; JOURNAL_MAGIC.len()];
    match head(&beside(path, JOURNAL_SUFFIX), &mut magic) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        read => read.map(|()| magic == JOURNAL_MAGIC),
    }
}

/// Returns true if a journal ends with the path of another one, of a transaction in several databases. SQLite would
/// open that path, and delete the file there when it has rolled the journal back
/// (<https://www.sqlite.org/tempfiles.html>, 2.5). The path is followed by its length, its checksum and the magic
/// number of a journal (<https://www.sqlite.org/fileformat2.html>, 3).
pub fn names_another(journal: &Path) -> io::Result<bool> {
    let mut file = files::open(journal)?;
    if file.metadata()?.len() < JOURNAL_MAGIC.len() as u64 {
        return Ok(false);
    }
    let mut end = [0; JOURNAL_MAGIC.len()];
    file.seek(SeekFrom::End(-(end.len() as i64)))?;
    file.read_exact(&mut end)?;
    Ok(end == JOURNAL_MAGIC)
}
