//! Hints from the system that something was written. Only hints: stat decides.
//!
//! notify's own poll watcher compares whole seconds and loses appends, so it is not used. Without hints,
//! the worker still looks at the files regularly.

use crate::bytes::source::file_system::FileSystem;
use crate::discover::roots::SearchRoot;
use notify::{Config, ErrorKind, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time after which what could not be watched is tried again: limits are raised, and what used them up ends.
pub const RETRY: Duration = Duration::from_secs(60);

/// A hint from the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Something happened to this path.
    Changed(PathBuf),
    /// Something happened somewhere.
    Anything,
}

/// Watches for as long as it lives.
pub struct FileWatcher {
    watcher: RecommendedWatcher,
    /// Follows no links: for folders that may be somebody else's.
    confined: Option<RecommendedWatcher>,
    open: Box<Opener>,
    /// The time at which to try again to watch a place; `None`: it is watched.
    watched: BTreeMap<PathBuf, Option<Instant>>,
}

/// Opens a watcher.
type Opener = dyn Fn(Config) -> notify::Result<RecommendedWatcher> + Send;

impl FileWatcher {
    /// Returns a watcher that watches nothing yet. `hint` is called on its own thread.
    pub fn new(hint: impl Fn(Hint) + Clone + Send + 'static) -> notify::Result<FileWatcher> {
        let open = move |config| {
            let hint = hint.clone();
            RecommendedWatcher::new(move |event| hints_of(event, &hint), config)
        };
        Ok(FileWatcher {
            watcher: open(Config::default())?,
            confined: None,
            open: Box::new(open),
            watched: BTreeMap::new(),
        })
    }

    /// Watches the places that exist and are not watched yet; returns those that cannot be.
    /// `announce` gets each root before it is looked at.
    pub fn cover(
        &mut self,
        now: Instant,
        roots: &[SearchRoot],
        announce: &dyn Fn(&Path),
    ) -> Vec<(PathBuf, notify::Error)> {
        let mut failed = Vec::new();
        self.watched.retain(|path, _| {
            announce(path);
            path.exists()
        });
        // The system has no hints of what is elsewhere.
        let roots = roots.iter().filter(|root| root.system().is_here());
        for root in roots {
            let path = root.path();
            announce(path);
            let system = root.system();
            if system.is_confined() && system.real(path).ok() != fs::canonicalize(path).ok() {
                // The system would watch what a link leads to elsewhere.
                self.watched.insert(path.to_path_buf(), Some(now + RETRY));
                continue;
            }
            let (path, mode) = if path.is_dir() {
                if root.is_flat() {
                    (path, RecursiveMode::NonRecursive)
                } else {
                    (path, RecursiveMode::Recursive)
                }
            } else if path.is_file() {
                // The folder's watch survives the file's replacement.
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                (
                    folder.unwrap_or(Path::new(".")),
                    RecursiveMode::NonRecursive,
                )
            } else {
                continue;
            };
            let tried = self.watched.get(path);
            if tried.is_some_and(|again| again.is_none_or(|again| now < again)) {
                continue;
            }
            let watched = self
                .watcher_of(&*system)
                .and_then(|watcher| watcher.watch(path, mode));
            failed.extend(self.note(now, path, watched));
        }
        failed
    }

    fn watcher_of(&mut self, system: &dyn FileSystem) -> notify::Result<&mut RecommendedWatcher> {
        if !system.is_confined() {
            return Ok(&mut self.watcher);
        }
        let confined = match self.confined.take() {
            Some(confined) => confined,
            None => (self.open)(Config::default().with_follow_symlinks(false))?,
        };
        Ok(self.confined.insert(confined))
    }

    /// Returns true if the system refused to watch what is at a path.
    pub fn is_refused(&self, path: &Path) -> bool {
        let of = |path: &Path| self.watched.get(path).is_some_and(Option::is_some);
        of(path) || path.parent().is_some_and(of)
    }

