//! Times as programs of all kinds write them.

use super::date::parse;
use super::lenient::{Field, FieldPlace, Raw};
use jiff::Timestamp;

/// A time: a date, or seconds, milliseconds or microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Time(pub Timestamp);

impl Field<'_> for Time {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<Self> {
        time(value).map(Time)
    }
}

fn time(raw: Raw<'_>) -> Option<Timestamp> {
    if let Some(text) = json::string(raw.get()) {
        return time_or_civil(&text);
    }
    let number: f64 = raw.get().parse().ok()?;
    let seconds = [1.0, 1e3, 1e6]
        .into_iter()
        .map(|unit| number / unit)
        .find(|seconds| (1e8..1e11).contains(seconds))?;
    Timestamp::from_microsecond((seconds * 1e6) as i64).ok()
}

/// Returns a time; in UTC where it has no zone.
pub fn time_or_civil(text: &str) -> Option<Timestamp> {
    parse(text).or_else(|| civil(text))
}

/// Returns a time without a zone. Python writes times without a zone; they are taken for UTC.
fn civil(text: &str) -> Option<Timestamp> {
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let utc = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(utc.timestamp())
}

/// Returns the time at which a line was written, by the words that a log handler put before its JSON: Python's begin
/// with `2026-10-01 09:00:00,250`.
pub fn time_before(words: &str) -> Option<Timestamp> {
    let words = words.trim_start_matches(['[', ' ']);
    let first = words.split([' ', ']']).next().unwrap_or(words);
    if let Ok(with_zone) = first.parse() {
        return Some(with_zone);
    }
    let end = words.find(|c: char| !(c.is_ascii_digit() || "-:., T".contains(c)));
    let stamp = words[..end.unwrap_or(words.len())].trim_matches(|c: char| !c.is_ascii_digit());
    civil(&stamp.replace(',', "."))
}
