//! Finds logs, reads them from the end, follows them, and reads them through when there is nothing else
//! to do.
//!
//! One thread, the worker, decides what is read and when: first all gauges, from the ends of the files; then the
//! epoch of the session that is looked at, then all of it; then what is appended; then everything else.
//!
//! | thread | what it does |
//! |---|---|
//! | worker | looks for logs, reads ends and what is appended, folds, sends updates |
//! | pool, as many as there are cores, at most 8 | read whole logs while nobody waits for them |
//! | texts, at most 4 | read the text of an item |
//! | hints | the system's notices of what was written; stat decides whether it was |
//! | overseer | starts another worker when one does not come back from a file |
//!
//! Reports use [`discover::Scanner`] and [`reader::read_whole`], [`reader::tail_only`] and
//! [`reader::each_usage`] without a thread. What a log is kept in is a [`store::Store`].

pub mod cache;
pub mod demo;
pub mod discover;
pub mod elide;
#[cfg(test)]
mod faults;
pub mod lines;
pub(crate) mod pool;
mod problem;
pub mod reader;
mod registry;
pub mod roots;
pub mod settings;
pub mod sidecar;
pub mod store;
mod stuck;
#[cfg(test)]
mod testing;
mod text;
mod watch;
mod worker;

pub use text::{Done, TextJob};

use crate::agents::format::Format;
use crate::model::fleet::{FileId, Update};
use crate::model::window::Rules;
use crate::paths::User;
use crate::tokens::Counter;
use roots::SearchRoot;
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use store::pipe::{self, Piped};
use stuck::{Overseer, Reporter, Shared};
use text::Shelf;

/// Hints and requests that may wait; beyond, everything is looked at instead.
const INBOX: usize = 1024;

/// How long the end of the program waits for the worker.
const LAST_WAIT: Duration = Duration::from_millis(300);

/// Of logs without usage reports that are no larger, all text is counted: nothing else of them is known.
/// So many bytes take about a fifth of a second.
pub const COUNTED: u64 = 1 << 20;

/// What to read and how.
pub struct Options {
    /// The formats that count.
    pub formats: Vec<&'static Format>,
    /// Where to look.
    pub roots: Vec<SearchRoot>,
    /// Whose settings apply to the agents.
    pub user: User,
    /// A log that comes through a pipe.
    pub stdin: Option<Piped>,
    /// The models table.
    pub rules: Arc<Rules>,
    /// Counts tokens; loads its vocabulary when a session is looked at, not before.
    pub counter: Arc<Counter>,
    /// The folder for caches; `None`: nothing is kept.
    pub cache: Option<PathBuf>,
}

/// The value behind a lock, whether or not a thread has panicked while it held the lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What wakes the worker.
enum Wake {
    Hint(watch::Hint),
    Look,
    Spooled(Box<Update>),
    /// A text was read; the update to send.
    Read(Option<Box<Update>>),
    /// A log was read whole.
    Whole(Box<pool::Done>),
}

/// What other threads request from the worker, apart from the inbox.
#[derive(Default)]
struct Wanted {
    looked_at: Mutex<Option<FileId>>,
    /// Logs whose texts are needed, if they came from the cache.
    needed: Mutex<HashSet<FileId>>,
    texts: Mutex<Shelf>,
    /// Hints were lost.
    overflow: AtomicBool,
    stop: AtomicBool,
}

/// The reading threads; they end when this is dropped.
pub struct Handle {
    wanted: Arc<Wanted>,
    inbox: SyncSender<Wake>,
    /// Disconnected when the worker has ended.
    worker: Mutex<Receiver<()>>,
}

impl Handle {
    /// Somebody looks at this file: its epoch is read at once, with exact counts, then all of it.
    pub fn look_at(&self, file: FileId) {
        *lock(&self.wanted.looked_at) = Some(file);
        // A full inbox is awake already.
        let _ = self.inbox.try_send(Wake::Look);
    }

