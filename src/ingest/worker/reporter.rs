//! What one thread that reads reports: updates, and where it is.

use crate::sync::lock;
use model::fleet::Update;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What takes the updates.
pub(crate) type Sink = Box<dyn FnMut(Update) -> ControlFlow<()> + Send>;

/// What the threads that read share.
pub(crate) struct Shared {
    /// The number of the thread whose updates count.
    pub(super) current: AtomicU64,
    /// What it looks at, and since when.
    pub(super) at: Mutex<Option<(Instant, PathBuf)>>,
    pub(super) sink: Mutex<Sink>,
}

impl Shared {
    pub(crate) fn new(sink: Sink) -> Shared {
        Shared {
            current: AtomicU64::new(0),
            at: Mutex::default(),
            sink: Mutex::new(sink),
        }
    }
}

/// What one thread that reads reports.
#[derive(Clone)]
pub(crate) struct Reporter {
    shared: Arc<Shared>,
    number: u64,
}

impl Reporter {
    /// That of the thread whose updates count now.
    pub(crate) fn of(shared: &Arc<Shared>) -> Reporter {
        Reporter {
            shared: Arc::clone(shared),
            number: shared.current.load(Ordering::Relaxed),
        }
    }

    /// Whether another thread has taken over.
    pub(crate) fn is_replaced(&self) -> bool {
        self.shared.current.load(Ordering::Relaxed) != self.number
    }

    /// This is looked at next.
    pub(crate) fn at(&self, path: &Path) {
        self.set(Some((Instant::now(), path.to_path_buf())));
    }

    /// Nothing is looked at.
    pub(crate) fn rest(&self) {
        self.set(None);
    }

    fn set(&self, at: Option<(Instant, PathBuf)>) {
        if !self.is_replaced() {
            *lock(&self.shared.at) = at;
        }
    }

    /// Passes an update on. Who takes it may block as long as it likes.
    pub(crate) fn send(&self, update: Update) -> ControlFlow<()> {
        if self.is_replaced() {
            return ControlFlow::Break(());
        }
        let at = lock(&self.shared.at).take();
        let flow = (lock(&self.shared.sink))(update);
        self.set(at.map(|(_, path)| (Instant::now(), path)));
        flow
    }
}
