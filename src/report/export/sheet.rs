//! Something that rows of a table are written to.

use super::cell::Cell;
use anyhow::Result;
use std::fs::File;
use std::io::{BufWriter, Write};

/// A sheet: one table in one format.
pub(super) trait Sheet {
    /// Writes a row.
    ///
    /// # Errors
    ///
    /// If the output cannot be written to.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()>;

    /// Returns the number of rows that are held and not written yet.
    fn held(&self) -> usize {
        0
    }

    /// Writes the rows that are held.
    ///
    /// # Errors
    ///
    /// As [`Sheet::row`].
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends the sheet, with all that belongs to it written.
    ///
    /// # Errors
    ///
    /// As [`Sheet::row`].
    fn finish(self: Box<Self>) -> Result<()>;
}

/// The target of a sheet.
pub(super) enum Target<'a> {
    /// Standard output.
    Out(&'a mut dyn Write),
    /// A file.
    File(File),
}

impl<'a> Target<'a> {
    /// Writes through a buffer.
    pub(super) fn writer(self) -> Box<dyn Write + 'a> {
        match self {
            Target::Out(out) => Box::new(out),
            Target::File(file) => Box::new(BufWriter::new(file)),
        }
    }
}
