//! tiktoken-rs behind one type: o200k counts, and cl100k counts beside them where an estimator needs them,
//! with a cache and guards.
//!
//! Measured on one core, `o200k_base`: 100 ms and 45 MB to begin with, then 20 to 25 MB of code, JSON or
//! English a second, 15 MB of base64. So nothing is loaded before the first count is asked for, and
//! no text is counted twice while its count is remembered.

use crate::model::estimators::Estimator;
use crate::model::event::{ByLength, Measure, Size};
use std::collections::HashMap;
use std::ops::Add;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};
use xxhash_rust::xxh3::xxh3_64;

/// The most bytes that the tokenizer gets at once. tiktoken-rs 0.12 panics on 1,000,000 spaces in a row
/// (the stack of its regular expressions); a sixteenth of that is far below.
const PIECE: usize = 64 << 10;
/// A good place to cut is searched this far back from the end of a piece.
const SEARCH: usize = 4 << 10;
/// Shorter texts are counted faster than they are remembered.
const WORTH_REMEMBERING: usize = 64;
/// Counts in one generation of the cache. Two are held: 64k counts, 1 MB.
const GENERATION: usize = 32 << 10;

/// Counts o200k tokens exactly. Shared between threads.
#[derive(Default)]
pub struct Counter {
    bpe: OnceLock<&'static CoreBPE>,
    /// Whether cl100k tokens are counted too.
    with_cl100k: bool,
    seen: Mutex<Seen>,
}

/// The tokens of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    o200k: u32,
    /// The same as `o200k` where it is not counted.
    cl100k: u32,
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            o200k: self.o200k.saturating_add(other.o200k),
            cl100k: self.cl100k.saturating_add(other.cl100k),
        }
    }
}

/// Counts by hash of the text, in two generations: when the young one is full, the old one is dropped.
#[derive(Default)]
struct Seen {
    young: HashMap<u64, Counts>,
    old: HashMap<u64, Counts>,
}

impl Seen {
    fn get(&mut self, hash: u64) -> Option<Counts> {
        if let Some(count) = self.young.get(&hash) {
            return Some(*count);
        }
        let count = self.old.get(&hash).copied()?;
        self.put(hash, count);
        Some(count)
    }

    fn put(&mut self, hash: u64, count: Counts) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash, count);
    }
}

impl Counter {
    /// A counter that has not loaded its vocabulary yet.
    pub fn new() -> Counter {
        Counter::default()
    }

    /// One that counts cl100k tokens too, which takes twice the time.
    pub fn with_cl100k() -> Counter {
        Counter {
            with_cl100k: true,
            ..Counter::default()
        }
    }

    /// One that counts what this estimator needs.
    pub fn for_estimator(estimator: Estimator) -> Counter {
        match estimator.counts_cl100k() {
            true => Counter::with_cl100k(),
            false => Counter::new(),
        }
    }

    /// Whether the vocabulary is loaded, so that a count costs microseconds.
    pub fn is_warm(&self) -> bool {
        self.bpe.get().is_some()
    }

    /// The o200k tokens of a text, in 64 KiB pieces: a piece's end may add one token where it has to
    /// cut a word. `None`: the tokenizer failed on it.
    pub fn count(&self, text: &str) -> Option<u64> {
        Some(self.counts(text)?.o200k.into())
    }

    fn counts(&self, text: &str) -> Option<Counts> {
        if text.len() < WORTH_REMEMBERING {
            return self.encode(text);
        }
        let hash = xxh3_64(text.as_bytes());
        // A poisoned cache is still a cache: no count is half written.
        let seen = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen().get(hash);
        if known.is_some() {
            return known;
        }
        let mut parts = pieces(text).map(|piece| self.encode(piece));
        let counts = parts.try_fold(Counts::default(), |sum, part| Some(sum + part?))?;
        seen().put(hash, counts);
        Some(counts)
    }

    fn encode(&self, piece: &str) -> Option<Counts> {
        let o200k = tokens(self.bpe.get_or_init(o200k_base_singleton), piece)?;
        let cl100k = match self.with_cl100k {
            true => tokens(cl100k_base_singleton(), piece)?,
            false => o200k,
        };
        Some(Counts { o200k, cl100k })
    }
}

fn tokens(bpe: &CoreBPE, piece: &str) -> Option<u32> {
    // The last resort: a panic's message would be drawn over the screen, so `pieces` avoids all known
    // causes.
    let tokens = catch_unwind(AssertUnwindSafe(|| bpe.encode_ordinary(piece).len()));
    u32::try_from(tokens.ok()?).ok()
}

impl Measure for Counter {
    fn text(&self, text: &str) -> Size {
        let guess = ByLength.text(text);
        match self.counts(text) {
            Some(Counts { o200k, cl100k }) => Size {
                local: o200k.into(),
                cl100k_more: i32::try_from(i64::from(cl100k) - i64::from(o200k)).unwrap_or(0),
                counted: true,
                ..guess
            },
            None => guess,
        }
    }

