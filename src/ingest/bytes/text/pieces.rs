//! A text in pieces: some are held, the others are read from the log.

use super::rewritten;
use super::unescape::{OnBytes, Unescape};
use crate::bytes::elide::CutText;
use crate::bytes::source::{Bytes, CHUNK};
use model::event::ELIDED;
use model::lists::text::{PAGE_BYTES, Text, pages};
use std::io::{self, Read, SeekFrom};
use std::ops::{ControlFlow, Range};
use xxhash_rust::xxh3::xxh3_64;

/// The longest character in UTF-8, in bytes.
const LONGEST_CHAR: u64 = 4;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The text itself.
    Held(String),
    /// The rest of a JSON string: its bytes in the log.
    Left(Range<u64>, Form),
}

/// The part of a JSON string that is the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The value of the string.
    Meant,
    /// The string as it is written: the text is JSON.
    Written,
}

/// Replaces the marks in a text by what was cut out of its line there. The line begins at `offset`.
pub(crate) fn split(text: String, line: &[u8], cuts: &[CutText], offset: u64) -> Vec<Piece> {
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

/// Returns the cut with this many bytes missing; of several, the one before which the string is most like the text.
fn cut_before<'c>(
    text: &str,
    form: Form,
    missing: u64,
    line: &[u8],
    cuts: &'c [CutText],
) -> Option<&'c CutText> {
    let alike = |cut: &&CutText| {
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
    index: Option<Index>,
}

/// An index of a text that was read through once, so that each page is read without those before it.
struct Index {
    bytes: u64,
    lines: u64,
    /// The place at which reading begins for each page.
    pages: Vec<ReadMark>,
    /// Hashes of what was read from the log, chunk by chunk of each piece.
    chunks: Vec<Vec<u64>>,
}

/// A place in a text where reading can begin: where a piece begins, or a chunk of one.
#[derive(Debug, Clone, Default)]
struct ReadMark {
    piece: usize,
    chunk: usize,
    unescape: Unescape,
    /// Bytes of the text before it.
    at: u64,
    /// The number of the line there, counted from 0.
    line: u64,
}

impl Pieces {
    pub(crate) fn new(source: Bytes, pieces: Vec<Piece>) -> Pieces {
        Pieces {
            source,
            pieces,
            index: None,
        }
    }

    /// Returns a text that is held.
    pub fn held(text: String) -> Pieces {
        Pieces::new(Box::new(io::empty()), vec![Piece::Held(text)])
    }

    /// Returns the bytes of it that are held.
    pub(crate) fn held_bytes(&self) -> usize {
        let held = |piece: &Piece| match piece {
            Piece::Held(text) => text.len(),
            Piece::Left(..) => 0,
        };
        self.pieces.iter().map(held).sum()
    }

    /// Returns true if parts of it are read from the log.
    pub(crate) fn is_in_log(&self) -> bool {
        let is_left = |piece: &Piece| matches!(piece, Piece::Left(..));
        self.pieces.iter().any(is_left)
    }

