//! The largest items that match, over all logs: rows of a table for people, a document each for programs.

use super::json::Documents;
use super::text::name;
use super::{Hit, Writer};
use crate::Style;
use crate::output::text::page::Page;
use crate::output::text::table::{Column, Holds, Table};
use anyhow::Result;
use render::NONE;
use render::excerpt::one_line;
use render::item::{request, sign};
use render::number::tokens;
use render::text::{cut, tail};
use std::io::Write;

/// The columns of the end of an id, by which `--session` finds it: ids that contain a time begin alike.
const ID_END: usize = 12;
/// The most columns of a first line in a pipe.
const MOST_TEXT: usize = 200;

const COLUMNS: [Column; 8] = [
    Column::new("TOKENS", Holds::Numbers, 0),
    Column::new("", Holds::Words, 0),
    Column::new("ROLE", Holds::Words, 1),
    Column::new("ITEM", Holds::Text(20), 0),
    Column::new("SESSION", Holds::Text(12), 0),
    Column::new("ID", Holds::Words, 3),
    Column::new("WHEN", Holds::Numbers, 2),
    Column::new("TEXT", Holds::Text(16), 4),
];

/// Keeps the largest items until all logs were searched.
pub(super) struct Largest {
    style: Style,
    most: usize,
    /// The largest first; of equal ones the one that was found first.
    kept: Vec<(u64, Row)>,
}

/// An item as it is written.
enum Row {
    Cells(Vec<String>),
    Document(Vec<u8>),
}

impl Largest {
    pub(super) fn new(style: Style, most: usize) -> Largest {
        Largest {
            style,
            most,
            kept: Vec::new(),
        }
    }

    fn row(&self, hit: &Hit<'_>) -> Result<Row> {
        if !self.style.format.for_people {
            let mut document = Vec::new();
            Documents(self.style).hit(hit, &mut document)?;
            return Ok(Row::Document(document));
        }
        let first = hit.lines.lines.first();
        let first = first.map_or("", |line| &*line.text).trim();
        Ok(Row::Cells(vec![
            tokens(hit.tokens),
            sign(hit.source).to_owned(),
            hit.item.role.name().to_owned(),
            name(hit),
            one_line(&hit.sessions.name(hit.key)),
            one_line(tail(hit.session.meta.id.as_deref().unwrap_or(NONE), ID_END)),
            request(hit.item.entered),
            cut(&one_line(first), MOST_TEXT),
        ]))
    }
}

impl Writer for Largest {
    fn hit(&mut self, hit: &Hit<'_>, _: &mut dyn Write) -> Result<()> {
        let at = self.kept.partition_point(|(of, _)| *of >= hit.tokens);
        if at < self.most {
            self.kept.insert(at, (hit.tokens, self.row(hit)?));
            self.kept.truncate(self.most);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> Result<()> {
        let mut rows = Vec::new();
        for (_, row) in std::mem::take(&mut self.kept) {
            match row {
                Row::Cells(cells) => rows.push(cells),
                Row::Document(document) => out.write_all(&document)?,
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        Table::new(COLUMNS, rows).write(&mut Page::new(&mut text, self.style.columns))?;
        let text = String::from_utf8_lossy(&text);
        Ok(out.write_all(self.style.in_charset(&text).as_bytes())?)
    }
}
