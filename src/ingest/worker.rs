//! The worker thread: it notices what is new and what has changed. [`reading`] decides what it reads of that;
//! [`summary_store`] holds what it keeps from run to run.

pub mod handle;
pub mod inbox;
pub mod job;
mod pending;
pub mod poll;
mod pool;
mod reading;
mod reporter;
mod state;
mod stuck;
mod summary_store;
#[cfg(test)]
mod tests;
mod texts;
mod tracked_file;
mod watch;
mod whole;

use crate::AT_WORK;
use crate::bytes::sync::lock;
use crate::discover::registry::Registries;
use crate::discover::settings::SettingsReader;
use crate::discover::{ScanResult, Scanner};
use crate::log::event::IngestEvent;
use crate::log::problem;
use crate::log::{Reading, file_id, id_of_real};
use crate::worker::inbox::{PendingRequests, Wake};
use crate::worker::job::OpenedText;
use crate::worker::pool::Pool;
use crate::worker::reporter::Reporter;
use files::paths::User;
use inbox::Options;
use jiff::Timestamp;
use model::lists::sessions::{FileId, Update};
use model::session::Coverage;
use model::window::Rules;
use pending::{PendingCheck, QueuedFile, Retry};
use poll::Poller;
use state::State;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use summary_store::SummaryStore;
use texts::TextReader;
use tokens::Counter;
use tracked_file::{TrackedFile, leads_elsewhere, settles_after};
use watch::{FileWatcher, Hint};

/// The time between two looks at live files without a hint.
const LIVE_INTERVAL: Duration = Duration::from_millis(250);
/// The least time between two walks over all places.
const WALK_INTERVAL: Duration = if cfg!(any(test, feature = "testing")) {
    Duration::from_secs(1)
} else {
    Duration::from_secs(5)
};
/// The least time between two walks, in times of what a walk took, so that an idle monitor costs nothing: 10 ms
/// of 10 s with 2,000 files.
const WALK_COST_FACTOR: u32 = 1000;
/// The time of reading after which hints and requests are looked at again.
const SLICE_TIME: Duration = Duration::from_millis(10);
/// The time in which the pieces of a line are collected, to be read at once.
const PIECES_TIME: Duration = Duration::from_millis(10);
/// The time for which a file may be missing because it is being replaced.
const REPLACEMENT_TIME: Duration = Duration::from_secs(1);
/// The delay after which a new folder is looked into again: the watcher begins to watch it only after it was made.
const NEW_FOLDER_DELAY: Duration = Duration::from_millis(100);

/// A reading that is not finished.
struct InProgress {
    file: FileId,
    reading: Reading,
}

pub(super) struct Worker {
    scanner: Scanner,
    user: User,
    settings: SettingsReader,
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    wanted: Arc<PendingRequests>,
    inbox: Arc<Mutex<Receiver<Wake>>>,
    reporter: Reporter,
    /// All logs that were found so far. Boxed, since the map has spare slots.
    tracked: HashMap<FileId, Box<TrackedFile>>,
    /// The logs whose path leads through a link: that of all others gives their id.
    linked: HashMap<PathBuf, FileId>,
    /// Problems that were found since the last look at everything.
    suspected: HashSet<(PathBuf, String)>,
    /// Problems that were reported.
    reported: HashSet<(PathBuf, String)>,
    live: Vec<FileId>,
    retries: Vec<Retry>,
    viewed: Option<FileId>,
    /// The reading of what is looked at.
    foreground: Option<InProgress>,
    /// Reads all else.
    pool: Pool,
    /// The files that are read next.
    queue: VecDeque<QueuedFile>,
    kept: Option<SummaryStore>,
    next_save: Instant,
    caught_up: bool,
    next_walk: Instant,
    /// The time at which everything was last looked at.
    walked: Instant,
    next_look: Instant,
    poller: Poller,
    /// Read texts of items.
    readers: Vec<TextReader>,
    /// The text that was read last.
    opened: Arc<Mutex<OpenedText>>,
}

