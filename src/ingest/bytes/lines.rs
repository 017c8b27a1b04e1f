//! Bytes into lines, in bounded memory, from anything that can be read.

pub mod blocks;
mod chunk;
pub mod marks;
pub mod position;
pub(crate) mod records;

use crate::bytes::elide::Elider;
use crate::bytes::source::{BOM, CHUNK, read_some};
use chunk::Chunk;
use model::event::Place;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Longer lines are elided rather than held.
pub const LONG_LINE: usize = 4 << 20;

/// The result of reading on, in a log or a file of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to read.
    More,
    /// The end is reached, or the last newline; nothing more is read.
    Done,
    /// The log was truncated, replaced or rewritten, or is being rewritten: read it again from its beginning.
    Restart,
}

/// A line as a decoder can take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// The line without its newline; very long strings in it may be elided.
    Bytes(&'a [u8]),
    /// Too large to be held, even elided: so many bytes.
    TooLarge(u64),
    /// The file ends inside of it.
    Unfinished,
}

/// The receiver of the lines; it can stop the reading after any of them.
pub type OnLine<'f> = dyn FnMut(Place, Line<'_>) -> ControlFlow<()> + 'f;

/// The result of one [`Lines::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Bytes were read; there may be more.
    Read,
    /// The source has no more.
    End,
    /// The taker of the lines has had enough; [`Lines::offset`] is where to go on.
    Stopped,
}

/// Puts lines together.
#[derive(Debug)]
pub struct Lines {
    /// The first byte of the line that is being read.
    pub offset: u64,
    /// Its number, counted from 1; 0: not known.
    pub number: u64,
    /// Its bytes so far.
    pub length: u64,
    held: LineBytes,
    /// The number of bytes that are read at once.
    at_once: usize,
    /// Memory for them, from the first reading on.
    chunk: Option<Chunk>,
}

#[derive(Debug)]
enum LineBytes {
    Plain(Vec<u8>),
    Elided(Box<Elider>),
}

impl Lines {
    /// Begins at a line's first byte, with the line's number (0: not known). Reads in chunks of
    /// `chunk` bytes, [`CHUNK`] at most.
    pub fn at(offset: u64, number: u64, chunk: u64) -> Lines {
        let chunk = usize::try_from(chunk).unwrap_or(CHUNK).clamp(512, CHUNK);
        Lines {
            offset,
            number,
            length: 0,
            held: LineBytes::Plain(Vec::new()),
            at_once: chunk,
            chunk: None,
        }
    }

    /// Reads once and delivers the lines that are complete now.
    pub fn step(&mut self, source: &mut dyn Read, deliver: &mut OnLine<'_>) -> io::Result<Step> {
        let at_once = self.at_once;
        let mut chunk = self.chunk.take().unwrap_or_else(|| Chunk::new(at_once));
        let step = read_some(source, &mut chunk).map(|n| match n {
            0 => Step::End,
            n => self.read_bytes(&chunk[..n], deliver),
        });
        self.chunk = Some(chunk);
        step
    }

    /// Reads until the source has no more, or the taker of the lines has had enough.
    pub fn read_all(
        &mut self,
        source: &mut dyn Read,
        deliver: &mut OnLine<'_>,
    ) -> io::Result<Step> {
        self.read_until(source, deliver, &|| false)
    }

    /// Like [`Lines::read_all`], but stops once there is enough. All lines of a chunk are delivered, since its bytes
    /// would be read again otherwise.
    pub fn read_until(
        &mut self,
        source: &mut dyn Read,
        deliver: &mut OnLine<'_>,
        is_enough: &dyn Fn() -> bool,
    ) -> io::Result<Step> {
        loop {
            match self.step(source, deliver)? {
                Step::Read if is_enough() => return Ok(Step::Stopped),
                Step::Read => {}
                last => return Ok(last),
            }
        }
    }

