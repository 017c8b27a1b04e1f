//! Numbers in fixed shapes, so that columns can be compared at a glance.

use super::or_none;
use model::outlook::forecast::Band;

/// Returns the tokens with one decimal: `999`, `124.1k`, `1.0M`. At most six columns up to 9,999 million.
pub fn tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        // From here on it would round to 1000.0k.
        1_000..999_950 => format!("{:.1}k", n as f64 / 1e3),
        999_950..999_950_000 => format!("{:.1}M", n as f64 / 1e6),
        _ => format!("{:.1}G", n as f64 / 1e9),
    }
}

/// Returns the tokens with fewer digits: `2.6k`, `39k`, `200k`, `1.0M`. At most four columns up to 999 million.
pub fn short(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..9_950 => format!("{:.1}k", n as f64 / 1e3),
        9_950..999_500 => format!("{:.0}k", n as f64 / 1e3),
        999_500..9_950_000 => format!("{:.1}M", n as f64 / 1e6),
        9_950_000..999_500_000 => format!("{:.0}M", n as f64 / 1e6),
        _ => format!("{:.0}G", n as f64 / 1e9),
    }
}

/// Returns all digits of a number in groups: `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the number as [`tokens`]; [`crate::NONE`] for 0.
pub fn tokens_or_none(n: u64) -> String {
    or_none((n > 0).then(|| tokens(n)))
}

/// Returns the number as [`short`]; [`crate::NONE`] for 0.
pub fn short_or_none(n: u64) -> String {
    or_none((n > 0).then(|| short(n)))
}

/// Returns a count and its noun: `1 reset`, `12 resets`.
pub fn counted(n: u64, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {noun}{s}", short(n))
}

/// Returns half the width of the interval of `of`, so that it compares with that number: as [`tokens`], but from 100 on
/// in thousands where `of` is: `71 ±93`, `3.9k ±0.4k`.
pub fn error(n: u64, of: u64) -> String {
    match n {
        100..1_000 if of >= 1_000 => format!("{:.1}k", n as f64 / 1e3),
        n => tokens(n),
    }
}

/// Returns a median and its band: `9 (6–14)`, or `9` where all three are equal.
pub fn band(band: &Band) -> String {
    match band.rounded() {
        [low, middle, high] if low == high => short(middle),
        [low, middle, high] => format!("{} ({}–{})", short(middle), short(low), short(high)),
    }
}

/// The least amount in dollars that is written in digits.
pub(crate) const LEAST_USD: f64 = 0.001;

/// Returns US dollars: `$0`, `<$0.001`, `$0.004`, `$0.33`, `$12`.
pub fn usd(dollars: f64) -> String {
    match dollars {
        d if d <= 0.0 => "$0".to_owned(),
        d if d < LEAST_USD => "<$0.001".to_owned(),
        d if d < 0.0995 => format!("${d:.3}"),
        d if d < 9.995 => format!("${d:.2}"),
        d => format!("${d:.0}"),
    }
}

/// Returns US dollars with two decimals, for a column of them: `$0.00`, `$0.33`, `$1,234.50`.
pub fn cents(dollars: f64) -> String {
    let all = (dollars * 100.0).round() as u64;
    format!("${}.{:02}", grouped(all / 100), all % 100)
}

/// Returns a lower bound in US dollars: `$0.33`; `None` where it is too small to say anything.
pub fn least_usd(dollars: f64) -> Option<String> {
    (dollars >= LEAST_USD).then(|| usd(dollars))
}

/// Returns a part in whole percent, rounded, at most 999; `None` where the whole is 0.
pub fn percent(part: u64, whole: u64) -> Option<u64> {
    let percent =
        (u128::from(part) * 100 + u128::from(whole) / 2).checked_div(u128::from(whole))?;
    Some(u64::try_from(percent).unwrap_or(u64::MAX).min(999))
}

/// Returns an age in one unit: `8s`, `14m`, `3h`, `5d`, `12w`.
pub fn age(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..60 => format!("{s}s"),
        s @ 60..3_600 => format!("{}m", s / 60),
        s @ 3_600..86_400 => format!("{}h", s / 3_600),
        s @ 86_400..1_209_600 => format!("{}d", s / 86_400),
        s => format!("{}w", s / 604_800),
    }
}

/// Returns the time since a session began: `+8s`, `+14m`, `+1h04`, `+12h`, `+5d`. At most five columns up to 999 days.
pub fn elapsed(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 3_600..36_000 => format!("+{}h{:02}", s / 3_600, s % 3_600 / 60),
        s @ 86_400.. => format!("+{}d", s / 86_400),
        s => format!("+{}", age(s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_hold_at_the_edges() {
        let cases = [
            (0, "0", "0"),
            (999, "999", "999"),
            (1_000, "1.0k", "1.0k"),
            (9_949, "9.9k", "9.9k"),
            (9_950, "9.9k", "10k"),
            (124_100, "124.1k", "124k"),
            (999_499, "999.5k", "999k"),
            (999_949, "999.9k", "1.0M"),
            (999_950, "1.0M", "1.0M"),
            (1_048_576, "1.0M", "1.0M"),
            (10_000_000, "10.0M", "10M"),
        ];
        for (n, long, brief) in cases {
            assert_eq!(
                (tokens(n).as_str(), short(n).as_str()),
                (long, brief),
                "{n}"
            );
        }
    }

    #[test]
    fn bands_are_short() {
        let said = |p10, p50, p90| band(&Band { p10, p50, p90 });
        assert_eq!(said(5.8, 9.2, 14.1), "9 (6–14)");
        assert_eq!(said(0.9, 1.0, 1.2), "1");
        assert_eq!(said(700.0, 1_200.0, 1e300), "1.2k (700–18446744074G)");
        assert_eq!(
            said(f64::NAN, 3.0, f64::INFINITY).split(' ').next(),
            Some("3")
        );
    }

    #[test]
    fn a_small_cost_is_not_zero() {
        let costs = [0.0, 1e-9, 0.0007, 0.001, 0.0042, 0.33, 12.4];
        let written = [
            "$0", "<$0.001", "<$0.001", "$0.001", "$0.004", "$0.33", "$12",
        ];
        assert_eq!(costs.map(usd), written);
        assert_eq!(least_usd(0.0007), None);
        assert_eq!(least_usd(0.33).as_deref(), Some("$0.33"));
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        let numbers = [0, 999, 1_000, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }

    #[test]
    fn percents_never_overflow() {
        assert_eq!(percent(1, 2), Some(50));
        assert_eq!(percent(1, 0), None);
        assert_eq!(percent(u64::MAX, 1), Some(999));
    }

    #[test]
    fn ages_have_one_unit() {
        let ages = [-5, 59, 60, 3_599, 3_600, 86_400, 14 * 86_400].map(age);
        assert_eq!(ages, ["0s", "59s", "1m", "59m", "1h", "1d", "2w"]);
    }

    #[test]
    fn times_in_a_session_are_short() {
        let times = [-5, 59, 3_599, 3_840, 36_000, 86_399, 30 * 86_400].map(elapsed);
        assert_eq!(
            times,
            ["+0s", "+59s", "+59m", "+1h04", "+10h", "+23h", "+30d"]
        );
    }
}
