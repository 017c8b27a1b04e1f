//! The interface of the reading threads: how they are started, what is asked of them.

use super::inbox::{INBOX_CAPACITY, Options, PendingRequests, Wake};
use super::job::TextJob;
use super::reporter::SharedState;
use super::stuck::{Overseer, ThreadHandover};
use crate::bytes::sync::{lock, spawn};
use crate::log::event::IngestEvent;
use crate::store::pipe::{self, PipeInput};
use model::lists::sessions::FileId;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time for which the end of the program waits for the worker.
const LAST_WAIT: Duration = Duration::from_millis(300);

/// The reading threads; they end when this is dropped.
pub struct Handle {
    wanted: Arc<PendingRequests>,
    inbox: SyncSender<Wake>,
    /// Disconnected when the worker has ended.
    worker: Mutex<Receiver<()>>,
}

impl Handle {
    /// Notes that somebody looks at this file: its epoch is read at once, with exact counts, then all of it.
    pub fn look_at(&self, file: FileId) {
        *lock(&self.wanted.viewed) = Some(file);
        // A full inbox is awake already.
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

/// Begins to read the logs and, if there is one, a log that comes through a pipe. `sink` is called on a thread of its own;
/// it may block, which slows the reading down, and ends it by [`ControlFlow::Break`].
///
/// # Errors
///
/// If a thread cannot be started.
pub fn start(
    options: Options,
    piped: Option<PipeInput>,
    sink: impl FnMut(IngestEvent) -> ControlFlow<()> + Send + 'static,
) -> io::Result<Handle> {
    let (handle, overseer) = begin(options, piped, sink)?;
    overseer.run()?;
    Ok(handle)
}

/// Like [`start`], but the caller runs the overseer of the thread that reads.
fn begin(
    options: Options,
    piped: Option<PipeInput>,
    sink: impl FnMut(IngestEvent) -> ControlFlow<()> + Send + 'static,
) -> io::Result<(Handle, Overseer)> {
    let (sender, inbox) = sync_channel(INBOX_CAPACITY);
    let wanted = Arc::<PendingRequests>::default();
    if let Some(piped) = piped {
        let formats = options.formats.clone();
        let (rules, counter) = (Arc::clone(&options.rules), Arc::clone(&options.counter));
        let sender = sender.clone();
        let give = move |event| match sender.send(Wake::Delivery(Box::new(event))) {
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
    let handed = ThreadHandover {
        options,
        wanted,
        sender,
        inbox: Arc::new(Mutex::new(inbox)),
        ended: Arc::new(Mutex::new(Some(ended))),
    };
    let overseer = Overseer::begin(handed, Arc::new(SharedState::new(Box::new(sink))))?;
    Ok((handle, overseer))
}

#[cfg(test)]
mod tests;