impl Worker {
    pub(super) fn new(
        options: Options,
        wanted: Arc<PendingRequests>,
        inbox: Arc<Mutex<Receiver<Wake>>>,
        reporter: Reporter,
    ) -> Worker {
        let now = Instant::now();
        let mut scanner = Scanner::new(options.roots, options.formats, options.user.env.look_up());
        let announced = reporter.clone();
        scanner.announce = Box::new(move |root| announced.enter(root));
        Worker {
            settings: SettingsReader::new(options.user.clone()),
            user: options.user,
            scanner,
            wanted,
            inbox,
            reporter,
            tracked: HashMap::new(),
            linked: HashMap::new(),
            suspected: HashSet::new(),
            reported: HashSet::new(),
            live: Vec::new(),
            retries: Vec::new(),
            viewed: None,
            foreground: None,
            pool: Pool::new(&options.rules, &options.counter),
            queue: VecDeque::new(),
            kept: options
                .cache
                .map(|folder| SummaryStore::open(&folder, &options.rules)),
            rules: options.rules,
            counter: options.counter,
            next_save: now,
            caught_up: false,
            next_walk: now,
            walked: now,
            next_look: now,
            poller: Poller::new(options.poll, now),
            readers: Vec::new(),
            opened: Arc::default(),
        }
    }

    /// Works until the sink breaks or the handle is dropped.
    pub(super) fn work(
        &mut self,
        read: &SyncSender<Wake>,
        hint: impl Fn(Hint) + Clone + Send + 'static,
    ) -> ControlFlow<()> {
        let mut found = self.scanner.look();
        if found.files.is_empty() && found.unrecognised > 0 {
            let what = format!(
                "none of {} files is a log that can be read here",
                found.unrecognised
            );
            let root = self.scanner.roots.first();
            let path = root.map(|root| root.path().to_path_buf());
            self.report(path.unwrap_or_default(), what)?;
        }
        for (path, what) in std::mem::take(&mut found.problems) {
            self.report(path, what)?;
        }
        self.take_in(found)?;
        if let Some(kept) = &mut self.kept {
            kept.forget_found();
        }
        self.reporter.send(Update::InitialScanDone)?;
        let mut watch = None;
        let mut next_watch = Instant::now();
        // Records that were written before the watch began are found by the first walk after it.
        self.next_walk = Instant::now();
        loop {
            if self.wanted.stop.load(Ordering::Relaxed) || self.reporter.is_replaced() {
                return ControlFlow::Break(());
            }
            let now = Instant::now();
            // Before the walk, which puts away what nobody looks at.
            self.viewed = *lock(&self.wanted.viewed);
            if self.wanted.overflow.swap(false, Ordering::Relaxed) {
                self.walk_soon();
            }
            if watch.is_none() && next_watch <= now {
                next_watch = now + watch::RETRY;
                match FileWatcher::new(hint.clone()) {
                    Ok(new) => watch = Some(new),
                    Err(e) => self.no_hints(Path::new(""), &e)?,
                }
            }
            if self.next_walk <= now {
                let failed = watch.as_mut().map(|watch| {
                    watch.cover(now, &self.scanner.roots, &|root| self.reporter.enter(root))
                });
                for (path, e) in failed.into_iter().flatten() {
                    self.no_hints(&path, &e)?;
                }
                self.scanner.polled =
                    self.poller
                        .cover(&self.scanner.roots, watch.as_ref(), &|root| {
                            self.reporter.enter(root)
                        });
                self.walk()?;
            }
            self.poll(now)?;
            if self.next_look <= now {
                self.look_at_live()?;
            }
            self.look_again(now)?;
            self.read_texts(now, read);
            let busy = self.read_on(read)?;
            self.save_kept(now)?;
            self.take_wakes(if busy {
                Duration::ZERO
            } else {
                self.until_next()
            })?;
        }
    }

    fn until_next(&self) -> Duration {
        let mut next = self.next_walk;
        if !self.live.is_empty() {
            next = next.min(self.next_look);
        }
        let again = self.retries.iter().map(|again| again.at).min();
        let others = self.next_reader().into_iter().chain(self.poller.next());
        let soonest = again.into_iter().chain(others).min();
        let next = soonest.map_or(next, |at| next.min(at));
        next.saturating_duration_since(Instant::now())
    }

