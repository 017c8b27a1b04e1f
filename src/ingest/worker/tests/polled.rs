//! Roots of which the system gives no notice.

use super::super::poll::ROUND_INTERVAL;
use super::*;
use std::fs;
use std::path::Path;

/// A worker that polls a folder, without a watcher and between two walks.
struct Polled {
    driven: Driven,
    folder: tempfile::TempDir,
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

impl Polled {
    fn new() -> Polled {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("a/one.toy"), "{\"toy\":1}\n");
        let mut driven = Driven::new(&[]);
        let worker = &mut driven.worker;
        let roots = vec![SearchRoot::Usual(&TOY, folder.path().to_path_buf())];
        worker.scanner = Scanner::new(roots, vec![&TOY], |_| None);
        let roots = worker.scanner.roots.to_vec();
        worker.scanner.polled = worker.poller.cover(&roots, None, &|_| ());
        assert_eq!(worker.scanner.polled, [folder.path()]);
        assert!(worker.walk().is_continue());
        Polled { driven, folder }
    }

    /// Polls until each session has one of these sizes.
    fn until(&mut self, sizes: &[u64]) {
        // Its own time: what is said to be due is due at once.
        let mut now = some_time();
        wait_for("what was written", || {
            now += ROUND_INTERVAL;
            let _ = self.driven.worker.poll(now);
            let worker = &mut self.driven.worker;
            let _ = worker.read_on(&self.driven.inbox);
            let _ = worker.take_wakes(Duration::from_millis(1));
            let sessions = lock(&self.driven.sessions);
            let mut found: Vec<u64> = sessions
                .keys()
                .filter_map(|key| Some(sessions.gauge(key)?.context.known))
                .collect();
            found.sort_unstable();
            if found == sizes {
                Ok(())
            } else {
                Err(format!("{found:?}"))
            }
        });
    }
}

#[test]
fn what_grows_or_is_new_in_a_polled_root_is_seen_without_a_notice_or_a_walk() {
    let mut polled = Polled::new();
    let at = |name: &str| polled.folder.path().join(name);
    let [one, two, three] = ["a/one.toy", "a/two.toy", "b/c/three.toy"].map(at);
    polled.until(&[2]);
    put(&one, "{\"toy\":20}\n");
    polled.until(&[21]);
    put(&two, "{\"toy\":5}\n");
    polled.until(&[6, 21]);
    put(&three, "{\"toy\":7}\n");
    polled.until(&[6, 8, 21]);
    put(&three, "{\"toy\":3}\n");
    polled.until(&[4, 6, 21]);
}

#[test]
fn nothing_is_polled_where_the_system_gives_notice() {
    let folder = tempfile::tempdir().unwrap();
    let roots = [SearchRoot::Given(folder.path().to_path_buf())];
    let now = some_time();
    let mut watcher = FileWatcher::new(|_| ()).unwrap();
    assert!(watcher.cover(now, &roots, &|_| ()).is_empty());
    let mut poller = Poller::new(false, now);
    assert!(poller.cover(&roots, Some(&watcher), &|_| ()).is_empty());
    assert_eq!(poller.next(), None);
    let mut poller = Poller::new(true, now);
    assert_eq!(
        poller.cover(&roots, Some(&watcher), &|_| ()),
        [folder.path()]
    );
    assert_eq!(poller.next(), Some(now));
}
