//! The text of one item, read when it is shown.
//!
//! The item's record is read in the same way as at first, long lines elided, and the decoder emits the text again.
//! If a string was cut, the missing part is read from the log piece by piece, so that only the wanted page
//! is ever held. Documents are held whole while they are read, as at first.

mod pieces;
mod unescape;

pub use pieces::Pieces;
pub(crate) use unescape::Unescape;

use crate::bytes::elide::Elider;
use crate::bytes::lines::LONG_LINE;
use crate::bytes::lines::records::each_record;
use crate::bytes::source::{Bytes, CHUNK, read_some};
use decode::damage;
use formats::{Decoder, Format};
use model::event::{EventSink, Unmeasured};
use model::lists::text::TextRequest;
use std::io::{self, Read, SeekFrom};

/// Returns an item's text, from the line that begins at `offset`. The decoder has read the log's state files, and
/// nothing of the log itself.
pub(crate) fn in_line(
    mut source: Bytes,
    decoder: Box<dyn Decoder>,
    wanted: TextRequest,
    offset: u64,
) -> io::Result<Pieces> {
    let len = wanted.place.length();
    source.seek(SeekFrom::Start(offset))?;
    let mut rest = (&mut source).take(len);
    if len <= LONG_LINE as u64 {
        let mut line = Vec::new();
        rest.read_to_end(&mut line)?;
        return captured(wanted, |out| read(decoder, wanted, &line, out));
    }
    let mut elider = Elider::default();
    let mut chunk = vec![0; CHUNK];
    while let n @ 1.. = read_some(&mut rest, &mut chunk)? {
        elider.feed(&chunk[..n]);
    }
    let line = elider.line().ok_or_else(rewritten)?;
    let text = capture(wanted, |out| read(decoder, wanted, line, out))?;
    let pieces = pieces::split(text, line, elider.cuts(), offset);
    Ok(Pieces::new(source, pieces))
}

/// Returns an item's text, from its record.
pub(crate) fn in_record(format: &Format, wanted: TextRequest, record: &[u8]) -> io::Result<Pieces> {
    captured(wanted, |out| read(format.decoder(), wanted, record, out))
}

/// Returns an item's text, from a log that is decoded again.
pub(crate) fn captured(
    wanted: TextRequest,
    decode: impl FnOnce(&mut EventSink<'_>) -> io::Result<()>,
) -> io::Result<Pieces> {
    capture(wanted, decode).map(Pieces::held)
}

fn read(
    mut decoder: Box<dyn Decoder>,
    wanted: TextRequest,
    record: &[u8],
    out: &mut EventSink<'_>,
) -> io::Result<()> {
    out.begin(wanted.place);
    each_record(record, out, &mut |record, out| {
        decoder.read_line(&damage::line(record).0, out);
    });
    Ok(())
}

fn capture(
    wanted: TextRequest,
    decode: impl FnOnce(&mut EventSink<'_>) -> io::Result<()>,
) -> io::Result<String> {
    let mut out = EventSink::capturing(&Unmeasured, wanted.place, wanted.hash);
    decode(&mut out)?;
    out.captured().ok_or_else(rewritten)
}

fn rewritten() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the log was rewritten and the text is no longer where it was: go back and open the item again",
    )
}

#[cfg(test)]
mod tests;
