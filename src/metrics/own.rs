//! The numbers of the program itself: what it follows, what that costs, and what became of what it pushed.

use crate::unit::{Unit, whole_name};
use jiff::Timestamp;
use prometheus_client::metrics::histogram::Histogram;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper ends of the ranges in which times of reading are counted, in seconds.
pub const LATENCIES: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// The numbers of the program at one moment.
#[derive(Debug)]
pub struct OwnNumbers {
    /// The version of the program.
    pub version: &'static str,
    /// All sessions.
    pub sessions: usize,
    /// The sessions that have no series since there are too many.
    pub omitted: usize,
    /// The files of their logs.
    pub files: usize,
    /// True if all logs were read once, at least their ends.
    pub is_scanned: bool,
    /// The bytes that the program has read; `None`: this system does not count them.
    pub read: Option<u64>,
    /// The memory that it takes, in bytes; `None`: as there.
    pub memory: Option<u64>,
    /// The times from the write of a record until it was taken in.
    pub latency: Latencies,
    /// Counts of what is pushed; `None`: nothing is.
    pub pushed: Option<Arc<PushCounts>>,
}

/// Counts of times, by their ranges.
#[derive(Debug, Clone)]
pub struct Latencies {
    /// For the formats of Prometheus.
    pub(crate) histogram: Histogram,
    /// Counts for other formats, since those cannot be read from it.
    counts: Arc<[AtomicU64; LATENCIES.len() + 1]>,
    micros: Arc<AtomicU64>,
}

/// Counts of what is pushed to a receiver.
#[derive(Debug, Default)]
pub struct PushCounts {
    /// Requests that the receiver has taken.
    pub sent: AtomicU64,
    /// Requests that it has not.
    pub failed: AtomicU64,
    /// Answers that are not of the protocol.
    pub malformed: AtomicU64,
    /// Data points and compactions that it refused for good.
    pub rejected: AtomicU64,
    /// Compactions that were left out since too many waited.
    pub dropped: AtomicU64,
    /// Compactions that wait.
    pub waiting: AtomicU64,
}

/// The kind of a metric of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnKind {
    /// A value that rises and falls.
    Gauge,
    /// A count that only grows.
    Counter,
    /// Counts by range.
    Histogram,
    /// A text, as the label of a sample whose value is 1.
    Info,
}

/// The value of a metric of the program.
pub enum OwnValue<'s> {
    /// A number.
    Number(u64),
    /// Times.
    Latencies(&'s Latencies),
    /// A label and its text.
    Info(&'static str, &'static str),
}

/// A metric of the program.
pub struct OwnMetric {
    /// The name, without the program's name before it and the unit after it.
    pub name: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The kind.
    pub kind: OwnKind,
    /// The meaning, for people: no backslash and no newline, which the formats would escape.
    pub help: &'static str,
    /// Returns the value; `None`: there is none.
    pub value: for<'s> fn(&'s OwnNumbers) -> Option<OwnValue<'s>>,
}

impl OwnKind {
    /// Returns its name, as the formats write it.
    pub fn name(self) -> &'static str {
        match self {
            OwnKind::Gauge => "gauge",
            OwnKind::Counter => "counter",
            OwnKind::Histogram => "histogram",
            OwnKind::Info => "info",
        }
    }
}

impl OwnMetric {
    /// Returns the whole name, as queries have it.
    pub fn whole_name(&self) -> String {
        let end = match self.kind {
            OwnKind::Gauge | OwnKind::Histogram => "",
            OwnKind::Counter => "total",
            OwnKind::Info => "info",
        };
        whole_name(self.name, self.unit, end)
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies {
            histogram: Histogram::new(LATENCIES),
            counts: Arc::default(),
            micros: Arc::default(),
        }
    }
}

