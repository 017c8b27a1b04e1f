//! Counts of o200k tokens that equal those of tiktoken-rs, behind one type, with caches and guards.
//!
//! tiktoken-rs takes 100 ms and 45 MB to load the vocabulary, and its regular expressions split a text into words at 20 to
//! 25 MB a second. So `build.rs` makes a table of its vocabulary (`table`), `split` splits, `merge` counts the tokens of
//! a word, and that count is remembered (`words`). What is counted is tested against tiktoken-rs. Measured on one core:
//! 100 to 500 MB of code, JSON or prose a second, or 10 MB of base64. So a long text is not counted again while its count
//! is remembered.

mod bits;
mod classes;
mod merge;
mod split;
mod table;
mod words;

use model::event::cut::floor_char;
use model::event::{ByLength, Measure, Size};
use split::Split;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use words::Words;
use xxhash_rust::xxh3::xxh3_64;

/// The most bytes that are split at once, and therefore of the longest word: its pairs take 40 bytes a byte to merge.
const PIECE_BYTES: usize = 64 << 10;
/// The bytes before the end of a piece in which a good place to cut is searched.
const CUT_SEARCH_BYTES: usize = 4 << 10;
/// The shortest text whose count is remembered: counting a shorter one is faster.
const REMEMBERED_BYTES: usize = 256;
/// The number of counts that a generation of the cache holds. There are two generations: 64k counts, 1 MB.
const GENERATION_COUNTS: usize = 32 << 10;

static O200K: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k"));

/// Counts o200k tokens exactly. Shared between threads.
#[derive(Default)]
pub struct Counter {
    words: OnceLock<Words>,
    cache: Mutex<CountCache>,
}

/// The counts of texts, by a text's hash, in two generations: when the young one is full, the old one is dropped.
#[derive(Default)]
struct CountCache {
    young: HashMap<u64, u32>,
    old: HashMap<u64, u32>,
}

impl CountCache {
    fn get(&mut self, hash: u64) -> Option<u32> {
        if let Some(count) = self.young.get(&hash) {
            return Some(*count);
        }
        let count = self.old.get(&hash).copied()?;
        self.put(hash, count);
        Some(count)
    }

    fn put(&mut self, hash: u64, count: u32) {
        if self.young.len() >= GENERATION_COUNTS {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash, count);
    }
}

impl Counter {
    /// Returns a counter of o200k tokens.
    pub fn new() -> Counter {
        Counter::default()
    }

    /// Returns the o200k tokens of a text. It is counted in pieces of 64 KiB: the end of a piece that cuts a word may add
    /// one token.
    pub fn count(&self, text: &str) -> u64 {
        self.tokens(text).into()
    }

    fn tokens(&self, text: &str) -> u32 {
        if text.len() < REMEMBERED_BYTES {
            return self.count_piece(text);
        }
        let hash = xxh3_64(text.as_bytes());
        // A poisoned cache is still a cache: no count is half written.
        let cache = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cache().get(hash) {
            return known;
        }
        let counts = pieces(text).map(|piece| self.count_piece(piece));
        let sum = counts.fold(0, u32::saturating_add);
        cache().put(hash, sum);
        sum
    }

    /// Returns the tokens of a piece.
    fn count_piece(&self, text: &str) -> u32 {
        let words = self.words.get_or_init(Words::default);
        let (split, bytes) = (Split::new(text), text.as_bytes());
        let (mut at, mut sum) = (0, 0_u32);
        while at < bytes.len() {
            let end = split.word_end(at);
            // A word of one byte is one token.
            if end == at + 1 {
                sum = sum.saturating_add(1);
                at = end;
                continue;
            }
            let hash = table::hash(bytes, at, end);
            let count = words.get(hash).unwrap_or_else(|| {
                let count = merge::tokens(O200K, &bytes[at..end]);
                words.put(hash, count);
                count
            });
            sum = sum.saturating_add(count);
            at = end;
        }
        sum
    }
}

impl Measure for Counter {
    fn text(&self, text: &str) -> Size {
        Size {
            local: self.tokens(text),
            counted: true,
            ..ByLength.text(text)
        }
    }
}

/// Cuts a text into pieces.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (piece, rest) = text.split_at(cut(text));
        text = rest;
        Some(piece)
    })
}

/// Returns the end of the first piece: after a line or before a word's space, where o200k never joins both sides;
/// inside a word only if there is neither.
fn cut(text: &str) -> usize {
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    let bytes = text.as_bytes();
    let from = PIECE_BYTES - CUT_SEARCH_BYTES;
    let line_end = |at: &usize| bytes[at - 1] == b'\n' && is_word(bytes[*at]);
    let word_end =
        |at: &usize| bytes[*at] == b' ' && is_word(bytes[at - 1]) && is_word(bytes[at + 1]);
    (from..PIECE_BYTES)
        .rev()
        .find(line_end)
        .or_else(|| (from..PIECE_BYTES).rev().find(word_end))
        .unwrap_or_else(|| floor_char(text, PIECE_BYTES))
}

/// Returns true if a byte is certainly part of a word: an ASCII letter or digit. White space and punctuation may join
/// others.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests;
