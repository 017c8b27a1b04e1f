//! `ctxgauge export`.

use super::ended::PrintTime;
use super::exit::Exit;
use super::options::{
    ManySessions, MonitorOptions, Redact, file_end, file_of, one_of, unknown_end, with_help,
};
use super::since::SinceTime;
use super::{Call, Run};
use anyhow::{Result, bail};
use clap::Args;
use files::output::Existing;
use report::Charset;
use report::export::{self, Format, Part, Place, Sizes, Table, schema};
use std::path::PathBuf;
use strum::IntoEnumIterator;

/// `ctxgauge export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The table, or several separated by commas.
    #[arg(long, value_name = "TABLE", value_delimiter = ',', default_value = "sessions", value_parser = one_of(Table::ALL.iter().copied(), Table::name))]
    pub what: Vec<Table>,
    /// The format. Default: by the extension of FILE, else ndjson.
    #[arg(long, value_name = "FORMAT", value_parser = one_of(Format::ALL.iter().copied(), Format::name))]
    pub format: Option<Format>,
    /// Write to this file; with several tables or --partition, to this folder. Default, and `-`: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace existing files.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Divide each table into files by agent, date (UTC) or both, in folders such as items/agent=codex/date=2026-11-22.
    #[arg(long, value_name = "BY", value_delimiter = ',', requires = "output", value_parser = one_of(Part::iter(), with_help))]
    pub partition: Vec<Part>,
    /// Only logs that were written to since then, such as 2h, 7d or 2026-11-01.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<SinceTime>,
    /// Estimate the sizes of texts from their lengths instead of counting tokens: faster, with less memory, less exact.
    #[arg(long)]
    pub by_length: bool,
    /// Print the JSON schema of the table's rows, without reading logs.
    #[arg(long, conflicts_with_all = ["output", "format", "redact", "since"])]
    pub schema: bool,
    /// The texts to leave out.
    #[command(flatten)]
    pub redact: Redact,
    /// The sessions to read.
    #[command(flatten)]
    pub many: ManySessions,
}

impl Run for Export {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.many.logs.add(&mut before.logs);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let mut tables = self.what.clone();
        tables.sort_unstable();
        tables.dedup();
        if self.schema {
            for table in tables {
                writeln!(call.out, "{:#}", schema::json_schema(table))?;
            }
            return Ok(());
        }
        let format = self.format()?;
        let setup = call.setup()?;
        let mut context = setup.context_of_all(&self.many, self.redact)?;
        let file = file_of(self.output.as_deref());
        if file.is_none() && !self.partition.is_empty() {
            bail!(Exit::WrongUsage(
                "--partition needs a folder, and -o names standard output".to_owned()
            ));
        }
        let printed = match file {
            Some(_) => PrintTime::AtTheEnd,
            None => PrintTime::Meanwhile,
        };
        call.long_work(&mut context, printed, Charset::Unicode)?;
        let export = export::Export {
            tables: &tables,
            format,
            place: match file {
                None => Place::Out,
                Some(path) => Place::Path {
                    path,
                    existing: Existing::replaced_if(self.force),
                    parts: &self.partition,
                },
            },
            sizes: if self.by_length {
                Sizes::ByLength
            } else {
                Sizes::Counted
            },
            since: self.since.map(|since| since.moment(&context.clock())),
        };
        export::run(&context, &export, call.out, call.err)
    }
}

impl Export {
    fn format(&self) -> Result<Format> {
        let end = file_end(self.output.as_deref());
        let by_name: Option<Format> = end.and_then(|end| match end {
            "jsonl" => Some(Format::Ndjson),
            end => end.parse().ok(),
        });
        // Several tables are written to a folder, of any name.
        let is_file = self.what.len() == 1 && self.partition.is_empty();
        if let Some(end) = end.filter(|_| is_file && self.format.or(by_name).is_none()) {
            let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            bail!(unknown_end(end, &known));
        }
        Ok(self.format.or(by_name).unwrap_or(Format::Ndjson))
    }
}
