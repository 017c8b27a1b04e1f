//! A table whose cells are wrapped to the columns that there are.

use textwrap::WordSplitter;
use textwrap::core::display_width;

/// The columns between two cells.
const GAP: usize = 2;
/// The fewest columns of a cell that is wrapped.
const NARROWEST: usize = 8;

/// The rows of a table; the first is its heading.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the last row.
    pub(super) fn add(&mut self, cell: String) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Returns the table in lines of at most these columns, unless its words are longer. If the columns of the table do
    /// not fit even when wrapped, each row is a list.
    pub(super) fn rendered(&self, columns: usize, heading: &dyn Fn(&str) -> String) -> String {
        let widths = self.widths(columns);
        if total(&widths) > columns {
            return self.listed(columns, heading);
        }
        let mut out = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<String>> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| wrapped(cell, *width))
                .collect();
            let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..lines {
                let mut text = String::new();
                for (cell, width) in cells.iter().zip(&widths) {
                    let part = cell.get(line).map_or("", String::as_str);
                    let room = (width + GAP).saturating_sub(display_width(part));
                    let part = match number {
                        0 if !part.is_empty() => heading(part),
                        _ => part.to_owned(),
                    };
                    text.push_str(&part);
                    text.push_str(&" ".repeat(room));
                }
                out.push_str(text.trim_end());
                out.push('\n');
            }
        }
        out
    }

    /// Returns the width of each column: that of its widest cell, but the widest columns shrink until all fit.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| display_width(cell)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..count).map(widest).collect();
        while total(&widths) > columns {
            match widths.iter_mut().max() {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                _ => break,
            }
        }
        widths
    }

    /// Returns the rows below each other: the first cell, and the others with their headings.
    fn listed(&self, columns: usize, heading: &dyn Fn(&str) -> String) -> String {
        let Some((headings, rows)) = self.rows.split_first() else {
            return String::new();
        };
        let indent = " ".repeat(GAP);
        let mut out = String::new();
        for row in rows {
            let (name, cells) = row
                .split_first()
                .map_or(("", row.as_slice()), |(name, rest)| (name, rest));
            for line in wrapped(name, columns) {
                out.push_str(&heading(&line));
                out.push('\n');
            }
            for (title, cell) in headings.iter().skip(1).zip(cells) {
                for line in wrapped(&format!("{title}: {cell}"), columns.saturating_sub(GAP)) {
                    out.push_str(&indent);
                    out.push_str(&line);
                    out.push('\n');
                }
            }
        }
        out
    }
}

/// Returns the columns of a row with these widths.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn wrapped(cell: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width.max(1)).word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(cell, &options).into_iter();
    lines.map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_are_wrapped() {
        let mut table = Table::default();
        for row in [
            ["key", "what it does"],
            ["q", "ends the program, at once and quietly"],
        ] {
            table.begin_row();
            for cell in row {
                table.add(cell.to_owned());
            }
        }
        let shown = table.rendered(25, &|text| text.to_uppercase());
        let expected = "KEY  WHAT IT DOES\nq    ends the program, at\n     once and quietly\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_rows_of_a_table_with_too_many_columns_are_listed() {
        let mut table = Table::default();
        for row in [
            ["agent", "updated", "compactions"],
            ["pi", "each line", "in the log"],
        ] {
            table.begin_row();
            for cell in row {
                table.add(cell.to_owned());
            }
        }
        let shown = table.rendered(24, &str::to_uppercase);
        assert_eq!(
            shown,
            "PI\n  updated: each line\n  compactions: in the\n  log\n"
        );
    }
}
