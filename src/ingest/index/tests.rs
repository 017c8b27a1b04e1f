//! The file of the index, whatever happens to it.

use super::*;
use crate::bytes::source::Stamp;
use crate::bytes::source::file_system::Location;
use crate::database::JOURNAL_MAGIC;
use crate::log::LogFile;
use crate::testing::toy_log;
use files::waiting::wait_for;
use proptest::prelude::*;
use std::fs;
use std::time::{Duration, SystemTime};

/// A folder with a log that nobody has written to for a while, and with an index.
struct Home {
    dir: tempfile::TempDir,
    log: LogFile,
}

impl Home {
    fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.toy");
        fs::write(&path, "{\"toy\":100}\n").unwrap();
        age(&path);
        let log = toy_log(&path);
        Home { dir, log }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("cache/ctxgauge")
    }

    fn file(&self) -> PathBuf {
        self.folder().join("index.sqlite")
    }

    fn open(&self) -> Index {
        Index::new(&self.folder(), &Rules::default())
    }

    fn key(&self) -> LogKey {
        LogKey::of(&self.log, self.log.store.stamp().unwrap()).unwrap()
    }

    /// Keeps this of the log.
    fn save(&self, value: &[u8]) {
        assert!(save(&self.open(), &self.key(), value).unwrap());
    }

    /// Returns the value that is kept of the log as it is now, however it is looked up.
    fn found(&self) -> Option<Vec<u8>> {
        found(&self.open(), &self.key())
    }

    /// Another connection to the file.
    fn connection(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }
}

fn save(index: &Index, key: &LogKey, value: &[u8]) -> io::Result<bool> {
    index.put(Part::Responses, &[(key.clone(), value.to_vec())])
}

fn found(index: &Index, key: &LogKey) -> Option<Vec<u8>> {
    let found = index.all(Part::Responses).take(key);
    found.map(Vec::from)
}

/// Makes a file an hour old.
fn age(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let then = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(then).unwrap();
}

/// Waits until what is written to a file from now on gets another time of change than it has.
fn wait_for_a_tick(path: &Path) {
    let before = Stamp::of(path).unwrap();
    let beside = path.with_extension("tick");
    wait_for("tick of the file system", || {
        fs::write(&beside, "").unwrap();
        if Stamp::of(&beside).unwrap().is_changed_after(before) {
            Ok(())
        } else {
            Err("the same time")
        }
    });
}

#[test]
fn what_was_kept_is_there_the_next_time() {
    let home = Home::new();
    assert_eq!(home.found(), None);
    assert!(!home.folder().exists(), "nothing is made by reading");
    home.save(b"value");
    assert_eq!(home.found().unwrap(), b"value");
    home.save(b"another");
    assert_eq!(home.found().unwrap(), b"another");
    assert_eq!(home.open().all(Part::Summaries).take(&home.key()), None);
    let index = home.open();
    let kept = index.all(Part::Responses);
    assert!(kept.take(&home.key()).is_some());
    assert!(kept.take(&home.key()).is_none(), "it is given once");
}

#[test]
fn a_log_that_was_written_to_is_not_found() {
    let home = Home::new();
    let path = &*home.log.facts.path;
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    home.save(b"value");
    // A byte, the same size, the same time of writing.
    wait_for_a_tick(path);
    fs::write(path, "{\"toy\":101}\n").unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(modified).unwrap();
    let stamp = home.log.store.stamp().unwrap();
    assert_eq!((stamp.len, stamp.modified), (12, Some(modified)));
    #[cfg(unix)]
    assert_eq!(home.found(), None);

    let home = Home::new();
    home.save(b"value");
    fs::write(&*home.log.facts.path, "{\"toy\":1000}\n").unwrap();
    age(&home.log.facts.path);
    assert_eq!(home.found(), None);
}

#[test]
#[cfg(unix)]
fn another_file_of_the_same_size_and_time_is_not_found() {
    let home = Home::new();
    let path = &*home.log.facts.path;
    home.save(b"value");
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let other = home.dir.path().join("other");
    fs::write(&other, "{\"toy\":100}\n").unwrap();
    let file = fs::File::options().write(true).open(&other).unwrap();
    file.set_modified(modified).unwrap();
    fs::rename(&other, path).unwrap();
    assert_eq!(home.found(), None);
}

