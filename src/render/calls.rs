//! How the calls of a tool went, in words.

use super::number::{age, percent};
use super::{NONE, or_none};

/// Returns the share of calls that failed: `4%`.
pub fn failed(failed: u64, calls: u64) -> String {
    let share = percent(failed, calls);
    match share.filter(|_| failed > 0) {
        Some(0) => "<1%".to_owned(),
        Some(share) => format!("{share}%"),
        None => NONE.to_owned(),
    }
}

/// Returns the median time of calls: `0.4s`, `12s`, `3m`.
pub fn took(median_seconds: Option<f64>) -> String {
    or_none(median_seconds.map(|seconds| {
        if seconds < 9.95 {
            format!("{seconds:.1}s")
        } else {
            age(seconds.round() as i64)
        }
    }))
}