impl Latencies {
    /// Counts the time from the last write to a log until its new records were taken in.
    pub(crate) fn observe(&self, written: Timestamp, now: Timestamp) {
        let took = Duration::try_from(now.duration_since(written)).unwrap_or_default();
        let seconds = took.as_secs_f64();
        self.histogram.observe(seconds);
        let range = LATENCIES.iter().position(|end| seconds <= *end);
        self.counts[range.unwrap_or(LATENCIES.len())].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns the count of each range, and of the times above all of them.
    pub fn counts(&self) -> Vec<u64> {
        let counts = self.counts.iter();
        counts.map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// Returns the sum of the times, in seconds.
    pub fn sum(&self) -> f64 {
        self.micros.load(Ordering::Relaxed) as f64 / 1e6
    }
}

impl PushCounts {
    /// Adds to one of the counts.
    pub fn add(count: &AtomicU64, more: u64) {
        count.fetch_add(more, Ordering::Relaxed);
    }
}

fn number(value: usize) -> Option<OwnValue<'static>> {
    Some(OwnValue::Number(value as u64))
}

fn pushed(of: &OwnNumbers, count: fn(&PushCounts) -> &AtomicU64) -> Option<OwnValue<'_>> {
    let counts = of.pushed.as_ref()?;
    Some(OwnValue::Number(count(counts).load(Ordering::Relaxed)))
}

/// All metrics of the program.
pub const OWN: &[OwnMetric] = &[
    OwnMetric {
        name: "sessions",
        unit: Unit::None,
        kind: OwnKind::Gauge,
        help: "Sessions in all logs, resting ones too.",
        value: |of| number(of.sessions),
    },
    OwnMetric {
        name: "sessions_omitted",
        unit: Unit::None,
        kind: OwnKind::Gauge,
        help: "Sessions that have no series since there are too many; the newest have.",
        value: |of| number(of.omitted),
    },
    OwnMetric {
        name: "files",
        unit: Unit::None,
        kind: OwnKind::Gauge,
        help: "Logs that are followed.",
        value: |of| number(of.files),
    },
    OwnMetric {
        name: "scanned",
        unit: Unit::None,
        kind: OwnKind::Gauge,
        help: "1 once all logs were read, at least their ends.",
        value: |of| number(of.is_scanned.into()),
    },
    OwnMetric {
        name: "resident_memory",
        unit: Unit::Bytes,
        kind: OwnKind::Gauge,
        help: "Memory that ctxgauge takes.",
        value: |of| of.memory.map(OwnValue::Number),
    },
    OwnMetric {
        name: "read",
        unit: Unit::Bytes,
        kind: OwnKind::Counter,
        help: "Bytes that ctxgauge has read.",
        value: |of| of.read.map(OwnValue::Number),
    },
    OwnMetric {
        name: "read_latency",
        unit: Unit::Seconds,
        kind: OwnKind::Histogram,
        help: "Time from the write of a record until it was taken in.",
        value: |of| Some(OwnValue::Latencies(&of.latency)),
    },
    OwnMetric {
        name: "build",
        unit: Unit::None,
        kind: OwnKind::Info,
        help: "The version of ctxgauge.",
        value: |of| Some(OwnValue::Info("version", of.version)),
    },
    OwnMetric {
        name: "otlp_sent",
        unit: Unit::None,
        kind: OwnKind::Counter,
        help: "Requests that the OTLP receiver has taken.",
        value: |of| pushed(of, |counts| &counts.sent),
    },
    OwnMetric {
        name: "otlp_failed",
        unit: Unit::None,
        kind: OwnKind::Counter,
        help: "Requests that the OTLP receiver has not taken: it was not reached, gave no answer, or refused them.",
        value: |of| pushed(of, |counts| &counts.failed),
    },
    OwnMetric {
        name: "otlp_malformed",
        unit: Unit::None,
        kind: OwnKind::Counter,
        help: "Answers that are not of OTLP: another server has that address.",
        value: |of| pushed(of, |counts| &counts.malformed),
    },
    OwnMetric {
        name: "otlp_rejected",
        unit: Unit::None,
        kind: OwnKind::Counter,
        help: "Data points and compactions that the OTLP receiver refused for good.",
        value: |of| pushed(of, |counts| &counts.rejected),
    },
    OwnMetric {
        name: "otlp_dropped",
        unit: Unit::None,
        kind: OwnKind::Counter,
        help: "Compactions that are not sent to the OTLP receiver since too many waited.",
        value: |of| pushed(of, |counts| &counts.dropped),
    },
    OwnMetric {
        name: "otlp_waiting",
        unit: Unit::None,
        kind: OwnKind::Gauge,
        help: "Compactions that wait to be sent to the OTLP receiver.",
        value: |of| pushed(of, |counts| &counts.waiting),
    },
];
