//! The columns of tables, and the cells in them.

use jiff::Timestamp;
use std::borrow::Cow;

/// A column: one type, whatever is in it. Any cell can be empty.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name: snake case.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: Kind,
    /// What it is.
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
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    /// Text, which may be text of a log.
    Text(Option<Cow<'a, str>>),
    /// A number.
    Int(Option<i64>),
    /// A number.
    Float(Option<f64>),
    /// Whether something is so.
    Bool(Option<bool>),
    /// A moment.
    Time(Option<Timestamp>),
}

impl Kind {
    /// Its name in documents.
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

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Cell<'a> {
        Cell::Text(Some(Cow::Borrowed(text)))
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Cell<'a> {
        Cell::Text(text.map(Cow::Borrowed))
    }
}

impl<'a> From<Option<Cow<'a, str>>> for Cell<'a> {
    fn from(text: Option<Cow<'a, str>>) -> Cell<'a> {
        Cell::Text(text)
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Cell::Text(Some(Cow::Owned(text)))
    }
}

impl From<Option<u64>> for Cell<'_> {
    fn from(number: Option<u64>) -> Self {
        Cell::Int(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Some(number).into()
    }
}

impl From<Option<usize>> for Cell<'_> {
    fn from(number: Option<usize>) -> Self {
        number.map(|number| number as u64).into()
    }
}

impl From<usize> for Cell<'_> {
    fn from(number: usize) -> Self {
        Some(number).into()
    }
}

impl From<Option<f64>> for Cell<'_> {
    fn from(number: Option<f64>) -> Self {
        Cell::Float(number.filter(|number| number.is_finite()))
    }
}

impl From<bool> for Cell<'_> {
    fn from(is_so: bool) -> Self {
        Cell::Bool(Some(is_so))
    }
}

impl From<Option<Timestamp>> for Cell<'_> {
    fn from(at: Option<Timestamp>) -> Self {
        Cell::Time(at)
    }
}

/// A moment to the microsecond, of a fixed length: what sorts as text sorts by time.
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
        assert_eq!(Cell::from(u64::MAX), Cell::Int(Some(i64::MAX)));
        assert_eq!(Cell::from(Some(f64::NAN)), Cell::Float(None));
    }
}