    /// Calls `give` with the whole text, in parts that may end inside a character. Returns its size in bytes.
    pub(crate) fn each_part(&mut self, give: &mut OnBytes<'_>) -> io::Result<u64> {
        let mut bytes = 0;
        self.read_from(ReadMark::default(), &mut |step| {
            if let Step::Part(part) = step {
                bytes += part.len() as u64;
                give(part)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(bytes)
    }

    /// Reads on from a mark until `take` breaks.
    fn read_from(
        &mut self,
        mut mark: ReadMark,
        take: &mut dyn FnMut(Step<'_>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        let mut chunk = Vec::new();
        while let Some(piece) = self.pieces.get(mark.piece) {
            if take(Step::Mark(&mark))?.is_break() {
                return Ok(());
            }
            let (mut at, mut line) = (mark.at, mark.line);
            let mut give = |part: &[u8]| {
                at += part.len() as u64;
                line += newlines(part);
                take(Step::Part(part)).map(drop)
            };
            let is_last = match piece {
                Piece::Held(text) => {
                    give(text.as_bytes())?;
                    true
                }
                Piece::Left(range, form) => {
                    let start = range.start + mark.chunk as u64 * CHUNK as u64;
                    let len = range.end.saturating_sub(start).min(CHUNK as u64);
                    chunk.clear();
                    self.source.seek(SeekFrom::Start(start))?;
                    (&mut self.source).take(len).read_to_end(&mut chunk)?;
                    match form {
                        Form::Meant => mark.unescape.feed(&chunk, &mut give)?,
                        Form::Written => give(&chunk)?,
                    }
                    let is_last = start + len >= range.end || chunk.is_empty();
                    if is_last {
                        mark.unescape.end(&mut give)?;
                    }
                    is_last
                }
            };
            (mark.at, mark.line) = (at, line);
            if let Piece::Left(..) = piece {
                let _ = take(Step::Chunk(mark.piece, mark.chunk, xxh3_64(&chunk)))?;
            }
            mark = if is_last {
                ReadMark {
                    piece: mark.piece + 1,
                    chunk: 0,
                    unescape: Unescape::default(),
                    ..mark
                }
            } else {
                ReadMark {
                    chunk: mark.chunk + 1,
                    ..mark
                }
            };
        }
        Ok(())
    }

    fn read_index(&mut self) -> io::Result<Index> {
        let (mut bytes, mut lines) = (0, 1);
        let mut pages = Vec::new();
        let mut before = ReadMark::default();
        let mut chunks = vec![Vec::new(); self.pieces.len()];
        self.read_from(ReadMark::default(), &mut |step| {
            match step {
                Step::Mark(mark) => {
                    while mark.at > pages.len() as u64 * PAGE_BYTES {
                        pages.push(before.clone());
                    }
                    before = mark.clone();
                }
                Step::Part(part) => {
                    bytes += part.len() as u64;
                    lines += newlines(part);
                }
                Step::Chunk(piece, _, hash) => chunks[piece].push(hash),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        while pages.len() < self::pages(bytes) as usize {
            pages.push(before.clone());
        }
        Ok(Index {
            bytes,
            lines,
            pages,
            chunks,
        })
    }

    /// Returns one page of the text, counted from 0: the characters that begin in it. The last one where there are
    /// fewer.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] if the log was rewritten since the first page was read.
    pub(crate) fn page(&mut self, page: u32) -> io::Result<Text> {
        let index = match self.index.take() {
            Some(index) => index,
            None => self.read_index()?,
        };
        let text = self.window(&index, page);
        self.index = Some(index);
        text
    }

    fn window(&mut self, index: &Index, page: u32) -> io::Result<Text> {
        let pages = pages(index.bytes);
        let page = page.min(pages - 1);
        let from = u64::from(page) * PAGE_BYTES;
        // The last character may reach into the next page.
        let to = from + PAGE_BYTES + LONGEST_CHAR - 1;
        let mark = index.pages.get(page as usize).cloned().unwrap_or_default();
        let (mut at, mut kept) = (mark.at, Vec::new());
        let mut line = 1 + mark.line;
        self.read_from(mark, &mut |step| {
            match step {
                Step::Mark(mark) if mark.at >= to => return Ok(ControlFlow::Break(())),
                Step::Mark(_) => {}
                Step::Part(part) => {
                    let len = part.len() as u64;
                    let inside = |edge: u64| edge.saturating_sub(at).min(len) as usize;
                    kept.extend_from_slice(&part[inside(from)..inside(to)]);
                    line += newlines(&part[..inside(from)]);
                    at += len;
                }
                Step::Chunk(piece, chunk, hash) => {
                    if index.chunks.get(piece).and_then(|hashes| hashes.get(chunk)) != Some(&hash) {
                        return Err(rewritten());
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let is_rest = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        let rest_at = |from: usize| {
            let tail = kept.get(from..).unwrap_or_default().iter();
            tail.take(LONGEST_CHAR as usize - 1)
                .take_while(|b| is_rest(b))
                .count()
        };
        let begin = if page == 0 { 0 } else { rest_at(0) };
        let end = (PAGE_BYTES as usize + rest_at(PAGE_BYTES as usize)).min(kept.len());
        let text = kept.get(begin..end).unwrap_or_default();
        Ok(Text {
            text: String::from_utf8_lossy(text).into_owned(),
            pages,
            bytes: index.bytes,
            lines: index.lines,
            line,
        })
    }
}

/// A step in the reading of a text.
enum Step<'s> {
    /// Reading can begin here.
    Mark(&'s ReadMark),
    Part(&'s [u8]),
    /// A chunk of a piece was read from the log; its hash.
    Chunk(usize, usize, u64),
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
