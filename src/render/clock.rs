//! Times of day on the user's clock.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The distance from which on a time is shown with its date, to distinguish it from that of another day.
const DAY: SignedDuration = SignedDuration::from_hours(18);

/// The user's clock: what time it is, and where.
#[derive(Debug, Clone)]
pub struct Clock {
    /// The time.
    pub now: Timestamp,
    /// The zone in which times of day are shown.
    pub zone: TimeZone,
}

impl Clock {
    /// Returns a clock that shows UTC.
    pub fn utc(now: Timestamp) -> Clock {
        let zone = TimeZone::UTC;
        Clock { now, zone }
    }

    /// Returns a time: `14:52`, or `11-26 14:52` where that may be of another day.
    pub fn time(&self, at: Timestamp) -> String {
        let away = at.duration_since(self.now).abs();
        let format = if away < DAY { "%H:%M" } else { "%m-%d %H:%M" };
        at.to_zoned(self.zone.clone()).strftime(format).to_string()
    }

    /// Returns the time until `at`: `54m`, `2h`; `0m` once it is over.
    pub fn until(&self, at: Timestamp) -> String {
        let minutes = at.duration_since(self.now).as_secs().max(0) / 60;
        match minutes {
            0..100 => format!("{minutes}m"),
            _ => format!("{}h", minutes / 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_another_day_has_its_date() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let clock = Clock {
            now: at("2026-11-26T13:58:10Z"),
            zone: TimeZone::posix("CET-1").unwrap(),
        };
        assert_eq!(clock.time(at("2026-11-26T13:52:10Z")), "14:52");
        assert_eq!(clock.time(at("2026-11-26T23:30:00Z")), "00:30");
        assert_eq!(clock.time(at("2026-11-24T23:30:00Z")), "11-25 00:30");
        assert_eq!(clock.until(at("2026-11-26T14:52:09Z")), "53m");
        assert_eq!(clock.until(at("2026-11-26T16:52:10Z")), "2h");
        assert_eq!(clock.until(at("2026-11-26T11:00:00Z")), "0m");
    }
}
