//! The text of one item, read when it is shown.
//!
//! The item's record is decoded again. The long strings of a very long line were cut at first: the item is found in the
//! line as it was read then, and its text is that of the whole line.

use crate::bytes::elide::Elider;
use crate::bytes::lines::LONG_LINE;
use crate::bytes::lines::records::each_record;
use crate::bytes::source::{Bytes, CHUNK, LARGEST, read_some};
use decode::damage;
use formats::{Decoder, Format};
use model::event::{Conversation, ELIDED, EventSink, Measure, NewItem, Place, Size, Unmeasured};
use model::lists::text::{PAGE_BYTES, Text, TextRequest, pages};
use std::cell::RefCell;
use std::io::{self, Read, SeekFrom};

/// Returns an item's text, from the line that begins at `offset`. Of a line of more than [`LARGEST`] bytes, what was cut
/// is not read. Each decoder has read the log's state files, and nothing of the log itself.
pub(crate) fn in_line(
    mut source: Bytes,
    decoder: impl Fn() -> Box<dyn Decoder>,
    wanted: TextRequest,
    offset: u64,
) -> io::Result<String> {
    let len = wanted.place.length();
    let is_held = len <= LARGEST;
    let (mut line, mut elider) = (Vec::new(), Elider::default());
    source.seek(SeekFrom::Start(offset))?;
    let mut rest = source.take(len);
    let mut chunk = vec![0; CHUNK];
    while let n @ 1.. = read_some(&mut rest, &mut chunk)? {
        if is_held {
            line.extend_from_slice(&chunk[..n]);
        }
        if len > LONG_LINE as u64 {
            elider.feed(&chunk[..n]);
        }
    }
    let read = |line: &[u8], wanted: Wanted| read(decoder(), wanted, line);
    let found = Wanted::of(wanted);
    if len <= LONG_LINE as u64 {
        return read(&line, found).map(|(_, text)| text);
    }
    let (nth, cut) = read(elider.line().ok_or_else(rewritten)?, found)?;
    let (shown, _) = cut.split_once(ELIDED).unwrap_or((&cut, ""));
    let whole = Wanted {
        item: Identity::Nth(nth),
        ..found
    };
    match is_held.then(|| read(&line, whole)) {
        Some(Ok((_, text))) if text.starts_with(shown) => Ok(text),
        _ => Ok(without_marks(&cut)),
    }
}

/// Returns an item's text, from its record.
pub(crate) fn in_record(format: &Format, wanted: TextRequest, record: &[u8]) -> io::Result<String> {
    read(format.decoder(), Wanted::of(wanted), record).map(|(_, text)| text)
}

/// Returns an item's text, from a log that is decoded again.
pub(crate) fn captured(
    wanted: TextRequest,
    decode: impl FnOnce(&mut EventSink<'_>) -> io::Result<()>,
) -> io::Result<String> {
    capture(Wanted::of(wanted), decode).map(|(_, text)| text)
}

/// Returns one page of a text, counted from 0: the characters that begin in it. The last one where there are fewer.
pub fn page(text: &str, page: u32) -> Text {
    let pages = pages(text.len() as u64);
    let page = page.min(pages - 1);
    let begin = |page: u32| {
        let at = (page as usize).saturating_mul(PAGE_BYTES as usize);
        let mut ends = at.min(text.len())..=text.len();
        ends.find(|at| text.is_char_boundary(*at))
    };
    let begin = |page| begin(page).unwrap_or(text.len());
    let (before, rest) = text.split_at(begin(page));
    let shown = &rest[..begin(page + 1) - before.len()];
    let newlines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    Text {
        text: shown.to_owned(),
        pages,
        bytes: text.len() as u64,
        lines: 1 + newlines(text),
        line: 1 + newlines(before),
    }
}

/// The item whose text is wanted.
#[derive(Clone, Copy)]
struct Wanted {
    place: Place,
    item: Identity,
}

/// The property by which an item of a record is found.
#[derive(Clone, Copy, PartialEq)]
enum Identity {
    Hash(u64),
    /// Its number in the record.
    Nth(u32),
}

impl Wanted {
    fn of(request: TextRequest) -> Wanted {
        Wanted {
            place: request.place,
            item: Identity::Hash(request.hash),
        }
    }
}

/// Takes the text of the wanted item, and its number in the record.
struct Capture {
    wanted: Wanted,
    found: RefCell<Option<(u32, String)>>,
}

impl Measure for Capture {
    fn text(&self, text: &str) -> Size {
        Unmeasured.text(text)
    }

    fn takes_texts(&self) -> bool {
        true
    }

    fn item(&self, _: Conversation, place: Place, item: &NewItem, text: &str) {
        let is = [Identity::Hash(item.hash), Identity::Nth(item.nth)];
        if place == self.wanted.place && is.contains(&self.wanted.item) {
            *self.found.borrow_mut() = Some((item.nth, text.to_owned()));
        }
    }
}

fn read(mut decoder: Box<dyn Decoder>, wanted: Wanted, record: &[u8]) -> io::Result<(u32, String)> {
    capture(wanted, |out| {
        out.begin(wanted.place);
        each_record(record, out, &mut |record, out| {
            decoder.read_line(&damage::line(record).0, out);
        });
        Ok(())
    })
}

fn capture(
    wanted: Wanted,
    decode: impl FnOnce(&mut EventSink<'_>) -> io::Result<()>,
) -> io::Result<(u32, String)> {
    let capture = Capture {
        wanted,
        found: RefCell::default(),
    };
    decode(&mut EventSink::new(&capture))?;
    capture.found.into_inner().ok_or_else(rewritten)
}

/// Returns a text with words in the place of the marks of a reader that has cut it.
fn without_marks(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (n, part) in text.split(ELIDED).enumerate() {
        match part.parse::<u64>() {
            Ok(missing) if n % 2 == 1 => shown += &format!("[… {missing} bytes …]"),
            _ => shown += part,
        }
    }
    shown
}

fn rewritten() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the log was rewritten and the text is no longer where it was: go back and open the item again",
    )
}

#[cfg(test)]
mod tests;