    fn call_id(&self, id: &str) -> u16 {
        let counts = self.with_cl100k.then(|| self.encode(id)).flatten();
        counts.map_or(0, |counts| u16::try_from(counts.cl100k).unwrap_or(0))
    }
}

/// Cuts a text into pieces the tokenizer can take.
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

/// Where the first piece ends: after a line or before a word's space, where o200k never joins both
/// sides; inside a word only if there is neither.
fn cut(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let bytes = text.as_bytes();
    let from = PIECE - SEARCH;
    let line_end = |at: &usize| bytes[at - 1] == b'\n' && is_word(bytes[*at]);
    let word_end =
        |at: &usize| bytes[*at] == b' ' && is_word(bytes[at - 1]) && is_word(bytes[at + 1]);
    (from..PIECE)
        .rev()
        .find(line_end)
        .or_else(|| (from..PIECE).rev().find(word_end))
        .unwrap_or_else(|| {
            (from..=PIECE)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(PIECE)
        })
}

/// Whether it is certainly part of a word: an ASCII letter or digit. White space and punctuation may join.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> u64 {
        o200k_base_singleton().encode_ordinary(text).len() as u64
    }

    #[test]
    fn counts_as_tiktoken_does() {
        let counter = Counter::new();
        assert!(!counter.is_warm());
        for text in [
            "",
            "hi",
            "fn main() { println!(\"größe 漢字\"); }",
            "a\r\n\tb\n\n\n  c",
        ] {
            assert_eq!(counter.count(text), Some(whole(text)), "{text:?}");
        }
        assert!(counter.is_warm());
    }

    #[test]
    fn cl100k_is_counted_beside_o200k_where_it_is_asked_for() {
        let text = "größe 漢字, and again: größe 漢字, with some more words to be remembered";
        let (plain, both) = (Counter::new(), Counter::with_cl100k());
        assert_eq!(plain.text(text).cl100k(), whole(text));
        let cl100k = cl100k_base_singleton().encode_ordinary(text).len() as u64;
        for size in [both.text(text), both.text(text)] {
            assert_eq!((size.local, size.cl100k()), (whole(text), cl100k));
        }
        assert!(cl100k > whole(text));
        assert_eq!(plain.call_id("toolu_01"), 0);
        assert!(both.call_id("toolu_01") > 2);
    }

    #[test]
    fn a_million_spaces_do_not_panic() {
        let counter = Counter::new();
        for c in [' ', '\n', '\t', 'a', '=', '我'] {
            let text: String = std::iter::repeat_n(c, 1_000_000).collect();
            let count = counter.count(&text).expect("counted");
            assert!(count > 0 && count <= text.len() as u64, "{c:?}: {count}");
        }
    }

    #[test]
    fn cuts_between_words_cost_nothing() {
        let line = "the quick brown fox; jumps(over) the_lazy dog, 12345 times\n    and again\n";
        let text = line.repeat(4000);
        assert!(text.len() > 4 * PIECE);
        assert_eq!(Counter::new().count(&text), Some(whole(&text)));
        let one_line = text.replace('\n', " ");
        assert_eq!(Counter::new().count(&one_line), Some(whole(&one_line)));
    }

    #[test]
    fn the_same_text_is_counted_once_and_the_cache_is_bounded() {
        let counter = Counter::new();
        let text = "some text that is longer than what is worth remembering ".repeat(4);
        let first = counter.count(&text);
        assert_eq!(counter.seen.lock().unwrap().young.len(), 1);
        assert_eq!(counter.count(&text), first);
        let mut seen = Seen::default();
        let counts = |hash: u64| Counts {
            o200k: hash as u32,
            cl100k: 0,
        };
        for hash in 0..(5 * GENERATION as u64) {
            seen.put(hash, counts(hash));
            assert!(seen.young.len() + seen.old.len() <= 2 * GENERATION);
        }
        let newest = 5 * GENERATION as u64 - 1;
        assert_eq!(seen.get(newest), Some(counts(newest)));
        assert_eq!(seen.get(0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn a_cut_changes_a_count_by_two_at_most(
            parts in prop::collection::vec(
                prop_oneof!["\\PC{0,40}", "[a-z ]{0,40}", "[ \\t\\r\\n]{1,30}", "[A-Za-z0-9+/]{1,40}"],
                1..20,
            ),
            times in 1_usize..600,
        ) {
            let text = parts.concat().repeat(times);
            let cuts = pieces(&text).count().saturating_sub(1) as u64;
            let counted = Counter::new().count(&text).expect("counted");
            prop_assert!(counted.abs_diff(whole(&text)) <= 2 * cuts);
            prop_assert_eq!(pieces(&text).collect::<String>(), text);
        }
    }
}
