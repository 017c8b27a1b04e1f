//! Documents, which are rewritten as a whole: read through at first, then on from the first change.
//!
//! If a format names the array that holds a document's records ([`Recognition::list`](formats::Recognition::list)), the decoder is given
//! the document with that array emptied, then each of its elements. The state of the reading a few
//! elements before the end is kept as a checkpoint, with a hash of the array's bytes up to there. While
//! that hash stays the same, and so does what the decoder makes of the rest of the document, only the
//! elements after the checkpoint are decoded again: most of 50 MB is only hashed.
//!
//! If a state document of the log ([`FilesBeside::states`](formats::FilesBeside::states)) has changed, all is decoded again.

mod list;

use crate::bytes::source::{BOM, Bytes, LARGEST, Open, Stamp, TORN, head};
use crate::bytes::text;
use crate::log::conversations::Conversations;
use crate::log::{Cursor, LogEnd, LogFile, NewEntries, OnEntry, Store};
use crate::sidecar::States;
use decode::text;
use formats::{ArrayName, Decoder, Format};
use list::Elements;
use model::event::{Entry, EventSink, Measure, Place};
use model::lists::text::TextRequest;
use model::session::Coverage;
use model::window::Rules;
use std::io::{self, Read, Seek};
use std::ops::ControlFlow;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Agents may still rewrite this many elements at the end of an array: messages change while calls run.
const MUTABLE_TAIL: usize = 8;
/// The number of bytes hashed at once: they stay in the processor's cache.
const BLOCK_BYTES: usize = 128 << 10;

/// A document.
pub struct Document {
    source: Arc<dyn Open>,
}

impl Document {
    /// Returns the document with these bytes.
    pub fn new(source: Arc<dyn Open>) -> Document {
        Document { source }
    }

    fn decode(&self, log: &LogFile, out: &mut EventSink<'_>) -> io::Result<()> {
        let (mut file, stamp) = self.source.open()?;
        let document = bytes(&mut file, stamp.len)?;
        let mut decoder = log.format.decoder();
        log.states().give(decoder.as_mut(), out);
        decode_with(decoder, log.format, &document, out);
        Ok(())
    }
}

impl Store for Document {
    fn stamp(&self) -> io::Result<Stamp> {
        self.source.stamp()
    }

    fn is_stamped_whole(&self) -> bool {
        self.source.is_one_file()
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        head(&*self.source)
    }

    fn cursor(&self, log: &LogFile, rules: &Arc<Rules>) -> Box<dyn Cursor> {
        Box::new(DocumentCursor::new(&self.source, log, rules))
    }

    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<String> {
        text::captured(wanted, |out| self.decode(log, out))
    }

    fn usage(&self, log: &LogFile, give: &mut OnEntry<'_>) -> io::Result<()> {
        let mut out = EventSink::for_usage();
        self.decode(log, &mut out)?;
        out.entries.into_iter().for_each(give);
        Ok(())
    }

    fn entries(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        give: &mut dyn FnMut(Vec<Entry>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut out = EventSink::new(measure);
        self.decode(log, &mut out)?;
        let _ = give(out.entries);
        Ok(())
    }
}

/// A document that is followed.
struct DocumentCursor {
    source: Arc<dyn Open>,
    log: LogFile,
    rules: Arc<Rules>,
    /// Its stamp when it was last read, if that is sure to change with a later write.
    seen: Option<Stamp>,
    /// The state documents of the log when it was last read as a whole.
    states: States,
    checkpoint: Option<Checkpoint>,
    /// True if nothing is read after the next reading.
    is_final: bool,
}

/// The result of reading a document.
struct Contents {
    conversations: Conversations,
    /// The place at which the next reading may begin.
    checkpoint: Option<Checkpoint>,
    /// Bytes of the document.
    len: usize,
}

impl Cursor for DocumentCursor {
    /// Reads a document at once, or not at all if it is not complete yet.
    fn read(
        &mut self,
        measure: &dyn Measure,
        _: LogEnd,
        _: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries> {
        Ok(match self.rewritten(measure)? {
            Some(conversations) => NewEntries::Rewritten(conversations),
            None => NewEntries::Entries(Vec::new()),
        })
    }

    fn has_sidecar_changes(&self) -> bool {
        self.states.have_changed()
    }

    fn read_once(&mut self) {
        self.is_final = true;
    }
}

impl DocumentCursor {
    fn new(source: &Arc<dyn Open>, log: &LogFile, rules: &Arc<Rules>) -> DocumentCursor {
        DocumentCursor {
            source: Arc::clone(source),
            log: log.clone(),
            rules: Arc::clone(rules),
            seen: None,
            states: log.states(),
            checkpoint: None,
            is_final: false,
        }
    }

