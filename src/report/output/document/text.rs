//! A report as text: without drawings and remarks, for the person who asked for it.

use super::{Block, Document, Line, Row, Section, Table};
use crate::output::text::page::Page;
use crate::output::text::table;
use render::text::width;
use std::io;

pub(crate) fn write(document: &Document, page: &mut Page<'_>) -> io::Result<()> {
    let mut is_first = document.title.is_empty();
    if !is_first {
        writeln!(page, "{}", document.title.plain())?;
    }
    for part in &document.sections {
        if !part.heading.is_empty() {
            let gap = if is_first { "" } else { "\n" };
            writeln!(page, "{gap}{}", part.heading.plain())?;
        }
        section(part, page)?;
        is_first = false;
    }
    Ok(())
}

/// Writes the blocks of a section. Tables and facts are divided from what follows.
fn section(section: &Section, page: &mut Page<'_>) -> io::Result<()> {
    let mut gap = "";
    for block in &section.blocks {
        match block {
            Block::Headline(text) | Block::Sentence(text) => {
                writeln!(page, "{gap}{}", text.plain())?;
                gap = "";
                continue;
            }
            Block::Facts(facts) => {
                write!(page, "{gap}")?;
                let columns = facts.iter().map(|(name, _)| width(name)).max();
                for (name, fact) in facts {
                    page.fact(name, columns.unwrap_or(0), &fact.plain())?;
                }
            }
            Block::Table(rows) => {
                write!(page, "{gap}")?;
                table(rows, page)?;
            }
            Block::Note(_) | Block::Gauge(_) | Block::Chart(_) => continue,
        }
        gap = "\n";
    }
    Ok(())
}

fn table(table: &Table, page: &mut Page<'_>) -> io::Result<()> {
    let cells = |row: &Row| row.cells.iter().map(Line::plain).collect();
    let table = table::Table {
        columns: table.columns.clone(),
        rows: table.rows.iter().map(cells).collect(),
        indent: 2,
    };
    table.write(page)
}
