//! Sizes as people write them: tokens, or a share of the window.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The smallest accepted size, in tokens: anything smaller is probably a typo.
const LEAST_TOKENS: f64 = 1_000.0;
/// The largest accepted size, in tokens.
const MOST_TOKENS: f64 = 1e12;

/// The smallest size that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// A number of tokens.
    Tokens(u64),
    /// A share of the window, above 0 and up to 1.
    Share(f64),
}

impl Threshold {
    /// Returns the size in tokens, in a window of `window` tokens.
    pub fn tokens(self, window: u64) -> u64 {
        match self {
            Threshold::Tokens(tokens) => tokens,
            Threshold::Share(share) => (window as f64 * share).round() as u64,
        }
    }

    /// Returns true if `tokens` reach it, in a window of `window` tokens. 0 tokens never do, and nothing reaches a share of
    /// a window that is not known (0).
    pub fn is_reached(self, tokens: u64, window: u64) -> bool {
        let size = self.tokens(window);
        tokens > 0 && size > 0 && tokens >= size
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Tokens(tokens) => write!(f, "{tokens}"),
            Threshold::Share(share) => write!(f, "{}%", (share * 1e4).round() / 1e2),
        }
    }
}

/// The size from which an item is oversized, unless the user sets another: 8,000 of 200,000 tokens.
pub const OVERSIZED: Threshold = Threshold::Share(0.04);

/// Neither a size in tokens nor a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither tokens (8k, 12000) nor a share (4%)")]
pub struct NoThreshold;

impl FromStr for Threshold {
    type Err = NoThreshold;

    fn from_str(text: &str) -> Result<Threshold, NoThreshold> {
        let text = text.trim();
        match text.strip_suffix('%') {
            Some(percent) => {
                let percent: f64 = decimal(percent.trim_end()).ok_or(NoThreshold)?;
                let share = percent / 100.0;
                let fits = share > 0.0 && share <= 1.0;
                fits.then_some(Threshold::Share(share)).ok_or(NoThreshold)
            }
            None => {
                let tokens = tokens_within(text, 1.0).ok_or(NoThreshold)?;
                Ok(Threshold::Tokens(tokens))
            }
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Threshold {
    /// Reads it as people write it, or as a whole number of tokens.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Threshold, D::Error> {
        deserializer.deserialize_any(SizeVisitor {
            expected: "tokens (\"8k\", 12000) or a share of the window (\"4%\")",
            text: |text| text.parse().ok(),
            number: |tokens| (tokens > 0).then_some(Threshold::Tokens(tokens)),
        })
    }
}

/// Reads a size that is written as a text or a whole number.
struct SizeVisitor<T> {
    expected: &'static str,
    text: fn(&str) -> Option<T>,
    number: fn(u64) -> Option<T>,
}

impl<T> Visitor<'_> for SizeVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        let wrong = || E::invalid_value(de::Unexpected::Str(text), &self);
        (self.text)(text).ok_or_else(wrong)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        let wrong = || E::invalid_value(de::Unexpected::Signed(number), &self);
        let size = u64::try_from(number).ok().and_then(self.number);
        size.ok_or_else(wrong)
    }
}

/// Tokens in the configuration and on the command line: `400_000`, or as people write them: `"400k"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens(pub u64);

/// No size in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no number of tokens (150k, 150000)")]
pub struct NoTokens;

impl FromStr for Tokens {
    type Err = NoTokens;

    fn from_str(text: &str) -> Result<Tokens, NoTokens> {
        tokens_within(text, 0.0).map(Tokens).ok_or(NoTokens)
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tokens, D::Error> {
        deserializer.deserialize_any(SizeVisitor {
            expected: "tokens (400_000, \"400k\", \"1M\")",
            text: |text| text.parse().ok(),
            number: |tokens| Some(Tokens(tokens)),
        })
    }
}

/// Reads a window as people write it: `200k`, `1M`, `1.5m`, `272000`, `272_000`.
pub fn parse_tokens(text: &str) -> Option<u64> {
    tokens_within(text, LEAST_TOKENS)
}

fn tokens_within(text: &str, least: f64) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'm' | 'M') => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    let tokens = (decimal(number)? * unit).round();
    (least..=MOST_TOKENS)
        .contains(&tokens)
        .then_some(tokens as u64)
}

/// Reads a number without sign or exponent, in which `_` may stand between digits; names such as `inf` are not
/// accepted.
fn decimal(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let plain = bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'_' => is_digit(at.wrapping_sub(1)) && is_digit(at + 1),
        byte => byte.is_ascii_digit() || *byte == b'.',
    });
    plain.then(|| text.replace('_', "").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_as_people_write_them() {
        let cases = [
            ("200k", Some(200_000)),
            (" 1M ", Some(1_000_000)),
            ("1.5m", Some(1_500_000)),
            ("272000", Some(272_000)),
            ("1048.576K", Some(1_048_576)),
            ("272_000", Some(272_000)),
            ("1_000k", Some(1_000_000)),
            ("_272000", None),
            ("272000_", None),
            ("27__2000", None),
            ("1_.5M", None),
            ("", None),
            ("k", None),
            ("200", None),
            ("-5k", None),
            ("1e9", None),
            ("inf", None),
            ("1.2.3k", None),
            ("200kk", None),
            ("1,5M", None),
            ("99999999999999999999M", None),
            ("２００k", None),
        ];
        for (text, tokens) in cases {
            assert_eq!(parse_tokens(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn thresholds_are_tokens_or_shares() {
        let cases = [
            ("8k", Some(Threshold::Tokens(8_000))),
            ("500", Some(Threshold::Tokens(500))),
            ("4%", Some(Threshold::Share(0.04))),
            (" 2.5 %", Some(Threshold::Share(0.025))),
            ("0", None),
            ("0%", None),
            ("101%", None),
            ("%", None),
            ("many", None),
        ];
        for (text, threshold) in cases {
            assert_eq!(text.parse().ok(), threshold, "{text:?}");
        }
        assert!(Threshold::Share(0.04).is_reached(8_000, 200_000));
        assert!(!Threshold::Share(0.04).is_reached(7_999, 200_000));
        assert!(!Threshold::Tokens(1).is_reached(0, 200_000));
        assert!(!Threshold::Share(0.95).is_reached(93_000, 0));
        assert_eq!(Threshold::Share(0.025).to_string(), "2.5%");
    }
}