    /// Delivers what follows the last newline, if there is anything. Nothing follows, so it does not matter whether the
    /// taker has had enough.
    pub fn finish(&mut self, deliver: &mut OnLine<'_>) {
        if self.length == 0 {
            return;
        }
        let _ = self.end_line(&mut |place, line| match line {
            Line::Bytes(bytes) if !is_complete(bytes) => deliver(place, Line::Unfinished),
            line => deliver(place, line),
        });
        self.offset = self.offset.saturating_sub(1); // there was no newline
    }

    /// Delivers the lines of bytes that are in memory already.
    pub fn read_bytes(&mut self, mut bytes: &[u8], deliver: &mut OnLine<'_>) -> Step {
        while let Some(newline) = memchr::memchr(b'\n', bytes) {
            let line = &bytes[..newline];
            bytes = &bytes[newline + 1..];
            let flow = if self.length == 0 && line.len() <= LONG_LINE {
                // The usual case: the line is inside the chunk and need not be copied.
                self.length = line.len() as u64;
                let flow = emit(self.offset, self.number, self.length, Some(line), deliver);
                self.next_line();
                flow
            } else {
                self.hold(line);
                self.end_line(deliver)
            };
            if flow.is_break() {
                return Step::Stopped;
            }
        }
        self.hold(bytes);
        Step::Read
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        match &mut self.held {
            LineBytes::Plain(held) if held.len() + bytes.len() > LONG_LINE => {
                let mut elider = Box::<Elider>::default();
                elider.feed(held);
                elider.feed(bytes);
                self.held = LineBytes::Elided(elider);
            }
            LineBytes::Plain(held) => held.extend_from_slice(bytes),
            LineBytes::Elided(elider) => elider.feed(bytes),
        }
    }

    fn end_line(&mut self, deliver: &mut OnLine<'_>) -> ControlFlow<()> {
        let held = std::mem::replace(&mut self.held, LineBytes::Plain(Vec::new()));
        let bytes = match &held {
            LineBytes::Plain(bytes) => Some(bytes.as_slice()),
            LineBytes::Elided(elider) => elider.line(),
        };
        let flow = emit(self.offset, self.number, self.length, bytes, deliver);
        if let LineBytes::Plain(mut bytes) = held
            && bytes.capacity() <= CHUNK
        {
            bytes.clear();
            self.held = LineBytes::Plain(bytes);
        }
        self.next_line();
        flow
    }

    fn next_line(&mut self) {
        self.offset += self.length + 1;
        self.length = 0;
        if self.number > 0 {
            self.number += 1;
        }
    }

    #[cfg(test)]
    fn memory(&self) -> usize {
        let held = match &self.held {
            LineBytes::Plain(bytes) => bytes.capacity(),
            LineBytes::Elided(elider) => elider.held(),
        };
        held + self.chunk.as_ref().map_or(0, |chunk| chunk.len())
    }
}

/// Delivers one line without what is no part of it: a byte order mark, a carriage return. Empty lines
/// are passed over.
fn emit(
    mut offset: u64,
    line: u64,
    mut len: u64,
    bytes: Option<&[u8]>,
    deliver: &mut OnLine<'_>,
) -> ControlFlow<()> {
    let Some(mut bytes) = bytes else {
        let place = Place::new(line, offset, len);
        return deliver(place, Line::TooLarge(len));
    };
    if let Some(rest) = bytes.strip_prefix(BOM)
        && offset == 0
    {
        bytes = rest;
        offset += 3;
        len = len.saturating_sub(3);
    }
    if let Some(rest) = bytes.strip_suffix(b"\r") {
        bytes = rest;
        len = len.saturating_sub(1);
    }
    if bytes.trim_ascii().is_empty() {
        return ControlFlow::Continue(());
    }
    deliver(Place::new(line, offset, len), Line::Bytes(bytes))
}

