//! Texts of items. A thread reads them one at a time, since each may be large; while it does not come back, another
//! thread reads the next.

use super::Worker;
use crate::bytes::sync::{lock, spawn};
use crate::log::file_id;
use crate::log::problem;
use crate::store::pipe::{NO_TEXT, STDIN};
use crate::worker::inbox::Wake;
use crate::worker::job::Origin;
use model::lists::sessions::FileId;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time for which the next text waits for one that is being read. A gigabyte takes about a second.
pub(super) const LONGEST_TEXT_WAIT: Duration = Duration::from_secs(3);
/// The most threads that read texts at once, those that never come back included.
pub(super) const MOST_THREADS: usize = 4;

/// A thread that reads a text.
pub(super) struct TextReader {
    pub(super) since: Instant,
    /// The text was read, and the worker has been notified.
    is_done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Begins to read the next text that was requested. `inbox` takes what was read, and wakes the worker
    /// for the one after it.
    pub(super) fn read_texts(&mut self, now: Instant, inbox: &SyncSender<Wake>) {
        self.readers.retain(|reader| {
            !reader.is_done.load(Ordering::Relaxed) && !reader.thread.is_finished()
        });
        let is_slow =
            |reader: &TextReader| now.saturating_duration_since(reader.since) >= LONGEST_TEXT_WAIT;
        if self.readers.len() >= MOST_THREADS || !self.readers.iter().all(is_slow) {
            return;
        }
        let Some(job) = lock(&self.wanted.texts).take() else {
            return;
        };
        if !self.readers.is_empty() {
            // The open text is held by a thread that may never return it.
            self.opened = Arc::default();
        }
        let origin = self.origin(job.request().file);
        let (inbox, opened) = (inbox.clone(), Arc::clone(&self.opened));
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let read = move || {
            let page = lock(&opened).do_job(job, origin);
            done.store(true, Ordering::Relaxed);
            let wake = page.map_or(Wake::Look, |page| Wake::Delivery(Box::new(page)));
            // If the worker has ended, the text is no longer needed.
            let _ = inbox.send(wake);
        };
        if let Ok(thread) = spawn("text", read) {
            self.readers.push(TextReader {
                since: now,
                is_done,
                thread,
            });
        }
    }

    /// Returns the time at which another thread reads the next text, if one waits.
    pub(super) fn next_reader(&self) -> Option<Instant> {
        let waits = self.readers.len() < MOST_THREADS && !lock(&self.wanted.texts).is_empty();
        let newest = self.readers.iter().map(|reader| reader.since).max();
        newest
            .filter(|_| waits)
            .map(|since| since + LONGEST_TEXT_WAIT)
    }

    fn origin(&self, file: FileId) -> Origin {
        match self.tracked.get(&file) {
            Some(known) => Origin::Log(known.log.clone()),
            None if file == file_id(Path::new(STDIN)) => Origin::None(NO_TEXT.to_owned()),
            None => Origin::None(problem::LOG_GONE.to_owned()),
        }
    }
}
