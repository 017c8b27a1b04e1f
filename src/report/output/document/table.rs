//! Tables of a report.

use super::Line;
use crate::output::text::table::{Column, Holds};
use model::Role;

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

/// The fewest columns of a text of the log on a narrow terminal.
const LEAST_TEXT: usize = 12;

impl Table {
    /// Creates a table with columns by their headings, divided by bars. Those of numbers have a `#` before them. On a
    /// narrow terminal texts of the log are cut, and columns with a number after a colon are left out, the one with the
    /// highest number first.
    pub(crate) fn new(headings: &'static str, rows: impl IntoIterator<Item = Row>) -> Table {
        let rows: Vec<Row> = rows.into_iter().collect();
        let column = |(at, heading): (usize, &'static str)| {
            let (heading, rank) = heading.split_once(':').unwrap_or((heading, "0"));
            let rank = rank.parse().unwrap_or(0);
            let mut cells = rows.iter().filter_map(|row| row.cells.get(at));
            match heading.strip_prefix('#') {
                Some(heading) => Column::new(heading, Holds::Numbers, rank),
                None if cells.any(Line::is_of_log) => {
                    Column::new(heading, Holds::Text(LEAST_TEXT), rank)
                }
                None => Column::new(heading, Holds::Words, rank),
            }
        };
        let columns = headings.split(" | ").enumerate().map(column);
        Table {
            columns: columns.collect(),
            rows,
        }
    }
}

/// A row of it.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Its cells, one for each column.
    pub(crate) cells: Vec<Line>,
    /// The role that it is about.
    pub(crate) role: Option<Role>,
    /// A share that is drawn, 0 to 1.
    pub(crate) share: Option<f64>,
}

impl<const N: usize> From<[Line; N]> for Row {
    fn from(cells: [Line; N]) -> Row {
        Row {
            cells: cells.into(),
            ..Row::default()
        }
    }
}
