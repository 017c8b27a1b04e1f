//! Links that are put in the place of logs.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

impl Driven {
    /// Follows the logs in a folder.
    fn below(folder: &Path) -> Driven {
        let mut driven = Driven::new(&[]);
        let root = SearchRoot::Usual(&TOY, folder.to_path_buf());
        driven.worker.scanner = Scanner::new(vec![root], vec![&TOY], |_| None);
        let found = driven.worker.scanner.look();
        assert!(driven.worker.take_in_all(found).is_continue());
        driven
    }

    fn hint(&mut self, path: &Path) {
        assert!(self.worker.changed(path).is_continue());
    }

    fn sessions(&self) -> usize {
        lock(&self.sessions).len()
    }

    fn has(&self, path: &Path) -> bool {
        lock(&self.sessions).of_file(file_id(path)).count() == 1
    }
}

const LOG: &str = "{\"toy\":1}\n";

#[test]
fn a_link_in_the_place_of_a_log_is_listed_once_and_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let path = logs.join("a.toy");
    // The log is moved beside it, or elsewhere; and its link may be there before that is noticed.
    for (to, is_noticed) in [
        (logs.join("b.toy"), false),
        (logs.join("b.toy"), true),
        (dir.path().join("elsewhere.toy"), false),
        (dir.path().join("elsewhere.toy"), true),
    ] {
        fs::write(&path, LOG).unwrap();
        let mut driven = Driven::below(&logs);
        fs::rename(&path, &to).unwrap();
        if is_noticed {
            driven.hint(&path);
            driven.hint(&to);
        }
        symlink(&to, &path).unwrap();
        driven.hint(&path);
        driven.hint(&to);
        assert_eq!(driven.sessions(), 1, "{}, {is_noticed}", to.display());
        assert!(driven.has(&to));
        // It is followed on.
        let known = || {
            let mut file = fs::OpenOptions::new().append(true).open(&to)?;
            file.write_all(LOG.as_bytes())
        };
        known().unwrap();
        driven.hint(&path);
        let requests = |sessions: &Sessions| {
            let mut keys = sessions.of_file(file_id(&to));
            Some(sessions.gauge(keys.next()?)?.requests)
        };
        assert_eq!(requests(&lock(&driven.sessions)), Some(2));
        fs::remove_file(&path).unwrap();
        fs::remove_file(&to).unwrap();
    }
}

#[test]
fn a_log_that_is_replaced_or_touched_stays_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.toy");
    fs::write(&path, LOG).unwrap();
    let mut driven = Driven::below(dir.path());
    let other = dir.path().join("other");
    fs::write(&other, LOG.repeat(2)).unwrap();
    fs::rename(&other, &path).unwrap();
    driven.hint(&path);
    assert_eq!((driven.sessions(), driven.has(&path)), (1, true));
    fs::set_permissions(&path, fs::metadata(&path).unwrap().permissions()).unwrap();
    driven.hint(&path);
    assert_eq!((driven.sessions(), driven.has(&path)), (1, true));
}
