//! A text in pieces: some are held, the others are read from the log.

use super::unescape::{Give, Unescape};
use crate::ingest::elide::Cut;
use crate::ingest::lines::{CHUNK, read_some};
use crate::ingest::store::bytes::Bytes;
use crate::model::event::ELIDED;
use crate::model::text::{PAGE_BYTES, Text, pages};
use std::io::{self, Read, SeekFrom};
use std::ops::Range;

/// The longest character in UTF-8, in bytes.
const LONGEST: u64 = 4;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// The text itself.
    Held(String),
    /// The rest of a JSON string: its bytes in the log.
    Left(Range<u64>, Form),
}

/// What part of a JSON string is the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The value of the string.
    Meant,
    /// The string as it is written: the text is JSON.
    Written,
}

/// Replaces the marks in a text by what was cut out of its line there. The line begins at `offset`.
pub(super) fn split(text: String, line: &[u8], cuts: &[Cut], offset: u64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(mark) = text[at..].find(ELIDED).map(|n| at + n) {
        at = mark + ELIDED.len_utf8();
        let Some(len) = text[at..].find(ELIDED) else {
            break;
        };
        let Ok(missing) = text[at..at + len].parse() else {
            continue;
        };
        let end = at + len + ELIDED.len_utf8();
        let form = if text[end..].starts_with('"') {
            Form::Written
        } else {
            Form::Meant
        };
        let before = &text[from..mark];
        match cut_before(before, form, missing, line, cuts) {
            Some(cut) => {
                pieces.push(Piece::Held(before.to_owned()));
                let rest = offset + cut.at.start..offset + cut.at.end;
                pieces.push(Piece::Left(rest, form));
            }
            // A mark of the decoder, which had the size of the missing text but not its end.
            None => pieces.push(Piece::Held(format!("{before}[… {missing} bytes …]"))),
        }
        (from, at) = (end, end);
    }
    pieces.push(Piece::Held(text[from..].to_owned()));
    pieces
}

/// The cut with so many bytes missing; of several, the one before which the string is most like the
/// text.
fn cut_before<'c>(
    text: &str,
    form: Form,
    missing: u64,
    line: &[u8],
    cuts: &'c [Cut],
) -> Option<&'c Cut> {
    let alike = |cut: &&Cut| {
        let written = &line[cut.kept.clone()];
        let mut kept = Vec::new();
        let mut give = |bytes: &[u8]| {
            kept.extend_from_slice(bytes);
            Ok(())
        };
        let _ = match form {
            Form::Written => give(written),
            Form::Meant => Unescape::default().feed(written, &mut give),
        };
        let both = kept.iter().rev().zip(text.as_bytes().iter().rev());
        both.take_while(|(a, b)| a == b).count()
    };
    let such = cuts.iter().filter(|cut| cut.missing == missing);
    such.max_by_key(alike)
}

/// A text, which can be read any number of times.
pub struct Pieces {
    source: Bytes,
    pieces: Vec<Piece>,
}

impl Pieces {
    pub(super) fn new(source: Bytes, pieces: Vec<Piece>) -> Pieces {
        Pieces { source, pieces }
    }

    /// A text that is held.
    pub fn held(text: String) -> Pieces {
        Pieces::new(Box::new(io::empty()), vec![Piece::Held(text)])
    }

    /// Calls `give` with the whole text, in parts that may end inside a character. Returns its size in bytes.
    pub(super) fn each_part(&mut self, give: &mut Give<'_>) -> io::Result<u64> {
        let mut bytes = 0;
        let mut give = |part: &[u8]| {
            bytes += part.len() as u64;
            give(part)
        };
        let mut chunk = Vec::new();
        for piece in &self.pieces {
            let (range, form) = match piece {
                Piece::Held(text) => {
                    give(text.as_bytes())?;
                    continue;
                }
                Piece::Left(range, form) => (range, form),
            };
            chunk.resize(CHUNK, 0);
            self.source.seek(SeekFrom::Start(range.start))?;
            let mut rest = (&mut self.source).take(range.end - range.start);
            let mut unescape = Unescape::default();
            while let n @ 1.. = read_some(&mut rest, &mut chunk)? {
                match form {
                    Form::Meant => unescape.feed(&chunk[..n], &mut give)?,
                    Form::Written => give(&chunk[..n])?,
                }
            }
            unescape.end(&mut give)?;
        }
        Ok(bytes)
    }

    /// One page of the text, counted from 0; the last one where there are fewer.
    pub(super) fn page(&mut self, page: u32) -> io::Result<Text> {
        let text = self.window(page)?;
        // Known only now: it is read through once more.
        match page < text.pages {
            true => Ok(text),
            false => self.window(text.pages - 1),
        }
    }

    /// The characters that begin in this page, if there are as many pages.
    fn window(&mut self, page: u32) -> io::Result<Text> {
        let from = u64::from(page) * PAGE_BYTES;
        // The last character may reach into the next page.
        let to = from + PAGE_BYTES + LONGEST - 1;
        let (mut at, mut kept) = (0, Vec::new());
        let (mut line, mut lines) = (1, 1);
        let bytes = self.each_part(&mut |part| {
            let len = part.len() as u64;
            let inside = |edge: u64| edge.saturating_sub(at).min(len) as usize;
            kept.extend_from_slice(&part[inside(from)..inside(to)]);
            line += newlines(&part[..inside(from)]);
            lines += newlines(part);
            at += len;
            Ok(())
        })?;
        let is_rest = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        let rest_at = |from: usize| {
            let tail = kept.get(from..).unwrap_or_default().iter();
            tail.take(LONGEST as usize - 1)
                .take_while(|b| is_rest(b))
                .count()
        };
        let begin = if page == 0 { 0 } else { rest_at(0) };
        let end = (PAGE_BYTES as usize + rest_at(PAGE_BYTES as usize)).min(kept.len());
        let text = kept.get(begin..end).unwrap_or_default();
        Ok(Text {
            text: String::from_utf8_lossy(text).into_owned(),
            pages: pages(bytes),
            bytes,
            lines,
            line,
        })
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
