//! Measures texts.

use super::{Conversation, Event, NewItem, Place};
use wide::u8x16;

use serde::{Deserialize, Serialize};

/// The size of an item, as counted here. The numbers have 32 bits each, since a log may have a million items. Nothing
/// in a context is larger, and a larger number is taken for the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Size {
    /// Bytes of text that the model gets.
    pub bytes: u32,
    /// Characters of that text.
    pub chars: u32,
    /// o200k tokens of that text, or an estimate from its length.
    pub local: u32,
    /// Digits in it, on which tokenizers differ most: one to three of them make a token.
    pub digits: u32,
    /// Letters outside ASCII, on which they differ as well.
    pub wide: u32,
    /// Other characters outside ASCII: arrows behind line numbers, box drawing, bullets.
    pub marks: u32,
    /// True if `local` was counted rather than guessed from the length.
    pub counted: bool,
    /// True if the log has only a part of it. The next report attributes it with the tokens that nothing else explains.
    pub partial: bool,
    /// Tokens of images and documents, by formula.
    pub fixed: u32,
    /// The part of `fixed` that is of documents which a model may not take though it takes images.
    pub documents: u32,
    /// Bytes of hidden content: signatures, encrypted reasoning.
    pub opaque: u32,
    /// Tokens that the provider reported for this item alone; 0: none.
    pub reported: u32,
    /// Definitions of tools in it.
    pub tools: u32,
    /// Bytes that the agent itself counts for this item; `None`: those of its text, and four for each
    /// token by formula. See [`crate::session::own_count`].
    pub own_bytes: Option<u32>,
}

impl Size {
    /// Returns the size of so many characters of the text.
    pub(super) fn cut(self, chars: u64) -> Size {
        let share = (chars as f64 / f64::from(self.chars.max(1))).min(1.0);
        let part = |whole: u32| (f64::from(whole) * share) as u32;
        Size {
            bytes: part(self.bytes),
            chars: part(self.chars),
            local: part(self.local),
            digits: part(self.digits),
            wide: part(self.wide),
            marks: part(self.marks),
            counted: self.counted,
            ..Size::default()
        }
    }

    /// Returns the size of text of which only the length is known, in bytes.
    pub(super) fn unseen(bytes: u64) -> Size {
        let length = count(bytes);
        Size {
            bytes: length,
            chars: length,
            local: count(bytes * 10 / 37),
            counted: false,
            ..Size::default()
        }
    }
}

impl std::ops::AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.chars = self.chars.saturating_add(other.chars);
        self.local = self.local.saturating_add(other.local);
        self.digits = self.digits.saturating_add(other.digits);
        self.wide = self.wide.saturating_add(other.wide);
        self.marks = self.marks.saturating_add(other.marks);
        self.partial |= other.partial;
        self.fixed = self.fixed.saturating_add(other.fixed);
        self.documents = self.documents.saturating_add(other.documents);
        self.opaque = self.opaque.saturating_add(other.opaque);
        self.reported = self.reported.saturating_add(other.reported);
        self.tools = self.tools.saturating_add(other.tools);
        self.counted &= other.counted;
    }
}

