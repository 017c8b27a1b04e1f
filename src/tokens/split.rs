//! Splits a text into words as o200k does before it looks for tokens in each word.
//!
//! The code follows the regular expression of tiktoken-rs 0.12 (`tiktoken_ext/openai_public.rs`) alternative by
//! alternative. Its look-ahead makes the expression itself backtrack, at 20 MB a second. The patterns are
//! repeated at the functions. Every text is split completely, in time linear in its length: no character is looked at
//! more than three times.

use super::classes::{ASCII, BLANK, EITHER, LOWER, MARK, NEWLINE, NUMBER, OTHER, UPPER, class};

/// `[^\r\n\p{L}\p{N}]`: what may precede the letters of a word.
const PREFIX: u8 = MARK | BLANK | OTHER;
/// `[^\s\p{L}\p{N}]`
const SIGN: u8 = MARK | OTHER;
const SPACE: u8 = BLANK | NEWLINE;

/// A text to split.
#[derive(Clone, Copy)]
pub(super) struct Split<'t> {
    text: &'t str,
    bytes: &'t [u8],
}

impl<'t> Split<'t> {
    pub(super) fn new(text: &'t str) -> Split<'t> {
        let bytes = text.as_bytes();
        Split { text, bytes }
    }

    /// Returns the end of the word that begins at `at`. `at` is the end of another word, or 0, and not the text's end.
    /// In this order:
    ///
    /// ```text
    /// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
    /// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
    /// \p{N}{1,3}
    ///  ?[^\s\p{L}\p{N}]+[\r\n/]*
    /// \s*[\r\n]+
    /// \s+(?!\S)
    /// \s+
    /// ```
    #[inline]
    pub(super) fn word_end(self, at: usize) -> usize {
        let (first, len) = self.look(at);
        if first == NUMBER {
            return self.number(at);
        }
        let is_prefix = first & PREFIX != 0;
        let from = if is_prefix { at + len } else { at };
        if let Some(end) = self.cased(from, (first == MARK).then_some(from)) {
            return end + self.contraction(end);
        }
        self.signs(at, first).unwrap_or_else(|| self.white(at))
    }

    /// Returns the end of the letters of a word that begin here; `None`: there are none. `mark` is the end of a
    /// mark before them: by the first alternative the mark is a word by itself, and only the second takes it as a
    /// prefix.
    #[inline]
    fn cased(self, from: usize, mark: Option<usize>) -> Option<usize> {
        let mut at = self.ascii(from, UPPER);
        // The end of the last character that counts as lower case too.
        let mut lower = None;
        loop {
            let (class, len) = self.look(at);
            if class == LOWER {
                return Some(self.run(at, LOWER | EITHER | MARK));
            }
            if class & (UPPER | EITHER | MARK) == 0 {
                break;
            }
            at += len;
            if class != UPPER {
                lower = Some(at);
            }
        }
        // The first alternative gives back upper-case letters until it ends in one that is lower too.
        lower.or(mark).or((at > from).then_some(at))
    }

    /// Returns the length of `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`. The long s is a lower-case s.
    #[inline]
    fn contraction(self, at: usize) -> usize {
        if self.bytes.get(at) != Some(&b'\'') {
            return 0;
        }
        let byte = |n: usize| self.bytes.get(at + n).copied().unwrap_or(0);
        match (byte(1).to_ascii_lowercase(), byte(2).to_ascii_lowercase()) {
            (b's' | b't' | b'm' | b'd', _) => 2,
            (b'r' | b'v', b'e') | (b'l', b'l') | (0xc5, 0xbf) => 3,
            _ => 0,
        }
    }

    /// Returns the end of `\p{N}{1,3}`.
    #[inline]
    fn number(self, mut at: usize) -> usize {
        for _ in 0..3 {
            match self.look(at) {
                (NUMBER, len) => at += len,
                _ => break,
            }
        }
        at
    }

    /// Returns the end of ` ?[^\s\p{L}\p{N}]+[\r\n/]*`; `None`: there is no sign here.
    #[inline]
    fn signs(self, at: usize, first: u8) -> Option<usize> {
        let from = match self.bytes.get(at) {
            Some(b' ') => at + 1,
            _ if first & SIGN != 0 => at,
            _ => return None,
        };
        let end = self.run(from, SIGN);
        if end == from {
            return None;
        }
        let after = self.bytes.get(end..).unwrap_or_default();
        let follows = |byte: &&u8| matches!(byte, b'\r' | b'\n' | b'/');
        Some(end + after.iter().take_while(follows).count())
    }

    /// Returns the end of white space: to its last line break, else all but its last character, which belongs to what
    /// follows, else all.
    fn white(self, at: usize) -> usize {
        let (mut end, mut last, mut line_end) = (at, at, None);
        loop {
            let (class, len) = self.look(end);
            if class & SPACE == 0 {
                break;
            }
            last = end;
            end += len;
            if class == NEWLINE {
                line_end = Some(end);
            }
        }
        match line_end {
            Some(line_end) => line_end,
            None if end < self.bytes.len() && last > at => last,
            None => end,
        }
    }

    /// Returns the end of the run of characters of these classes.
    #[inline]
    fn run(self, mut at: usize, mask: u8) -> usize {
        loop {
            at = self.ascii(at, mask);
            match self.bytes.get(at) {
                Some(128..) => {}
                _ => return at,
            }
            let (class, len) = self.look(at);
            if class & mask == 0 {
                return at;
            }
            at += len;
        }
    }

    /// Returns the end of the run of ASCII characters of these classes.
    #[inline]
    fn ascii(self, at: usize, mask: u8) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let is_in = |byte: &u8| ASCII[usize::from(*byte)] & mask != 0;
        at + rest
            .iter()
            .position(|byte| !is_in(byte))
            .unwrap_or(rest.len())
    }

    /// Returns the class and length of the character here; (0, 0): the text ends here.
    #[inline]
    fn look(self, at: usize) -> (u8, usize) {
        match self.bytes.get(at) {
            None => (0, 0),
            Some(byte @ ..128) => (ASCII[usize::from(*byte)], 1),
            Some(_) => self.look_wide(at),
        }
    }

    #[inline(never)]
    fn look_wide(self, at: usize) -> (u8, usize) {
        let c = self.text.get(at..).and_then(|rest| rest.chars().next());
        c.map_or((0, 0), |c| (class(c), c.len_utf8()))
    }
}
