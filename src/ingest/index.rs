//! Keeps what was read of logs in one file of the user's cache folder, so that an unchanged log is not read again.
//!
//! The file is a database. A table for each [`Part`] has a row for each log: its [`LogKey`], the value that the caller
//! computed from it, and a checksum of both. Another table has the facts that [`earlier`] sessions have shown, which
//! outlive logs and versions.
//!
//! A log counts as unchanged while its `Stamp` is the same: device, file, size, and the times of the last write
//! and of the last change of the file, in nanoseconds. Nothing continues from the index: a log that has changed, or
//! is opened, is read again. So no hash of its content is needed to trust what follows.
//!
//! The file is trusted as little as a log: it has these tables and nothing else, and a statement has a limit of steps.
//!
//! Any fault of the file costs only time: a damaged file is removed, and one that another program holds is not used
//! this time. The content that a program with other rules has written is replaced: checksums begin with the version.
//! The only texts in it are the names of sessions, and those of tools, skills, agents and servers in findings.

pub mod earlier;
mod file;
mod key;
mod summaries;
#[cfg(test)]
mod tests;
mod version;

pub use key::LogKey;
pub(crate) use key::stamps_beside;
pub use summaries::{restore, value};

use crate::bytes::sync::lock;
use file::File;
use model::window::Rules;
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;
use strum::IntoEnumIterator;
use version::version;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The kinds of values that are kept of logs, each in a table of its own.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::EnumIter, strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum Part {
    /// The data that a list shows of sessions whose log was read whole.
    Summaries,
    /// The data that a list shows of sessions whose logs were read from their ends.
    Ends,
    /// The cost of each response.
    Responses,
    /// The findings of each session.
    Findings,
}

/// The most pages of the file that are in use, of 4,096 bytes each: 128 MB. Beyond, the logs that were written longest ago
/// are left out.
const MOST_PAGES: i64 = 32_768;
/// Each write looks whether so many other logs, from a random place on, are gone.
const LOOKED_AT: usize = 64;
/// The columns of a part. The id is a hash of the log's path.
const COLUMNS: &str = "id INTEGER PRIMARY KEY, written INTEGER, checksum INTEGER NOT NULL,
    key BLOB NOT NULL, value BLOB NOT NULL";

/// The index. Several threads may use it at once.
pub struct Index {
    /// The path of the file.
    pub path: PathBuf,
    file: Mutex<File>,
    /// The version of all that the contents depend on besides the logs.
    version: u64,
    most_pages: i64,
    has_failed: AtomicBool,
}

/// All that the index has of one part.
#[derive(Default)]
pub struct IndexEntries {
    /// By the id of the log.
    rows: Mutex<HashMap<i64, IndexRow>>,
}

struct IndexRow {
    /// A hash of the key.
    key: u64,
    value: Box<[u8]>,
}

impl IndexEntries {
    /// Returns the value that was kept of a log that has not changed since. It is given once: so as values are used,
    /// memory is freed.
    pub fn take(&self, key: &LogKey) -> Option<Box<[u8]>> {
        let row = RowKey::of(key);
        let found = lock(&self.rows).remove(&row.id)?;
        (found.key == xxh3_64(&row.key)).then_some(found.value)
    }
}

/// A key as rows have it.
struct RowKey {
    id: i64,
    key: Vec<u8>,
}

impl RowKey {
    fn of(key: &LogKey) -> RowKey {
        RowKey {
            id: xxh3_64(key.path.as_bytes()).cast_signed(),
            // No type in it can fail to be written.
            key: postcard::to_stdvec(key).unwrap_or_default(),
        }
    }
}

impl Index {
    /// Returns the index in a folder. Nothing is read or made yet.
    pub fn new(folder: &Path, rules: &Rules) -> Index {
        let file = File::new(folder);
        Index {
            path: file.path.clone(),
            file: Mutex::new(file),
            version: version(rules),
            most_pages: MOST_PAGES,
            has_failed: AtomicBool::new(false),
        }
    }

    /// Returns the values that were kept of all logs, in one pass.
    pub fn all(&self, part: Part) -> IndexEntries {
        let all = |connection: &Connection| {
            let mut statement = connection.prepare(&select(part))?;
            let mut rows = statement.query(())?;
            let mut all = HashMap::default();
            while let Some(row) = rows.next()? {
                if let Some((key, value)) = self.value(row)? {
                    let (key, value) = (xxh3_64(key), value.into());
                    all.insert(row.get(0)?, IndexRow { key, value });
                }
            }
            Ok(all)
        };
        IndexEntries {
            rows: Mutex::new(self.read(all).unwrap_or_default()),
        }
    }

    /// Keeps this of logs, all of it or nothing. Their keys must be older than the reading. Returns false if it was not
    /// kept: another program holds the file, or a write has failed before.
    ///
    /// # Errors
    ///
    /// If the file cannot be written; only the first time.
    pub fn put(&self, part: Part, entries: &[(LogKey, Vec<u8>)]) -> io::Result<bool> {
        if entries.is_empty() || self.has_failed.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let written = self.write(part, entries);
        self.has_failed.store(written.is_err(), Ordering::Relaxed);
        written
    }

