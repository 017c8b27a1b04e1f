//! The text of one item, read when somebody looks at it, and held by nobody here.
//!
//! The item's line (or document) is read as it was at first, long lines elided, and the decoder gives
//! the text again. Where a string was cut, what is missing is read from the log piece by piece: only the
//! page that is wanted is ever held. Documents are held whole while they are read, as at first.

mod job;
mod pieces;
mod unescape;

pub use job::{Done, TextJob};
pub(super) use job::{Origin, Shelf, do_job};

use super::bytes::{Bytes, Open};
use super::discover::LogFile;
use super::document;
use super::elide::Elider;
use super::lines::{CHUNK, LONG_LINE};
use super::reader::Unmeasured;
use crate::agents::{Format, Input, StoreKind};
use crate::model::event::{Place, Sink};
use crate::model::text::TextRequest;
use pieces::{Piece, Pieces};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Finds an item's text in its log.
fn find(log: &LogFile, wanted: TextRequest) -> io::Result<Pieces<Bytes>> {
    match log.store {
        StoreKind::Lines | StoreKind::Folder(_) => {
            let (bytes, _) = log.open()?;
            find_in_line(bytes, log.format, wanted, wanted.place.offset)
        }
        StoreKind::Document => {
            let mut file = File::open(log.facts.path.as_path())?;
            let len = file.metadata()?.len();
            let mut out = Sink::capturing(&Unmeasured, wanted.place, wanted.hash);
            document::decode(log.format, &document::bytes(&mut file, len)?, &mut out);
            let text = out.captured().ok_or_else(rewritten)?;
            Ok(Pieces::new(Bytes::File(file), vec![Piece::Held(text)]))
        }
    }
}

/// Finds an item's text in its line, which begins at `offset`.
fn find_in_line<R: Read + Seek>(
    mut source: R,
    format: &Format,
    wanted: TextRequest,
    offset: u64,
) -> io::Result<Pieces<R>> {
    let Place { len, .. } = wanted.place;
    source.seek(SeekFrom::Start(offset))?;
    let mut rest = (&mut source).take(len);
    if len <= LONG_LINE as u64 {
        let mut line = Vec::new();
        rest.read_to_end(&mut line)?;
        let text = capture(format, Input::Line(wanted.place, &line), wanted)?;
        return Ok(Pieces::new(source, vec![Piece::Held(text)]));
    }
    let mut elider = Elider::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        match rest.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => elider.feed(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let line = elider.line().ok_or_else(rewritten)?;
    let text = capture(format, Input::Line(wanted.place, line), wanted)?;
    let pieces = pieces::split(text, line, elider.cuts(), offset);
    Ok(Pieces::new(source, pieces))
}

fn capture(format: &Format, input: Input<'_>, wanted: TextRequest) -> io::Result<String> {
    let mut out = Sink::capturing(&Unmeasured, wanted.place, wanted.hash);
    format.decoder().read(input, &mut out);
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
