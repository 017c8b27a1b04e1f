//! Tables as lines of JSON: an object with all columns, in their order.

use super::cell::{Cell, time};
use super::tables::Table;
use crate::output::json::write_string;
use anyhow::Result;
use std::io::Write;

/// Appends a row.
pub(super) fn row(table: Table, cells: &[Cell<'_>], line: &mut Vec<u8>) -> Result<()> {
    let mut sign = '{';
    for (column, cell) in table.columns().iter().zip(cells) {
        write!(line, "{sign}\"{}\":", column.name)?;
        sign = ',';
        match cell {
            Cell::Text(text) => write_string(line, text)?,
            Cell::Int(number) => write!(line, "{number}")?,
            Cell::Float(number) => serde_json::to_writer(&mut *line, number)?,
            Cell::Bool(is_so) => write!(line, "{is_so}")?,
            Cell::Time(at) => write!(line, "\"{}\"", time(*at))?,
            Cell::Empty => line.extend(b"null"),
        }
    }
    line.extend(b"}\n");
    Ok(())
}
