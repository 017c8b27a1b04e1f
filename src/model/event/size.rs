//! How large texts are.

use serde::{Deserialize, Serialize};

/// How large an item is, as counted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Size {
    /// Bytes of text that the model gets.
    pub bytes: u64,
    /// Characters of that text.
    pub chars: u64,
    /// o200k tokens of that text, or an estimate from its length.
    pub local: u64,
    /// Digits in it, on which tokenizers differ most: one to three of them make a token.
    pub digits: u64,
    /// Letters outside ASCII, on which they differ as well.
    pub wide: u64,
    /// Other characters outside ASCII: arrows behind line numbers, box drawing, bullets.
    pub marks: u64,
    /// Whether `local` was counted rather than guessed from the length.
    pub counted: bool,
    /// Whether the log has a part of it only: the next report settles it with what nothing else explains.
    pub partial: bool,
    /// Tokens of images and documents, by formula.
    pub fixed: u64,
    /// Bytes of hidden content: signatures, encrypted reasoning.
    pub opaque: u64,
    /// Tokens that the provider reported for this item alone; 0: none.
    pub reported: u64,
    /// Definitions of tools in it.
    pub tools: u32,
    /// Characters that its text is longer by as a JSON string.
    pub escapes: u32,
    /// How many more cl100k tokens than `local` its text has; 0 where they were not counted.
    pub cl100k_more: i32,
    /// cl100k tokens of its call's id; 0: not counted.
    pub call_id: u16,
    /// Bytes that the agent itself counts for this item; `None`: those of its text, and four for each
    /// token by formula. See [`crate::model::own_count`].
    pub own_bytes: Option<u32>,
}

impl Size {
    /// cl100k tokens of its text; o200k tokens where they were not counted.
    pub fn cl100k(&self) -> u64 {
        self.local.saturating_add_signed(self.cl100k_more.into())
    }

    /// The size of text of which only the length is known, in bytes.
    pub(super) fn unseen(bytes: u64) -> Size {
        Size {
            bytes,
            chars: bytes,
            local: bytes * 10 / 37,
            counted: false,
            ..Size::default()
        }
    }
}

impl std::ops::AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        self.bytes += other.bytes;
        self.chars += other.chars;
        self.local += other.local;
        self.digits += other.digits;
        self.wide += other.wide;
        self.marks += other.marks;
        self.partial |= other.partial;
        self.fixed += other.fixed;
        self.opaque += other.opaque;
        self.reported += other.reported;
        self.tools = self.tools.saturating_add(other.tools);
        self.escapes = self.escapes.saturating_add(other.escapes);
        self.cl100k_more = self.cl100k_more.saturating_add(other.cl100k_more);
        self.counted &= other.counted;
    }
}

/// Measures text: with the real tokenizer, or from its length.
pub trait Measure {
    /// The size of a text.
    fn text(&self, text: &str) -> Size;

    /// The cl100k tokens of a tool call's id; 0 unless the chosen estimator counts them.
    fn call_id(&self, _id: &str) -> u16 {
        0
    }
}

/// Estimates tokens from bytes: used until a text is counted, and for files that are not on screen.
/// o200k has 3.3 to 4.3 bytes a token on code, English and tool output, about 1.6 characters a token on
/// Chinese and Japanese (measured).
#[derive(Debug, Clone, Copy, Default)]
pub struct ByLength;

impl Measure for ByLength {
    fn text(&self, text: &str) -> Size {
        // By bytes: several times quicker than by characters, and most text is ASCII alone.
        let bytes = text.as_bytes();
        let count = |is: fn(&u8) -> bool| bytes.iter().filter(|byte| is(byte)).count() as u64;
        let (ascii, digits) = (count(u8::is_ascii), count(u8::is_ascii_digit));
        let (mut wide, mut marks) = (0, 0);
        if ascii < bytes.len() as u64 {
            for c in text.chars().filter(|c| !c.is_ascii()) {
                match c.is_alphabetic() {
                    true => wide += 1,
                    false => marks += 1,
                }
            }
        }
        Size {
            bytes: text.len() as u64,
            chars: ascii + wide + marks,
            local: ascii * 10 / 37 + (wide + marks) * 10 / 16,
            digits,
            wide,
            marks,
            escapes: u32::try_from(count(is_escaped)).unwrap_or(u32::MAX),
            ..Size::default()
        }
    }
}

/// Whether a byte is written as two in a JSON string. Other control characters take six: they are rare.
fn is_escaped(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1f)
}
