//! Tables as comma-separated values (RFC 4180), with a line of headings.

use super::cell::{Cell, time};
use super::tables::Table;
use anyhow::Result;
use render::text::inert;
use std::io::Write;

/// Returns the line of headings.
pub(super) fn headings(table: Table) -> String {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
    names.join(",") + "\n"
}

/// Appends a row.
pub(super) fn row(cells: &[Cell<'_>], line: &mut Vec<u8>) -> Result<()> {
    for (ix, cell) in cells.iter().enumerate() {
        if ix > 0 {
            line.push(b',');
        }
        match cell {
            Cell::Text(text) => quote(text, line)?,
            Cell::Int(number) => write!(line, "{number}")?,
            Cell::Float(number) => write!(line, "{number}")?,
            Cell::Bool(is_so) => write!(line, "{is_so}")?,
            Cell::Time(at) => write!(line, "{}", time(*at))?,
            Cell::Empty => {}
        }
    }
    line.push(b'\n');
    Ok(())
}

/// The characters that a spreadsheet takes for the beginning of a formula. Some accept full-width signs too.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// Appends a text in quotes: spreadsheets divide lines at other signs as well, by their language. A text that one would
/// take for a formula, blanks before it left out, gets an apostrophe, with which it is a text.
fn quote(text: &str, line: &mut Vec<u8>) -> Result<()> {
    let text = inert(text);
    let is_formula = text.starts_with(FORMULA) || text.trim_start().starts_with(FORMULA);
    let apostrophe = if is_formula { "'" } else { "" };
    let text = text.replace('"', "\"\"");
    Ok(write!(line, "\"{apostrophe}{text}\"")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_formulas_are_texts() {
        for (text, quoted) in [
            ("plain", "\"plain\""),
            ("a;b", "\"a;b\""),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=cmd()", "\"'=cmd()\""),
            ("+1", "\"'+1\""),
            ("-x", "\"'-x\""),
            ("@a", "\"'@a\""),
            (" \u{a0}=1", "\"' \u{a0}=1\""),
            ("＝1", "\"'＝1\""),
            ("1-2", "\"1-2\""),
        ] {
            let mut line = Vec::new();
            quote(text, &mut line).unwrap();
            assert_eq!(String::from_utf8(line).unwrap(), quoted);
        }
        let mut line = Vec::new();
        quote("a\nb\r\u{1b}[31m", &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(!line.contains(['\n', '\r', '\u{1b}']), "{line:?}");
    }
}
