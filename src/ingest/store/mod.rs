//! What a log is kept in: one trait, and its implementations.
//!
//! A file of lines, alone or with what it inherits ([`chain`]), and a folder of numbered files are
//! [`lines`], a document that is rewritten, alone or in many files ([`tree`]), is a [`document`], a session of a
//! database is [`database::SessionRows`], standard input is a [`pipe`]. Which of them a log is kept in is decided
//! in [`open`]; no code outside of this module asks for it. Places and cursors are interpreted by the store that
//! made them.

pub mod backwards;
mod blocks;
pub mod bytes;
pub mod chain;
pub mod database;
pub mod document;
pub mod folder;
pub mod lines;
#[cfg(test)]
mod mutations;
pub mod patience;
pub mod pipe;
pub mod position;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod zst;

use super::discover::LogFile;
use super::reader::{BATCH, Lanes, Reading};
use super::text::Pieces;
use crate::agents::format::StoreKind;
use crate::model::event::{Entry, Measure};
use crate::model::text::TextRequest;
use crate::model::window::Rules;
use chain::Chain;
use document::Document;
use folder::Folder;
use jiff::Timestamp;
use lines::LineLog;
use patience::Patience;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tree::Tree;

/// The store of this kind at a path; `None`: a database, each of whose sessions has a store of its own.
pub fn open(kind: StoreKind, path: &Arc<PathBuf>) -> Option<Arc<dyn Store>> {
    Some(match kind {
        StoreKind::Lines => Arc::new(LineLog::new(bytes::file(path))),
        StoreKind::Chain(spec) => Arc::new(LineLog::new(Arc::new(Chain::new(path, spec)))),
        StoreKind::Folder(spec) => Arc::new(LineLog::new(Arc::new(Folder::new(path, spec)))),
        StoreKind::Document => Arc::new(Document::new(bytes::plain(path))),
        StoreKind::Tree(spec) => Arc::new(Document::new(Arc::new(Tree::new(path, spec)))),
        StoreKind::Database(_) => return None,
    })
}

/// What a log is kept in.
///
/// The only methods that every store needs are those without a default: its stamp, its first bytes, a
/// cursor at its beginning, and the text of an item. `log` is the log that is kept in it.
pub trait Store: Send + Sync {
    /// What can be seen of the log without reading it.
    fn stamp(&self) -> io::Result<Stamp>;

    /// If the log is one of several at a path: its stamp when that was last looked at as a whole.
    fn listed(&self) -> Option<Stamp> {
        None
    }

    /// The first bytes, enough to recognise the format; empty: it contains nothing yet.
    fn head(&self) -> io::Result<Vec<u8>>;

    /// A cursor at the beginning.
    fn cursor(&self, log: &LogFile, rules: &Arc<Rules>) -> Box<dyn Cursor>;

    /// The text of an item.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] if the item is no longer at its place.
    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<Pieces>;

    /// Whether the log is all in one file, so that its stamp shows every change of it. Ask when it has been read: its
    /// content may refer to others.
    fn is_one_file(&self) -> bool {
        false
    }

    /// Whether other logs are kept at the same path.
    fn is_one_of_several(&self) -> bool {
        false
    }

    /// Reads as much of the end as a first gauge needs. By default: all.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if the log is being rewritten: what was read before still counts.
    fn tail(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
    ) -> io::Result<Reading> {
        Reading::whole(log, rules).to_end(measure)
    }

    /// The same, but back to the newest usage report or the beginning, however far that is.
    fn tail_to_report(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
    ) -> io::Result<Reading> {
        self.tail(log, measure, rules)
    }

    /// A reading of what came since the last reset. By default: of all.
    fn epoch(&self, log: &LogFile, rules: &Arc<Rules>) -> io::Result<Reading> {
        Ok(Reading::whole(log, rules))
    }

