//! Text as it is shown: characters that control a terminal, reorder a line or pile up in one cell are replaced by
//! visible ones.

use super::ascii::{self, Charset};
use model::event::is_unsafe_to_show;
use std::io::{self, Write};
use unicode_width::UnicodeWidthChar;

/// Replaces a character that must not reach a terminal and has no control picture.
pub const REPLACEMENT: char = '\u{fffd}';
/// The most characters without a width that are shown in one cell. Tibetan stacks have up to seven.
pub const MOST_MARKS: usize = 8;

/// Returns a character as it is shown: one that could control a terminal or reorder a line is replaced by a picture,
/// such as `␛` for an escape.
pub fn visible(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(REPLACEMENT),
        '\u{7f}' => '\u{2421}',
        c if is_unsafe_to_show(c) => REPLACEMENT,
        c => c,
    }
}

/// Returns a text as it is copied or written to another program: lines and tabs stay, everything else is made visible.
/// The end of a line is a newline.
pub fn visible_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = Marks::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\t' => out.push(c),
            c => out.extend(marks.pass(visible(c))),
        }
    }
    out
}

/// Returns true if a character is shown in the cell of the one before.
pub fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.width() == Some(0)
}

/// Limits the characters that are shown in one cell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    in_a_row: usize,
}

impl Marks {
    /// Returns the character that is shown for the next one. The first mark beyond the limit is replaced; later ones
    /// are left out.
    pub fn pass(&mut self, c: char) -> Option<char> {
        if !is_mark(c) {
            self.in_a_row = 0;
            return Some(c);
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        match self.in_a_row {
            0..=MOST_MARKS => Some(c),
            n => (n == MOST_MARKS + 1).then_some(REPLACEMENT),
        }
    }
}

/// Writes text with control characters made visible, except tabs and newlines. Bytes that are not UTF-8 are replaced.
#[derive(Debug)]
pub struct Inert<W: Write> {
    out: W,
    charset: Charset,
    marks: Marks,
    /// The start of a character whose rest was not written yet.
    rest: Vec<u8>,
    wider: Wider,
}

/// The columns by which a line in ASCII is wider than it was, since `±` is `+-`. Of two spaces one makes up for it, so
/// that tables stay aligned.
#[derive(Debug, Default)]
struct Wider {
    columns: usize,
    is_after_space: bool,
}

impl Wider {
    /// Notes the next character. Returns true if it is a space to leave out.
    fn takes(&mut self, c: char) -> bool {
        let is_second = std::mem::replace(&mut self.is_after_space, c == ' ') && c == ' ';
        match c {
            '±' => self.columns += 1,
            '\n' => self.columns = 0,
            _ if is_second && self.columns > 0 => {
                self.columns -= 1;
                return true;
            }
            _ => {}
        }
        false
    }
}

impl<W: Write> Inert<W> {
    /// Returns a writer of all characters that are safe.
    pub fn new(out: W) -> Inert<W> {
        Inert::of(out, Charset::default())
    }

    /// Returns a writer of these characters.
    pub fn of(out: W, charset: Charset) -> Inert<W> {
        Inert {
            out,
            charset,
            marks: Marks::default(),
            rest: Vec::new(),
            wider: Wider::default(),
        }
    }

    /// Returns the writer inside.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let is_kept = |c: char| matches!(c, '\n' | '\t' | ' '..='~');
        if self.wider.columns == 0 && text.chars().all(is_kept) {
            if let Some(last) = text.chars().next_back() {
                self.wider.takes(last);
                self.marks = Marks::default();
            }
            return self.out.write_all(text.as_bytes());
        }
        let mut safe = String::with_capacity(text.len());
        for c in text.chars() {
            let shown = match c {
                '\n' | '\t' => c,
                c => visible(c),
            };
            let Some(shown) = self.marks.pass(shown) else {
                continue;
            };
            if self.charset == Charset::Ascii && self.wider.takes(shown) {
                continue;
            }
            match self.charset {
                Charset::Ascii if is_mark(shown) => {}
                Charset::Ascii if !shown.is_ascii() => ascii::push(shown, 1, &mut safe),
                _ => safe.push(shown),
            }
        }
        self.out.write_all(safe.as_bytes())
    }
}

impl<W: Write> Write for Inert<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.put(chunk.valid())?;
            let broken = chunk.invalid();
            let unfinished = chunks.peek().is_none()
                && std::str::from_utf8(broken).is_err_and(|e| e.error_len().is_none());
            if unfinished {
                self.rest = broken.to_vec();
            } else if !broken.is_empty() {
                self.put("\u{fffd}")?;
            }
        }
        Ok(bytes.len())
    }

    /// Writes a replacement for a character that is still incomplete, and flushes.
    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.rest).is_empty() {
            self.put("\u{fffd}")?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(bytes: &[u8], chunk: usize, charset: Charset) -> String {
        let mut inert = Inert::of(Vec::new(), charset);
        for part in bytes.chunks(chunk) {
            inert.write_all(part).unwrap();
        }
        inert.flush().unwrap();
        String::from_utf8(inert.into_inner()).unwrap()
    }

    proptest! {
        #[test]
        fn what_is_written_is_safe_however_it_is_cut(bytes in prop_oneof![
            any::<Vec<u8>>(),
            any::<String>().prop_map(String::into_bytes),
        ], chunk in 1_usize..9) {
            let picture = |c| if matches!(c, '\n' | '\t') { c } else { visible(c) };
            let mut marks = Marks::default();
            let lossy = String::from_utf8_lossy(&bytes);
            let whole: String = lossy.chars().filter_map(|c| marks.pass(picture(c))).collect();
            let safe = written(&bytes, chunk, Charset::Unicode);
            prop_assert!(!safe.contains(|c| !matches!(c, '\n' | '\t') && is_unsafe_to_show(c)));
            prop_assert_eq!(safe, whole);
            let ascii = written(&bytes, chunk, Charset::Ascii);
            prop_assert!(ascii.chars().all(|c| matches!(c, '\n' | '\t' | ' '..='~')), "{ascii:?}");
        }
    }

    #[test]
    fn an_error_in_ascii_is_apart_from_its_number_and_keeps_the_columns() {
        let table = "20 ±20 est   5%\n1 ±1  ±2  x\n a  b\n";
        for chunk in 1..9 {
            let ascii = written(table.as_bytes(), chunk, Charset::Ascii);
            assert_eq!(ascii, "20 +-20 est  5%\n1 +-1 +-2 x\n a  b\n");
        }
    }

    #[test]
    fn marks_beyond_a_few_are_one_replacement() {
        let pile = format!("a{}b", "\u{301}".repeat(500));
        let few = format!("a{}\u{fffd}b", "\u{301}".repeat(MOST_MARKS));
        assert_eq!(written(pile.as_bytes(), 3, Charset::Unicode), few);
        assert_eq!(visible_text(&pile), few);
        assert_eq!(visible_text(&few), few, "it is made visible once");
    }

    #[test]
    fn a_copied_text_keeps_lines_and_tabs_alone() {
        let text = "a\tb\r\nc\rd\u{1b}]0;x\u{7}\u{9b}31m\u{202e}";
        assert_eq!(visible_text(text), "a\tb\nc␍d␛]0;x␇\u{fffd}31m\u{fffd}");
    }
}
