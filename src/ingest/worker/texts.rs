//! Texts of items, read on a thread of their own, one at a time, since each may be large.

use super::Worker;
use crate::ingest::discover::file_id;
use crate::ingest::problem;
use crate::ingest::store::pipe::{NO_TEXT, STDIN};
use crate::ingest::text::Origin;
use crate::ingest::{Wake, lock, spawn};
use crate::model::fleet::FileId;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;

impl Worker {
    /// Begins to read the next text that was requested. `inbox` takes what was read, and wakes the worker
    /// for the one after it.
    pub(super) fn read_texts(&mut self, inbox: &SyncSender<Wake>) {
        let under_way = |reader: &JoinHandle<()>| !reader.is_finished();
        if self.reader.as_ref().is_some_and(under_way) {
            return;
        }
        let Some(job) = lock(&self.wanted.texts).take() else {
            return;
        };
        let origin = self.origin(job.request().file);
        let (inbox, opened) = (inbox.clone(), Arc::clone(&self.opened));
        let read = move || {
            let update = lock(&opened).do_job(job, origin).map(Box::new);
            // If the worker has ended, the text is no longer needed.
            let _ = inbox.send(Wake::Read(update));
        };
        self.reader = spawn("text", read).ok();
    }

    fn origin(&self, file: FileId) -> Origin {
        match self.known.get(&file) {
            Some(known) => Origin::Log(known.log.clone()),
            None if file == file_id(Path::new(STDIN)) => Origin::None(NO_TEXT.to_owned()),
            None => Origin::None(problem::GONE.to_owned()),
        }
    }
}
