//! A log: where it is, the store that it is kept in, and readings that continue as it grows.

use crate::bytes::lines::Progress;
use crate::bytes::patience::WaitTime;
use crate::bytes::source::file_system::{FileSystem, Local, Location};
use crate::bytes::source::{SETTLED, Stamp};
use crate::log::conversations::{Conversations, LogSessions};
use crate::log::reach::Reach;
use crate::sidecar::{DecoderWithSidecar, SidecarStore, States};
use formats::Format;
use model::event::{Entry, Measure, Unmeasured};
use model::lists::sessions::{FileFacts, FileId};
use model::lists::text::TextRequest;
use model::session::Coverage;
use model::window::Rules;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A log that was found.
#[derive(Clone)]
pub struct LogFile {
    /// The facts from the file system and the path.
    pub facts: FileFacts,
    /// The file system in which its path is.
    pub system: Arc<dyn FileSystem>,
    /// Its format.
    pub format: &'static Format,
    /// The store in which it is kept.
    pub store: Arc<dyn Store>,
    /// The sidecar files of its agent, if there can be any.
    pub sidecar: Option<Arc<SidecarStore>>,
}

impl LogFile {
    /// Returns a decoder of it, which was given the sidecar records but not the state files.
    pub(crate) fn decoder(&self) -> DecoderWithSidecar {
        let id = self.facts.id.as_deref().map(Into::into);
        let sidecar = self.sidecar.clone().zip(id);
        DecoderWithSidecar::new(self.format.decoder(), sidecar, self.states())
    }

    /// Returns its state files, none of them given to a decoder yet.
    pub(crate) fn states(&self) -> States {
        States::new(self.format, self.location())
    }

    /// Passes on the entries that concern usage among those of all records.
    pub(crate) fn usage_of_all(&self, give: &mut OnEntry<'_>) -> io::Result<()> {
        self.store.entries(self, &Unmeasured, &mut |entries| {
            entries
                .iter()
                .filter_map(Entry::of_usage)
                .for_each(&mut *give);
            ControlFlow::Continue(())
        })
    }

    /// Returns its location.
    pub fn location(&self) -> Location {
        Location {
            system: Arc::clone(&self.system),
            path: Arc::clone(&self.facts.path),
        }
    }

    /// Returns true if there is a file or a folder at its path.
    pub fn is_there(&self) -> bool {
        self.system.has(&self.facts.path)
    }

    /// Returns true if it is a session of a database, so that its path is also the path of other logs.
    pub fn is_one_of_several(&self) -> bool {
        self.store.is_one_of_several()
    }
}

/// Returns the facts about a log of which no more is known than its format, its file and its path.
pub(crate) fn facts_of(format: &Format, file: FileId, path: Arc<PathBuf>) -> FileFacts {
    FileFacts {
        file,
        agent: format.id,
        label: format.label,
        commands: format.facts.commands,
        path,
        id: None,
        parent: None,
        len: 0,
        modified: None,
        host: None,
    }
}

/// Returns the id of the file at a path of this machine, the same by whatever links it is reached.
pub fn file_id(path: &Path) -> FileId {
    id_in(&Local, path)
}

/// Returns the id of the file at a path of a file system.
pub(crate) fn id_in(system: &dyn FileSystem, path: &Path) -> FileId {
    let real = system.real(path);
    id_of_real(real.as_deref().unwrap_or(path))
}

/// Returns the id of the file at a path without links.
pub(crate) fn id_of_real(path: &Path) -> FileId {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    FileId(hasher.finish())
}

/// Bytes of records in one batch of what was appended.
const BATCH_BYTES: u64 = 1 << 20;

/// A store in which a log is kept.
///
/// The only methods that every store needs are those without a default: its stamp, its first bytes, a
/// cursor at its beginning, and the text of an item. `log` is the log that is kept in it.
pub trait Store: Send + Sync {
    /// Returns the facts about the log that can be seen without reading it.
    fn stamp(&self) -> io::Result<Stamp>;

    /// Returns the stamp of the log when its path was last looked at as a whole; `None`: it is not one of several at a
    /// path.
    fn listed(&self) -> Option<Stamp> {
        None
    }

    /// Returns the first bytes, enough to recognise the format; empty: it contains nothing yet.
    fn head(&self) -> io::Result<Vec<u8>>;

    /// Returns a cursor at the beginning.
    fn cursor(&self, log: &LogFile, rules: &Arc<Rules>) -> Box<dyn Cursor>;

    /// Returns the text of an item.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] if the item is no longer at its place.
    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<String>;

    /// Returns true if its stamp shows every change of it. The result holds only after the log has been read: its
    /// content may refer to other files.
    fn is_stamped_whole(&self) -> bool {
        false
    }