    /// Waits for a wake, and takes all that are there: of many hints of one file one is enough.
    fn take_wakes(&mut self, wait: Duration) -> ControlFlow<()> {
        self.reporter.leave();
        let inbox = Arc::clone(&self.inbox);
        let inbox = lock(&inbox);
        let mut next = match inbox.recv_timeout(wait) {
            Ok(wake) => Some(wake),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return ControlFlow::Break(()),
        };
        let mut paths = HashSet::new();
        while let Some(wake) = next {
            match wake {
                Wake::Hint(Hint::Changed(path)) => {
                    paths.insert(path);
                }
                Wake::Hint(Hint::Anything) => self.walk_soon(),
                Wake::Delivery(event) => self.reporter.send(*event)?,
                Wake::Whole(done) => self.take_done(*done)?,
                Wake::Look => {}
            }
            next = inbox.try_recv().ok();
        }
        drop(inbox);
        paths.into_iter().try_for_each(|path| self.changed(&path))
    }

    fn changed(&mut self, path: &Path) -> ControlFlow<()> {
        let is_known = |file: &FileId| self.tracked.contains_key(file);
        let known = self.file_at(path);
        let known = known.or_else(|| Some(file_id(path)).filter(is_known));
        let known = known.or_else(|| self.file_at(path.parent()?));
        if let Some(file) = known {
            return self.check(file);
        }
        if path.is_dir() {
            let at = Instant::now() + NEW_FOLDER_DELAY;
            let what = PendingCheck::Below(path.to_path_buf());
            self.retries.push(Retry { at, what });
        }
        let found = self.scan_below(path);
        // The list of a database's sessions may be late.
        let shared = found.files.iter().filter(|log| log.is_one_of_several());
        let shared: HashSet<FileId> = shared.map(|log| log.facts.file).collect();
        self.take_in(found)?;
        let live = self.live.iter().copied();
        let live: Vec<FileId> = live.filter(|file| shared.contains(file)).collect();
        live.into_iter().try_for_each(|file| self.check(file))
    }

    /// Returns what is at or below a path. A database that was not looked at is looked at later.
    fn scan_below(&mut self, path: &Path) -> ScanResult {
        let found = self.scanner.scan_below(path);
        for (path, due) in &found.locked {
            let is_same =
                |again: &Retry| matches!(&again.what, PendingCheck::Below(at) if at == &**path);
            if !self.retries.iter().any(is_same) {
                let what = PendingCheck::Below(path.to_path_buf());
                self.retries.push(Retry { at: *due, what });
            }
        }
        found
    }

    /// Returns the log that was found at this path, though it may be gone.
    fn file_at(&self, path: &Path) -> Option<FileId> {
        let linked = self.linked.get(path).copied();
        linked.or_else(|| Some(id_of_real(path)).filter(|file| self.tracked.contains_key(file)))
    }

    /// Takes in what is new and looks at what has changed.
    fn take_in(&mut self, found: ScanResult) -> ControlFlow<()> {
        self.suspected.extend(found.problems);
        let mut new = Vec::new();
        for log in found.files {
            let facts = &log.facts;
            // An empty file was recognised by its name, and now by its content.
            let known = self.tracked.get(&facts.file);
            if known.is_some_and(|known| known.log.format.id != log.format.id) {
                self.vanish(facts.file)?;
            }
            match self.tracked.get(&facts.file) {
                None => {
                    self.reporter.send(Update::Found(Box::new(facts.clone())))?;
                    // The sessions of a database share a path, and are found by looking into it.
                    if !log.is_one_of_several() && id_of_real(&facts.path) != facts.file {
                        self.linked.insert(facts.path.to_path_buf(), facts.file);
                    }
                    new.push(facts.file);
                    self.tracked
                        .insert(facts.file, Box::new(TrackedFile::found(log)));
                }
                Some(known) => {
                    let seen = &known.log.facts;
                    let is_new = match log.store.listed() {
                        Some(stamp) => known.stamp != Some(stamp),
                        None => (seen.len, seen.modified) != (facts.len, facts.modified),
                    };
                    if is_new {
                        self.check(facts.file)?;
                    }
                }
            }
        }
        for file in new {
            self.check(file)?;
            // With thousands of logs, what is to be written would take as much memory as the sessions.
            self.save_kept(Instant::now())?;
        }
        ControlFlow::Continue(())
    }

