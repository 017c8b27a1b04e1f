//! Reports for programs. Keys are stable; new ones may be added.

pub(crate) mod part;

use anyhow::Result;
use model::event::is_unsafe_to_show;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A document: the name of its schema, and its content.
#[derive(Serialize)]
struct Document<B> {
    schema: &'static str,
    #[serde(flatten)]
    body: B,
}

/// Writes a document on one line: the name of its schema, and its content.
pub(crate) fn document(
    out: &mut dyn Write,
    schema: &'static str,
    body: impl Serialize,
) -> Result<()> {
    line(out, &Document { schema, body })
}

/// Writes a value on one line.
pub(crate) fn line(out: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *out, Inert);
    value.serialize(&mut serializer)?;
    Ok(writeln!(out)?)
}

/// Compact JSON whose strings are safe to print: characters that could control a terminal or reorder a line are
/// escaped.
struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Nearly all are such, and looking at each character takes a fifth of the time of a long list. The others of ASCII
        // that are unsafe are no part of a fragment.
        if fragment.is_ascii() && !fragment.contains('\u{7f}') {
            return out.write_all(fragment.as_bytes());
        }
        let mut written = 0;
        for (at, c) in fragment.char_indices() {
            if is_unsafe_to_show(c) {
                out.write_all(&fragment.as_bytes()[written..at])?;
                let mut escaped = String::new();
                ascii(c, &mut escaped);
                out.write_all(escaped.as_bytes())?;
                written = at + c.len_utf8();
            }
        }
        out.write_all(&fragment.as_bytes()[written..])
    }
}

/// Writes a string, safe to print.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) -> Result<()> {
    Ok(text.serialize(&mut Serializer::with_formatter(out, Inert))?)
}

/// Appends the escape of a character. Outside of strings JSON is ASCII already.
pub(crate) fn ascii(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Rounds US dollars to a millionth.
pub(crate) fn dollars(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_could_control_a_terminal_is_escaped_and_read_back() {
        let hostile = "a\u{1b}\u{7f}\u{9b}31m\u{202e}b\u{e0041}é\\\"";
        let mut out = Vec::new();
        super::document(
            &mut out,
            "s",
            std::collections::BTreeMap::from([("k", hostile)]),
        )
        .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            !text.trim_end().contains(super::is_unsafe_to_show),
            "{text}"
        );
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["k"], hostile);
    }

    #[test]
    fn escapes_are_those_of_json() {
        let mut escaped = String::new();
        "±😀".chars().for_each(|c| super::ascii(c, &mut escaped));
        assert_eq!(escaped, r"\u00b1\ud83d\ude00");
        let text: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
        assert_eq!(text, "±😀");
    }
}