#[test]
fn a_log_that_is_being_written_is_not_kept() {
    let home = Home::new();
    fs::write(&*home.log.facts.path, "{\"toy\":101}\n").unwrap();
    let stamp = home.log.store.stamp().unwrap();
    assert!(stamp.is_sure() || LogKey::of(&home.log, stamp).is_none());
}

#[test]
fn stamps_of_several_files_are_not_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let path = Location::here(dir.path());
    for format in agents::ALL.iter() {
        let Some(claim) = format.claims(&path.path) else {
            continue;
        };
        if let Some(store) = crate::store::open(claim.store, &path) {
            assert!(!claim.store.is_folder() || !store.is_stamped_whole());
        }
    }
}

#[test]
fn a_file_of_another_version_is_empty() {
    let home = Home::new();
    let rules = Rules {
        summary: 7,
        ..Rules::default()
    };
    let other = Index::new(&home.folder(), &rules);
    assert!(save(&other, &home.key(), b"value").unwrap());
    assert_eq!(home.found(), None);
    assert_eq!(found(&other, &home.key()).unwrap(), b"value");
    home.save(b"own");
    assert_eq!(found(&other, &home.key()), None);
    assert_eq!(home.found().unwrap(), b"own");
}

#[test]
fn rows_that_another_version_has_left_are_not_believed() {
    let home = Home::new();
    home.save(b"value");
    let rules = Rules {
        summary: 7,
        ..Rules::default()
    };
    let other = Index::new(&home.folder(), &rules);
    // As if a journal had brought them back.
    let set = format!("PRAGMA user_version = {}", other.user_version());
    home.connection().execute_batch(&set).unwrap();
    assert_eq!(found(&other, &home.key()), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn a_damaged_or_torn_file_has_what_was_written_or_nothing(
        at in any::<prop::sample::Index>(),
        change in 1_u8..,
        is_torn in any::<bool>(),
    ) {
        let home = Home::new();
        home.save(b"value");
        let mut bytes = fs::read(home.file()).unwrap();
        let at = at.index(bytes.len());
        if is_torn { bytes.truncate(at) } else { bytes[at] ^= change }
        fs::write(home.file(), bytes).unwrap();
        let found = home.found();
        prop_assert!(found.is_none() || found.unwrap() == b"value");
        home.save(b"new");
        prop_assert_eq!(home.found().unwrap(), b"new");
    }
}

#[test]
fn a_damaged_row_costs_itself_alone() {
    let homes = [Home::new(), Home::new()];
    let index = homes[0].open();
    save(&index, &homes[0].key(), b"one and only").unwrap();
    save(&index, &homes[1].key(), b"other").unwrap();
    drop(index);
    let mut bytes = fs::read(homes[0].file()).unwrap();
    let at = memchr::memmem::find(&bytes, b"one and only").unwrap();
    bytes[at] ^= 1;
    fs::write(homes[0].file(), bytes).unwrap();
    assert_eq!(homes[0].found(), None);
    assert_eq!(found(&homes[0].open(), &homes[1].key()).unwrap(), b"other");
}

#[test]
fn what_is_no_index_is_replaced() {
    let home = Home::new();
    fs::create_dir_all(home.folder()).unwrap();
    fs::write(home.file(), "some text ".repeat(1000)).unwrap();
    assert_eq!(home.found(), None);
    home.save(b"value");
    assert_eq!(home.found().unwrap(), b"value");

    // A database with other tables.
    fs::remove_file(home.file()).unwrap();
    let version = home.open().user_version();
    let other = format!("CREATE TABLE responses(a); PRAGMA user_version = {version}");
    home.connection().execute_batch(&other).unwrap();
    assert_eq!(home.found(), None);
    home.save(b"value");
    assert_eq!(home.found().unwrap(), b"value");
}

/// A view of our name has rows without end.
#[test]
fn an_index_with_more_than_our_tables_is_made_anew() {
    let endless = "DROP TABLE responses; CREATE VIEW responses(id, written, checksum, key, value) AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, 0, 0, x'', x'' FROM n";
    let on_write = "CREATE TRIGGER t AFTER DELETE ON ends BEGIN DELETE FROM responses; END";
    for more in [
        endless,
        on_write,
        "CREATE TABLE more(a)",
        "CREATE INDEX i ON responses(written)",
        "DROP TABLE ends; CREATE TABLE ends(id, written, checksum, key, value, a AS (1))",
    ] {
        let home = Home::new();
        home.save(b"value");
        home.connection().execute_batch(more).unwrap();
        assert_eq!(home.found(), None, "{more}");
        assert!(!home.file().exists(), "{more}");
        home.save(b"another");
        assert_eq!(home.found().unwrap(), b"another", "{more}");
    }
}

#[test]
fn a_statement_on_the_index_has_a_limit_of_steps() {
    let home = Home::new();
    home.save(b"value");
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let read = |connection: &Connection| connection.query_row(endless, (), |_| Ok(()));
    assert!(File::new(&home.folder()).read(read).is_none());
    home.save(b"another");
    assert_eq!(home.found().unwrap(), b"another");
}

#[cfg(unix)]
#[test]
fn an_index_that_is_a_link_is_replaced_and_what_it_leads_to_stays() {
    use std::os::unix::fs::symlink;
    let (home, other) = (Home::new(), Home::new());
    other.save(b"theirs");
    fs::create_dir_all(home.folder()).unwrap();
    let before = fs::read(other.file()).unwrap();
    let absent = home.dir.path().join("absent");
    for to in [&other.file(), &absent] {
        let link = || {
            drop(fs::remove_file(home.file()));
            symlink(to, home.file()).unwrap();
        };
        link();
        assert_eq!(found(&home.open(), &other.key()), None);
        link();
        home.save(b"value");
        assert_eq!(home.found().unwrap(), b"value");
        assert!(!home.file().is_symlink());
    }
    assert_eq!(fs::read(other.file()).unwrap(), before);
    assert!(!absent.exists());
    // Its folder may be linked.
    let linked = home.dir.path().join("linked");
    symlink(home.folder(), &linked).unwrap();
    let index = Index::new(&linked, &Rules::default());
    assert_eq!(found(&index, &home.key()).unwrap(), b"value");
}

#[test]
fn a_journal_of_the_index_that_names_another_file_is_removed_with_it() {
    let home = Home::new();
    home.save(b"value");
    let journal = home.file().with_extension("sqlite-journal");
    fs::write(&journal, [&b"/etc/another"[..], &JOURNAL_MAGIC].concat()).unwrap();
    assert_eq!(home.found(), None);
    assert!(!home.file().exists() && !journal.exists());
}

#[test]
fn a_folder_in_its_place_is_an_error_once() {
    let home = Home::new();
    fs::create_dir_all(home.file()).unwrap();
    let index = home.open();
    assert!(save(&index, &home.key(), b"value").is_err());
    // It is not tried again and again.
    assert!(!save(&index, &home.key(), b"value").unwrap());
    assert_eq!(home.found(), None);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_once() {
    let home = Home::new();
    fs::write(home.dir.path().join("cache"), "a file").unwrap();
    let index = home.open();
    assert!(save(&index, &home.key(), b"value").is_err());
    assert!(!save(&index, &home.key(), b"value").unwrap());
}

#[test]
fn a_file_that_was_removed_is_made_again() {
    let home = Home::new();
    let index = home.open();
    save(&index, &home.key(), b"value").unwrap();
    fs::remove_dir_all(home.folder()).unwrap();
    assert!(save(&index, &home.key(), b"another").unwrap());
    assert_eq!(home.found().unwrap(), b"another");
}

#[test]
#[cfg(unix)]
fn only_the_user_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.save(b"value");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.folder()), 0o700);
    let files: Vec<PathBuf> = fs::read_dir(home.folder())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(files.contains(&home.file()), "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
}

