//! Where tables are written to: standard output, a file, or a folder with a file for each table or each part of one.
//! Files are moved to their place when all of them are complete.

use super::cell::Cell;
use super::sheet::{Sheet, Target};
use super::tables::Table;
use super::{Export, Format};
use crate::to_file::{at, cannot_write};
use anyhow::{Error, Result, bail};
use files::output::{Around, Existing, NewFile, NewFolder, is_same};
use ingest::log::LogFile;
use jiff::Timestamp;
use jiff::tz::Offset;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use strum::{EnumIter, EnumMessage, IntoStaticStr};

/// The most files that are open at once.
const MOST_OPEN: usize = 48;
/// The most rows that open files hold together.
const MOST_HELD: usize = 8_192;

/// Where tables are written to.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// Standard output: one table.
    Out,
    /// A file, if there is one table and it is not divided; else a folder.
    Path {
        /// Its path.
        path: &'a Path,
        /// Whether what is there is replaced.
        existing: Existing,
        /// What the files of a table are divided by, from the outermost folder on; empty: each table is one file.
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

/// What the files of a table are divided by.
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
    kept: Kept<'a>,
    /// The folder around it. It goes after what is kept.
    _around: Option<Around>,
    /// By table and folder.
    open: BTreeMap<(Table, PathBuf), Open<'a>>,
    /// How many files each folder of a table has so far.
    files: BTreeMap<(Table, PathBuf), usize>,
    /// How many rows were written.
    turn: u64,
}

/// What the sheets are kept in until all are complete.
enum Kept<'a> {
    /// Standard output, until its sheet is begun.
    Out(Option<&'a mut dyn Write>),
    /// A file.
    File(NewFile, &'a Path),
    /// Files of a folder, which exists.
    Files(BTreeMap<Table, (NewFile, PathBuf)>),
    /// Folders of a folder, which exists.
    Folders(BTreeMap<Table, (NewFolder, PathBuf)>),
}

/// A sheet that is being written.
struct Open<'a> {
    sheet: Box<dyn Sheet + 'a>,
    /// When it got its last row.
    used: u64,
}

impl<'a> Sheets<'a> {
    /// Begins what is to be exported.
    pub(super) fn begin(export: &Export<'a>, out: &'a mut dyn Write) -> Result<Sheets<'a>> {
        let (kept, around, parts): (Kept<'a>, _, &'a [Part]) = match export.place {
            Place::Out if export.tables.len() > 1 => {
                bail!("several tables need a folder: `-o FOLDER`")
            }
            Place::Out => (Kept::Out(Some(out)), None, &[]),
            Place::Path {
                path,
                existing,
                parts,
            } => {
                let (kept, around) = Kept::begin(export, path, existing, parts)?;
                (kept, around, parts)
            }
        };
        let mut sheets = Sheets {
            format: export.format,
            parts,
            kept,
            _around: around,
            open: BTreeMap::new(),
            files: BTreeMap::new(),
            turn: 0,
        };
        if parts.is_empty() {
            // A table without rows has its columns.
            for table in export.tables {
                sheets.open((*table, PathBuf::new()))?;
            }
        }
        Ok(sheets)
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
            let path = self.kept.path(table);
            open.sheet.row(cells).map_err(|why| of_file(why, path))?;
        }
        self.bound()
    }

    /// Begins the next file of a table in a folder.
    fn open(&mut self, key: (Table, PathBuf)) -> Result<()> {
        if self.open.len() >= MOST_OPEN
            && let Some(oldest) = self.open.iter().min_by_key(|(_, open)| open.used)
        {
            let oldest = oldest.0.clone();
            if let Some(open) = self.open.remove(&oldest) {
                open.sheet.finish()?;
            }
        }
        let nth = self.files.entry(key.clone()).or_default();
        let name = key.1.join(format!("{nth}.{}", self.format.name()));
        *nth += 1;
        let target = self.kept.target(key.0, &name)?;
        let sheet = self.format.begin(key.0, target)?;
        let open = Open {
            sheet,
            used: self.turn,
        };
        self.open.insert(key, open);
        Ok(())
    }

    /// Writes rows that are held, if there are too many.
    fn bound(&mut self) -> Result<()> {
        // Only some rows are a reason to look.
        if !self.turn.is_multiple_of(256) {
            return Ok(());
        }
        let held: usize = self.open.values().map(|open| open.sheet.held()).sum();
        let most = self.open.values_mut().max_by_key(|open| open.sheet.held());
        match most.filter(|_| held > MOST_HELD) {
            Some(open) => open.sheet.flush(),
            None => Ok(()),
        }
    }

    /// Ends all sheets, and moves files and folders to their places.
    pub(super) fn finish(mut self) -> Result<()> {
        for ((table, _), open) in std::mem::take(&mut self.open) {
            let path = self.kept.path(table);
            open.sheet.finish().map_err(|why| of_file(why, path))?;
        }
        self.kept.finish()
    }
}

