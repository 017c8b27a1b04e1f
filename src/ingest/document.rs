//! Documents, which are rewritten as a whole: read through at first, then on from where they have not
//! changed.
//!
//! Of a document that is mostly a list ([`Format::list`]) the decoder is given what stands around the
//! list, then each element. A few elements before the end, what the reading has come to is kept beside
//! a hash of the list's bytes up to there. While they stay the same, and so does what the decoder says
//! of what is around the list, only the bytes after them are decoded and folded: of 50 MB the rest is
//! but hashed.

mod list;

use super::discover::LogFile;
use super::reader::{Fold, More};
use super::tail::Stamp;
use crate::agents::{Decoder, Format, Input, List};
use crate::model::event::{Entry, Measure, Place, Sink};
use crate::model::session::Coverage;
use crate::model::window::Rules;
use list::Elements;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;
use std::time::Duration;
use xxhash_rust::xxh3::Xxh3;

/// Larger documents are not read.
pub(super) const LARGEST: u64 = 64 << 20;
/// A document that was written to so lately may be half there.
const TORN: Duration = Duration::from_secs(1);
/// So many elements at the end of a list may change yet: agents write messages anew while calls run.
const LATE: usize = 8;
/// Bytes hashed at once: they stay in the processor's cache.
const BLOCK: usize = 128 << 10;

/// A document that is followed.
pub(super) struct Document {
    log: LogFile,
    rules: Arc<Rules>,
    /// It as it was when last read, where a write since would show.
    seen: Option<Stamp>,
    checkpoint: Option<Checkpoint>,
}

/// What a reading came to.
struct Reading {
    fold: Fold,
    /// Where the next one may begin.
    checkpoint: Option<Checkpoint>,
    /// Bytes of the document.
    len: usize,
}

impl Document {
    pub(super) fn new(log: &LogFile, rules: &Arc<Rules>) -> Document {
        Document {
            log: log.clone(),
            rules: Arc::clone(rules),
            seen: None,
            checkpoint: None,
        }
    }

    /// What a document holds that was written to since it was last read; `None`: it was not. One that
    /// is half written is not there yet: [`io::ErrorKind::WouldBlock`].
    pub(super) fn read(&mut self, measure: &dyn Measure) -> io::Result<Option<Fold>> {
        let mut file = File::open(self.log.facts.path.as_path())?;
        let stamp = Stamp::from(&file.metadata()?);
        if self.seen == Some(stamp) {
            return Ok(None);
        }
        admit(stamp.len)?;
        let young = stamp.modified.is_some() && stamp.age() < TORN;
        let reading = match self.read_on(&mut file, measure)? {
            Standing::Read(reading) => *reading,
            Standing::Torn if young => return Err(io::ErrorKind::WouldBlock.into()),
            _ => self.read_whole(&mut file, stamp.len, measure)?,
        };
        self.checkpoint = reading.checkpoint;
        let torn = reading.len as u64 != stamp.len || reading.fold.has_unreadable();
        if torn && young {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.seen = stamp.is_sure().then_some(stamp);
        Ok(Some(reading.fold))
    }

    /// The same, for who follows it.
    pub(super) fn more(&mut self, measure: &dyn Measure) -> io::Result<More> {
        Ok(match self.read(measure)? {
            Some(fold) => More::Anew(fold.into_sessions()),
            None => More::Entries(Vec::new()),
        })
    }

    /// Lets go of what only makes the next reading quicker.
    pub(super) fn shed(&mut self) {
        self.checkpoint = None;
    }

    fn read_whole(&self, file: &mut File, len: u64, measure: &dyn Measure) -> io::Result<Reading> {
        file.rewind()?;
        let document = bytes(file, len)?;
        let mut fold = Fold::new(&self.log, &self.rules, Coverage::Whole);
        let mut decoder = self.log.format.decoder();
        let mut out = Sink::new(measure);
        let Some(parts) = Parts::of(self.log.format, &document) else {
            decoder.read(Input::Document(&document), &mut out);
            fold.apply(out.entries);
            return Ok(Reading {
                fold,
                checkpoint: None,
                len: document.len(),
            });
        };
        decoder.read(Input::Document(&parts.around), &mut out);
        fold.apply(out.entries.clone());
        let beginning = Checkpoint {
            list: parts.list,
            start: parts.before.len(),
            around: out.entries,
            len: 0,
            hash: Xxh3::new(),
            elements: 0,
            decoder,
            fold,
        };
        Ok(beginning.go_on(parts.rest, &parts.elements, measure))
    }

    fn read_on(&mut self, file: &mut File, measure: &dyn Measure) -> io::Result<Standing> {
        let Some(from) = &self.checkpoint else {
            return Ok(Standing::Changed);
        };
        let mut before = vec![0; from.start];
        if !fill(file, &mut before)?
            || list::start(from.list, &before) != Some(from.start)
            || !from.stands(file)?
        {
            return Ok(Standing::Changed);
        }
        let rest = bytes(file, 0)?;
        let elements = list::elements(from.list, &rest);
        if elements.end.is_none() {
            return Ok(Standing::Torn);
        }
        let mut out = Sink::new(measure);
        let around = [&before, elements.after(&rest)].concat();
        let mut decoder = self.log.format.decoder();
        decoder.read(Input::Document(&around), &mut out);
        let from = self.checkpoint.take();
        Ok(match from.filter(|from| from.around == out.entries) {
            Some(from) => Standing::Read(Box::new(from.go_on(&rest, &elements, measure))),
            None => Standing::Changed,
        })
    }
}

/// Whether a document stands as it was up to the checkpoint.
enum Standing {
    /// It does, and this is what it holds now.
    Read(Box<Reading>),
    /// It does, and it ends too early.
    Torn,
    /// It does not, or there is no checkpoint.
    Changed,
}

/// A document with a list: what is around it, and its elements.
struct Parts<'d> {
    list: List,
    before: &'d [u8],
    around: Vec<u8>,
    /// The document from the list's beginning on.
    rest: &'d [u8],
    elements: Elements,
}

