//! Tables as comma-separated values (RFC 4180), with a line of headings.

use super::cell::{Cell, time};
use super::sheet::Sheet;
use super::tables::Table;
use anyhow::Result;
use render::text::inert;
use std::io::Write;

/// A sheet of such rows.
pub(super) struct Rows<'a> {
    out: Box<dyn Write + 'a>,
    line: String,
}

impl<'a> Rows<'a> {
    pub(super) fn new(table: Table, mut out: Box<dyn Write + 'a>) -> Result<Rows<'a>> {
        let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
        writeln!(out, "{}", names.join(","))?;
        let line = String::new();
        Ok(Rows { out, line })
    }
}

impl Sheet for Rows<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        use std::fmt::Write as _;
        self.line.clear();
        for (ix, cell) in cells.iter().enumerate() {
            if ix > 0 {
                self.line.push(',');
            }
            match cell {
                Cell::Text(text) => quote(text, &mut self.line),
                Cell::Int(number) => write!(self.line, "{number}")?,
                Cell::Float(number) => write!(self.line, "{number}")?,
                Cell::Bool(is_so) => write!(self.line, "{is_so}")?,
                Cell::Time(at) => self.line.push_str(&time(*at)),
                Cell::Empty => {}
            }
        }
        self.line.push('\n');
        Ok(self.out.write_all(self.line.as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// The characters that a spreadsheet takes for the beginning of a formula. Some accept full-width signs too.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// Appends a text in quotes: spreadsheets divide lines at other signs as well, by their language. A text that one would
/// take for a formula, blanks before it left out, gets an apostrophe, with which it is a text.
fn quote(text: &str, line: &mut String) {
    let text = inert(text);
    line.push('"');
    if text.starts_with(FORMULA) || text.trim_start().starts_with(FORMULA) {
        line.push('\'');
    }
    line.push_str(&text.replace('"', "\"\""));
    line.push('"');
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
            let mut line = String::new();
            quote(text, &mut line);
            assert_eq!(line, quoted);
        }
        let mut line = String::new();
        quote("a\nb\r\u{1b}[31m", &mut line);
        assert!(!line.contains(['\n', '\r', '\u{1b}']), "{line:?}");
    }
}