#[test]
fn a_file_that_another_program_holds_stays_as_it_is() {
    let home = Home::new();
    home.save(b"value");
    let (other, index) = (home.connection(), home.open());
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(found(&index, &home.key()), None);
    assert!(!save(&index, &home.key(), b"another").unwrap());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(found(&index, &home.key()).unwrap(), b"value");
    assert!(save(&index, &home.key(), b"another").unwrap());

    // A reader does not stop others from reading.
    other
        .execute_batch("BEGIN; SELECT * FROM responses")
        .unwrap();
    assert_eq!(found(&index, &home.key()).unwrap(), b"another");
}

#[test]
fn what_a_killed_writer_has_left_is_undone() {
    let home = Home::new();
    home.save(b"value");
    let writer = home.connection();
    // So much is not held back until the end.
    writer
        .execute_batch(
            "PRAGMA synchronous = OFF; PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 10;
            BEGIN; UPDATE responses SET value = zeroblob(1000000);
            INSERT INTO responses SELECT id + 1, written, checksum, key, value FROM responses",
        )
        .unwrap();
    // What a kill leaves, in another place.
    let left = Home::new();
    fs::create_dir_all(left.folder()).unwrap();
    for entry in fs::read_dir(home.folder()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, left.folder().join(path.file_name().unwrap())).unwrap();
    }
    let whole = fs::metadata(left.file()).unwrap().len();
    assert!(whole > 1_000_000, "half of it is written");
    assert_eq!(found(&left.open(), &home.key()).unwrap(), b"value");
    assert!(fs::metadata(left.file()).unwrap().len() < 100_000);
}

