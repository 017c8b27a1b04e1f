//! A table whose cells are wrapped to the columns that there are.

use textwrap::WordSplitter;
use textwrap::core::display_width;

/// The columns between two cells.
const GAP: usize = 2;
/// The fewest columns of a cell that is wrapped.
const NARROWEST: usize = 8;

/// Returns a table, whose first row is its heading, in lines of at most these columns, unless its words are longer. If the
/// columns of the table do not fit even when wrapped, each row is a list.
pub(super) fn rendered(
    rows: &[Vec<String>],
    columns: usize,
    heading: &dyn Fn(&str) -> String,
) -> String {
    let widths = widths(rows, columns);
    if total(&widths) > columns {
        return listed(rows, columns, heading);
    }
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths);
        let cells: Vec<_> = cells.map(|(cell, width)| wrapped(cell, *width)).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut text = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.get(line).map_or("", String::as_str);
                text += &match number {
                    0 if !part.is_empty() => heading(part),
                    _ => part.to_owned(),
                };
                text += &" ".repeat((width + GAP).saturating_sub(display_width(part)));
            }
            out += text.trim_end();
            out.push('\n');
        }
    }
    out
}

/// Returns the width of each column: that of its widest cell, but the widest columns shrink until all fit.
fn widths(rows: &[Vec<String>], columns: usize) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = display_width(cell).max(*width);
        }
    }
    while total(&widths) > columns {
        match widths.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => break,
        }
    }
    widths
}

/// Returns the rows below each other: the first cell, and the others with their headings.
fn listed(rows: &[Vec<String>], columns: usize, heading: &dyn Fn(&str) -> String) -> String {
    let mut lines = Vec::new();
    let headings = rows.first().into_iter().flatten();
    for row in rows.iter().skip(1) {
        for (column, (title, cell)) in headings.clone().zip(row).enumerate() {
            if column == 0 {
                lines.extend(wrapped(cell, columns).iter().map(|line| heading(line)));
            } else {
                let cell = wrapped(&format!("{title}: {cell}"), columns.saturating_sub(GAP));
                lines.extend(cell.iter().map(|line| " ".repeat(GAP) + line));
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
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
        let rows = [
            ["key", "what it does"],
            ["q", "ends the program, at once and quietly"],
        ];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let shown = rendered(&rows, 25, &|text| text.to_uppercase());
        let expected = "KEY  WHAT IT DOES\nq    ends the program, at\n     once and quietly\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_rows_of_a_table_with_too_many_columns_are_listed() {
        let rows = [
            ["agent", "updated", "compactions"],
            ["pi", "each line", "in the log"],
        ];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let shown = rendered(&rows, 24, &str::to_uppercase);
        assert_eq!(
            shown,
            "PI\n  updated: each line\n  compactions: in the\n  log\n"
        );
    }
}
