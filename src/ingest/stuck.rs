//! Where the thread that reads is, so that another one can take over when a file does not answer.
//!
//! A read on a network file system may never return, and nothing can end it. The thread that waits for it is left
//! alone; a new one reads all but the root in which the file lies. When the old one comes back, all roots are read
//! again.

use super::roots::SearchRoot;
use super::{Handed, Wake, Wanted, lock, spawn};
use crate::model::fleet::Update;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A file that does not answer for so long does not answer. A query of a database may take 20 seconds.
const STUCK: Duration = Duration::from_secs(if cfg!(test) { 4 } else { 30 });
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 5000 });
/// Threads that may be left alone.
const MOST: u64 = 16;

/// What takes the updates.
pub(super) type Sink = Box<dyn FnMut(Update) -> ControlFlow<()> + Send>;

/// What the threads that read share.
pub(super) struct Shared {
    /// The number of the thread whose updates count.
    current: AtomicU64,
    /// What it looks at, and since when.
    at: Mutex<Option<(Instant, PathBuf)>>,
    sink: Mutex<Sink>,
}

impl Shared {
    pub(super) fn new(sink: Sink) -> Shared {
        Shared {
            current: AtomicU64::new(0),
            at: Mutex::default(),
            sink: Mutex::new(sink),
        }
    }
}

/// What one thread that reads reports.
#[derive(Clone)]
pub(super) struct Reporter {
    shared: Arc<Shared>,
    number: u64,
}

impl Reporter {
    /// That of the thread whose updates count now.
    pub(super) fn of(shared: &Arc<Shared>) -> Reporter {
        Reporter {
            shared: Arc::clone(shared),
            number: shared.current.load(Ordering::Relaxed),
        }
    }

    /// Whether another thread has taken over.
    pub(super) fn is_replaced(&self) -> bool {
        self.shared.current.load(Ordering::Relaxed) != self.number
    }

    /// This is looked at next.
    pub(super) fn at(&self, path: &Path) {
        self.set(Some((Instant::now(), path.to_path_buf())));
    }

    /// Nothing is looked at.
    pub(super) fn rest(&self) {
        self.set(None);
    }

    fn set(&self, at: Option<(Instant, PathBuf)>) {
        if !self.is_replaced() {
            *lock(&self.shared.at) = at;
        }
    }

    /// Passes an update on. Who takes it may block as long as it likes.
    pub(super) fn send(&self, update: Update) -> ControlFlow<()> {
        if self.is_replaced() {
            return ControlFlow::Break(());
        }
        let at = lock(&self.shared.at).take();
        let flow = (lock(&self.shared.sink))(update);
        self.set(at.map(|(_, path)| (Instant::now(), path)));
        flow
    }
}

/// Starts the thread that reads, and another one whenever it does not come back from a file.
pub(super) fn start(
    handed: Handed,
    shared: Arc<Shared>,
    roots: Vec<SearchRoot>,
    wanted: Arc<Wanted>,
) -> io::Result<()> {
    let first = begin(&handed, &shared, roots.clone())?;
    spawn("stuck", move || {
        watch(&handed, &shared, &roots, &wanted, first)
    })
    .map(drop)
}

fn begin(
    handed: &Handed,
    shared: &Arc<Shared>,
    roots: Vec<SearchRoot>,
) -> io::Result<JoinHandle<()>> {
    let (handed, reporter) = (handed.clone(), Reporter::of(shared));
    spawn("ingest", move || handed.work(reporter, roots))
}

fn watch(
    handed: &Handed,
    shared: &Arc<Shared>,
    roots: &[SearchRoot],
    wanted: &Wanted,
    mut reader: JoinHandle<()>,
) {
    // Threads that did not come back, and the roots in which they are.
    let mut away: Vec<(JoinHandle<()>, PathBuf)> = Vec::new();
    loop {
        thread::sleep(LOOK);
        if wanted.stop.load(Ordering::Relaxed) || reader.is_finished() {
            return;
        }
        let before = away.len();
        away.retain(|(thread, _)| !thread.is_finished());
        let is_back = away.len() < before;
        let at = lock(&shared.at).clone();
        let stuck = at.filter(|(since, _)| since.elapsed() >= STUCK);
        let stuck = stuck.and_then(|(_, path)| {
            let root = roots.iter().find(|root| path.starts_with(root.path()))?;
            Some((path, root.path().to_path_buf()))
        });
        let number = shared.current.load(Ordering::Relaxed);
        let stuck = stuck.filter(|_| number < MOST);
        if !is_back && stuck.is_none() {
            continue;
        }
        shared.current.store(number + 1, Ordering::Relaxed);
        *lock(&shared.at) = None;
        let is_left_out = |root: &&SearchRoot| {
            let stuck = stuck.iter().map(|(_, root)| root);
            let mut left_out = away.iter().map(|(_, root)| root).chain(stuck);
            left_out.any(|left_out| left_out == root.path())
        };
        let rest = roots.iter().filter(|root| !is_left_out(root)).cloned();
        let Ok(new) = begin(handed, shared, rest.collect()) else {
            return;
        };
        let old = std::mem::replace(&mut reader, new);
        // If it waits for a wake, it ends.
        let _ = handed.sender.try_send(Wake::Look);
        let Some((path, root)) = stuck else { continue };
        let what = format!(
            "this does not answer, as a network file system that is gone: nothing below '{}' is \
             followed until it does",
            root.display()
        );
        away.push((old, root));
        let _ = (lock(&shared.sink))(Update::Problem { path, what });
    }
}