    /// Returns true if other logs are kept at the same path.
    fn is_one_of_several(&self) -> bool {
        false
    }

    /// Reads as much of the end as a gauge needs, as far back as `reach` says. By default: all.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if the log is being rewritten: what was read before still counts.
    fn tail(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
        reach: Reach,
    ) -> io::Result<Reading> {
        let reading = if reach.is_final {
            Reading::once(log, rules)
        } else {
            Reading::whole(log, rules)
        };
        reading.to_end(measure)
    }

    /// Returns a reading of what came since the last reset. By default: of all.
    fn epoch(&self, log: &LogFile, rules: &Arc<Rules>) -> io::Result<Reading> {
        Ok(Reading::whole(log, rules))
    }

    /// Returns a reading of the last epochs, to be read once: as many as begin in about the last records, or else the
    /// newest one, if it begins in the last bytes. `None`: it began before, or only all of the log shows where.
    fn epochs_within(
        &self,
        _log: &LogFile,
        _rules: &Arc<Rules>,
        _recent: Recent,
    ) -> io::Result<Option<Reading>> {
        Ok(None)
    }

    /// Passes on all entries of the log that [concern usage](model::event::Event::of_usage), an incomplete last
    /// record's too. By default all records are decoded.
    fn usage(&self, log: &LogFile, give: &mut OnEntry<'_>) -> io::Result<()> {
        log.usage_of_all(give)
    }

    /// Passes on all entries, in batches, until `give` breaks.
    fn entries(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        give: &mut dyn FnMut(Vec<Entry>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut cursor = self.cursor(log, &Arc::default());
        let mut end = LogEnd::Open;
        loop {
            let (entries, is_last) = match cursor.read_with_retries(measure, end, &mut batch())? {
                NewEntries::Batch(entries) => (entries, false),
                NewEntries::Entries(entries) => (entries, true),
                NewEntries::Rewritten(_) | NewEntries::Restart => return Ok(()),
            };
            if give(entries).is_break() || is_last && end == LogEnd::Complete {
                return Ok(());
            }
            if is_last {
                end = LogEnd::Complete;
            }
        }
    }
}

/// A function that is called with the entries of a log, one by one.
pub type OnEntry<'f> = dyn FnMut(Entry) + 'f;

/// The part of a log's end that is read for a status line.
#[derive(Debug, Clone, Copy)]
pub struct Recent {
    /// About so many records, for several epochs.
    pub records: u64,
    /// So many bytes, for one epoch; and no more for several.
    pub bytes: u64,
}

/// The place at which reading continues.
pub trait Cursor: Send {
    /// Reads what is new. `pause` is asked after each record, with its size in bytes, whether to stop; those that were
    /// read together with it may come all the same.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if the log is being rewritten; try again later.
    fn read(
        &mut self,
        measure: &dyn Measure,
        end: LogEnd,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries>;

    /// Returns true if reading goes on at the same place after [`io::ErrorKind::WouldBlock`].
    fn keeps_place(&self) -> bool {
        false
    }

    /// Returns true if the log ends in a record that is not complete. It is read with [`LogEnd::Complete`] when nobody has
    /// written for some time.
    fn is_incomplete(&self) -> bool {
        false
    }

    /// Returns true if a sidecar or state file has changed, so that there is something to read although the log itself
    /// has not.
    fn has_sidecar_changes(&self) -> bool {
        false
    }

    /// Notes that nothing is read after the next reading.
    fn read_once(&mut self) {}
}

impl dyn Cursor {
    /// Reads as [`Cursor::read`] does, but waits for its agent, if reading then goes on at the same place; until
    /// `pause` returns true for no bytes.
    ///
    /// # Errors
    ///
    /// [`busy`](crate::bytes::patience::busy) if the agent wrote all the time.
    pub fn read_with_retries(
        &mut self,
        measure: &dyn Measure,
        end: LogEnd,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries> {
        let mut waiting = WaitTime::default();
        loop {
            let error = match self.read(measure, end, pause) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && self.keeps_place() => e,
                read => return read,
            };
            if pause(0) {
                return Err(error);
            }
            waiting.pause()?;
        }
    }

    /// Reads what is new, about a megabyte at most.
    pub fn more(&mut self, measure: &dyn Measure) -> io::Result<NewEntries> {
        self.read(measure, LogEnd::Open, &mut batch())
    }