/// Returns a number in the 32 bits of a [`Size`].
pub fn count(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Measures text: with the real tokenizer, or from its length.
pub trait Measure {
    /// Returns the size of a text.
    fn text(&self, text: &str) -> Size;

    /// Changes an event before it is kept: a reader that must not keep texts removes them.
    fn prepare(&self, _event: &mut Event) {}

    /// Returns true if [`Measure::item`] is called. Whole texts are put together only then.
    fn takes_texts(&self) -> bool {
        false
    }

    /// Takes the text of an item that is emitted, as the model receives it, with marks ([`super::ELIDED`]) where the
    /// reader cut it.
    fn item(&self, _lane: Conversation, _place: Place, _item: &NewItem, _text: &str) {}
}

/// Estimates tokens from bytes: used until a text is counted, and for files that are not on screen.
/// o200k has about 4.1 bytes a token on code, English and tool output but for their digits, which are in dates,
/// numbered lines and hashes: 1.7 bytes a token; about 1.6 characters a token on Chinese and Japanese. Of 1,200 texts
/// of real logs nine tenths have 0.77 to 1.38 of this estimate.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByLength;

impl Measure for ByLength {
    fn text(&self, text: &str) -> Size {
        let (ascii, digits) = ascii_and_digits(text.as_bytes());
        let (wide, marks) = if ascii < text.len() as u64 {
            beyond_ascii(text)
        } else {
            (0, 0)
        };
        let local = ((ascii - digits) * 49 + digits * 120) / 200 + (wide + marks) * 10 / 16;
        // No text is nothing: what follows a report must not look reported.
        let local = local.max(u64::from(!text.is_empty()));
        Size {
            bytes: count(text.len() as u64),
            chars: count(ascii + wide + marks),
            local: count(local),
            digits: count(digits),
            wide: count(wide),
            marks: count(marks),
            ..Size::default()
        }
    }
}

/// Returns the number of ASCII bytes, and of digits among them. Counts in single bytes, sixteen at once: a sum of so few
/// cannot overflow.
fn ascii_and_digits(bytes: &[u8]) -> (u64, u64) {
    let mut all = (0, 0);
    for few in bytes.chunks(224) {
        let (mut ascii, mut digits) = (0_u8, 0_u8);
        for byte in few {
            ascii += u8::from(byte.is_ascii());
            digits += u8::from(byte.is_ascii_digit());
        }
        all = (all.0 + u64::from(ascii), all.1 + u64::from(digits));
    }
    all
}

/// Returns the letters outside ASCII of a text, and the other characters outside it.
fn beyond_ascii(text: &str) -> (u64, u64) {
    const BLOCK: usize = 16;
    let (mut wide, mut marks) = (0, 0);
    let mut add = |at: usize| match text.get(at..).and_then(|text| text.chars().next()) {
        Some(c) if is_letter(c) => wide += 1,
        Some(_) => marks += 1,
        None => {}
    };
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    // The first bytes of all characters outside ASCII, no other bytes of them, are so large.
    let least = u8x16::splat(0xc0);
    for (n, block) in blocks.iter().enumerate() {
        let bytes = u8x16::new(*block);
        let mut bits = bytes.max(least).simd_eq(bytes).to_bitmask();
        while bits != 0 {
            add(n * BLOCK + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
    let from = blocks.len() * BLOCK;
    let firsts = rest.iter().enumerate().filter(|(_, byte)| **byte >= 0xc0);
    firsts.for_each(|(k, _)| add(from + k));
    (wide, marks)
}

/// Like [`char::is_alphabetic`], which searches a table. The most frequent characters need none.
fn is_letter(c: char) -> bool {
    match c {
        'À'..='Ö' | 'Ø'..='ö' | 'ø'..='\u{24f}' | '\u{3a3}'..='\u{3f5}' | '\u{400}'..='\u{481}' => {
            true
        }
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' => true,
        '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' => true,
        '\u{2010}'..='\u{2070}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2bff}' => false,
        '\u{a0}'..='\u{a9}' | '\u{300}'..='\u{344}' | '\u{3008}'..='\u{3020}' => false,
        '\u{ff01}'..='\u{ff20}' | '\u{1f300}'..='\u{1faff}' => false,
        _ => c.is_alphabetic(),
    }
}

/// Measures nothing but bytes, where only usage reports are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unmeasured;

impl Measure for Unmeasured {
    fn text(&self, text: &str) -> Size {
        Size {
            bytes: count(text.len() as u64),
            ..Size::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn letters_are_those_of_the_standard_library() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_letter(c), c.is_alphabetic(), "{:x}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn a_size_counts_characters(text in any::<String>(), times in 1_usize..40) {
            let text = text.repeat(times);
            let size = ByLength.text(&text);
            let count = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count() as u32;
            prop_assert_eq!(size.chars, count(|_| true));
            prop_assert_eq!(size.digits, count(|c| c.is_ascii_digit()));
            prop_assert_eq!(size.wide, count(|c| !c.is_ascii() && c.is_alphabetic()));
            prop_assert_eq!(size.marks, count(|c| !c.is_ascii() && !c.is_alphabetic()));
        }
    }
}