    /// Returns the sessions, if the document or one of its state documents was written to since it was last read.
    fn rewritten(&mut self, measure: &dyn Measure) -> io::Result<Option<Conversations>> {
        let (mut file, stamp) = self.source.open()?;
        if self.states.have_changed() {
            self.checkpoint = None;
        } else if self.seen == Some(stamp) {
            return Ok(None);
        }
        admit(stamp.len)?;
        let is_young = stamp.modified().is_some() && stamp.age() < TORN;
        let contents = match self.read_on(&mut file, measure)? {
            Continuation::Read(contents) => *contents,
            Continuation::Incomplete if is_young => return Err(io::ErrorKind::WouldBlock.into()),
            _ => self.read_whole(&mut file, stamp.len, measure)?,
        };
        self.checkpoint = contents.checkpoint;
        contents.conversations.check_records()?;
        // Whoever rewrites a file empties it first.
        let is_torn = contents.len == 0
            || contents.len as u64 != stamp.len
            || contents.conversations.has_unreadable();
        // A reader that had to wait since it opened the file may find the middle of a later write.
        let is_rewritten = || {
            let now = self.source.stamp();
            !now.is_ok_and(|now| now.is_same_write(stamp))
        };
        if is_torn && (is_young || is_rewritten()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.seen = stamp.is_sure().then_some(stamp);
        Ok(Some(contents.conversations))
    }

    fn read_whole(
        &mut self,
        file: &mut Bytes,
        len: u64,
        measure: &dyn Measure,
    ) -> io::Result<Contents> {
        file.rewind()?;
        let document = bytes(file, len)?;
        let mut conversations = Conversations::new(&self.log.facts, &self.rules, Coverage::Whole);
        if self.is_final {
            conversations = conversations.finally();
        }
        let mut out = EventSink::new(measure);
        self.states = self.log.states();
        let mut decoder = self.log.format.decoder();
        self.states.give(decoder.as_mut(), &mut out);
        let Some(parts) = Parts::of(self.log.format, &document) else {
            decoder.read_document(&text(&document), &mut out);
            decoder.read_end(&mut out);
            conversations.apply(out.entries);
            return Ok(Contents {
                conversations,
                checkpoint: None,
                len: document.len(),
            });
        };
        decoder.read_document(&text(&parts.around), &mut out);
        conversations.apply(out.entries.clone());
        let beginning = Checkpoint {
            list: parts.list,
            start: parts.before.len(),
            around: out.entries,
            len: 0,
            hash: Xxh3::new(),
            elements: 0,
            decoder,
            conversations,
        };
        Ok(beginning.go_on(parts.rest, &parts.elements, measure))
    }

    fn read_on(&mut self, file: &mut Bytes, measure: &dyn Measure) -> io::Result<Continuation> {
        let Some(from) = &self.checkpoint else {
            return Ok(Continuation::Changed);
        };
        let mut before = vec![0; from.start];
        let is_filled = fill(file, &mut before)?;
        blank_mark(&mut before);
        if !is_filled
            || list::start(from.list, &before) != Some(from.start)
            || !from.is_unchanged(file)?
        {
            return Ok(Continuation::Changed);
        }
        let rest = bytes(file, 0)?;
        let elements = list::elements(from.list, &rest);
        if elements.end.is_none() {
            return Ok(Continuation::Incomplete);
        }
        let mut out = EventSink::new(measure);
        let around = [&before, elements.after(&rest)].concat();
        let mut decoder = self.log.format.decoder();
        // If one of them changes right now, the next reading notices.
        self.log.states().give(decoder.as_mut(), &mut out);
        decoder.read_document(&text(&around), &mut out);
        let from = self.checkpoint.take();
        Ok(match from.filter(|from| from.around == out.entries) {
            Some(from) => Continuation::Read(Box::new(from.go_on(&rest, &elements, measure))),
            None => Continuation::Changed,
        })
    }
}

/// The result of reading on from the checkpoint.
enum Continuation {
    /// The contents now.
    Read(Box<Contents>),
    /// The document ends too early.
    Incomplete,
    /// The document has changed before the checkpoint, or there is none.
    Changed,
}

/// A document with an array of records: the rest of the document, and the elements.
struct Parts<'d> {
    list: ArrayName,
    before: &'d [u8],
    around: Vec<u8>,
    /// The document from the beginning of the array.
    rest: &'d [u8],
    elements: Elements,
}

impl<'d> Parts<'d> {
    fn of(format: &Format, document: &'d [u8]) -> Option<Parts<'d>> {
        let list = format.recognition.list?;
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

/// The state of reading an array before one of its elements.
struct Checkpoint {
    list: ArrayName,
    /// Bytes before the array.
    start: usize,
    /// The entries that the decoder reads from the rest of the document.
    around: Vec<Entry>,
    /// The array's bytes up to here.
    len: usize,
    hash: Xxh3,
    /// Elements up to here. The place of one is its number, counted from 1.
    elements: usize,
    decoder: Box<dyn Decoder>,
    conversations: Conversations,
}

impl Checkpoint {
    /// Returns true if the bytes that were read are still the same. Reads the file up to here.
    fn is_unchanged(&self, file: &mut Bytes) -> io::Result<bool> {
        let mut hash = Xxh3::new();
        let mut block = vec![0; BLOCK_BYTES];
        let mut left = self.len;
        while left > 0 {
            let block = &mut block[..left.min(BLOCK_BYTES)];
            if !fill(file, block)? {
                return Ok(false);
            }
            hash.update(block);
            left -= block.len();
        }
        Ok(hash.digest128() == self.hash.digest128())
    }

    /// Reads these elements; `rest` are the bytes of the document from here on.
    fn go_on(mut self, rest: &[u8], elements: &Elements, measure: &dyn Measure) -> Contents {
        let len = self.start + self.len + rest.len();
        let mut out = EventSink::new(measure);
        let (early, late) = elements
            .ranges
            .split_at(elements.ranges.len().saturating_sub(MUTABLE_TAIL));
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
        self.decoder.read_end(&mut out);
        self.conversations.apply(out.entries.drain(..));
        Contents {
            conversations: self.conversations,
            checkpoint,
            len,
        }
    }

    fn read(&mut self, element: &[u8], out: &mut EventSink<'_>) {
        self.elements += 1;
        out.begin(Place::of_line(self.elements as u64));
        self.decoder.read_line(&text(element), out);
        self.conversations.apply(out.entries.drain(..));
    }

    /// Returns a copy; `None`: nothing is read after this, or the decoder cannot be copied.
    fn copy(&self) -> Option<Checkpoint> {
        if self.conversations.is_final {
            return None;
        }
        Some(Checkpoint {
            list: self.list,
            start: self.start,
            around: self.around.clone(),
            len: self.len,
            hash: self.hash.clone(),
            elements: self.elements,
            decoder: self.decoder.copy()?,
            conversations: self.conversations.clone(),
        })
    }
}

/// Decodes a document.
pub fn decode(format: &Format, document: &[u8], out: &mut EventSink<'_>) {
    decode_with(format.decoder(), format, document, out);
}

fn decode_with(
    mut decoder: Box<dyn Decoder>,
    format: &Format,
    document: &[u8],
    out: &mut EventSink<'_>,
) {
    let Some(parts) = Parts::of(format, document) else {
        decoder.read_document(&text(document), out);
        return decoder.read_end(out);
    };
    decoder.read_document(&text(&parts.around), out);
    for (n, range) in (1..).zip(parts.elements.ranges) {
        out.begin(Place::of_line(n));
        decoder.read_line(&text(&parts.rest[range]), out);
    }
    decoder.read_end(out);
}

/// Returns the bytes from here to the end, about `len` of them.
pub(super) fn bytes(source: &mut dyn Read, len: u64) -> io::Result<Vec<u8>> {
    admit(len)?;
    let mut bytes = Vec::new();
    let len = usize::try_from(len).unwrap_or(0);
    bytes.try_reserve(len)?;
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    admit(bytes.len() as u64)?;
    blank_mark(&mut bytes);
    Ok(bytes)
}

/// Puts white space in the place of a byte order mark, which is no JSON.
fn blank_mark(document: &mut [u8]) {
    if let Some((mark, text)) = document.split_at_mut_checked(BOM.len())
        && mark == BOM
        && text.trim_ascii_start().starts_with(b"{")
    {
        mark.fill(b' ');
    }
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
fn fill(file: &mut Bytes, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests;