impl<'d> Parts<'d> {
    fn of(format: &Format, document: &'d [u8]) -> Option<Parts<'d>> {
        let list = format.list?;
        let (before, rest) = document.split_at_checked(list::start(list, document)?)?;
        let elements = list::elements(list, rest);
        Some(Parts {
            list,
            before,
            around: [before, elements.after(rest)].concat(),
            rest,
            elements,
        })
    }
}

/// What the reading of a list has come to before some element.
struct Checkpoint {
    list: List,
    /// Bytes before the list.
    start: usize,
    /// What the decoder said of what is around it.
    around: Vec<Entry>,
    /// The list's bytes up to here.
    len: usize,
    hash: Xxh3,
    /// Elements up to here.
    elements: usize,
    decoder: Box<dyn Decoder>,
    fold: Fold,
}

impl Checkpoint {
    /// Whether these still are the bytes that were read. The file is read up to here.
    fn stands(&self, file: &mut File) -> io::Result<bool> {
        let mut hash = Xxh3::new();
        let mut block = vec![0; BLOCK];
        let mut left = self.len;
        while left > 0 {
            let block = &mut block[..left.min(BLOCK)];
            if !fill(file, block)? {
                return Ok(false);
            }
            hash.update(block);
            left -= block.len();
        }
        Ok(hash.digest128() == self.hash.digest128())
    }

    /// Reads these elements, of which `rest` holds the bytes from here on.
    fn go_on(mut self, rest: &[u8], elements: &Elements, measure: &dyn Measure) -> Reading {
        let len = self.start + self.len + rest.len();
        let mut out = Sink::new(measure);
        let (early, late) = elements
            .ranges
            .split_at(elements.ranges.len().saturating_sub(LATE));
        for range in early {
            self.read(&rest[range.clone()], &mut out);
        }
        let upto = late.first().map_or(0, |range| range.start);
        self.hash.update(&rest[..upto]);
        self.len += upto;
        let checkpoint = self.copy();
        for range in late {
            self.read(&rest[range.clone()], &mut out);
        }
        Reading {
            fold: self.fold,
            checkpoint,
            len,
        }
    }

    fn read(&mut self, element: &[u8], out: &mut Sink<'_>) {
        self.elements += 1;
        out.begin(place(self.elements));
        self.decoder
            .read(Input::Line(place(self.elements), element), out);
        self.fold.apply(out.entries.drain(..));
    }

    fn copy(&self) -> Option<Checkpoint> {
        Some(Checkpoint {
            list: self.list,
            start: self.start,
            around: self.around.clone(),
            len: self.len,
            hash: self.hash.clone(),
            elements: self.elements,
            decoder: self.decoder.copy()?,
            fold: self.fold.clone(),
        })
    }
}

/// Gives a document to a decoder.
pub(super) fn decode(format: &Format, document: &[u8], out: &mut Sink<'_>) {
    let mut decoder = format.decoder();
    let Some(parts) = Parts::of(format, document) else {
        return decoder.read(Input::Document(document), out);
    };
    decoder.read(Input::Document(&parts.around), out);
    for (n, range) in (1..).zip(parts.elements.ranges) {
        out.begin(place(n));
        decoder.read(Input::Line(place(n), &parts.rest[range]), out);
    }
}

/// All that a document tells.
pub(super) fn entries(log: &LogFile, measure: &dyn Measure) -> io::Result<Vec<Entry>> {
    let mut file = File::open(log.facts.path.as_path())?;
    let mut out = Sink::new(measure);
    decode(log.format, &bytes(&mut file, log.facts.len)?, &mut out);
    Ok(out.entries)
}

/// Where an element stands: by its number, from 1 on.
fn place(element: usize) -> Place {
    Place {
        line: element as u64,
        ..Place::default()
    }
}

/// The bytes from here to the end, about `len` of them.
pub(super) fn bytes(source: &mut dyn Read, len: u64) -> io::Result<Vec<u8>> {
    admit(len)?;
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    admit(bytes.len() as u64)?;
    Ok(bytes)
}

/// Refuses documents that are too large.
fn admit(len: u64) -> io::Result<()> {
    if len > LARGEST {
        return Err(io::Error::other(format!(
            "a document of more than {} MiB is not read at once",
            LARGEST >> 20
        )));
    }
    Ok(())
}

/// Fills a buffer; `false`: the file ends before.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests;
