//! The columns of tables, and the cells in them.

use derive_more::From;
use jiff::Timestamp;
use std::borrow::Cow;

/// A column: one type, whatever is in it. Any cell can be empty.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name: snake case.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: Kind,
    /// The description of its values.
    pub about: &'static str,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// A 64-bit integer with a sign.
    Int,
    /// A 64-bit floating-point number.
    Float,
    /// True or false.
    Bool,
    /// Microseconds in UTC.
    Time,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, From)]
pub(super) enum Cell<'a> {
    /// Nothing is known.
    Empty,
    /// Text, which may be text of a log.
    #[from(&'a str, String, Cow<'a, str>)]
    Text(Cow<'a, str>),
    /// A number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A boolean.
    #[from]
    Bool(bool),
    /// A moment.
    #[from]
    Time(Timestamp),
}

impl Kind {
    /// Returns its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Int => "integer",
            Kind::Float => "number",
            Kind::Bool => "boolean",
            Kind::Time => "time",
        }
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Cell<'a> {
        value.map_or(Cell::Empty, Into::into)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Cell::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Cell<'_> {
    fn from(number: usize) -> Self {
        Cell::from(number as u64)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Cell::Float(number)
        } else {
            Cell::Empty
        }
    }
}

/// Returns a moment to the microsecond, in a fixed length: the order of the texts is the order of the times.
pub(super) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_microseconds_and_one_length() {
        for (at, text) in [
            ("2026-11-22T10:00:00Z", "2026-11-22T10:00:00.000000Z"),
            (
                "2026-11-22T10:00:00.123456789Z",
                "2026-11-22T10:00:00.123456Z",
            ),
        ] {
            assert_eq!(time(at.parse().unwrap()), text);
        }
    }

    #[test]
    fn what_no_number_can_hold_is_the_largest_or_empty() {
        assert_eq!(Cell::from(u64::MAX), Cell::Int(i64::MAX));
        assert_eq!(Cell::from(Some(f64::NAN)), Cell::Empty);
    }
}
