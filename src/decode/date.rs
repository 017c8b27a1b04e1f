//! Dates as most logs have them, once on each line.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Returns the time that a text contains.
pub fn parse(text: &str) -> Option<Timestamp> {
    utc(text.as_bytes()).or_else(|| text.parse().ok())
}

/// Returns a time in the form that most logs have, `2026-08-01T10:00:00.123Z`: they have one on each line.
fn utc(text: &[u8]) -> Option<Timestamp> {
    let (head, fraction) = text.strip_suffix(b"Z")?.split_at_checked(19)?;
    let is_separated = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')]
        .into_iter()
        .all(|(at, separator)| head.get(at) == Some(&separator));
    let number = |digits: &[u8]| {
        let digit = |byte: &u8| byte.is_ascii_digit().then(|| i32::from(byte - b'0'));
        digits
            .iter()
            .try_fold(0, |n, byte| Some(n * 10 + digit(byte)?))
    };
    let two = |at: usize| i8::try_from(number(head.get(at..at + 2)?)?).ok();
    let nanoseconds = match fraction {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            number(digits)? * 10_i32.pow(9 - digits.len() as u32)
        }
        _ => return None,
    };
    let year = i16::try_from(number(head.get(..4)?)?).ok()?;
    let time = DateTime::new(
        year,
        two(5)?,
        two(8)?,
        two(11)?,
        two(14)?,
        two(17)?,
        nanoseconds,
    );
    let time = Offset::UTC.to_timestamp(time.ok()?);
    time.ok().filter(|_| is_separated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_those_of_the_library() {
        for text in [
            "2026-08-01T10:00:00Z",
            "2026-08-01T10:00:00.1Z",
            "2024-02-29T23:59:59.123456789Z",
        ] {
            let time = utc(text.as_bytes());
            assert!(time.is_some() && time == text.parse().ok(), "{text}");
        }
        for odd in [
            "",
            "Z",
            "2026-08-01 10:00:00Z",
            "2026-08-01T10:00:00.Z",
            "2026-02-30T10:00:00Z",
        ] {
            assert_eq!(utc(odd.as_bytes()), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_the_time_that_it_is_to_the_library(
            text in "[0-9]{4}-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?Z",
        ) {
            prop_assert_eq!(parse(&text), text.parse().ok());
        }
    }
}
