//! Fields whose values are kept as they are written, once they have the expected shape.

use jiff::Timestamp;
use kit::lenient::{At, Field, Raw, scan};

/// A JSON object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'a>(pub(super) Raw<'a>);

impl<'a> Field<'a> for Object<'a> {
    fn read(value: Raw<'a>, _: At<'_>) -> Option<Self> {
        value.get().starts_with('{').then_some(Object(value))
    }
}

/// A JSON object or list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nested<'a>(pub(super) Raw<'a>);

impl<'a> Field<'a> for Nested<'a> {
    fn read(value: Raw<'a>, _: At<'_>) -> Option<Self> {
        value.get().starts_with(['{', '[']).then_some(Nested(value))
    }
}

/// A time: a date, or seconds, milliseconds or microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time(pub(super) Timestamp);

impl Field<'_> for Time {
    fn read(value: Raw<'_>, _: At<'_>) -> Option<Self> {
        time(value).map(Time)
    }
}

fn time(raw: Raw<'_>) -> Option<Timestamp> {
    if let Some(text) = scan::string(raw.get()) {
        return text.parse().ok().or_else(|| civil(&text));
    }
    let number: f64 = raw.get().parse().ok()?;
    let seconds = [1.0, 1e3, 1e6]
        .into_iter()
        .map(|unit| number / unit)
        .find(|seconds| (1e8..1e11).contains(seconds))?;
    Timestamp::from_microsecond((seconds * 1e6) as i64).ok()
}

/// Python writes times without a zone; they are taken for UTC.
pub(super) fn civil(text: &str) -> Option<Timestamp> {
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let utc = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(utc.timestamp())
}
