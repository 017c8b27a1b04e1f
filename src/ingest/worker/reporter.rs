//! Reports the work of one thread that reads: its events, and the path that it is at.

use crate::bytes::sync::lock;
use crate::log::event::IngestEvent;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The receiver of the events.
pub(crate) type EventHandler = Box<dyn FnMut(IngestEvent) -> ControlFlow<()> + Send>;

/// The data that the threads which read share.
pub(crate) struct SharedState {
    /// The number of the thread whose events count.
    pub(super) current: AtomicU64,
    /// The path that it looks at.
    pub(super) at: Mutex<Option<CurrentPath>>,
    pub(super) sink: Mutex<EventHandler>,
}

/// The path that a thread looks at.
#[derive(Clone)]
pub(super) struct CurrentPath {
    pub(super) path: PathBuf,
    pub(super) since: Instant,
}

impl CurrentPath {
    fn now(path: PathBuf) -> CurrentPath {
        CurrentPath {
            path,
            since: Instant::now(),
        }
    }
}

impl SharedState {
    pub(crate) fn new(sink: EventHandler) -> SharedState {
        SharedState {
            current: AtomicU64::new(0),
            at: Mutex::default(),
            sink: Mutex::new(sink),
        }
    }
}

/// The reports of one thread that reads.
#[derive(Clone)]
pub(crate) struct Reporter {
    shared: Arc<SharedState>,
    number: u64,
}

impl Reporter {
    /// Returns the reporter of the thread whose events count now.
    pub(crate) fn of(shared: &Arc<SharedState>) -> Reporter {
        Reporter {
            shared: Arc::clone(shared),
            number: shared.current.load(Ordering::Relaxed),
        }
    }

    /// Returns true if another thread has taken over.
    pub(crate) fn is_replaced(&self) -> bool {
        self.shared.current.load(Ordering::Relaxed) != self.number
    }

    /// Notes that this is looked at next.
    pub(crate) fn enter(&self, path: &Path) {
        self.set(Some(CurrentPath::now(path.to_path_buf())));
    }

    /// Notes that nothing is looked at.
    pub(crate) fn leave(&self) {
        self.set(None);
    }

    fn set(&self, at: Option<CurrentPath>) {
        if !self.is_replaced() {
            *lock(&self.shared.at) = at;
        }
    }

    /// Passes an event on. Who takes it may block as long as it likes.
    pub(crate) fn send(&self, event: impl Into<IngestEvent>) -> ControlFlow<()> {
        if self.is_replaced() {
            return ControlFlow::Break(());
        }
        let at = lock(&self.shared.at).take();
        let flow = (lock(&self.shared.sink))(event.into());
        self.set(at.map(|at| CurrentPath::now(at.path)));
        flow
    }
}
