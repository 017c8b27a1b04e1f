//! A log that is asked about again and again: each time only what came since is read.

use super::log::{BATCH_BYTES, Cursor, End, LogFile, News, Reading};
use super::patience::Waiting;
use super::source::SETTLED;
use model::event::Measure;
use model::fleet::{FileId, Fleet, SessionKey, Update};
use model::session::Session;
use model::text::{Text, TextRequest};
use model::window::Rules;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use tokens::Counter;

/// A log, what was read of it, and where reading continues.
pub struct Follower {
    log: LogFile,
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    fleet: Fleet,
    /// `None`: the log must be read from its beginning.
    cursor: Option<Box<dyn Cursor>>,
}

impl Follower {
    /// Nothing of the log was read yet.
    pub fn new(log: LogFile, rules: Arc<Rules>, counter: Arc<Counter>) -> Follower {
        let fleet = Fleet::new(Arc::clone(&rules));
        Follower {
            log,
            rules,
            counter,
            fleet,
            cursor: None,
        }
    }

    /// The log.
    pub fn log(&self) -> &LogFile {
        &self.log
    }

    /// The log's file.
    pub fn file(&self) -> FileId {
        self.log.facts.file
    }

    /// The sessions of the log, as of the last [`Follower::read`].
    pub fn fleet(&mut self) -> &mut Fleet {
        &mut self.fleet
    }

    /// One of them.
    pub fn session(&self, key: SessionKey) -> Option<&Session> {
        self.fleet.get(key)
    }

    /// Reads what came since. A log that was truncated, replaced or rewritten is read again.
    ///
    /// # Errors
    ///
    /// The log cannot be read; [`busy`](super::patience::busy) if its agent wrote to it all the time. The next call tries again.
    pub fn read(&mut self) -> io::Result<()> {
        let mut waiting = Waiting::default();
        loop {
            let read = self.read_on();
            if read.is_err() {
                self.cursor = None;
            }
            match read {
                // It is being rewritten.
                Err(e) if e.kind() == ErrorKind::WouldBlock => waiting.pause()?,
                read => return read,
            }
        }
    }

    fn read_on(&mut self) -> io::Result<()> {
        let Some(cursor) = self.cursor.as_mut() else {
            return self.read_whole();
        };
        let measure: &dyn Measure = &*self.counter;
        let file = self.log.facts.file;
        let mut end = End::Open;
        loop {
            let mut bytes = 0;
            let news = cursor.read_patiently(measure, end, &mut |len| {
                bytes += len;
                bytes >= BATCH_BYTES
            })?;
            let (entries, is_all) = match news {
                News::Batch(entries) => (entries, false),
                News::Entries(entries) => (entries, true),
                News::Rewritten(lanes) => {
                    let sessions = lanes.into_sessions();
                    self.fleet.apply(Update::Rebuilt { file, sessions });
                    return Ok(());
                }
                News::Restart => {
                    return self.read_whole();
                }
            };
            if !entries.is_empty() {
                self.fleet.apply(Update::Appended { file, entries });
            }
            if !is_all {
                continue;
            }
            let is_last = end == End::Settled || !cursor.is_incomplete();
            if is_last || self.log.store.stamp()?.age() < SETTLED {
                return Ok(());
            }
            end = End::Settled;
        }
    }

    /// Reads the log from its beginning.
    fn read_whole(&mut self) -> io::Result<()> {
        let reading = Reading::whole(&self.log, &self.rules);
        let measure: &dyn Measure = &*self.counter;
        let mut reading = reading.to_end(measure)?;
        reading.settle(&self.log, measure)?;
        let (sessions, cursor) = reading.finish();
        let file = self.file();
        self.fleet = Fleet::new(Arc::clone(&self.rules));
        let facts = Box::new(self.log.facts.clone());
        self.fleet.apply(Update::Found(facts));
        self.fleet.apply(Update::Rebuilt { file, sessions });
        self.cursor = Some(cursor);
        Ok(())
    }

    /// A page of an item's text, as [`model::text`] has them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidData`] if the item is no longer at its place.
    pub fn text(&self, wanted: TextRequest) -> io::Result<Text> {
        let mut pieces = self.log.store.text(&self.log, wanted)?;
        pieces.page(wanted.page)
    }
}

/// Whether an error means that there is no log at its path any more.
pub fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
