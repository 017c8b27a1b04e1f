//! Defines the options that the worker is given at its start, and the requests that others send to it.

use super::job::TextQueue;
use super::watch;
use super::whole::JobResult;
use crate::discover::roots::SearchRoot;
use crate::log::event::IngestEvent;
use files::paths::User;
use formats::Format;
use model::lists::sessions::FileId;
use model::window::Rules;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use tokens::Counter;

/// The most hints and requests that may wait; beyond, everything is looked at instead.
pub(super) const INBOX_CAPACITY: usize = 1024;

/// The logs to read, and how to read them.
#[derive(Clone)]
pub struct Options {
    /// The formats that count.
    pub formats: Vec<&'static Format>,
    /// The places that are searched.
    pub roots: Vec<SearchRoot>,
    /// The user whose settings apply to the agents.
    pub user: User,
    /// The models table.
    pub rules: Arc<Rules>,
    /// Counts the tokens of a session that is looked at, and of what is appended.
    pub counter: Arc<Counter>,
    /// The folder for caches; `None`: nothing is kept.
    pub cache: Option<PathBuf>,
    /// True if all roots are polled, though the system may give notice of what is written there.
    pub poll: bool,
}

/// A message that wakes the worker.
pub(crate) enum Wake {
    Hint(watch::Hint),
    Look,
    /// The result of another thread's reading: of a pipe, or a text.
    Delivery(Box<IngestEvent>),
    /// A log was read whole.
    Whole(Box<JobResult>),
}

/// The requests of other threads to the worker, apart from the inbox.
#[derive(Default)]
pub(crate) struct PendingRequests {
    pub(super) viewed: Mutex<Option<FileId>>,
    pub(super) texts: Mutex<TextQueue>,
    /// Hints were lost.
    pub(super) overflow: AtomicBool,
    pub(super) stop: AtomicBool,
}

/// Returns what puts hints into the inbox. Where that is full, everything is looked at instead.
pub(super) fn hinter(
    wanted: &Arc<PendingRequests>,
    inbox: &SyncSender<Wake>,
) -> impl Fn(watch::Hint) + Clone + Send + 'static {
    let (wanted, inbox) = (Arc::clone(wanted), inbox.clone());
    move |hint| {
        if inbox.try_send(Wake::Hint(hint)).is_err() {
            wanted.overflow.store(true, Ordering::Relaxed);
        }
    }
}
