//! Keeps the facts that earlier sessions have shown in the index. They are small, depend on neither logs nor rules, and
//! are written by every program that reads a session whole.

use super::file::File;
use model::values::earlier::{EarlierSessions, Facts};
use rusqlite::{Connection, OptionalExtension};
use std::io;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// The facts are one row.
pub(super) const TABLE: &str = "earlier(
    id INTEGER PRIMARY KEY, facts TEXT NOT NULL, checksum INTEGER NOT NULL)";

/// Reads the facts of the index in a folder. There are none if anything is wrong with it.
pub fn load(folder: &Path) -> EarlierSessions {
    let facts = File::new(folder).read(|connection| {
        let has_table = "SELECT 1 FROM sqlite_schema WHERE name = 'earlier'";
        let has_table = connection.query_row(has_table, (), |_| Ok(()));
        match has_table.optional()? {
            Some(()) => read(connection),
            None => Ok(Facts::default()),
        }
    });
    EarlierSessions::new(facts.unwrap_or_default())
}

/// Writes those that are new, with those that other programs have written meanwhile. Nothing is written while another
/// program holds the file: the next ones have them too.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save(folder: &Path, earlier: &EarlierSessions) -> io::Result<()> {
    if !earlier.has_new() {
        return Ok(());
    }
    let written = File::new(folder).write(|connection| {
        connection.execute_batch(&format!("CREATE TABLE IF NOT EXISTS {TABLE}"))?;
        let all = earlier.take_new(read(connection)?);
        // No type in it can fail to be written.
        let facts = serde_json::to_string(&all).unwrap_or_default();
        let row = (&facts, checksum(&facts));
        connection.execute("REPLACE INTO earlier VALUES (1, ?1, ?2)", row)?;
        Ok(())
    });
    written.map(drop)
}

fn read(connection: &Connection) -> rusqlite::Result<Facts> {
    let select = "SELECT facts, checksum FROM earlier WHERE id = 1";
    let row = connection.query_row(select, (), |row| Ok((row.get(0)?, row.get(1)?)));
    let row: Option<(String, i64)> = row.optional()?;
    let facts = row.filter(|(facts, sum)| checksum(facts) == *sum);
    Ok(facts
        .and_then(|(facts, _)| serde_json::from_str(&facts).ok())
        .unwrap_or_default())
}

fn checksum(facts: &str) -> i64 {
    xxh3_64(facts.as_bytes()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Index, LogKey, Part};
    use crate::log::LogFile;
    use crate::log::reader::read_whole;
    use crate::testing::toy_log;
    use files::waiting::wait_for;
    use model::event::ByLength;
    use model::window::Rules;
    use std::fs;
    use std::sync::Arc;

    /// Returns a log and the facts that it has shown; the folder holds the log.
    fn shown(folder: &Path, name: &str) -> (LogFile, EarlierSessions) {
        let path = folder.join(name).with_extension("toy");
        fs::write(&path, "{\"toy\":100}\n").unwrap();
        let log = toy_log(&path);
        let earlier = EarlierSessions::new(Facts::default());
        let rules = Rules {
            earlier: earlier.clone(),
            ..Rules::default()
        };
        read_whole(&log, &ByLength, &Arc::new(rules)).unwrap();
        assert!(earlier.has_new());
        (log, earlier)
    }

    fn all(earlier: &EarlierSessions) -> Facts {
        earlier.take_new(Facts::default())
    }

    #[test]
    fn what_sessions_have_shown_is_there_the_next_time_and_outlives_versions() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cache");
        assert_eq!(all(&load(&folder)), Facts::default());
        let (_, first) = shown(dir.path(), "first");
        save(&folder, &first).unwrap();
        assert!(!first.has_new());
        assert_eq!(all(&load(&folder)), all(&first));
        // Another program has the first from the file alone.
        let (log, second) = shown(dir.path(), "second");
        save(&folder, &second).unwrap();
        let both = second.take_new(all(&first));
        assert_ne!(both, all(&second));
        assert_eq!(all(&load(&folder)), both);

        let stamp = log.store.stamp().unwrap();
        // The log was just written.
        let key = wait_for("sure stamp", || {
            LogKey::of(&log, stamp).ok_or("it is not sure")
        });
        let index = Index::new(&folder, &Rules::default());
        let entries = [(key, b"value".to_vec())];
        assert!(index.put(Part::Responses, &entries).unwrap());
        assert_eq!(all(&load(&folder)), both);
    }

    #[test]
    fn nothing_is_written_while_another_program_holds_the_file_or_nothing_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let (_, earlier) = shown(dir.path(), "log");
        save(dir.path(), &earlier).unwrap();
        let other = Connection::open(dir.path().join("index.sqlite")).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let (_, more) = shown(dir.path(), "more");
        save(dir.path(), &more).unwrap();
        assert!(more.has_new(), "it is written later");
        assert_eq!(all(&load(dir.path())), Facts::default());
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(all(&load(dir.path())), all(&earlier));

        fs::remove_file(dir.path().join("index.sqlite")).unwrap();
        save(dir.path(), &earlier).unwrap();
        assert!(!dir.path().join("index.sqlite").exists());
    }

    #[test]
    fn damaged_facts_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let (_, earlier) = shown(dir.path(), "log");
        save(dir.path(), &earlier).unwrap();
        let other = Connection::open(dir.path().join("index.sqlite")).unwrap();
        other
            .execute("UPDATE earlier SET facts = replace(facts, '1', '2')", ())
            .unwrap();
        assert_eq!(all(&load(dir.path())), Facts::default());
    }
}
