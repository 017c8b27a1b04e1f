//! Where the thread that reads is, so that another one can take over when a file does not answer.
//!
//! A read on a network file system may never return, and nothing can end it. The thread that waits for it is left
//! alone; a new one reads all but the root in which the file lies. When the old one comes back, all roots are read
//! again.

use super::roots::SearchRoot;
use super::{Handed, Wake, lock, spawn};
use crate::model::fleet::Update;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A file that does not answer for so long does not answer. A query of a database may take 20 seconds.
pub(super) const STUCK: Duration = Duration::from_secs(30);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(5);
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

/// Looks after the thread that reads, and starts another one whenever it does not come back from a file.
pub(super) struct Overseer {
    handed: Handed,
    shared: Arc<Shared>,
    roots: Vec<SearchRoot>,
    reader: JoinHandle<()>,
    /// Threads that did not come back, and the roots in which they are.
    away: Vec<(JoinHandle<()>, PathBuf)>,
}

impl Overseer {
    /// Starts the thread that reads.
    pub(super) fn begin(
        handed: Handed,
        shared: Arc<Shared>,
        roots: Vec<SearchRoot>,
    ) -> io::Result<Overseer> {
        let reader = begin(&handed, &shared, roots.clone())?;
        Ok(Overseer {
            handed,
            shared,
            roots,
            reader,
            away: Vec::new(),
        })
    }

    /// Looks after it on a thread of its own.
    pub(super) fn run(mut self) -> io::Result<()> {
        let run = move || {
            loop {
                thread::sleep(LOOK);
                if self.look(Instant::now()).is_break() {
                    return;
                }
            }
        };
        spawn("stuck", run).map(drop)
    }

    /// Whether all threads have come back.
    #[cfg(test)]
    pub(super) fn has_all(&self) -> bool {
        self.away.is_empty()
    }

    /// Starts another thread if the present one is stuck, or if one that was is back. Breaks when there is nothing
    /// left to look after.
    pub(super) fn look(&mut self, now: Instant) -> ControlFlow<()> {
        let shared = &self.shared;
        if self.handed.wanted.stop.load(Ordering::Relaxed) || self.reader.is_finished() {
            return ControlFlow::Break(());
        }
        let before = self.away.len();
        self.away.retain(|(thread, _)| !thread.is_finished());
        let is_back = self.away.len() < before;
        let at = lock(&shared.at).clone();
        let stuck = at.filter(|(since, _)| now.saturating_duration_since(*since) >= STUCK);
        let stuck = stuck.and_then(|(_, path)| {
            let mut roots = self.roots.iter();
            let root = roots.find(|root| path.starts_with(root.path()))?;
            Some((path, root.path().to_path_buf()))
        });
        let number = shared.current.load(Ordering::Relaxed);
        let stuck = stuck.filter(|_| number < MOST);
        if !is_back && stuck.is_none() {
            return ControlFlow::Continue(());
        }
        shared.current.store(number + 1, Ordering::Relaxed);
        *lock(&shared.at) = None;
        let is_left_out = |root: &&SearchRoot| {
            let stuck = stuck.iter().map(|(_, root)| root);
            let mut left_out = self.away.iter().map(|(_, root)| root).chain(stuck);
            left_out.any(|left_out| left_out == root.path())
        };
        let rest = self.roots.iter().filter(|root| !is_left_out(root)).cloned();
        let Ok(new) = begin(&self.handed, shared, rest.collect()) else {
            return ControlFlow::Break(());
        };
        let old = std::mem::replace(&mut self.reader, new);
        // If it waits for a wake, it ends.
        let _ = self.handed.sender.try_send(Wake::Look);
        let Some((path, root)) = stuck else {
            return ControlFlow::Continue(());
        };
        let what = format!(
            "this does not answer, as a network file system that is gone: nothing below '{}' is \
             followed until it does",
            root.display()
        );
        self.away.push((old, root));
        let _ = (lock(&shared.sink))(Update::Problem { path, what });
        ControlFlow::Continue(())
    }
}

fn begin(
    handed: &Handed,
    shared: &Arc<Shared>,
    roots: Vec<SearchRoot>,
) -> io::Result<JoinHandle<()>> {
    let (handed, reporter) = (handed.clone(), Reporter::of(shared));
    spawn("ingest", move || handed.work(reporter, roots))
}
