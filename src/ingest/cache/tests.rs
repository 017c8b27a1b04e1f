//! The file of a cache, whatever happens to it, and what it holds.

use super::*;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::lanes::summaries_of;
use crate::log::LogFile;
use crate::reader::read_whole;
use crate::source::Stamp;
use crate::source::file_system::Location;
use crate::testing::toy_log;
use files::waiting::wait_for;
use model::event::ByLength;
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A folder with a log that nobody has written to for a while, and with a cache.
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
        self.folder().join("sessions.cache")
    }

    fn open(&self) -> Cache {
        Cache::open(&self.folder(), Part::Sessions, &Rules::default())
    }

    fn key(&self) -> LogKey {
        LogKey::of(&self.log, self.log.store.stamp().unwrap()).unwrap()
    }

    /// Keeps this of the log.
    fn save(&self, value: &[u8]) {
        let mut cache = self.open();
        cache.put(self.key(), with_details(value));
        cache.save().unwrap();
    }

    /// What is kept of the log as it is now.
    fn found(&self) -> Option<Vec<u8>> {
        found(&self.open(), &self.key())
    }
}

/// A value whose details are its reverse.
fn with_details(value: &[u8]) -> Value {
    Value {
        shown: value.to_vec(),
        details: value.iter().rev().copied().collect(),
    }
}

/// What is kept under a key, if its details are too.
fn found(cache: &Cache, key: &LogKey) -> Option<Vec<u8>> {
    let kept = cache.get(key)?;
    let details = kept.details.bytes()?;
    assert_eq!(with_details(kept.shown).details, details);
    Some(kept.shown.to_vec())
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

/// Makes a file an hour old.
fn age(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let then = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(then).unwrap();
}

#[test]
fn what_was_kept_is_there_the_next_time() {
    let home = Home::new();
    assert_eq!(home.found(), None);
    home.save(b"value");
    assert_eq!(home.found().unwrap(), b"value");
    home.save(b"another");
    assert_eq!(home.found().unwrap(), b"another");
    let beside = fs::read_dir(home.folder()).unwrap().count();
    assert_eq!(beside, 1, "only the file itself");
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
    assert_eq!((stamp.bytes(), stamp.written()), (12, Some(modified)));
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn a_damaged_or_torn_file_is_empty(
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
        prop_assert_eq!(home.found(), None);
        home.save(b"new");
        prop_assert_eq!(home.found().unwrap(), b"new");
    }
}

#[test]
fn a_file_of_another_version_is_empty() {
    let home = Home::new();
    let rules = Rules {
        summary: 7,
        ..Rules::default()
    };
    let mut other = Cache::open(&home.folder(), Part::Sessions, &rules);
    other.put(home.key(), with_details(b"value"));
    other.save().unwrap();
    assert_eq!(home.found(), None);
    assert!(
        Cache::open(&home.folder(), Part::Sessions, &rules)
            .get(&home.key())
            .is_some()
    );
}

#[test]
fn a_foreign_file_or_folder_in_its_place_is_passed_over() {
    let home = Home::new();
    fs::create_dir_all(home.file()).unwrap();
    let mut cache = home.open();
    cache.put(home.key(), with_details(b"value"));
    assert!(cache.save().is_err());
    // It is not tried again and again.
    cache.put(home.key(), with_details(b"value"));
    assert!(cache.save().is_ok());
    assert_eq!(home.found(), None);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_once() {
    let home = Home::new();
    fs::write(home.dir.path().join("cache"), "a file").unwrap();
    let mut cache = home.open();
    cache.put(home.key(), with_details(b"value"));
    assert!(cache.save().is_err());
    assert!(cache.save().is_ok());
}

#[test]
#[cfg(unix)]
fn only_the_user_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.save(b"value");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.file()), 0o600);
    assert_eq!(mode(&home.folder()), 0o700);
}

#[test]
fn two_writers_keep_what_both_have() {
    let homes = [Home::new(), Home::new()];
    let open = || homes[0].open();
    let (mut one, mut two) = (open(), open());
    one.put(homes[0].key(), with_details(b"one"));
    two.put(homes[1].key(), with_details(b"two"));
    one.save().unwrap();
    two.save().unwrap();
    let found = |home: &Home| found(&open(), &home.key());
    assert_eq!(found(&homes[0]).unwrap(), b"one");
    assert_eq!(found(&homes[1]).unwrap(), b"two");

    // At once, many times: the file is always whole.
    std::thread::scope(|scope| {
        for home in &homes {
            scope.spawn(|| {
                for n in 0_u8..20 {
                    let mut cache = open();
                    cache.put(home.key(), with_details(&vec![n; 1000]));
                    cache.save().unwrap();
                }
            });
        }
    });
    assert!(homes.iter().any(|home| found(home) == Some(vec![19; 1000])));
}

#[test]
fn what_a_killed_writer_has_left_is_removed() {
    let home = Home::new();
    home.save(b"value");
    let [old, new] = ["old", "new"].map(|name| {
        let path = home.folder().join(format!(".unfinished-{name}"));
        fs::write(&path, "half of it").unwrap();
        path
    });
    age(&old);
    home.save(b"value");
    assert!(!old.exists(), "nobody finishes it");
    assert!(new.exists(), "another program may be writing it");
    assert_eq!(home.found().as_deref(), Some(&b"value"[..]));
}

