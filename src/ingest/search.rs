//! Items whose text matches a pattern.
//!
//! A log is read up to three times: to see whether any of its texts matches, which is all that is read of most logs; to
//! fold its sessions; and once more for the matches, which are given one item after the other. So no more is held than a
//! session and the texts of a batch of records. The arguments of a tool call are searched without the escapes of their
//! strings, and as they are. Bytes are never searched before they are decoded: a text may be escaped,
//! compressed, in a database, or in several records.

mod matcher;
mod meant;

pub use matcher::{Case, Matcher, Syntax};

use crate::log::LogFile;
use model::Kind;
use model::event::{Conversation, ELIDED, Entry, Measure, NewItem, Place, Size};
use model::lists::text::TextRequest;
use model::session::{ItemIx, Session};
use std::cell::{Cell, RefCell};
use std::io;
use std::ops::{ControlFlow, Range};

/// The most bytes of lines that are given of one item; the other matches are counted.
const MOST_BYTES: usize = 8 << 20;

/// A line of a text that matches. Where a match goes on in the next lines, those too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the text, from 1.
    pub number: u64,
    /// The line without its end.
    pub text: String,
    /// The matches: ranges of bytes in `text`.
    pub matches: Vec<Range<usize>>,
}

impl Line {
    /// Returns the line at `at` in a text, without the carriage returns at its end that no match contains. The matches are
    /// ranges in the text, and within the line.
    fn of(text: &str, at: Range<usize>, number: u64, mut matches: Vec<Range<usize>>) -> Line {
        let matched = matches.last().map_or(at.start, |last| last.end);
        let end = text[..at.end].trim_end_matches('\r').len().max(matched);
        for range in &mut matches {
            *range = range.start - at.start..range.end - at.start;
        }
        Line {
            number,
            text: text[at.start..end].to_owned(),
            matches,
        }
    }
}

/// The lines of a text that match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// The number of matching lines that are not among them, since there are too many.
    pub more: u64,
    /// The bytes of the lines.
    bytes: usize,
}

impl Lines {
    /// Returns true if nothing matches.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.more == 0
    }

    fn push(&mut self, line: Line) {
        if self.bytes + line.text.len() > MOST_BYTES {
            self.more += 1;
            return;
        }
        self.bytes += line.text.len();
        self.lines.push(line);
    }
}

