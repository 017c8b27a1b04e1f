//! Something that rows of a table are written to.

use super::cell::Cell;
use anyhow::Result;

/// A sheet: one table in one format.
pub(super) trait Sheet {
    /// Writes a row.
    ///
    /// # Errors
    ///
    /// If the output cannot be written to.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()>;

    /// Ends the sheet, with all that belongs to it written.
    ///
    /// # Errors
    ///
    /// As [`Sheet::row`].
    fn finish(self: Box<Self>) -> Result<()>;
}