    /// Notes whether a place is watched now. Returns why it cannot be.
    fn note(
        &mut self,
        now: Instant,
        path: &Path,
        watched: notify::Result<()>,
    ) -> Option<(PathBuf, notify::Error)> {
        // It vanished since it was looked at: the next call sees whether it is back.
        if watched.as_ref().is_err_and(is_gone) {
            return None;
        }
        let again = watched.is_err().then_some(now + RETRY);
        self.watched.insert(path.to_path_buf(), again);
        Some((path.to_path_buf(), watched.err()?))
    }
}

/// Returns true if the path, or a folder below it, does not exist.
fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(e) => files::is_absent(e),
        _ => false,
    }
}

fn hints_of(event: notify::Result<notify::Event>, hint: &impl Fn(Hint)) {
    match event {
        Err(_) => hint(Hint::Anything),
        // Events were lost: the system's queue was full.
        Ok(event) if event.need_rescan() => hint(Hint::Anything),
        // Our own reading is an access too.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
        Ok(event) => event
            .paths
            .into_iter()
            .for_each(|path| hint(Hint::Changed(path))),
    }
}

/// Returns what to do about an error of the watcher; empty: nothing is known to help.
pub fn advice(error: &notify::Error) -> &'static str {
    match &error.kind {
        ErrorKind::MaxFilesWatch => files::watch_limit_hint(&io::ErrorKind::StorageFull.into()),
        ErrorKind::Io(e) => files::watch_limit_hint(e),
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::some_time;
    use notify::event::{Event, Flag};
    use std::cell::RefCell;

    #[test]
    fn the_queue_of_the_watcher_is_full_so_everything_is_looked_at() {
        let hints = RefCell::default();
        let hint = |hint| RefCell::<Vec<Hint>>::borrow_mut(&hints).push(hint);
        hints_of(
            Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)),
            &hint,
        );
        hints_of(Err(notify::Error::generic("lost")), &hint);
        assert_eq!(hints.take(), [Hint::Anything, Hint::Anything]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_watcher_advises_the_limit_that_is_reached() {
        let of = |code| advice(&notify::Error::io(io::Error::from_raw_os_error(code)));
        assert!(of(24).contains("max_user_instances"));
        assert!(of(24).contains("ulimit -n"));
        assert!(of(28).contains("max_user_watches"));
        assert!(of(23).contains("fs.file-max"));
        assert_eq!(of(13), "", "no permission");
        let reached = notify::Error::new(ErrorKind::MaxFilesWatch);
        assert!(advice(&reached).contains("max_user_watches"));
    }

    #[test]
    fn what_cannot_be_watched_is_named_once_and_tried_again_later() {
        let dir = tempfile::tempdir().unwrap();
        let root = SearchRoot::Given(dir.path().to_path_buf());
        let roots = [root];
        let mut watch = FileWatcher::new(|_| ()).unwrap();
        let now = some_time();
        assert!(watch.cover(now, &roots, &|_| ()).is_empty());
        let limit = Err(notify::Error::new(ErrorKind::MaxFilesWatch));
        let failed = watch.note(now, dir.path(), limit);
        assert_eq!(failed.map(|(path, _)| path).as_deref(), Some(dir.path()));
        let is_watched = |watch: &mut FileWatcher, now| {
            assert!(watch.cover(now, &roots, &|_| ()).is_empty());
            watch.watched[dir.path()].is_none()
        };
        let before = Duration::from_nanos(1);
        assert!(!is_watched(&mut watch, now + RETRY - before), "not yet");
        assert!(is_watched(&mut watch, now + RETRY), "now");
    }

    #[test]
    fn a_folder_that_vanishes_before_it_is_watched_is_no_failure_and_is_watched_when_it_is_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("logs");
        let roots = [SearchRoot::Given(folder.clone())];
        let mut watch = FileWatcher::new(|_| ()).unwrap();
        // What the system says of a folder that was there when it was looked at.
        let watched = watch.watcher.watch(&folder, RecursiveMode::Recursive);
        assert!(watched.is_err());
        assert!(watch.note(some_time(), &folder, watched).is_none());
        let io = Err(notify::Error::io(io::ErrorKind::NotFound.into()));
        assert!(watch.note(some_time(), &folder, io).is_none());
        std::fs::create_dir(&folder).unwrap();
        assert!(watch.cover(some_time(), &roots, &|_| ()).is_empty());
        assert_eq!(watch.watched.get(&folder), Some(&None));
    }
}
