//! A moment on the command line: a time ago, or a date.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use render::clock::Clock;
use std::str::FromStr;

/// Since when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SinceTime {
    /// For this long.
    Ago(SignedDuration),
    /// Since this moment.
    At(Timestamp),
    /// Since this time of the user's clock.
    Local(DateTime),
}

impl SinceTime {
    /// Returns the moment, on this clock.
    pub fn moment(self, clock: &Clock) -> Timestamp {
        match self {
            SinceTime::Ago(ago) => clock.now.checked_sub(ago).unwrap_or(Timestamp::MIN),
            SinceTime::At(at) => at,
            SinceTime::Local(time) => clock.zone.to_timestamp(time).unwrap_or(Timestamp::MIN),
        }
    }
}

impl FromStr for SinceTime {
    type Err = &'static str;

    /// Reads `90m`, `2h`, `7d`, `2w`; `2026-11-01` and `2026-11-01T12:00` on the user's clock,
    /// `2026-11-01T12:00:00+01:00`.
    fn from_str(text: &str) -> Result<SinceTime, &'static str> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(SinceTime::At(at));
        }
        if let Ok(time) = text.parse() {
            return Ok(SinceTime::Local(time));
        }
        let is_long = |span: &Span| !span.is_negative() && !span.is_zero();
        let ago = text.parse::<Span>().ok().filter(is_long).and_then(|span| {
            let days = SpanRelativeTo::days_are_24_hours();
            span.to_duration(days).ok()
        });
        ago.map(SinceTime::Ago)
            .ok_or("neither a time ago, such as 2h or 7d, nor a date, such as 2026-11-01")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    #[test]
    fn times_ago_and_dates_are_moments() {
        let mut clock = Clock {
            now: "2026-11-20T12:00:00Z".parse().unwrap(),
            zone: TimeZone::posix("CET-1").unwrap(),
        };
        for (text, moment) in [
            ("90m", "2026-11-20T10:30:00Z"),
            ("2h", "2026-11-20T10:00:00Z"),
            ("7d", "2026-11-13T12:00:00Z"),
            ("2w", "2026-11-06T12:00:00Z"),
            ("1d12h", "2026-11-19T00:00:00Z"),
            ("2026-11-01", "2026-10-31T23:00:00Z"),
            ("2026-11-01T06:30", "2026-11-01T05:30:00Z"),
            ("2026-11-01T06:30Z", "2026-11-01T06:30:00Z"),
            ("2026-11-01T06:30:00+01:00", "2026-11-01T05:30:00Z"),
        ] {
            let since: SinceTime = text.parse().unwrap();
            assert_eq!(since.moment(&clock).to_string(), moment, "{text}");
        }
        for wrong in [
            "",
            "7",
            "d",
            "-7d",
            "0d",
            "yesterday",
            "1mo",
            "2026-13-01",
            "7 x",
        ] {
            assert!(wrong.parse::<SinceTime>().is_err(), "{wrong}");
        }
        // A time before all times is the first of them.
        let since: SinceTime = "19000w".parse().unwrap();
        clock.now = Timestamp::MIN;
        assert!(since.moment(&clock) == Timestamp::MIN);
    }
}
