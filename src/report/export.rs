//! Flat tables of sessions, requests, items and compactions, for DuckDB, Polars, spreadsheets and the like.
//!
//! A table is a list of [`Column`]s and a function that gives the cells of its rows; a format writes the rows of any table.
//! Logs are read one after the other, so memory does not grow with their number.

mod cell;
mod csv;
mod ndjson;
mod once;
mod place;
pub mod schema;
mod tables;

use cell::Cell;
pub use cell::{Column, Kind};
pub use place::{Part, Place};
pub use tables::Table;

use crate::ls::{PriceList, Responses, projects};
use crate::output::redact::Reader;
use crate::reading::sessions_builder::SessionsBuilder;
use crate::{NO_SESSIONS, ReportContext, print_problems};
use anyhow::{Result, bail};
use ingest::log::LogFile;
use ingest::log::conversations::LogSessions;
use ingest::log::reader::read_once;
use jiff::Timestamp;
use model::cost::texts::{TextReader, Texts};
use model::event::ByLength;
use model::values::project::Projects;
use once::Once;
use place::Sheets;
use std::io::Write;
use std::path::PathBuf;
use strum::{EnumString, IntoStaticStr, VariantArray};
use tables::{LogRows, SessionRows};
use tokens::Counter;

/// The number of logs that are read ahead of the one that is written.
const AHEAD: usize = 2;

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    /// A JSON object a line.
    Ndjson,
    /// Comma-separated values with a line of headings.
    Csv,
}

impl Format {
    /// All formats.
    pub const ALL: &'static [Format] = Format::VARIANTS;

    /// Returns its name, which is the extension of its files too.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns what comes before the rows of a table.
    fn headings(self, table: Table) -> String {
        match self {
            Format::Ndjson => String::new(),
            Format::Csv => csv::headings(table),
        }
    }

    /// Appends a row of a table.
    fn row(self, table: Table, cells: &[Cell<'_>], line: &mut Vec<u8>) -> Result<()> {
        match self {
            Format::Ndjson => ndjson::row(table, cells, line),
            Format::Csv => csv::row(cells, line),
        }
    }
}

/// The method by which sizes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// Texts are counted, as in all reports.
    Counted,
    /// They are estimated from the lengths of texts.
    ByLength,
}

/// The options of an export.
pub struct Export<'a> {
    /// The tables.
    pub tables: &'a [Table],
    /// The format.
    pub format: Format,
    /// The place that the tables are written to.
    pub place: Place<'a>,
    /// The method by which sizes are measured.
    pub sizes: Sizes,
    /// Only logs that were written to since then.
    pub since: Option<Timestamp>,
}

/// Exports tables. Prints on `err` the logs that could not be read and, at the end, the numbers of rows and logs.
///
/// # Errors
///
/// If there is no log, a path that the user named cannot be read, or the output cannot be written.
pub fn run(
    context: &ReportContext,
    export: &Export<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let found = context.find_since(export.since);
    let (mut logs, mut problems) = (found.files, found.problems);
    logs.sort_unstable_by(|a, b| {
        let key = |log: &LogFile| (log.format.id, log.facts.path.clone(), log.facts.id.clone());
        key(a).cmp(&key(b))
    });
    if logs.is_empty() && problems.is_empty() && export.since.is_none() {
        bail!(NO_SESSIONS);
    }
    export.place.check_is_no_log(&logs)?;
    // First: a signal that comes before a log is read says of how many, too.
    let reading = context.progress.begin(&logs);
    let mut sheets = Sheets::begin(export, out)?;
    let (logs, rows) = write(context, export, &logs, &mut sheets, &mut problems)?;
    sheets.finish()?;
    drop(reading);
    print_problems(&problems, err)?;
    let rows = export.tables.iter().zip(rows);
    let rows = rows.map(|(table, rows)| format!("{rows} rows of {}", table.schema()));
    let rows: Vec<String> = rows.collect();
    // Where nobody takes it for a part of the output.
    writeln!(err, "{} of {logs} logs", rows.join(", "))?;
    if let Some(left_out) = context.left_out() {
        writeln!(err, "{left_out}")?;
    }
    context.check(&problems)
}

/// Writes the rows. Returns the number of logs that were read, and of the rows of each table.
fn write(
    context: &ReportContext,
    export: &Export<'_>,
    logs: &[LogFile],
    sheets: &mut Sheets<'_>,
    problems: &mut Vec<(PathBuf, String)>,
) -> Result<(usize, Vec<u64>)> {
    let reader = match export.sizes {
        Sizes::Counted => Reader::new(context, Counter::new()),
        Sizes::ByLength => Reader::new(context, ByLength),
    };
    let once = if export.tables.contains(&Table::Requests) {
        Once::read(context, logs)?
    } else {
        Once::default()
    };
    // They are called by what tells them apart, so all of them are found first.
    let projects = if export.tables.contains(&Table::Sessions) {
        projects(context, logs)
    } else {
        Projects::default()
    };
    let needs_responses = export.tables.iter().any(|table| table.needs_responses());
    let read = |log: &LogFile| {
        let read = || {
            // First: what is written to the log meanwhile is then in none of its sums.
            let responses = if needs_responses {
                Responses::read(log)?
            } else {
                Responses::default()
            };
            let (sessions, texts): (LogSessions, Option<Texts>) =
                if export.tables.contains(&Table::Items) {
                    let text_reader = TextReader::new(&reader);
                    let sessions = read_once(log, &text_reader, &context.rules)?;
                    let mut texts = text_reader.into_texts();
                    if reader.redactor.is_some() {
                        texts.clear_names();
                    }
                    (sessions, Some(texts))
                } else {
                    (read_once(log, &reader, &context.rules)?, None)
                };
            Ok((sessions, responses, texts))
        };
        context.patience.read(log, read)
    };
    let mut whole = SessionsBuilder::new(context);
    let mut prices = PriceList::new(&context.rules);
    let mut rows = vec![0_u64; export.tables.len()];
    let mut logs_read = 0;
    context.read_each(logs, AHEAD, problems, read, |log, read| {
        let (sessions, responses, texts) = read;
        logs_read += 1;
        let all = whole.sessions(log, sessions);
        let content = (&responses, texts.as_ref());
        let of_log = LogRows::new(log, (&all, &projects), content, &once, &mut prices);
        let keys = all.of_file(log.facts.file);
        for (key, session) in keys.filter_map(|key| Some((key, all.get(key)?))) {
            let of = SessionRows::new(&of_log, key, session);
            for (table, rows) in export.tables.iter().zip(&mut rows) {
                table.rows(&of, &mut |at, cells| {
                    *rows += 1;
                    sheets.row(*table, log.format.id, at, cells)
                })?;
            }
        }
        Ok(())
    })?;
    Ok((logs_read, rows))
}