impl<'a> Kept<'a> {
    fn begin(
        export: &Export<'_>,
        path: &'a Path,
        existing: Existing,
        parts: &[Part],
    ) -> Result<(Kept<'a>, Option<Around>)> {
        let end = export.format.name();
        if let ([_], []) = (export.tables, parts) {
            let file = at(NewFile::create(path, existing), path)?;
            return Ok((Kept::File(file, path), None));
        }
        let around = at(Around::make(path), path)?;
        let tables = export.tables.iter().copied();
        if parts.is_empty() {
            let mut files = BTreeMap::new();
            for table in tables {
                let path = path.join(format!("{}.{end}", table.name()));
                let file = at(NewFile::create(&path, existing), &path)?;
                files.insert(table, (file, path));
            }
            return Ok((Kept::Files(files), Some(around)));
        }
        let mut folders = BTreeMap::new();
        for table in tables {
            let path = path.join(table.name());
            let folder = at(NewFolder::create(&path, existing, is_part), &path)?;
            folders.insert(table, (folder, path));
        }
        Ok((Kept::Folders(folders), Some(around)))
    }

    /// What a file of a table is written to.
    fn target(&mut self, table: Table, name: &Path) -> Result<Target<'a>> {
        match self {
            Kept::Out(out) => match out.take() {
                Some(out) => Ok(Target::Out(out)),
                None => bail!("standard output has one table"),
            },
            Kept::File(file, path) => Ok(Target::File(at(file.file(), path)?)),
            Kept::Files(files) => match files.get(&table) {
                Some((file, path)) => Ok(Target::File(at(file.file(), path)?)),
                None => bail!("no file for {}", table.name()),
            },
            Kept::Folders(folders) => match folders.get(&table) {
                Some((folder, path)) => Ok(Target::File(at(folder.file(name), path)?)),
                None => bail!("no folder for {}", table.name()),
            },
        }
    }

    /// Where a table is put; `None`: standard output.
    fn path(&self, table: Table) -> Option<&Path> {
        match self {
            Kept::Out(_) => None,
            Kept::File(_, path) => Some(path),
            Kept::Files(files) => files.get(&table).map(|(_, path)| path.as_path()),
            Kept::Folders(folders) => folders.get(&table).map(|(_, path)| path.as_path()),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Kept::Out(_) => {}
            Kept::File(file, path) => at(file.finish(), path)?,
            Kept::Files(files) => {
                for (file, path) in files.into_values() {
                    at(file.finish(), &path)?;
                }
            }
            Kept::Folders(folders) => {
                for (folder, path) in folders.into_values() {
                    at(folder.finish(), &path)?;
                }
            }
        }
        Ok(())
    }
}

/// Why a file cannot be written, with its path.
fn of_file(why: Error, path: Option<&Path>) -> Error {
    match path {
        Some(path) => why.context(cannot_write(path)),
        None => why,
    }
}

/// Whether a file of this name is a part of a table.
fn is_part(name: &str) -> bool {
    let end = |end: &str| Format::ALL.iter().any(|format| format.name() == end);
    let is_nth = |nth: &str| !nth.is_empty() && nth.chars().all(|c| c.is_ascii_digit());
    name.split_once('.')
        .is_some_and(|(nth, rest)| is_nth(nth) && end(rest))
}
