//! Writes the differences for people.

use super::Diff;
use super::words::{Line, headline, items, tables, totals, who};
use crate::text::page::Page;
use crate::text::table::{Column, Holds, Table};
use render::text::inert;
use std::io;

pub(super) fn write(page: &mut Page<'_>, diff: &Diff) -> io::Result<()> {
    writeln!(page, "{}\n", inert(&headline(diff)))?;
    writeln!(page, "before: {}", inert(&who(&diff.before)))?;
    writeln!(page, "after:  {}\n", inert(&who(&diff.after)))?;
    table(page, "", totals(diff))?;
    for ([heading, _], lines) in tables(diff) {
        writeln!(page)?;
        table(page, heading, lines)?;
    }
    for (heading, lines, more) in items(diff) {
        writeln!(page)?;
        table(page, heading, lines)?;
        if more > 0 {
            writeln!(page, "and {more} more: --items N names more of them")?;
        }
    }
    if let Some(left_out) = diff.left_out {
        writeln!(page, "\n{left_out}")?;
    }
    Ok(())
}

fn table(page: &mut Page<'_>, heading: &'static str, lines: Vec<Line>) -> io::Result<()> {
    let rows = lines
        .into_iter()
        .map(|line| line.map(|cell| inert(&cell).into_owned()));
    let table = Table {
        columns: [
            Column::new(heading, Holds::Text(20), 0),
            Column::new("BEFORE", Holds::Numbers, 0),
            Column::new("AFTER", Holds::Numbers, 0),
            Column::new("CHANGE", Holds::Numbers, 0),
        ],
        rows: rows.collect(),
        indent: 0,
    };
    table.write(page)
}
