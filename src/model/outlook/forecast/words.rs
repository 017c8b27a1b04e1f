//! A forecast as text, the same on every screen and in every report.

use super::{Band, Forecast, NoForecast};
use std::fmt;

impl NoForecast {
    /// Returns the reason in words, as screens and reports write it.
    pub const fn name(self) -> &'static str {
        match self {
            NoForecast::NoTrigger => "no trigger known",
            NoForecast::NoRequest => "no request reported yet",
            NoForecast::NoGrowth => "no growth yet",
        }
    }
}

impl Band {
    /// Returns the ends and the median, in whole numbers.
    pub fn rounded(&self) -> [u64; 3] {
        [self.p10, self.p50, self.p90].map(|x| x.round() as u64)
    }

    /// Returns `9 requests (6–14)`.
    fn of(&self, [one, many]: [&str; 2]) -> String {
        let [low, middle, high] = self.rounded();
        let unit = if middle == 1 { one } else { many };
        if low == high {
            return format!("{middle} {unit}");
        }
        format!("{middle} {unit} ({low}–{high})")
    }
}

impl Forecast {
    /// Returns the requests that are left, `9 requests (6–14)`.
    pub fn requests_left(&self) -> String {
        self.requests.of(["request", "requests"])
    }

    /// Returns true if the trigger is reached.
    pub fn is_now(&self) -> bool {
        self.requests == Band::default()
    }
}

/// Medians, each with its 80 % band where that is wider than a number.
impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_now() {
            return f.write_str("compacts now");
        }
        let requests = self.requests_left();
        let turns = match self.turns.p90.round() {
            0.0 => "in this turn".to_owned(),
            1.0 if self.turns.p50.round() < 1.0 => "at most 1 turn".to_owned(),
            _ => self.turns.of(["turn", "turns"]),
        };
        write!(f, "compacts in about {requests}, {turns}")?;
        if let Some(minutes) = &self.minutes {
            write!(f, ", {} of work", minutes.of(["min"; 2]))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_reads_as_a_sentence() {
        let band = |p10, p50, p90| Band { p10, p50, p90 };
        let mut left = Forecast {
            requests: band(5.8, 9.2, 14.1),
            turns: band(0.6, 1.9, 4.0),
            minutes: Some(band(4.2, 6.0, 11.4)),
        };
        assert_eq!(
            left.to_string(),
            "compacts in about 9 requests (6–14), 2 turns (1–4), 6 min (4–11) of work"
        );
        left.turns = band(0.0, 0.1, 0.4);
        left.minutes = None;
        assert_eq!(
            left.to_string(),
            "compacts in about 9 requests (6–14), in this turn"
        );
        left.turns = band(0.0, 0.3, 1.2);
        assert_eq!(
            left.to_string(),
            "compacts in about 9 requests (6–14), at most 1 turn"
        );
        left.requests = band(0.6, 1.2, 1.4);
        let said = left.to_string();
        assert!(said.starts_with("compacts in about 1 request, "), "{said}");
        left.requests = Band::default();
        assert_eq!(left.to_string(), "compacts now");
    }
}
