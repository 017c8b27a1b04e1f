//! Tables as lines of JSON: an object with all columns, in their order.

use super::cell::{Cell, time};
use super::sheet::Sheet;
use super::tables::Table;
use crate::output::json::write_string;
use anyhow::Result;
use std::io::Write;

/// A sheet of such lines.
pub(super) struct Lines<'a> {
    table: Table,
    out: Box<dyn Write + 'a>,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(table: Table, out: Box<dyn Write + 'a>) -> Lines<'a> {
        Lines {
            table,
            out,
            line: Vec::new(),
        }
    }
}

impl Sheet for Lines<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        self.line.clear();
        let mut sign = '{';
        for (column, cell) in self.table.columns().iter().zip(cells) {
            write!(self.line, "{sign}\"{}\":", column.name)?;
            sign = ',';
            match cell {
                Cell::Text(text) => write_string(&mut self.line, text)?,
                Cell::Int(number) => write!(self.line, "{number}")?,
                Cell::Float(number) => serde_json::to_writer(&mut self.line, number)?,
                Cell::Bool(is_so) => write!(self.line, "{is_so}")?,
                Cell::Time(at) => write!(self.line, "\"{}\"", time(*at))?,
                Cell::Empty => self.line.extend(b"null"),
            }
        }
        self.line.extend(b"}\n");
        Ok(self.out.write_all(&self.line)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}
