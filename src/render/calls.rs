//! How the calls of a tool went, in words.

use super::number::{age, percent};
use super::{NONE, or_none};
use model::cost::tools::Tool;

/// Returns the share of a tool's calls that failed: `4%`.
pub fn failed(tool: &Tool) -> String {
    let share = percent(tool.failed as u64, tool.results as u64);
    match share.filter(|_| tool.failed > 0) {
        Some(0) => "<1%".to_owned(),
        Some(share) => format!("{share}%"),
        None => NONE.to_owned(),
    }
}

/// Returns the median time of a tool's calls: `0.4s`, `12s`, `3m`.
pub fn took(tool: &Tool) -> String {
    or_none(tool.median_seconds.map(|seconds| {
        if seconds < 9.95 {
            format!("{seconds:.1}s")
        } else {
            age(seconds.round() as i64)
        }
    }))
}
