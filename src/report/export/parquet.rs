//! Tables as Apache Parquet: a column of one type each, compressed with snappy.

use super::cell::{Cell, Column, Kind};
use super::sheet::Sheet;
use super::tables::Table;
use anyhow::{Context, Result};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

/// The most rows of a group. They are held until the group is written.
const GROUP_ROWS: usize = 8_192;

/// A sheet of groups of rows.
pub(super) struct Groups {
    writer: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<Box<dyn Values>>,
    rows: usize,
}

/// The cells of a column in a group.
trait Values {
    /// Adds a cell; one of another type is empty.
    fn push(&mut self, cell: &Cell<'_>);

    fn write(&mut self, group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>) -> Result<()>;
}

/// The cells of a column that are not empty, and which these are.
struct Cells<D: DataType> {
    values: Vec<D::T>,
    /// 1: there is a value.
    levels: Vec<i16>,
    value: fn(&Cell<'_>) -> Option<D::T>,
}

impl Groups {
    pub(super) fn new(table: Table, file: File) -> Result<Groups> {
        let columns = table.columns();
        let fields: Result<Vec<_>> = columns.iter().map(field).collect();
        let schema = Type::group_type_builder("schema")
            .with_fields(fields?)
            .build()?;
        let about = KeyValue::new("ctxgauge.schema".to_owned(), table.schema());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![about]))
            .build();
        let out = BufWriter::new(file);
        Ok(Groups {
            writer: SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?,
            columns: columns.iter().map(|column| values(column.kind)).collect(),
            rows: 0,
        })
    }
}

fn field(column: &Column) -> Result<Arc<Type>> {
    let (physical, logical) = match column.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Int => (Physical::INT64, None),
        Kind::Float => (Physical::DOUBLE, None),
        Kind::Bool => (Physical::BOOLEAN, None),
        Kind::Time => (
            Physical::INT64,
            Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
        ),
    };
    let field = Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

impl Sheet for Groups {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for (values, cell) in self.columns.iter_mut().zip(cells) {
            values.push(cell);
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn held(&self) -> usize {
        self.rows
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let mut group = self.writer.next_row_group()?;
        for values in &mut self.columns {
            values.write(&mut group)?;
        }
        group.close()?;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        let out = self.writer.into_inner()?;
        out.into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        Ok(())
    }
}

fn values(kind: Kind) -> Box<dyn Values> {
    match kind {
        Kind::Text => cells::<ByteArrayType>(|cell| match cell {
            Cell::Text(text) => Some(text.as_bytes().to_vec().into()),
            _ => None,
        }),
        Kind::Int | Kind::Time => cells::<Int64Type>(|cell| match cell {
            Cell::Int(number) => Some(*number),
            Cell::Time(at) => Some(at.as_microsecond()),
            _ => None,
        }),
        Kind::Float => cells::<DoubleType>(|cell| match cell {
            Cell::Float(number) => Some(*number),
            _ => None,
        }),
        Kind::Bool => cells::<BoolType>(|cell| match cell {
            Cell::Bool(is_so) => Some(*is_so),
            _ => None,
        }),
    }
}

fn cells<D: DataType>(value: fn(&Cell<'_>) -> Option<D::T>) -> Box<dyn Values> {
    Box::new(Cells::<D> {
        values: Vec::new(),
        levels: Vec::new(),
        value,
    })
}

impl<D: DataType> Values for Cells<D> {
    fn push(&mut self, cell: &Cell<'_>) {
        let value = (self.value)(cell);
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn write(&mut self, group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>) -> Result<()> {
        let mut column = group.next_column()?.context("the file has fewer columns")?;
        column
            .typed::<D>()
            .write_batch(&self.values, Some(&self.levels), None)?;
        column.close()?;
        self.values.clear();
        self.levels.clear();
        Ok(())
    }
}
