//! Writes tables to their place: standard output, a file, or a folder with a file for each table or each part of one.
//! Files are moved to their place when all of them are complete.

use super::cell::Cell;
use super::tables::Table;
use super::{Export, Format};
use crate::output::to_file::{NamedFile, at};
use anyhow::{Result, bail};
use files::output::{Existing, NewFile, NewFolder, ParentFolder, is_same};
use ingest::log::LogFile;
use jiff::Timestamp;
use jiff::tz::Offset;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use strum::{EnumIter, EnumMessage, IntoStaticStr};

/// The most files that are open at once.
const MOST_OPEN: usize = 48;

/// The place that tables are written to.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// Standard output: one table.
    Out,
    /// A file, if there is one table and it is not divided; else a folder.
    Path {
        /// Its path.
        path: &'a Path,
        /// The treatment of a file or folder that exists already.
        existing: Existing,
        /// The parts by which the files of a table are divided, from the outermost folder on; empty: each table is one
        /// file.
        parts: &'a [Part],
    },
}

impl Place<'_> {
    /// Fails if it is one of the logs, which are never written to.
    pub(super) fn check_is_no_log(&self, logs: &[LogFile]) -> Result<()> {
        let Place::Path { path, .. } = *self else {
            return Ok(());
        };
        let mut logs = logs.iter().map(|log| &**log.facts.path);
        if logs.any(|log| log.file_name() == path.file_name() && is_same(log, path)) {
            bail!("'{}' is a log, which is never written to", path.display());
        }
        Ok(())
    }
}

/// A property of rows by which the files of a table are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, EnumMessage, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Part {
    /// The agent.
    Agent,
    /// The day of a row.
    Date,
}

/// The name of a part that is not known, as Hive has it.
const NO_PART: &str = "__HIVE_DEFAULT_PARTITION__";

/// The sheets that are being written.
pub(super) struct Sheets<'a> {
    format: Format,
    parts: &'a [Part],
    /// Standard output, until its sheet is begun.
    out: Option<&'a mut dyn Write>,
    /// The file or folder of each table, with its path; empty: standard output has the table.
    kept: BTreeMap<Table, (NewOutput, PathBuf)>,
    /// The folder around it. It goes after what is kept.
    _around: Option<ParentFolder>,
    /// By table and folder.
    open: BTreeMap<(Table, PathBuf), OpenSheet<'a>>,
    /// The number of files that each folder of a table has so far.
    files: BTreeMap<(Table, PathBuf), usize>,
    /// The number of rows that were written.
    turn: u64,
    /// The row that is written.
    line: Vec<u8>,
}

/// The new file or folder of a table. It is moved to its place when all tables are complete.
enum NewOutput {
    /// A file.
    File(NewFile),
    /// A folder of files.
    Folder(NewFolder),
}

/// A sheet that is being written.
struct OpenSheet<'a> {
    out: Box<dyn Write + 'a>,
    /// The number of rows that were written when it got its last row.
    used: u64,
}