    /// Looks at everything.
    fn walk(&mut self) -> ControlFlow<()> {
        let begun = Instant::now();
        let mut found = self.scanner.look();
        let mut took = begun.elapsed();
        self.poller.note(std::mem::take(&mut found.folders));
        self.take_in_all(found)?;
        let begun = Instant::now();
        self.send_running(self.tracked.keys().copied().collect())?;
        let live = self.tracked.iter().filter(|(_, known)| is_live(known));
        self.live = live.map(|(file, _)| *file).collect();
        self.evict()?;
        self.settings.look_again();
        for file in self.tracked.keys().copied().collect::<Vec<_>>() {
            self.send_settings(file)?;
        }
        took += begun.elapsed();
        self.walked = Instant::now();
        self.next_walk = Instant::now() + WALK_INTERVAL.max(took * WALK_COST_FACTOR);
        ControlFlow::Continue(())
    }

    /// Takes in everything that is there now. What seems wrong may be so for a moment, as when a folder is replaced:
    /// it counts when two looks in a row find it.
    fn take_in_all(&mut self, found: ScanResult) -> ControlFlow<()> {
        let before = std::mem::take(&mut self.suspected);
        let there: HashSet<FileId> = found.files.iter().map(|log| log.facts.file).collect();
        self.take_in(found)?;
        let confirmed: Vec<_> = self.suspected.intersection(&before).cloned().collect();
        for (path, what) in confirmed {
            self.report(path, what)?;
        }
        let (mut gone, mut passed_over) = (Vec::new(), Vec::new());
        for (file, known) in &mut self.tracked {
            let was_passed_over = known.is_passed_over;
            known.is_passed_over = !there.contains(file);
            // Still there: it is a copy of a more complete log now, or back since the look. A pipe in its place is a
            // problem.
            if known.is_passed_over && !known.log.is_there() {
                gone.push(*file);
            } else if known.is_passed_over && was_passed_over {
                passed_over.push(*file);
            }
        }
        gone.into_iter().try_for_each(|file| self.check(file))?;
        passed_over
            .into_iter()
            .try_for_each(|file| self.vanish(file))
    }

    /// Hints were lost. They may be lost all the time.
    fn walk_soon(&mut self) {
        self.next_walk = self.next_walk.min(self.walked + LIVE_INTERVAL);
    }

    fn look_at_live(&mut self) -> ControlFlow<()> {
        for file in self.live.clone() {
            self.check(file)?;
        }
        self.send_running(self.live.clone())?;
        self.next_look = Instant::now() + LIVE_INTERVAL;
        ControlFlow::Continue(())
    }

