//! The lines of a report, fitted to the terminal that shows them. In a pipe or a file nothing is cut.

use render::text::{cut, left, width};
use std::fmt::{Arguments, Display};
use std::io::{self, Write};
use textwrap::{Options, WordSplitter};

/// The fewest columns that lines are fitted to.
const LEAST_COLUMNS: usize = 20;
/// The columns by which the rest of a line is indented further than its beginning.
const HANGING: usize = 2;

/// The output of a report for people.
pub struct Page<'w> {
    out: &'w mut dyn Write,
    columns: Option<usize>,
}

impl Page<'_> {
    /// Creates a page of this many columns; `None`: lines of any length fit.
    pub fn new(out: &mut dyn Write, columns: Option<usize>) -> Page<'_> {
        let columns = columns.map(|columns| columns.max(LEAST_COLUMNS));
        Page { out, columns }
    }

    /// Returns the columns of a line; `None`: any number.
    pub fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Writes sentences, for `writeln!`: a line that is too long goes on in the next one.
    pub fn write_fmt(&mut self, text: Arguments<'_>) -> io::Result<()> {
        let text = text.to_string();
        let Some(columns) = self.columns else {
            return self.out.write_all(text.as_bytes());
        };
        for line in text.lines() {
            if width(line) <= columns {
                writeln!(self.out, "{line}")?;
                continue;
            }
            let words = line.trim_start();
            let indent = &line[..line.len() - words.len()];
            self.wrapped(indent, indent.len() + HANGING, words)?;
        }
        Ok(())
    }

    /// Writes a fact after its name, which takes so many columns. A fact that is too long goes on below its beginning.
    pub(crate) fn fact(&mut self, name: &str, columns: usize, fact: &str) -> io::Result<()> {
        let name = format!("  {}  ", left(name, columns));
        self.wrapped(&name, width(&name), fact)
    }

    /// Writes words after a beginning. The lines after the first one are indented by so many columns.
    fn wrapped(&mut self, begin: &str, indent: usize, words: &str) -> io::Result<()> {
        let Some(columns) = self.columns else {
            return writeln!(self.out, "{begin}{words}");
        };
        let indent = " ".repeat(indent);
        let options = Options::new(columns)
            .initial_indent(begin)
            .subsequent_indent(&indent)
            .word_splitter(WordSplitter::NoHyphenation)
            // A path can be copied only if it is whole.
            .break_words(false);
        for line in textwrap::wrap(words, options) {
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Writes lines of a table, and those that end with a text of the log: what is too long is cut at the edge.
    pub fn row(&mut self, lines: impl Display) -> io::Result<()> {
        for line in lines.to_string().lines() {
            match self.columns {
                Some(columns) => writeln!(self.out, "{}", cut_row(line, columns))?,
                None => writeln!(self.out, "{}", line.trim_end())?,
            }
        }
        Ok(())
    }
}

/// Cuts a row to so many columns. A number is left out rather than shortened.
fn cut_row(line: &str, columns: usize) -> String {
    let line = line.trim_end();
    if width(line) <= columns {
        return line.to_owned();
    }
    let kept = cut(line, columns);
    let kept = kept.strip_suffix('…').unwrap_or(&kept);
    let is_of_number = |c: char| c.is_ascii_digit() || ".,".contains(c);
    format!("{}…", kept.trim_end_matches(is_of_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(columns: Option<usize>, write: impl Fn(&mut Page<'_>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut Page::new(&mut out, columns)).unwrap();
        String::from_utf8(out).unwrap()
    }

    const SENTENCE: &str =
        "  compacts at 167.0k (model table), headroom 12.3k, as the agent itself counts\n";

    #[test]
    fn sentences_go_on_in_the_next_line_and_no_word_is_cut() {
        let page = |columns| page(columns, |page| writeln!(page, "{}", SENTENCE.trim_end()));
        assert_eq!(page(None), SENTENCE);
        assert_eq!(page(Some(200)), SENTENCE);
        for columns in 20..100 {
            let lines = page(Some(columns));
            assert!(lines.lines().all(|line| width(line) <= columns), "{lines}");
            assert!(lines.split_whitespace().eq(SENTENCE.split_whitespace()));
            assert!(lines.lines().skip(1).all(|line| line.starts_with("    ")));
        }
    }

    #[test]
    fn rows_end_at_the_edge_and_no_number_is_shortened() {
        let row = "12.3k tool  Read 日本 line 1234567 \"a preview of the text 42\"";
        assert_eq!(page(None, |page| page.row(row)), format!("{row}\n"));
        for columns in 20..100 {
            let line = page(Some(columns), |page| page.row(row));
            let line = line.trim_end();
            assert!(width(line) <= columns, "{line}");
            let kept = line.strip_suffix('…').unwrap_or(line);
            assert!(row.starts_with(kept), "{line}");
            assert!(kept == row || !kept.ends_with(|c: char| c.is_ascii_digit()));
        }
    }
}
