//! The numbers of the program itself: what it follows, and what that costs.

use jiff::Timestamp;
use prometheus_client::metrics::histogram::Histogram;
use std::time::Duration;

/// The upper ends of the ranges in which times of reading are counted, in seconds.
const LATENCIES: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// The numbers of the program at one moment.
#[derive(Debug)]
pub struct OwnNumbers {
    /// The version of the program.
    pub version: &'static str,
    /// All sessions.
    pub sessions: usize,
    /// The files of their logs.
    pub files: usize,
    /// True if all logs were read once, at least their ends.
    pub is_scanned: bool,
    /// The bytes that the program has read; `None`: this system does not count them.
    pub read: Option<u64>,
    /// The memory that it takes, in bytes; `None`: as there.
    pub memory: Option<u64>,
    /// The times from the write of a record until it was taken in.
    pub latency: Histogram,
}

/// Returns an empty count of times.
pub(crate) fn latencies() -> Histogram {
    Histogram::new(LATENCIES)
}

/// Counts the time from the last write to a log until its new records were taken in.
pub(crate) fn observe(latency: &Histogram, written: Timestamp, now: Timestamp) {
    let took = Duration::try_from(now.duration_since(written)).unwrap_or_default();
    latency.observe(took.as_secs_f64());
}