    fn look_again(&mut self, now: Instant) -> ControlFlow<()> {
        let due = self.retries.extract_if(.., |again| again.at <= now);
        for again in due.collect::<Vec<_>>() {
            match again.what {
                PendingCheck::File(file) => self.check(file)?,
                PendingCheck::Below(path) => {
                    let found = self.scan_below(&path);
                    self.take_in(found)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Looks at a file and reads what has come.
    fn check(&mut self, file: FileId) -> ControlFlow<()> {
        let now = Instant::now();
        let Some(known) = self.tracked.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        let path = Arc::clone(&known.log.facts.path);
        self.reporter.enter(&path);
        let stamp = match known.log.store.stamp() {
            Ok(stamp) => stamp,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let since = *known.missing_since.get_or_insert(now);
                if now.duration_since(since) >= REPLACEMENT_TIME {
                    return self.vanish(file);
                }
                let (at, what) = (since + REPLACEMENT_TIME, PendingCheck::File(file));
                self.retries.push(Retry { at, what });
                return ControlFlow::Continue(());
            }
            Err(e) => {
                return self.report(path.to_path_buf(), problem::unreadable(&e, "look at it"));
            }
        };
        let was_missing = known.missing_since.take().is_some();
        if (was_missing || known.is_of_other(stamp)) && leads_elsewhere(&known.log) {
            self.vanish(file)?;
            let found = self.scan_below(&path);
            return self.take_in(found);
        }
        let changed = known.stamp != Some(stamp);
        if changed && matches!(known.state, State::Refused) {
            known.state = State::Found;
        }
        let failed = known.not_before.is_some_and(|at| now < at);
        let settled = stamp.age() >= settles_after(stamp.len);
        let incomplete = known.state.is_incomplete();
        let has_news = changed
            || !known.is_stamp_sure
            || (incomplete && settled)
            || known.state.has_news(&known.log);
        if !has_news || failed {
            return ControlFlow::Continue(());
        }
        let first = known.stamp.is_none();
        known.stamp = Some(stamp);
        known.is_stamp_sure = stamp.is_sure();
        if first && self.restore(file, stamp)? {
            return ControlFlow::Continue(());
        }
        let Some(known) = self.tracked.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        if stamp.age() < AT_WORK && !self.live.contains(&file) {
            self.live.push(file);
        }
        if changed && !first {
            let facts = &mut known.log.facts;
            facts.len = stamp.len;
            facts.modified = stamp.modified();
            let facts = facts.clone();
            self.reporter.send(Update::Found(Box::new(facts)))?;
        }
        self.read_appended(file, incomplete && settled)
    }

    /// Sends the agent's settings, if they have changed.
    fn send_settings(&mut self, file: FileId) -> ControlFlow<()> {
        let Some(known) = self.tracked.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        self.reporter.enter(&known.log.facts.path);
        let overrides = self.settings.of(&known.log, &known.settings_owner);
        if overrides == known.overrides {
            return ControlFlow::Continue(());
        }
        known.overrides = Arc::clone(&overrides);
        let by = known.state.summarised_by();
        if by.is_some_and(|by| by != overrides.summary_hash()) {
            known.read = Coverage::Unread;
        }
        self.reporter.send(Update::Settings { file, overrides })
    }

    /// Sends what the processes of these files' sessions do, where that has changed.
    fn send_running(&mut self, files: Vec<FileId>) -> ControlFlow<()> {
        let mut registries = Registries::new(&self.user);
        for file in files {
            let Some(known) = self.tracked.get_mut(&file) else {
                continue;
            };
            self.reporter.enter(&known.log.facts.path);
            let running = registries.of(&known.log);
            if running != known.running {
                known.running = running;
                let at = Timestamp::now();
                self.reporter.send(Update::Running { file, running, at })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn vanish(&mut self, file: FileId) -> ControlFlow<()> {
        self.pool.cancel(file);
        if let Some(known) = self.tracked.remove(&file) {
            let path = known.log.facts.path.as_path();
            // Another file may have its path now.
            if self.linked.get(path) == Some(&file) {
                self.linked.remove(path);
            }
            self.live.retain(|live| *live != file);
            self.reporter.send(Update::Vanished(file))?;
        }
        ControlFlow::Continue(())
    }

    fn no_hints(&mut self, path: &Path, error: &notify::Error) -> ControlFlow<()> {
        let what = format!(
            "the system gives no notice of what is written here ({error}): new sessions may show \
             only after some seconds{}",
            watch::advice(error)
        );
        self.report(path.to_path_buf(), what)
    }

    /// Reports a problem, once.
    fn report(&mut self, path: PathBuf, what: String) -> ControlFlow<()> {
        if !self.reported.insert((path.clone(), what.clone())) {
            return ControlFlow::Continue(());
        }
        self.reporter.send(IngestEvent::Problem { path, what })
    }
}

fn is_live(known: &TrackedFile) -> bool {
    known.running.is_some() || known.stamp.is_some_and(|stamp| stamp.age() < AT_WORK)
}