    /// All entries, in batches, until `give` breaks.
    fn entries(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        give: &mut dyn FnMut(Vec<Entry>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut cursor = self.cursor(log, &Arc::default());
        let mut end = End::Open;
        loop {
            let (entries, is_last) = match cursor.read_patiently(measure, end, &mut batch())? {
                News::Batch(entries) => (entries, false),
                News::Entries(entries) => (entries, true),
                News::Rewritten(_) | News::Restart => return Ok(()),
            };
            if give(entries).is_break() || is_last && end == End::Settled {
                return Ok(());
            }
            if is_last {
                end = End::Settled;
            }
        }
    }
}

/// Where reading continues.
pub trait Cursor: Send {
    /// Reads what is new. `pause` is asked after each record, with its size in bytes, whether to stop.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if the log is being rewritten; try again later.
    fn read(
        &mut self,
        measure: &dyn Measure,
        end: End,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<News>;

    /// Whether reading goes on at the same place after [`io::ErrorKind::WouldBlock`].
    fn keeps_place(&self) -> bool {
        false
    }

    /// Whether the log ends in a record that is not complete. It is read with [`End::Settled`] when
    /// nobody has written for some time.
    fn is_incomplete(&self) -> bool {
        false
    }

    /// Whether a file beside the log has changed, so that there is something to read although the log
    /// itself has not.
    fn has_news_beside(&self) -> bool {
        false
    }

    /// Drops what only makes the next reading faster.
    fn trim(&mut self) {}

    /// Nothing is read after the next reading.
    fn read_once(&mut self) {}
}

impl dyn Cursor {
    /// As [`Cursor::read`], but waits for its agent, if reading then goes on at the same place; until `pause` returns true
    /// for no bytes.
    ///
    /// # Errors
    ///
    /// [`patience::busy`] if the agent wrote all the time.
    pub fn read_patiently(
        &mut self,
        measure: &dyn Measure,
        end: End,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<News> {
        let mut patience = Patience::default();
        loop {
            let error = match self.read(measure, end, pause) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && self.keeps_place() => e,
                read => return read,
            };
            if pause(0) {
                return Err(error);
            }
            patience.wait()?;
        }
    }

    /// Reads what is new, about a megabyte at most.
    pub fn more(&mut self, measure: &dyn Measure) -> io::Result<News> {
        self.read(measure, End::Open, &mut batch())
    }

    /// Reads all there is, an incomplete last record too: nobody is writing to the log.
    pub fn finish(&mut self, measure: &dyn Measure) -> io::Result<News> {
        self.read(measure, End::Settled, &mut |_| false)
    }
}

/// Asks for a pause after about a megabyte.
fn batch() -> impl FnMut(u64) -> bool {
    let mut bytes = 0;
    move |len| {
        bytes += len;
        bytes >= BATCH
    }
}

/// What has come since a log was last read.
pub enum News {
    /// These entries, perhaps none; all there is for now.
    Entries(Vec<Entry>),
    /// These entries, and there is more.
    Batch(Vec<Entry>),
    /// The log was rewritten: these are its sessions now.
    Rewritten(Lanes),
    /// It must be read again from its beginning: it was truncated, replaced or rewritten.
    Restart,
}

/// How the end of a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// An incomplete record is still being written.
    Open,
    /// It is not.
    Settled,
}

/// File systems keep the time of writing in ticks of up to 10 ms: a second write in the same tick does
/// not change a file's stamp.
const TICK: Duration = Duration::from_millis(20);

/// Clocks of a server and of this machine may differ by so much.
const AHEAD: Duration = Duration::from_secs(600);

/// What can be seen of a store without reading it. As long as it stays the same and
/// [`is_sure`](Stamp::is_sure), nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// For a file: the device and the file on it, zeros if the system has no such numbers.
    version: (u64, u64),
    len: u64,
    modified: Option<SystemTime>,
    /// When the file itself was changed, in seconds and nanoseconds: written, replaced, or given another time of
    /// writing. Zeros if the system does not keep that.
    changed: (i64, i64),
    is_exact: bool,
}

