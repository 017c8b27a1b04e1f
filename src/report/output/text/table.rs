//! A table as wide as its cells. Where the terminal is narrower, texts are cut and the least important columns are
//! left out: no number is shortened.

use super::page::Page;
use render::NONE;
use render::text::{left, right, width};
use std::io;

/// The spaces between two columns.
const GAP: usize = 2;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) heading: &'static str,
    /// The kind of its cells.
    pub(crate) holds: Holds,
    /// Of the columns that do not fit, the one with the highest number is left out first. 0: it stays.
    rank: u8,
    /// True if it is left out where no cell has a value.
    is_optional: bool,
    /// True if it may be shown.
    pub(crate) is_shown: bool,
}

impl Column {
    pub(crate) const fn new(heading: &'static str, holds: Holds, rank: u8) -> Column {
        Column {
            heading,
            holds,
            rank,
            is_optional: false,
            is_shown: true,
        }
    }

    /// Returns a column that is left out where no cell has a value.
    pub(crate) const fn optional(heading: &'static str, holds: Holds, rank: u8) -> Column {
        Column {
            is_optional: true,
            ..Column::new(heading, holds, rank)
        }
    }
}

/// The kind of the cells of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holds {
    /// Numbers, at its right.
    Numbers,
    /// Words, at its left, that are never cut.
    Words,
    /// Text of a log, at its left. It may be cut to this many columns.
    Text(usize),
}

/// A table.
pub(crate) struct Table {
    /// Its columns.
    pub(crate) columns: Vec<Column>,
    /// The cells of each row, one for each column.
    pub(crate) rows: Vec<Vec<String>>,
    /// The spaces before each row.
    pub(crate) indent: usize,
}

impl Table {
    /// Creates a table of these columns and rows.
    pub(crate) fn new(
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item = impl Into<Vec<String>>>,
    ) -> Table {
        Table {
            columns: columns.into(),
            rows: rows.into_iter().map(Into::into).collect(),
            indent: 0,
        }
    }

    /// Writes the headings and the rows.
    pub(crate) fn write(&self, page: &mut Page<'_>) -> io::Result<()> {
        let widths = self.widths(page.columns());
        let headings = self.columns.iter().map(|column| column.heading);
        page.row(self.line(&widths, headings))?;
        for row in &self.rows {
            page.row(self.line(&widths, row.iter().map(String::as_str)))?;
        }
        Ok(())
    }

    fn line<'c>(&self, widths: &[Option<usize>], cells: impl Iterator<Item = &'c str>) -> String {
        let mut line = " ".repeat(self.indent);
        for ((cell, column), width) in cells.zip(&self.columns).zip(widths) {
            let Some(width) = *width else { continue };
            line.push_str(&match column.holds {
                Holds::Numbers => right(cell, width),
                Holds::Words | Holds::Text(_) => left(cell, width),
            });
            line.push_str(&" ".repeat(GAP));
        }
        line
    }

    /// Returns the width of each column; `None`: it is left out.
    fn widths(&self, most: Option<usize>) -> Vec<Option<usize>> {
        let width_of = |(at, column): (usize, &Column)| {
            let cells = || self.rows.iter().filter_map(|row| row.get(at));
            let is_empty = || cells().all(|cell| cell == NONE);
            if !column.is_shown || (column.is_optional && is_empty()) {
                return None;
            }
            let widest = cells().map(|cell| width(cell)).max();
            widest.max(Some(width(column.heading)))
        };
        let mut widths: Vec<Option<usize>> =
            self.columns.iter().enumerate().map(width_of).collect();
        let Some(most) = most else { return widths };
        let least = |at: usize| match self.columns[at].holds {
            Holds::Text(least) => least.max(width(self.columns[at].heading)),
            Holds::Numbers | Holds::Words => usize::MAX,
        };
        loop {
            let shown = widths.iter().enumerate();
            let shown = shown.filter_map(|(at, width)| Some((at, (*width)?)));
            let narrowest: usize = shown
                .clone()
                .map(|(at, width)| width.min(least(at)) + GAP)
                .sum();
            let last = shown.max_by_key(|(at, _)| self.columns[*at].rank);
            match last {
                Some((at, _))
                    if self.indent + narrowest > most + GAP && self.columns[at].rank > 0 =>
                {
                    widths[at] = None;
                }
                _ => break,
            }
        }
        let all: usize = widths.iter().flatten().map(|width| width + GAP).sum();
        // The longest texts give their room first.
        for _ in most + GAP..self.indent + all {
            let texts = widths.iter_mut().enumerate();
            let longest = texts
                .filter_map(|(at, width)| width.as_mut().filter(|width| **width > least(at)))
                .max();
            let Some(width) = longest else { break };
            *width -= 1;
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |name: &str, text: &str, tokens: &str, cost: &str| {
            [name, text, tokens, cost].map(str::to_owned).to_vec()
        };
        Table {
            columns: vec![
                Column::new("AGENT", Holds::Words, 0),
                Column::new("TITLE", Holds::Text(8), 0),
                Column::new("TOKENS", Holds::Numbers, 0),
                Column::new("COST", Holds::Numbers, 1),
            ],
            rows: vec![
                row(
                    "claude",
                    "Why does the 日本 import fail?",
                    "124.1k",
                    "$0.123",
                ),
                row("pi", "short", "7", "—"),
            ],
            indent: 0,
        }
    }

    fn lines(columns: Option<usize>) -> Vec<String> {
        let mut out = Vec::new();
        table().write(&mut Page::new(&mut out, columns)).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_pipe_gets_all_of_it() {
        assert_eq!(
            lines(None),
            [
                "AGENT   TITLE                           TOKENS    COST",
                "claude  Why does the 日本 import fail?  124.1k  $0.123",
                "pi      short                                7       —",
            ]
        );
    }

    #[test]
    fn texts_are_cut_before_columns_are_left_out() {
        assert_eq!(
            lines(Some(40)),
            [
                "AGENT   TITLE             TOKENS    COST",
                "claude  Why does the 日…  124.1k  $0.123",
                "pi      short                  7       —",
            ]
        );
        let narrow = ["AGENT   TITLE     TOKENS", "claude  Why doe…  124.1k"];
        assert_eq!(lines(Some(24))[..2], narrow.map(str::to_owned));
    }

    #[test]
    fn whatever_fits_is_whole() {
        for columns in 24..80 {
            for line in lines(Some(columns)) {
                assert!(width(&line) <= columns, "{columns}: {line}");
                let tokens = ["TOKENS", "124.1k", "     7"];
                assert!(tokens.iter().any(|it| line.contains(it)), "{line}");
            }
        }
    }
}