#[test]
fn a_log_that_is_gone_is_dropped_and_the_oldest_are_when_it_is_full() {
    let homes = [Home::new(), Home::new()];
    let path = homes[0].file();
    let value = || with_details(&[1; 1000]);
    let entry = |home: &Home| (home.key().path().into(), (home.key(), value()));
    let fresh: HashMap<_, _> = homes.iter().map(entry).collect();
    for (file, index) in [(3000, 10_000), (10_000, 1500)] {
        file::write(&path, 7, None, fresh.clone(), &Capacity { file, index }).unwrap();
        let contents = Contents::read(&path, 7).unwrap();
        let kept = homes
            .iter()
            .filter(|home| contents.get(&home.key()).is_some());
        assert_eq!(kept.count(), 1);
        let newest = homes.iter().max_by_key(|home| home.key().stamp().written());
        assert!(contents.get(&newest.unwrap().key()).is_some());
    }

    file::write(&path, 7, None, fresh, &Capacity::USUAL).unwrap();
    let contents = Contents::read(&path, 7).unwrap();
    let gone = homes[1].key();
    fs::remove_file(&*homes[1].log.facts.path).unwrap();
    file::write(&path, 7, Some(&contents), HashMap::new(), &Capacity::USUAL).unwrap();
    let contents = Contents::read(&path, 7).unwrap();
    assert!(contents.get(&gone).is_none());
    assert!(contents.get(&homes[0].key()).is_some());
}

/// Puts a mark into every string of a JSON value that is long enough to be a text.
fn mark(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) if text.contains(' ') => text.push_str(" zebra_marker"),
        serde_json::Value::Array(all) => all.iter_mut().for_each(mark),
        serde_json::Value::Object(all) => all.values_mut().for_each(mark),
        _ => {}
    }
}

#[test]
fn no_text_of_a_log_is_in_it_but_what_its_sessions_are_called() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let look = |root: PathBuf| {
        let roots = vec![SearchRoot::Given(root)];
        Scanner::new(roots, agents::ALL.to_vec(), |_| None)
            .look()
            .files
    };
    let rules = Arc::<Rules>::default();
    let (mut marked, mut seen, mut names) = (0, 0, 0);
    for log in look(fixtures) {
        let Ok(text) = fs::read_to_string(&*log.facts.path) else {
            continue;
        };
        let lines = text.lines().map(|line| match serde_json::from_str(line) {
            Ok(mut value) => {
                mark(&mut value);
                value.to_string()
            }
            Err(_) => line.to_owned(),
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        if !text.contains("zebra_marker") {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(log.facts.path.file_name().unwrap());
        fs::write(&path, text + "\n{\"broken zebra_marker\n").unwrap();
        let root = SearchRoot::Forced(log.format, path);
        let found = Scanner::new(vec![root], vec![log.format], |_| None).look();
        let Some(log) = found.files.into_iter().next() else {
            continue;
        };
        let Ok(sessions) = read_whole(&log, &ByLength, &rules) else {
            continue;
        };
        let texts = sessions.iter().flat_map(|(_, session)| session.items());
        seen += texts
            .filter(|item| item.preview().contains("zebra_marker"))
            .count();
        let mut summaries = summaries_of(&sessions);
        for (_, summary) in &mut summaries {
            let meta = &mut summary.meta;
            let called = [meta.title.take(), meta.prompt.take(), summary.said.take()];
            names += called.iter().flatten().count();
        }
        let stored = value(&summaries).shown;
        let place = memchr::memmem::find(&stored, b"zebra_marker");
        assert_eq!(place, None, "{:?}", log.facts.path);
        marked += 1;
    }
    assert!(
        marked > 50 && seen > 100 && names > 50,
        "{marked} logs, {seen} texts, {names} names"
    );
}

#[test]
fn details_stay_where_they_are_when_the_file_is_replaced() {
    let homes = [Home::new(), Home::new()];
    homes[0].save(b"value");
    let cache = homes[0].open();
    let kept = cache.get(&homes[0].key()).unwrap();
    let mut other = homes[0].open();
    other.put(homes[1].key(), with_details(b"longer value"));
    other.save().unwrap();
    assert_eq!(kept.details.bytes().unwrap(), b"eulav");
    assert_eq!(homes[0].found().unwrap(), b"value");
}

#[test]
fn damaged_details_cost_their_own_entry_alone() {
    let homes = [Home::new(), Home::new()];
    homes[0].save(b"value");
    let mut bytes = fs::read(homes[0].file()).unwrap();
    let at = memchr::memmem::find(&bytes, b"eulav").unwrap();
    bytes[at] ^= 1;
    fs::write(homes[0].file(), bytes).unwrap();
    let mut cache = homes[0].open();
    let kept = cache.get(&homes[0].key()).unwrap();
    assert_eq!(kept.shown, b"value");
    assert_eq!(kept.details.bytes(), None);
    cache.put(homes[1].key(), with_details(b"other"));
    cache.save().unwrap();
    let cache = homes[0].open();
    assert!(cache.get(&homes[0].key()).is_none(), "it is not kept on");
    assert_eq!(found(&cache, &homes[1].key()).unwrap(), b"other");
}

#[test]
fn stamps_of_several_files_are_not_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let path = Location::here(dir.path());
    for format in agents::ALL {
        let Some(claim) = format.claims(&path.path) else {
            continue;
        };
        if let Some(store) = crate::store::open(claim.store, &path, &Arc::default()) {
            assert!(!claim.store.is_folder() || !store.is_stamped_whole());
        }
    }
}