    fn write(&self, part: Part, entries: &[(LogKey, Vec<u8>)]) -> io::Result<bool> {
        let gone = self.gone(part, &entries[0].0);
        let table: &str = part.into();
        // In the order of the table its pages are filled; in any other they are half empty.
        let mut rows: Vec<_> = entries
            .iter()
            .map(|(key, value)| (RowKey::of(key), key, value))
            .collect();
        rows.sort_unstable_by_key(|(row, ..)| row.id);
        lock(&self.file).write(|connection| {
            self.prepare(connection)?;
            let mut statement =
                connection.prepare(&format!("DELETE FROM {table} WHERE id = ?1"))?;
            for id in &gone {
                statement.execute([id])?;
            }
            let mut statement =
                connection.prepare(&format!("REPLACE INTO {table} VALUES (?1, ?2, ?3, ?4, ?5)"))?;
            for (row, key, value) in &rows {
                let written = key.stamp.modified;
                let written = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                let written = written.and_then(|at| i64::try_from(at.as_nanos()).ok());
                let checksum = self.checksum(&row.key, value);
                statement.execute(params![row.id, written, checksum, row.key, value])?;
            }
            shrink(connection, self.most_pages)
        })
    }

    /// Reads the tables, if they are of this version.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Option<T> {
        let read = |connection: &Connection| {
            let is_ours = self.is_prepared(connection)?;
            is_ours.then(|| read(connection)).transpose()
        };
        lock(&self.file).read(read)?
    }

    /// Returns true if the tables are there and of this version.
    fn is_prepared(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok(version == self.user_version())
    }

    /// Makes the tables anew, if they are not of this version.
    fn prepare(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.is_prepared(connection)? {
            return Ok(());
        }
        for table in Part::iter().map(<&str>::from) {
            connection.execute_batch(&format!(
                "DROP TABLE IF EXISTS {table}; CREATE TABLE {}",
                definition(table)
            ))?;
        }
        connection.pragma_update(None, "user_version", self.user_version())
    }

    /// Returns the version in the file's head; that of a new file is 0.
    fn user_version(&self) -> i32 {
        ((self.version ^ (self.version >> 32)) as u32 | 1).cast_signed()
    }

    /// Returns the key and the value of a row; `None`: they are not what this version has written.
    fn value<'r>(&self, row: &'r Row<'_>) -> rusqlite::Result<Option<(&'r [u8], &'r [u8])>> {
        let (key, value) = (row.get_ref(2)?.as_blob()?, row.get_ref(3)?.as_blob()?);
        let is_whole = self.checksum(key, value) == row.get::<_, i64>(1)?;
        Ok(is_whole.then_some((key, value)))
    }

    fn checksum(&self, key: &[u8], value: &[u8]) -> i64 {
        let mut hash = Xxh3::with_seed(self.version);
        hash.update(key);
        hash.update(value);
        hash.digest().cast_signed()
    }

    /// Returns the ids of some logs that are gone: looking at all of them would take longer than a write. A hash of a
    /// key says which are looked at, so they are others each time.
    fn gone(&self, part: Part, key: &LogKey) -> Vec<i64> {
        let table: &str = part.into();
        let from = xxh3_64(&RowKey::of(key).key).cast_signed();
        let some = |condition: &str| {
            format!(
                "SELECT * FROM (SELECT id, key FROM {table} WHERE id {condition} ?1 ORDER BY id LIMIT {LOOKED_AT})"
            )
        };
        let some = format!("{} UNION ALL {}", some(">="), some("<"));
        let looked_at = self.read(|connection| {
            let mut statement = connection.prepare(&some)?;
            let rows = statement.query_map([from], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>()
        });
        let is_gone = |key: &[u8]| {
            let key: Result<LogKey, _> = postcard::from_bytes(key);
            key.map_or(true, |key| key.is_gone())
        };
        let gone = looked_at.into_iter().flatten();
        gone.filter(|(_, key)| is_gone(key))
            .map(|(id, _)| id)
            .collect()
    }
}

/// Returns the table of a part, as it is made.
fn definition(table: &str) -> String {
    format!("{table}({COLUMNS})")
}

/// Returns true if a table is made by this program, by its text in the schema.
fn is_own_table(sql: &str) -> bool {
    let definition_of = |sql: &str| sql.strip_prefix("CREATE TABLE ").map(str::to_owned);
    let mut own = Part::iter().map(|part| definition(part.into()));
    definition_of(sql).is_some_and(|sql| sql == earlier::TABLE || own.any(|own| own == sql))
}

/// Returns the rows of a part.
fn select(part: Part) -> String {
    let table: &str = part.into();
    format!("SELECT id, checksum, key, value FROM {table}")
}

/// Removes the logs that were written longest ago, until no more than these pages are in use.
fn shrink(connection: &Connection, most_pages: i64) -> rusqlite::Result<()> {
    let used = "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count";
    let used = || connection.query_row(used, (), |row| row.get::<_, i64>(0));
    if used()? <= most_pages {
        return Ok(());
    }
    let mut removed = 1;
    while removed > 0 && used()? > most_pages {
        removed = 0;
        for table in Part::iter().map(<&str>::from) {
            let oldest = format!(
                "DELETE FROM {table} WHERE id IN (SELECT id FROM {table} ORDER BY written
                LIMIT (SELECT (count(*) + 7) / 8 FROM {table}))"
            );
            removed += connection.execute(&oldest, ())?;
        }
    }
    // Each step gives one page back.
    let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut rows = statement.query(())?;
    while rows.next()?.is_some() {}
    Ok(())
}
