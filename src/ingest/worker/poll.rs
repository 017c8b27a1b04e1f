//! Looks at intervals at the logs of which the system gives no notice: on file systems that others write to, in folders
//! that cannot be watched, and wherever the user asks for it.
//!
//! The [newest logs](MOST_NEWEST) are looked at every [`POLL_INTERVAL`], all others and the folders in turn, in rounds
//! of [`ROUND_INTERVAL`] or longer. Each look takes [`POLL_TIME`] at most, however slow the file system is. Logs that are
//! being written are looked at more often, as everywhere.

use super::watch::FileWatcher;
use super::{TrackedFile, Worker};
use crate::discover::roots::SearchRoot;
use model::lists::sessions::FileId;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The time between two looks.
pub const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The least time between the beginnings of two rounds.
pub const ROUND_INTERVAL: Duration = Duration::from_secs(10);
/// The time of a look after which the rest of a round waits for the next look.
const POLL_TIME: Duration = Duration::from_millis(20);
/// The number of the newest logs that each look includes.
const MOST_NEWEST: usize = 32;

/// The state of polling.
pub(super) struct Poller {
    /// True if all roots are polled.
    is_for_all: bool,
    /// The roots that are polled.
    roots: Vec<PathBuf>,
    /// The folders in them, and the time at which something was last put into each or removed.
    folders: HashMap<PathBuf, Option<SystemTime>>,
    newest: Vec<FileId>,
    /// The rest of the round.
    rest: Vec<PollTarget>,
    next_look: Instant,
    next_round: Instant,
}

/// A part of a round.
enum PollTarget {
    Log(FileId),
    Folder(PathBuf),
    /// A database, which may have new sessions.
    Database(Arc<PathBuf>),
}

impl Poller {
    /// Returns a poller without roots. `is_for_all`: it polls all of them.
    pub(super) fn new(is_for_all: bool, now: Instant) -> Poller {
        Poller {
            is_for_all,
            roots: Vec::new(),
            folders: HashMap::new(),
            newest: Vec::new(),
            rest: Vec::new(),
            next_look: now,
            next_round: now,
        }
    }

    /// Notes which of these roots are polled. Returns them.
    pub(super) fn cover(
        &mut self,
        roots: &[SearchRoot],
        watcher: Option<&FileWatcher>,
        announce: &dyn Fn(&Path),
    ) -> Vec<PathBuf> {
        let here = roots.iter().filter(|root| root.system().is_here());
        let polled = here.map(SearchRoot::path).filter(|path| {
            announce(path);
            self.is_for_all
                || watcher.is_none_or(|watcher| watcher.is_refused(path))
                || files::remote_file_system(path).is_some()
        });
        self.roots = polled.map(Path::to_path_buf).collect();
        if self.roots.is_empty() {
            self.folders.clear();
            (self.newest, self.rest) = (Vec::new(), Vec::new());
        }
        self.roots.clone()
    }

    /// Notes the folders that a walk has seen.
    pub(super) fn note(&mut self, folders: Vec<PathBuf>) {
        for folder in folders {
            let written = written(&folder);
            self.folders.entry(folder).or_insert(written);
        }
    }

    /// Returns the time of the next look; `None`: nothing is polled.
    pub(super) fn next(&self) -> Option<Instant> {
        (!self.roots.is_empty()).then_some(self.next_look)
    }

    fn begin_round(&mut self, tracked: &HashMap<FileId, Box<TrackedFile>>) {
        let is_polled = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        let logs = tracked.values().map(|known| &known.log);
        let mut logs: Vec<_> = logs.filter(|log| is_polled(&log.facts.path)).collect();
        logs.sort_unstable_by_key(|log| Reverse(log.facts.modified));
        let mut databases: Vec<Arc<PathBuf>> = Vec::new();
        let mut files = Vec::new();
        for log in logs {
            if !log.is_one_of_several() {
                files.push(log.facts.file);
            } else if !databases.contains(&log.facts.path) {
                databases.push(Arc::clone(&log.facts.path));
            }
        }
        let others = files.split_off(files.len().min(MOST_NEWEST));
        self.newest = files;
        self.folders.retain(|folder, _| is_polled(folder));
        // The last one is looked at first: what is new, then the newest.
        let others = others.into_iter().rev().map(PollTarget::Log);
        let folders = self.folders.keys().cloned().map(PollTarget::Folder);
        let databases = databases.into_iter().map(PollTarget::Database);
        self.rest = others.chain(databases).chain(folders).collect();
    }
}

impl Worker {
    /// Looks at what is polled, if it is time.
    pub(super) fn poll(&mut self, now: Instant) -> ControlFlow<()> {
        if self.poller.next().is_none_or(|next| now < next) {
            return ControlFlow::Continue(());
        }
        if self.poller.rest.is_empty() && self.poller.next_round <= now {
            self.poller.next_round = now + ROUND_INTERVAL;
            self.poller.begin_round(&self.tracked);
        }
        for file in self.poller.newest.clone() {
            self.check(file)?;
        }
        // At least one, so that a round ends.
        while let Some(next) = self.poller.rest.pop() {
            match next {
                PollTarget::Log(file) => self.check(file)?,
                PollTarget::Folder(folder) => self.poll_folder(folder)?,
                PollTarget::Database(path) => {
                    self.reporter.enter(&path);
                    let found = self.scan_below(&path);
                    self.take_in(found)?;
                }
            }
            if now.elapsed() >= POLL_TIME {
                break;
            }
        }
        self.poller.next_look = Instant::now() + POLL_INTERVAL;
        ControlFlow::Continue(())
    }

    /// Looks below a folder if something was put into it or removed.
    fn poll_folder(&mut self, folder: PathBuf) -> ControlFlow<()> {
        self.reporter.enter(&folder);
        let before = self.poller.folders.get(&folder).copied().flatten();
        let now = written(&folder);
        // A folder may be written to again at the same moment.
        let is_young = now.is_some_and(|at| at.elapsed().is_ok_and(|age| age < ROUND_INTERVAL));
        if now == before && !is_young {
            return ControlFlow::Continue(());
        }
        let mut found = self.scan_below(&folder);
        let below = std::mem::take(&mut found.folders);
        self.poller.note(below);
        self.poller.folders.insert(folder, now);
        self.take_in(found)
    }
}

/// Returns the time at which something was last put into a folder or removed; `None`: it is gone.
fn written(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder).and_then(|meta| meta.modified()).ok()
}
