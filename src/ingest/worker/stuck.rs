//! Keeps the file at which the thread that reads is, so that another one can take over when the file does not answer.
//!
//! A read on a network file system may never return, and nothing can end it. The thread that waits for it is left
//! alone; a new one reads all but the root in which the file lies. When the old one comes back, all roots are read
//! again.

use super::Worker;
use super::inbox::{Options, PendingRequests, Wake, hinter};
use super::reporter::{CurrentPath, Reporter, SharedState};
use crate::bytes::sync::{lock, spawn};
use crate::discover::roots::SearchRoot;
use crate::log::event::IngestEvent;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time that a file may take to answer. A query of a database may take 20 seconds.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(30);
/// The time between two checks of the threads for a file that does not answer.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The most threads that may be given up.
const MOST_ABANDONED: u64 = 16;

/// The data that one thread that reads hands to the next.
#[derive(Clone)]
pub(crate) struct ThreadHandover {
    pub(super) options: Options,
    pub(super) wanted: Arc<PendingRequests>,
    pub(super) sender: SyncSender<Wake>,
    pub(super) inbox: Arc<Mutex<Receiver<Wake>>>,
    /// Dropped when the last of them has ended.
    pub(super) ended: Arc<Mutex<Option<Sender<()>>>>,
}

impl ThreadHandover {
    /// Reads below these roots until nobody listens, or another thread takes over.
    pub(super) fn work(self, reporter: Reporter, roots: Vec<SearchRoot>) {
        let hint = hinter(&self.wanted, &self.sender);
        let options = Options {
            roots,
            ..self.options
        };
        let mut worker = Worker::new(options, self.wanted, self.inbox, reporter.clone());
        let _ = worker.work(&self.sender, hint);
        if !reporter.is_replaced() {
            worker.end();
            *lock(&self.ended) = None;
        }
    }
}

/// Looks after the thread that reads, and starts another one whenever it does not come back from a file.
pub(crate) struct Overseer {
    handed: ThreadHandover,
    shared: Arc<SharedState>,
    reader: JoinHandle<()>,
    /// Threads that did not come back.
    away: Vec<StuckThread>,
}

/// A thread that did not come back.
struct StuckThread {
    thread: JoinHandle<()>,
    /// The root in which it is.
    root: PathBuf,
}

impl Overseer {
    /// Starts the thread that reads.
    pub(crate) fn begin(handed: ThreadHandover, shared: Arc<SharedState>) -> io::Result<Overseer> {
        let reader = begin(&handed, &shared, handed.options.roots.clone())?;
        Ok(Overseer {
            handed,
            shared,
            reader,
            away: Vec::new(),
        })
    }

    /// Looks after it on a thread of its own.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let run = move || {
            loop {
                thread::sleep(CHECK_INTERVAL);
                if self.look(Instant::now()).is_break() {
                    return;
                }
            }
        };
        spawn("stuck", run).map(drop)
    }

    /// Returns true if all threads have come back.
    #[cfg(test)]
    pub(crate) fn has_all(&self) -> bool {
        self.away.is_empty()
    }

    /// Starts another thread if the present one is stuck, or if one that was is back. Breaks when there is nothing
    /// left to look after.
    pub(crate) fn look(&mut self, now: Instant) -> ControlFlow<()> {
        let shared = &self.shared;
        if self.handed.wanted.stop.load(Ordering::Relaxed) || self.reader.is_finished() {
            return ControlFlow::Break(());
        }
        let before = self.away.len();
        self.away.retain(|away| !away.thread.is_finished());
        let is_back = self.away.len() < before;
        let at = lock(&shared.at).clone();
        let stuck = at
            .filter(|at| now.saturating_duration_since(at.since) >= ANSWER_TIME)
            .and_then(|CurrentPath { path, .. }| {
                let mut roots = self.handed.options.roots.iter();
                let root = roots.find(|root| path.starts_with(root.path()))?;
                Some((path, root.path().to_path_buf()))
            });
        let number = shared.current.load(Ordering::Relaxed);
        let stuck = stuck.filter(|_| number < MOST_ABANDONED);
        if !is_back && stuck.is_none() {
            return ControlFlow::Continue(());
        }
        shared.current.store(number + 1, Ordering::Relaxed);
        *lock(&shared.at) = None;
        let is_left_out = |root: &&SearchRoot| {
            let stuck = stuck.iter().map(|(_, root)| root);
            let mut left_out = self.away.iter().map(|away| &away.root).chain(stuck);
            left_out.any(|left_out| left_out == root.path())
        };
        let roots = self.handed.options.roots.iter();
        let rest = roots.filter(|root| !is_left_out(root)).cloned();
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
        self.away.push(StuckThread { thread: old, root });
        let _ = (lock(&shared.sink))(IngestEvent::Problem { path, what });
        ControlFlow::Continue(())
    }
}

fn begin(
    handed: &ThreadHandover,
    shared: &Arc<SharedState>,
    roots: Vec<SearchRoot>,
) -> io::Result<JoinHandle<()>> {
    let (handed, reporter) = (handed.clone(), Reporter::of(shared));
    spawn("ingest", move || handed.work(reporter, roots))
}