/// Returns true if any text of a log may match. A text of which a part was cut may always. The search goes on as long as
/// `is_wanted` returns true.
///
/// # Errors
///
/// If the log cannot be read.
pub fn may_match(
    log: &LogFile,
    matcher: &Matcher,
    is_wanted: &dyn Fn() -> bool,
) -> io::Result<bool> {
    let found = Cell::new(false);
    let first = EachText(|_: Place, item: &NewItem, text: &str| {
        let is_match = || {
            let meant = meant::meant(item.kind, text);
            matcher.is_match(&meant) || matcher.is_match(text)
        };
        found.set(found.get() || is_cut(text) || is_match());
    });
    log.store.entries(log, &first, &mut |_: Vec<Entry>| {
        if found.get() || !is_wanted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(found.get())
}

/// An item that matches.
#[derive(Debug)]
pub struct Match<'l> {
    /// Its session among those of the log.
    pub conversation: Conversation,
    /// Its index in the session.
    pub item: ItemIx,
    /// The lines that match in it.
    pub lines: &'l Lines,
}

/// Gives the items of these sessions of a log whose text matches, in the order of the log, until `give` breaks or no more
/// `is_wanted`.
///
/// # Errors
///
/// If the log cannot be read.
pub fn each_match<'s>(
    log: &LogFile,
    sessions: impl Iterator<Item = (Conversation, &'s Session)>,
    matcher: &Matcher,
    is_wanted: &dyn Fn() -> bool,
    give: &mut dyn FnMut(Match<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut places = ItemPlaces::new(sessions);
    let hits = RefCell::new(Vec::new());
    let all = EachText(|place: Place, item: &NewItem, text: &str| {
        let is_whole = matcher.is_any() || !is_cut(text);
        let lines = is_whole.then(|| lines(matcher, item.kind, text));
        if !lines.as_ref().is_some_and(Lines::is_empty) {
            let (hash, kind) = (item.hash, item.kind);
            hits.borrow_mut().push(Hit {
                place,
                hash,
                kind,
                lines,
            });
        }
    });
    let mut failed = None;
    log.store.entries(log, &all, &mut |_: Vec<Entry>| {
        for hit in hits.take() {
            let items = places.take(&hit);
            if items.is_empty() {
                continue;
            }
            let lines = match hit.lines {
                Some(lines) => Ok(lines),
                None => whole_text(log, &hit, matcher),
            };
            match lines {
                Ok(lines) if lines.is_empty() => {}
                Ok(lines) => items.into_iter().try_for_each(|(conversation, item)| {
                    let lines = &lines;
                    give(Match {
                        conversation,
                        item,
                        lines,
                    })
                })?,
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        if is_wanted() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    failed.map_or(Ok(()), Err)
}

/// Passes on the texts of items, and measures nothing.
struct EachText<F>(F);

impl<F: Fn(Place, &NewItem, &str)> Measure for EachText<F> {
    fn text(&self, _: &str) -> Size {
        Size::default()
    }

    fn takes_texts(&self) -> bool {
        true
    }

    fn item(&self, _: Conversation, place: Place, item: &NewItem, text: &str) {
        (self.0)(place, item, text);
    }
}

/// An item that matches, as it is read.
struct Hit {
    place: Place,
    hash: u64,
    kind: Kind,
    /// `None`: a part of its text was cut.
    lines: Option<Lines>,
}

/// Returns true if a reader has cut a part of a text: there are two marks at least. A text in which a log forges them
/// is read whole too.
fn is_cut(text: &str) -> bool {
    text.matches(ELIDED).nth(1).is_some()
}

/// Returns the lines of an item's text that match.
fn lines(matcher: &Matcher, kind: Kind, text: &str) -> Lines {
    let lines = matcher.lines(&meant::meant(kind, text));
    if lines.is_empty() && meant::has_escapes(kind) {
        return matcher.lines(text);
    }
    lines
}

/// Returns the lines that match in a text of which a reader has cut a part.
fn whole_text(log: &LogFile, hit: &Hit, matcher: &Matcher) -> io::Result<Lines> {
    let request = TextRequest {
        file: log.facts.file,
        place: hit.place,
        hash: hit.hash,
        page: 0,
    };
    let text = log.store.text(log, request)?;
    Ok(lines(matcher, hit.kind, &text))
}

/// The places of the items of sessions. An item may be in several sessions of a log, and come to some of them later.
struct ItemPlaces(Vec<ItemPlace>);

/// An item: its record, its hash, its session.
struct ItemPlace {
    place: u64,
    hash: u64,
    conversation: Conversation,
    ix: ItemIx,
    is_given: bool,
}

impl ItemPlace {
    fn key(&self) -> (u64, u64) {
        (self.place, self.hash)
    }
}

impl ItemPlaces {
    fn new<'s>(sessions: impl Iterator<Item = (Conversation, &'s Session)>) -> ItemPlaces {
        let items = sessions.flat_map(|(conversation, session)| {
            let items = session.items().iter().enumerate();
            items.map(move |(ix, item)| ItemPlace {
                place: item.place.id(),
                hash: item.hash,
                conversation,
                ix,
                is_given: false,
            })
        });
        let mut items: Vec<ItemPlace> = items.collect();
        items.sort_by_key(|at| (at.key(), at.conversation, at.ix));
        ItemPlaces(items)
    }

    /// Returns the items that have this text and were not taken yet.
    fn take(&mut self, hit: &Hit) -> Vec<(Conversation, ItemIx)> {
        let key = (hit.place.id(), hit.hash);
        let from = self.0.partition_point(|at| at.key() < key);
        let same = self.0[from..].iter_mut().take_while(|at| at.key() == key);
        // All of them are taken at once.
        let new = same.map_while(|at| {
            let is_new = !std::mem::replace(&mut at.is_given, true);
            is_new.then_some((at.conversation, at.ix))
        });
        new.collect()
    }
}

#[cfg(test)]
mod tests;