    /// Reads all there is, an incomplete last record too: nobody is writing to the log.
    pub fn finish(&mut self, measure: &dyn Measure) -> io::Result<NewEntries> {
        self.read(measure, LogEnd::Complete, &mut |_| false)
    }
}

/// Asks for a pause after about a megabyte.
fn batch() -> impl FnMut(u64) -> bool {
    let mut bytes = 0;
    move |len| {
        bytes += len;
        bytes >= BATCH_BYTES
    }
}

/// The entries that have come since a log was last read.
pub enum NewEntries {
    /// These entries, perhaps none; all there is for now.
    Entries(Vec<Entry>),
    /// These entries, and there is more.
    Batch(Vec<Entry>),
    /// The log was rewritten: these are its sessions now.
    Rewritten(Conversations),
    /// It must be read again from its beginning: it was truncated, replaced or rewritten.
    Restart,
}

/// The treatment of the end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogEnd {
    /// An incomplete record is still being written.
    Open,
    /// It is complete: nobody writes to it.
    Complete,
}

/// A reading of a log, in steps, from some place to its end.
pub struct Reading {
    /// The sessions so far.
    pub(crate) conversations: Conversations,
    cursor: Box<dyn Cursor>,
}

impl Reading {
    /// Returns a reading that continues at a cursor; the sessions contain everything before it.
    pub fn new(conversations: Conversations, cursor: Box<dyn Cursor>) -> Reading {
        Reading {
            conversations,
            cursor,
        }
    }

    /// Returns a reading from the beginning.
    pub fn whole(log: &LogFile, rules: &Arc<Rules>) -> Reading {
        Reading {
            conversations: Conversations::new(&log.facts, rules, Coverage::Whole),
            cursor: log.store.cursor(log, rules),
        }
    }

    /// Returns a reading from the beginning for a report on the present state: neither earlier states are kept nor the
    /// place to continue at.
    pub fn once(log: &LogFile, rules: &Arc<Rules>) -> Reading {
        Reading::whole(log, rules).finally()
    }

    /// Returns this reading, prepared to be read once.
    #[must_use]
    pub fn finally(mut self) -> Reading {
        self.cursor.read_once();
        self.conversations = self.conversations.finally();
        self
    }

    /// Reads on until `pause`, asked after each record, returns true.
    pub fn step(
        &mut self,
        measure: &dyn Measure,
        pause: &mut dyn FnMut() -> bool,
    ) -> io::Result<Progress> {
        loop {
            let (mut paused, mut bytes) = (false, 0);
            // Entries are folded in small batches, so that only a megabyte of them is held.
            let news = self
                .cursor
                .read_with_retries(measure, LogEnd::Open, &mut |len| {
                    bytes += len;
                    paused = pause();
                    paused || bytes > BATCH_BYTES
                });
            match news {
                Ok(NewEntries::Batch(entries)) => {
                    self.conversations.take_in(entries)?;
                    if paused {
                        return Ok(Progress::More);
                    }
                }
                Ok(NewEntries::Entries(entries)) => {
                    self.conversations.take_in(entries)?;
                    return Ok(Progress::Done);
                }
                Ok(NewEntries::Rewritten(conversations)) => {
                    self.conversations = conversations;
                    return Ok(Progress::Done);
                }
                Ok(NewEntries::Restart) => return Ok(Progress::Restart),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(if self.cursor.keeps_place() {
                        Progress::More
                    } else {
                        Progress::Restart
                    });
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Reads it to the end.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if the log is being rewritten.
    pub fn to_end(mut self, measure: &dyn Measure) -> io::Result<Reading> {
        match self.step(measure, &mut || false)? {
            Progress::Done => Ok(self),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Reads an incomplete last record, if nobody has written to the log lately.
    pub fn settle(&mut self, log: &LogFile, measure: &dyn Measure) -> io::Result<()> {
        if self.cursor.is_incomplete() && log.store.stamp()?.age() >= SETTLED {
            self.settle_now(measure)?;
        }
        Ok(())
    }

    /// Reads an incomplete last record.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub fn settle_now(&mut self, measure: &dyn Measure) -> io::Result<()> {
        loop {
            let news = self
                .cursor
                .read_with_retries(measure, LogEnd::Complete, &mut |_| false)?;
            match news {
                NewEntries::Batch(entries) => self.conversations.take_in(entries)?,
                NewEntries::Entries(entries) => return self.conversations.take_in(entries),
                NewEntries::Rewritten(_) | NewEntries::Restart => return Ok(()),
            }
        }
    }

    /// Returns the sessions, and a cursor where reading continues.
    pub fn finish(self) -> (LogSessions, Box<dyn Cursor>) {
        (self.conversations.into_sessions(), self.cursor)
    }

    /// Returns what was read, and a cursor where reading continues.
    #[cfg(test)]
    pub(crate) fn into_parts(self) -> (Conversations, Box<dyn Cursor>) {
        (self.conversations, self.cursor)
    }
}

pub mod conversations;
pub mod event;
#[cfg(test)]
mod fixtures;
pub mod follower;
pub(crate) mod problem;
pub mod reach;
pub mod reader;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "testing"))]
#[path = "testing/usage_facts.rs"]
pub mod usage_facts;
