//! Reports for people.

pub(crate) mod page;
pub(crate) mod table;

use super::Output;
use anyhow::Result;
use page::Page;
use render::ascii::{self, Charset, in_ascii};
use render::inert::Inert;
use render::text;
use std::borrow::Cow;
use std::io::Write;

/// Writes the report. Each part is made safe to print where it is written, and [`Inert`] makes sure of it.
pub(super) fn write(
    output: &dyn Output,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> Result<()> {
    let out = &mut Inert::new(out);
    Ok(output.text(&mut Page::new(out, columns))?)
}

/// Appends ASCII characters as wide as the character that they replace.
pub(super) fn ascii(c: char, out: &mut String) {
    ascii::push(c, text::width(c.encode_utf8(&mut [0; 4])), out);
}

/// Returns a text of a log, safe to print, in these characters. A format escapes its marks after that: the ASCII that
/// replaces a character may be one.
pub(super) fn of_log(log_text: &str, charset: Charset) -> Cow<'_, str> {
    let safe = text::inert(log_text);
    match charset {
        Charset::Ascii if !safe.is_ascii() => in_ascii(&safe, ascii).into(),
        _ => safe,
    }
}

/// Returns the width of the widest of these texts; at least 12 columns, so that tables rarely differ in their layout.
pub(super) fn widest(texts: impl Iterator<Item = String>) -> usize {
    texts.map(|each| text::width(&each)).fold(12, usize::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_the_widest_name() {
        let names = [
            "bash",
            "collaboration.list_agents",
            "一二三四五六七八九十一二三四",
        ];
        let names = names.map(str::to_owned);
        assert_eq!(widest(names.into_iter()), 28);
        assert_eq!(widest(std::iter::once("bash".to_owned())), 12);
    }

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
