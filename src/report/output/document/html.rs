//! A report as one HTML page: without scripts, and without anything from elsewhere, which its policy forbids.
//!
//! maud escapes every text. Only the stylesheet, which is this program's own, is written as it is.

mod drawing;
pub(crate) mod sessions;

use super::{Block, Document, Line, MADE_BY, Piece, Row, Section, Table};
use crate::output::text::table::Holds;
use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use render::text::inert;
use std::io::Write;

/// The content security policy of the page: it loads nothing and uses only its own stylesheet.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");
/// A table with more columns is a list in a narrow window.
const MOST_COLUMNS: usize = 4;

pub(super) fn write(document: &Document, out: &mut dyn Write) -> Result<()> {
    let title = &document.title;
    let plain = title.plain();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(if title.is_empty() { "ctxgauge" } else { &plain }))
            body {
                @if !title.is_empty() { h1 { (line(title)) } }
                main {
                    @for part in &document.sections { (section(part)) }
                }
                footer { (MADE_BY) }
            }
        }
    };
    out.write_all(page.into_string().as_bytes())?;
    Ok(writeln!(out)?)
}

/// Returns the head of a page.
fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// Appends the reference of a character. The stylesheet is ASCII.
pub(super) fn ascii(c: char, out: &mut String) {
    use std::fmt::Write as _;
    let _ = write!(out, "&#{};", u32::from(c));
}

fn section(section: &Section) -> Markup {
    html! {
        section {
            @if !section.heading.is_empty() { h2 { (line(&section.heading)) } }
            @for part in &section.blocks { (block(part)) }
        }
    }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Headline(text) => html! { p.headline { (line(text)) } },
        Block::Sentence(text) => html! { p { (line(&text.capitalised())) } },
        Block::Note(text) => html! { p.note { (line(text)) } },
        Block::Facts(facts) => html! {
            dl.facts {
                @for (name, fact) in facts { div { dt { (name) } dd { (line(fact)) } } }
            }
        },
        Block::Gauge(gauge) => drawing::gauge(gauge),
        Block::Chart(chart) => drawing::chart(chart),
        Block::Table(rows) => table(rows),
    }
}

fn line(line: &Line) -> Markup {
    html! {
        @for piece in &line.0 {
            @match piece {
                Piece::Own(text) => { (inert(text)) }
                // A text that runs from right to left does not reorder what is beside it.
                Piece::Log(text) => { bdi { (inert(text)) } }
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let class = match table.columns.len() {
        0..=MOST_COLUMNS => "few",
        _ => "many",
    };
    html! {
        table class=(class) {
            thead { tr {
                @for column in &table.columns {
                    th scope="col" class=[class_of(column.holds)] { (column.heading) }
                }
            } }
            tbody {
                @for row in &table.rows { (table_row(table, row)) }
            }
        }
    }
}

fn table_row(table: &Table, row: &Row) -> Markup {
    let role = row.role.map(|role| role.name());
    html! {
        tr class=[role] {
            @for (ix, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
                td class=[class_of(column.holds)] data-name=(column.heading) {
                    @if ix == 0 && role.is_some() { i.swatch {} }
                    (line(cell))
                    @if let Some(share) = row.share.filter(|_| ix == 0) {
                        span.share { span style=(drawing::width(share)) {} }
                    }
                }
            }
        }
    }
}

fn class_of(holds: Holds) -> Option<&'static str> {
    matches!(holds, Holds::Numbers).then_some("number")
}