/// Returns true if a last line without a newline is complete.
fn is_complete(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(source: &mut dyn Read, chunk: u64) -> Vec<(Place, Vec<u8>)> {
        let mut lines = Lines::at(0, 1, chunk);
        let mut seen = Vec::new();
        let mut deliver = |place, line: Line<'_>| {
            let bytes = match line {
                Line::Bytes(bytes) => bytes.to_vec(),
                other => format!("{other:?}").into_bytes(),
            };
            seen.push((place, bytes));
            ControlFlow::Continue(())
        };
        while lines.step(source, &mut deliver).unwrap() != Step::End {}
        lines.finish(&mut deliver);
        seen
    }

    #[test]
    fn marks_returns_and_empty_lines() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\r\n  \n{\"b\":2}\n{\"c\":3}";
        let seen = all(&mut &text[..], 4096);
        let place = |line, offset, len| Place::new(line, offset, len);
        assert_eq!(
            seen,
            [
                (place(1, 3, 7), b"{\"a\":1}".to_vec()),
                (place(4, 17, 7), b"{\"b\":2}".to_vec()),
                (place(5, 25, 7), b"{\"c\":3}".to_vec()),
            ]
        );
    }

    #[test]
    fn a_torn_last_line_is_unfinished() {
        let seen = all(&mut &b"{\"a\":1}\n{\"b\":"[..], 4096);
        assert_eq!(seen[1].1, b"Unfinished");
    }

    /// A JSON line of any length that is never there as a whole.
    struct Huge {
        left: u64,
        ends: Vec<u8>,
    }

    impl Read for Huge {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            if self.left == 0 {
                let n = self.ends.len().min(out.len());
                out[..n].copy_from_slice(&self.ends[..n]);
                self.ends.drain(..n);
                return Ok(n);
            }
            let n = (out.len() as u64).min(self.left) as usize;
            out[..n].fill(b'x');
            self.left -= n as u64;
            Ok(n)
        }
    }

    #[test]
    fn a_line_of_300_mb_takes_less_than_10() {
        let size = 300_u64 << 20;
        let begin = br#"{"usage":7,"text":""#;
        let huge = Huge {
            left: size,
            ends: b"\",\"after\":[1]}\n{\"next\":1}\n".to_vec(),
        };
        let mut source = (&begin[..]).chain(huge);
        let mut lines = Lines::at(0, 1, CHUNK as u64);
        let mut seen = Vec::new();
        let mut most = 0;
        loop {
            let step = lines.step(&mut source, &mut |place, line| {
                let Line::Bytes(bytes) = line else {
                    panic!("{line:?}")
                };
                seen.push((
                    place,
                    serde_json::from_slice::<serde_json::Value>(bytes).unwrap(),
                ));
                ControlFlow::Continue(())
            });
            most = most.max(lines.memory());
            if step.unwrap() == Step::End {
                break;
            }
        }
        assert!(most < 10 << 20, "{most} bytes held");
        assert_eq!(seen.len(), 2);
        let (place, value) = &seen[0];
        assert_eq!(place.length(), begin.len() as u64 + size + 14);
        assert_eq!(value["usage"], 7);
        assert_eq!(value["after"][0], 1);
        let text = value["text"].as_str().unwrap();
        let cut = size - crate::bytes::elide::KEPT_STRING as u64;
        assert!(text.ends_with(&format!("\u{f8e1}{cut}\u{f8e1}")));
        assert_eq!(seen[1].0.offset(), place.length() + 1);
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in "([a-z{}\"]{0,30}(\n|\r\n)){0,20}[a-z]{0,5}", chunk in 1_u64..3000) {
            struct Dribble<'a>(&'a [u8], usize);
            impl Read for Dribble<'_> {
                fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                    let n = self.0.len().min(self.1).min(out.len());
                    out[..n].copy_from_slice(&self.0[..n]);
                    self.0 = &self.0[n..];
                    Ok(n)
                }
            }
            let whole = all(&mut text.as_bytes(), CHUNK as u64);
            let torn = all(&mut Dribble(text.as_bytes(), chunk as usize % 7 + 1), chunk);
            prop_assert_eq!(whole, torn);
        }
    }
}
