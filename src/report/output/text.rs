//! Reports for people.

pub(crate) mod page;
pub(crate) mod table;

use crate::Output;
use anyhow::Result;
use page::Page;
use render::ascii::{self, Charset, in_ascii};
use render::inert::Inert;
use render::text;
use std::borrow::Cow;
use std::io::Write;

/// Writes the report. Each part is made safe to print where it is written, and [`Inert`] makes sure of it.
pub(crate) fn write(
    output: &dyn Output,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> Result<()> {
    let out = &mut Inert::new(out);
    Ok(output.text(&mut Page::new(out, columns))?)
}

/// Appends ASCII characters as wide as the character that they replace.
pub(crate) fn ascii(c: char, out: &mut String) {
    ascii::push(c, text::width(c.encode_utf8(&mut [0; 4])), out);
}

/// Returns a text of a log, safe to print, in these characters. A format escapes its marks after that: the ASCII that
/// replaces a character may be one.
pub(crate) fn of_log(log_text: &str, charset: Charset) -> Cow<'_, str> {
    in_charset(text::inert(log_text), charset)
}

/// Returns a text for people in these characters.
pub(crate) fn in_charset(text: Cow<'_, str>, charset: Charset) -> Cow<'_, str> {
    match charset {
        Charset::Ascii if !text.is_ascii() => in_ascii(&text, ascii).into(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_keeps_columns_but_of_errors() {
        let mut plain = String::new();
        "12 ±7 日本 — 3\u{301}".chars().for_each(|c| {
            if c.is_ascii() {
                plain.push(c)
            } else {
                ascii(c, &mut plain)
            }
        });
        assert_eq!(plain, "12 +-7 ???? - 3");
    }
}