#[test]
fn several_writers_and_readers_keep_what_all_have() {
    let homes: Vec<Home> = (0..4).map(|_| Home::new()).collect();
    let folder = homes[0].folder();
    let open = || Index::new(&folder, &Rules::default());
    std::thread::scope(|scope| {
        for home in &homes {
            scope.spawn(|| {
                let mut written = 0_u8;
                while written < 20 {
                    let value = vec![written; 10_000];
                    // While another one writes, this one does not wait for long.
                    written += u8::from(save(&open(), &home.key(), &value).unwrap());
                    if let Some(found) = found(&open(), &homes[0].key()) {
                        assert!(found.len() == 10_000 && found.iter().all(|n| *n == found[0]));
                    }
                }
            });
        }
    });
    for home in &homes {
        assert_eq!(found(&open(), &home.key()).unwrap(), [19; 10_000]);
    }

    // One index, many threads.
    let index = open();
    std::thread::scope(|scope| {
        for home in &homes {
            scope.spawn(|| {
                for n in 0_u8..20 {
                    assert!(save(&index, &home.key(), &[n]).unwrap());
                    assert_eq!(found(&index, &home.key()).unwrap(), [n]);
                }
            });
        }
    });
}

#[test]
fn a_log_that_is_gone_is_dropped() {
    let homes = [Home::new(), Home::new(), Home::new()];
    let index = homes[0].open();
    for home in &homes {
        save(&index, &home.key(), b"value").unwrap();
    }
    let gone = homes[1].key();
    fs::remove_file(&*homes[1].log.facts.path).unwrap();
    assert!(found(&index, &gone).is_some(), "nobody has looked");
    save(&index, &homes[0].key(), b"value").unwrap();
    assert_eq!(found(&index, &gone), None);
    assert_eq!(found(&index, &homes[2].key()).unwrap(), b"value");
}

#[test]
fn the_oldest_logs_leave_when_it_is_full() {
    let homes: Vec<Home> = (0..16).map(|_| Home::new()).collect();
    let index = Index {
        most_pages: 120,
        ..homes[0].open()
    };
    let entry = |home: &Home| (home.key(), vec![1; 100_000]);
    // 25 pages each, so four of them have room.
    let all: Vec<_> = homes.iter().map(entry).collect();
    assert!(index.put(Part::Responses, &all).unwrap());
    assert!(
        index
            .put(Part::Summaries, &[(homes[0].key(), vec![1])])
            .unwrap()
    );
    let is_kept = |home: &&Home| found(&index, &home.key()).is_some();
    let kept = homes.iter().filter(is_kept).count();
    assert!((2..=4).contains(&kept), "{kept}");
    let mut by_age: Vec<&Home> = homes.iter().collect();
    by_age.sort_by_key(|home| home.key().stamp.modified);
    let newest = &by_age[homes.len() - kept..];
    assert!(newest.iter().all(is_kept), "the newest stay");
    let bytes = fs::metadata(homes[0].file()).unwrap().len();
    assert!(bytes < 120 * 4096 + 4096, "{bytes} bytes");
}