impl Stamp {
    /// The stamp of a store that counts its versions: every write changes one of these numbers.
    pub fn exact(version: (u64, u64)) -> Stamp {
        Stamp {
            version,
            len: 0,
            modified: None,
            changed: (0, 0),
            is_exact: true,
        }
    }

    /// The stamp of a file that exists in a test only.
    #[cfg(test)]
    pub(in crate::ingest) fn made(len: u64, writes: u64) -> Stamp {
        Stamp {
            len,
            ..Stamp::exact((0, 0))
                .at(SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(writes)))
        }
    }

    /// The stamp of a file that was written then, as far as can be seen.
    #[cfg(test)]
    pub(in crate::ingest) fn dated(self, modified: SystemTime) -> Stamp {
        Stamp {
            is_exact: false,
            modified: Some(modified),
            ..self
        }
    }

    /// Whether the file of this stamp was changed later than the other one.
    #[cfg(test)]
    pub(in crate::ingest) fn is_changed_after(&self, other: Stamp) -> bool {
        self.changed > other.changed || self.modified > other.modified
    }

    /// The same stamp, with the time of the last write.
    #[must_use]
    pub fn at(self, modified: Option<SystemTime>) -> Stamp {
        Stamp { modified, ..self }
    }

    /// The stamp of the file at a path; symbolic links are followed.
    pub fn of(path: &Path) -> io::Result<Stamp> {
        std::fs::metadata(path).map(|meta| Stamp::from(&meta))
    }

    /// The size in bytes; 0 if that is not known.
    pub fn bytes(&self) -> u64 {
        self.len
    }

    /// When it was last written.
    pub fn modified(&self) -> Option<Timestamp> {
        Timestamp::try_from(self.modified?).ok()
    }

    /// The same to the nanosecond.
    pub fn written(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Whether both are stamps of the same file.
    pub fn is_same_file(&self, other: Stamp) -> bool {
        self.version == other.version
    }

    /// Whether both are stamps of the same file since the same write. Their lengths may differ: one may count the
    /// bytes that the file becomes.
    pub(super) fn is_same_write(&self, other: Stamp) -> bool {
        let of = |stamp: &Stamp| Stamp { len: 0, ..*stamp };
        of(self) == of(&other)
    }

    /// How long nothing was written; zero if that is not known.
    ///
    /// A file may be dated in the future: by hand, by a clock that was set back since, or by a server whose clock is
    /// ahead. Then the time at which the file itself was changed counts, which nobody can set; if that is in the
    /// future too, the file counts as just written if the clocks may differ by so much, and else as written long ago.
    pub fn age(&self) -> Duration {
        let Some(modified) = self.modified else {
            return Duration::ZERO;
        };
        let now = SystemTime::now();
        let past = |at: SystemTime| now.duration_since(at).ok();
        let is_ahead = || modified > now + AHEAD;
        past(modified)
            .or_else(|| past(self.changed_at()?))
            .unwrap_or_else(|| match is_ahead() {
                true => Duration::MAX,
                false => Duration::ZERO,
            })
    }

    /// When the file itself was changed; `None`: not known.
    fn changed_at(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.changed;
        let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
        let nanoseconds = u32::try_from(nanoseconds).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
    }

    /// Whether a later write is sure to change the stamp.
    pub fn is_sure(&self) -> bool {
        self.is_exact || self.age() >= TICK
    }
}

impl From<&Metadata> for Stamp {
    fn from(meta: &Metadata) -> Stamp {
        #[cfg(unix)]
        let (version, changed) = {
            use std::os::unix::fs::MetadataExt;
            let changed = (meta.ctime(), meta.ctime_nsec());
            ((meta.dev(), meta.ino()), changed)
        };
        #[cfg(not(unix))]
        let (version, changed) = ((0, 0), (0, 0));
        Stamp {
            version,
            len: meta.len(),
            modified: meta.modified().ok(),
            changed,
            is_exact: false,
        }
    }
}