impl<'a> Sheets<'a> {
    /// Begins what is to be exported.
    pub(super) fn begin(export: &Export<'a>, out: &'a mut dyn Write) -> Result<Sheets<'a>> {
        let mut sheets = Sheets {
            format: export.format,
            parts: &[],
            out: Some(out),
            kept: BTreeMap::new(),
            _around: None,
            open: BTreeMap::new(),
            files: BTreeMap::new(),
            turn: 0,
            line: Vec::new(),
        };
        match export.place {
            Place::Out if export.tables.len() > 1 => {
                bail!("several tables need a folder: `-o FOLDER`")
            }
            Place::Out => {}
            Place::Path {
                path,
                existing,
                parts,
            } => {
                sheets.parts = parts;
                sheets.create(export, path, existing)?;
            }
        }
        if sheets.parts.is_empty() {
            // A table without rows has its columns.
            for table in export.tables {
                sheets.open((*table, PathBuf::new()))?;
            }
        }
        Ok(sheets)
    }

    /// Creates what the tables are kept in: a file, or a folder with a file or a folder for each.
    fn create(&mut self, export: &Export<'_>, path: &Path, existing: Existing) -> Result<()> {
        let is_file = export.tables.len() == 1 && self.parts.is_empty();
        if !is_file {
            self._around = Some(at(ParentFolder::make(path), path)?);
        }
        for table in export.tables {
            let (name, end) = (table.name(), export.format.name());
            let path = match self.parts {
                [] if is_file => path.to_path_buf(),
                [] => path.join(format!("{name}.{end}")),
                _ => path.join(name),
            };
            let kept = match self.parts {
                [] => NewFile::create(&path, existing).map(NewOutput::File),
                _ => NewFolder::create(&path, existing, is_part).map(NewOutput::Folder),
            };
            self.kept.insert(*table, (at(kept, &path)?, path));
        }
        Ok(())
    }

    /// Writes a row of a table: of this agent and time.
    pub(super) fn row(
        &mut self,
        table: Table,
        agent: &str,
        at: Option<Timestamp>,
        cells: &[Cell<'_>],
    ) -> Result<()> {
        let folder = self.parts.iter().map(|part| match part {
            Part::Agent => format!("agent={agent}"),
            Part::Date => {
                let date = at.map(|at| Offset::UTC.to_datetime(at).date().to_string());
                format!("date={}", date.as_deref().unwrap_or(NO_PART))
            }
        });
        let key = (table, folder.collect::<PathBuf>());
        self.turn += 1;
        let used = self.turn;
        if !self.open.contains_key(&key) {
            self.open(key.clone())?;
        }
        if let Some(open) = self.open.get_mut(&key) {
            open.used = used;
            self.line.clear();
            self.format.row(table, cells, &mut self.line)?;
            open.out.write_all(&self.line)?;
        }
        Ok(())
    }

    /// Begins the next file of a table in a folder.
    fn open(&mut self, key: (Table, PathBuf)) -> Result<()> {
        if self.open.len() >= MOST_OPEN
            && let Some(oldest) = self.open.iter().min_by_key(|(_, open)| open.used)
        {
            let oldest = oldest.0.clone();
            if let Some(mut open) = self.open.remove(&oldest) {
                open.out.flush()?;
            }
        }
        let nth = self.files.entry(key.clone()).or_default();
        let name = key.1.join(format!("{nth}.{}", self.format.name()));
        *nth += 1;
        let mut out = self.writer(key.0, &name)?;
        out.write_all(self.format.headings(key.0).as_bytes())?;
        let used = self.turn;
        self.open.insert(key, OpenSheet { out, used });
        Ok(())
    }

    /// Ends all sheets, and moves files and folders to their places.
    pub(super) fn finish(mut self) -> Result<()> {
        for mut open in std::mem::take(&mut self.open).into_values() {
            open.out.flush()?;
        }
        for (kept, path) in self.kept.into_values() {
            let done = match kept {
                NewOutput::File(file) => file.finish(),
                NewOutput::Folder(folder) => folder.finish(),
            };
            at(done, &path)?;
        }
        Ok(())
    }

    /// Returns a writer of a file of a table, or of standard output.
    fn writer(&mut self, table: Table, name: &Path) -> Result<Box<dyn Write + 'a>> {
        let (file, path) = match (self.kept.get(&table), self.out.take()) {
            (Some((NewOutput::File(file), path)), _) => (file.file(), path),
            (Some((NewOutput::Folder(folder), path)), _) => (folder.file(name), path),
            (None, Some(out)) => return Ok(Box::new(out)),
            (None, None) => bail!("standard output has one table"),
        };
        let file = NamedFile::new(at(file, path)?, path);
        Ok(Box::new(BufWriter::new(file)))
    }
}

/// Returns true if a file of this name is a part of a table.
fn is_part(name: &str) -> bool {
    let is_nth = |nth: &str| !nth.is_empty() && nth.chars().all(|c| c.is_ascii_digit());
    name.split_once('.')
        .is_some_and(|(nth, rest)| is_nth(nth) && rest.parse::<Format>().is_ok())
}
