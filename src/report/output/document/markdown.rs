//! A report as Markdown, for GitHub and the like. Text of a log is a code span, in which nothing has a meaning: no
//! markup, no HTML, no link and no mention.

use super::chart::{Chart, Gauge, Steps};
use super::{Block, Document, Line, MADE_BY, Piece, Table};
use crate::output::text::of_log;
use crate::output::text::table::Holds;
use anyhow::Result;
use render::ascii::Charset;
use render::number::tokens;
use render::text::inert;
use std::io::Write;

/// The columns of drawings.
const COLUMNS: usize = 64;
/// The rows of a chart.
const ROWS: usize = 8;
/// Eighths of a cell, filled from below.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The place of a line, and the characters that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinePlace {
    Text(Charset),
    /// A row of a table, whose cells end at a `|`, even in a code span.
    Row(Charset),
}

/// Writes a report. For [`Charset::Ascii`] only texts of a log are in ASCII then: what stands for their characters is part
/// of a code span.
pub(super) fn write(document: &Document, charset: Charset, out: &mut dyn Write) -> Result<()> {
    let within = LinePlace::Text(charset);
    let mut parts = Vec::new();
    if !document.title.is_empty() {
        parts.push(format!("# {}", line(&document.title, within)));
    }
    for section in &document.sections {
        if !section.heading.is_empty() {
            parts.push(format!("## {}", line(&section.heading, within)));
        }
        parts.extend(section.blocks.iter().map(|part| block(part, charset)));
    }
    parts.push(format!("---\n\n{}", words(MADE_BY)));
    Ok(writeln!(out, "{}", parts.join("\n\n"))?)
}

fn block(block: &Block, charset: Charset) -> String {
    let within = LinePlace::Text(charset);
    match block {
        Block::Headline(text) => format!("**{}**", line(text, within)),
        Block::Sentence(text) | Block::Note(text) => line(&text.capitalised(), within),
        Block::Facts(facts) => {
            let facts = facts.iter();
            let facts =
                facts.map(|(name, fact)| format!("- {}: {}", words(name), line(fact, within)));
            facts.collect::<Vec<_>>().join("\n")
        }
        Block::Gauge(drawn) => gauge(drawn),
        Block::Chart(drawn) => chart(drawn),
        Block::Table(rows) => table(rows, charset),
    }
}

fn table(table: &Table, charset: Charset) -> String {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let columns = table.columns.iter();
    let headings = columns.clone().map(|column| column.heading.to_owned());
    let rules = columns.map(|column| match column.holds {
        Holds::Numbers => "---:".to_owned(),
        Holds::Words | Holds::Text(_) => "---".to_owned(),
    });
    let rows = table.rows.iter().map(|cells| {
        let cells = cells.cells.iter();
        cells
            .map(|cell| line(cell, LinePlace::Row(charset)))
            .collect()
    });
    let all = [headings.collect(), rules.collect()]
        .into_iter()
        .chain(rows);
    all.map(row).collect::<Vec<_>>().join("\n")
}

fn line(line: &Line, within: LinePlace) -> String {
    let mut out = String::new();
    for piece in &line.0 {
        match piece {
            Piece::Own(text) => out.push_str(&words(text)),
            Piece::Log(text) => {
                // Two code spans without a space between them are one.
                if out.ends_with('`') {
                    out.push(' ');
                }
                out.push_str(&code(text, within));
            }
        }
    }
    out
}

/// Returns words of this program, without a meaning in Markdown.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in inert(text).chars() {
        if "\\`*_[]<>|~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns a code span. It begins and ends with more backticks than the text has in a row.
fn code(text: &str, within: LinePlace) -> String {
    let text = match within {
        LinePlace::Text(charset) => of_log(text, charset),
        LinePlace::Row(charset) => of_log(text, charset).replace('|', "¦").into(),
    };
    if text.trim().is_empty() {
        return String::new();
    }
    let most = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(most + 1);
    // A space that is next to both fences is not shown.
    let needs_space = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let space = if needs_space { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn gauge(gauge: &Gauge) -> String {
    let cells = |tokens: u64| (gauge.share(tokens) * COLUMNS as f64).round() as usize;
    let used = gauge.known.saturating_add(gauge.estimated);
    let trigger = gauge.trigger.map(|it| cells(it.here).min(COLUMNS - 1));
    let bar: String = (0..COLUMNS)
        .map(|at| match at {
            at if trigger == Some(at) => '│',
            at if at < cells(gauge.known) => '█',
            at if at < cells(used) => '▒',
            _ => '·',
        })
        .collect();
    let (known, window) = (tokens(gauge.known), tokens(gauge.window));
    let estimated = match gauge.estimated {
        0 => String::new(),
        more => format!("   ▒ estimated {}", tokens(more)),
    };
    let trigger = match gauge.trigger {
        Some(trigger) => format!("   │ trigger {}", tokens(trigger.size)),
        None => String::new(),
    };
    format!("```text\n{bar}\n█ known {known}{estimated}{trigger}   window {window}\n```")
}

fn chart(chart: &Chart) -> String {
    let columns = chart.columns(COLUMNS);
    let eighths = |size: u64| {
        let height = chart.height(size).unwrap_or(1.0);
        ((height * (ROWS * 8) as f64).round() as usize).max(usize::from(size > 0))
    };
    let row_of = |size: u64| {
        let height = chart.height(size)?;
        Some(((height * ROWS as f64) as usize).min(ROWS - 1))
    };
    let trigger = chart.trigger.and_then(|it| row_of(it.here));
    let mut lines = vec!["```text".to_owned()];
    for row in (0..ROWS).rev() {
        let cells: String = columns
            .iter()
            .map(|size| {
                let level = eighths(size[4]).saturating_sub(row * 8).min(8);
                match LEVELS[level] {
                    ' ' if trigger == Some(row) => '─',
                    level => level,
                }
            })
            .collect();
        let label = match chart.trigger {
            Some(it) if trigger == Some(row) => format!(" trigger {}", tokens(it.size)),
            _ => String::new(),
        };
        lines.push(format!("{cells}{label}").trim_end().to_owned());
    }
    let resets = columns_of_resets(chart, columns.len());
    if !resets.trim().is_empty() {
        lines.push(format!("{resets} compaction or clear"));
    }
    let (name, largest) = (chart.steps.name(), chart.all().max().unwrap_or(0));
    let known = match chart.steps {
        Steps::Requests => "known",
        Steps::Records => "estimated",
    };
    let largest = tokens(largest);
    lines.push(format!(
        "{name} 1 to {}, at most {largest} ({known})\n```",
        chart.last()
    ));
    lines.join("\n")
}

/// Returns a line with a mark below each column in which the context was reset.
fn columns_of_resets(chart: &Chart, columns: usize) -> String {
    let mut marks = vec![' '; columns];
    for reset in &chart.resets {
        if let Some(mark) = marks.get_mut(reset * columns / chart.len()) {
            *mark = '▴';
        }
    }
    marks.into_iter().collect()
}
