//! How large texts are.

/// How large an item is, as counted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Bytes that the agent itself counts for this item; `None`: those of its text, and four for each
    /// token by formula. See [`crate::model::own_count`].
    pub own_bytes: Option<u32>,
}

impl Size {
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
        self.counted &= other.counted;
    }
}

/// Measures text: with the real tokenizer, or from its length.
pub trait Measure {
    /// The size of a text.
    fn text(&self, text: &str) -> Size;
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
            ..Size::default()
        }
    }
}
