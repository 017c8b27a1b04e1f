//! Bytes make the same lines in whatever pieces they come, and lines that are elided are the same too.

use ctxgauge::ingest::bytes::elide::Elider;
use ctxgauge::ingest::bytes::lines::{Line, Lines};
use ctxgauge::model::event::Place;
use serde_json::value::RawValue;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// A line: its offset, its length, and its bytes if the log does not end inside of it.
type Delivered<'a> = (u64, u64, Option<&'a [u8]>);

const BOM: &[u8] = "\u{feff}".as_bytes();

/// The first byte of an input is the size of the first piece, the rest the log.
pub fn check(input: &[u8]) {
    let Some((size, log)) = input.split_first() else {
        return;
    };
    let mut expected = Vec::new();
    // A byte order mark is no part of the first line.
    let text = log.strip_prefix(BOM).unwrap_or(log);
    let mut offset = (log.len() - text.len()) as u64;
    for line in text.split(|byte| *byte == b'\n') {
        let next = offset + line.len() as u64 + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        expected.push((offset, line.len() as u64, Some(line)));
        offset = next;
    }
    expected.retain(|(.., line)| line.is_some_and(|line| !line.trim_ascii().is_empty()));
    let pieces = Pieces {
        rest: log,
        size: usize::from(*size),
    };
    same(read(pieces), &expected);
    same(read(log), &expected);
    elided(log, usize::from(*size));
}

fn same(mut found: Vec<(u64, u64, Option<Vec<u8>>)>, expected: &[Delivered<'_>]) {
    let mut expected = expected.to_vec();
    if let (Some(found), Some(expected)) = (found.last(), expected.last_mut())
        && found.2.is_none()
    {
        // Only a last line may be unfinished.
        expected.2 = None;
    }
    found.retain(|(.., line)| {
        line.as_ref()
            .is_none_or(|line| !line.trim_ascii().is_empty())
    });
    let found: Vec<Delivered<'_>> = found
        .iter()
        .map(|(offset, len, line)| (*offset, *len, line.as_deref()))
        .collect();
    assert_eq!(found, expected);
}

fn read(mut source: impl Read) -> Vec<(u64, u64, Option<Vec<u8>>)> {
    let mut lines = Lines::at(0, 1, 512);
    let mut found = Vec::new();
    let mut take = |place: Place, line: Line<'_>| {
        let line = match line {
            Line::Bytes(bytes) => Some(bytes.to_vec()),
            Line::TooLarge(_) => panic!("no line is that large"),
            Line::Unfinished => None,
        };
        found.push((place.offset(), place.length(), line));
        ControlFlow::Continue(())
    };
    let read = lines.read_all(&mut source, &mut take);
    assert!(read.is_ok(), "there are no errors");
    lines.finish(&mut take);
    found
}

/// A source that gives its bytes in pieces of changing sizes, and is interrupted.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.size = next(self.size);
        if self.size == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = self.size.min(buffer.len()).min(self.rest.len());
        let (now, rest) = self.rest.split_at(n);
        buffer[..n].copy_from_slice(now);
        self.rest = rest;
        Ok(n)
    }
}

/// The size of the next piece.
fn next(size: usize) -> usize {
    (size * 31 + 7) % 97
}

fn elided(line: &[u8], mut size: usize) {
    let mut whole = Elider::new(64, 16);
    whole.feed(line);
    let mut pieces = Elider::new(64, 16);
    let mut rest = line;
    while !rest.is_empty() {
        size = next(size);
        let (now, after) = rest.split_at(size.clamp(1, rest.len()));
        pieces.feed(now);
        rest = after;
    }
    assert_eq!(whole.line(), pieces.line());
    let is_json = |bytes: &[u8]| serde_json::from_slice::<&RawValue>(bytes).is_ok();
    if is_json(line) {
        assert!(whole.line().is_some_and(is_json), "it is JSON no more");
    }
}