    /// The texts of these files' sessions are needed: those that came from the cache are read.
    pub fn need_texts(&self, of: impl IntoIterator<Item = FileId>) {
        lock(&self.wanted.needed).extend(of);
        let _ = self.inbox.try_send(Wake::Look);
    }

    /// Reads an item's text on a thread of its own. If several pages wait, only the newest is read.
    pub fn read_text(&self, job: TextJob) {
        lock(&self.wanted.texts).put(job);
        let _ = self.inbox.try_send(Wake::Look);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.wanted.stop.store(true, Ordering::Relaxed);
        let _ = self.inbox.try_send(Wake::Look);
        // It may be writing the cache.
        let _ = lock(&self.worker).recv_timeout(LAST_WAIT);
    }
}

/// Starts a thread.
fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Begins to read. `sink` is called on a thread of its own; it may block, which slows the reading
/// down, and ends it by [`ControlFlow::Break`].
pub fn start(
    options: Options,
    sink: impl FnMut(Update) -> ControlFlow<()> + Send + 'static,
) -> io::Result<Handle> {
    let (handle, overseer) = begin(options, sink)?;
    overseer.run()?;
    Ok(handle)
}

/// The same, but whoever calls it looks after the thread that reads.
fn begin(
    mut options: Options,
    sink: impl FnMut(Update) -> ControlFlow<()> + Send + 'static,
) -> io::Result<(Handle, Overseer)> {
    let (sender, inbox) = sync_channel(INBOX);
    let wanted = Arc::<Wanted>::default();
    if let Some(piped) = options.stdin.take() {
        let formats = options.formats.clone();
        let (rules, counter) = (Arc::clone(&options.rules), Arc::clone(&options.counter));
        let sender = sender.clone();
        let give = move |update| match sender.send(Wake::Spooled(Box::new(update))) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        spawn("pipe", move || {
            pipe::follow(piped, &formats, &counter, &rules, give)
        })?;
    }
    let (ended, worker) = channel::<()>();
    let handle = Handle {
        wanted: Arc::clone(&wanted),
        inbox: sender.clone(),
        worker: Mutex::new(worker),
    };
    let roots = options.roots.clone();
    let handed = Handed {
        formats: options.formats,
        user: options.user,
        rules: options.rules,
        counter: options.counter,
        cache: options.cache,
        wanted,
        sender,
        inbox: Arc::new(Mutex::new(inbox)),
        ended: Arc::new(Mutex::new(Some(ended))),
    };
    let overseer = Overseer::begin(handed, Arc::new(Shared::new(Box::new(sink))), roots)?;
    Ok((handle, overseer))
}

/// What one thread that reads hands to the next.
#[derive(Clone)]
struct Handed {
    formats: Vec<&'static Format>,
    user: User,
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    cache: Option<PathBuf>,
    wanted: Arc<Wanted>,
    sender: SyncSender<Wake>,
    inbox: Arc<Mutex<Receiver<Wake>>>,
    /// Dropped when the last of them has ended.
    ended: Arc<Mutex<Option<Sender<()>>>>,
}

impl Handed {
    /// Reads below these roots until nobody listens, or another thread takes over.
    fn work(self, reporter: Reporter, roots: Vec<SearchRoot>) {
        let hint = {
            let (wanted, sender) = (Arc::clone(&self.wanted), self.sender.clone());
            move |hint| {
                if sender.try_send(Wake::Hint(hint)).is_err() {
                    wanted.overflow.store(true, Ordering::Relaxed);
                }
            }
        };
        let options = Options {
            formats: self.formats,
            roots,
            user: self.user,
            stdin: None,
            rules: self.rules,
            counter: self.counter,
            cache: self.cache,
        };
        let mut worker = worker::Worker::new(options, self.wanted, self.inbox, reporter.clone());
        let _ = worker.work(&self.sender, hint);
        if !reporter.is_replaced() {
            worker.end();
            *lock(&self.ended) = None;
        }
    }
}

#[cfg(test)]
mod tests;
