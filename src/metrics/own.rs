//! The numbers of the program itself: what it follows, and what that costs.

use crate::unit::{Unit, whole_name};
use jiff::Timestamp;
use prometheus_client::metrics::MetricType;
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
}

/// Counts of times, by their ranges.
#[derive(Debug, Clone)]
pub struct Latencies(pub(crate) Histogram);

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
    pub kind: MetricType,
    /// The meaning, for people: no backslash and no newline, which the formats would escape.
    pub help: &'static str,
    /// Returns the value; `None`: there is none.
    pub value: for<'s> fn(&'s OwnNumbers) -> Option<OwnValue<'s>>,
}

impl OwnMetric {
    /// Returns the whole name, as queries have it.
    pub fn whole_name(&self) -> String {
        whole_name(self.name, self.unit, self.kind)
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies(Histogram::new(LATENCIES))
    }
}

impl Latencies {
    /// Counts the time from the last write to a log until its new records were taken in.
    pub(crate) fn observe(&self, written: Timestamp, now: Timestamp) {
        let took = Duration::try_from(now.duration_since(written)).unwrap_or_default();
        self.0.observe(took.as_secs_f64());
    }
}

fn number(value: usize) -> Option<OwnValue<'static>> {
    Some(OwnValue::Number(value as u64))
}

/// All metrics of the program.
pub const OWN: &[OwnMetric] = &[
    OwnMetric {
        name: "sessions",
        unit: Unit::None,
        kind: MetricType::Gauge,
        help: "Sessions in all logs, idle ones too.",
        value: |of| number(of.sessions),
    },
    OwnMetric {
        name: "sessions_omitted",
        unit: Unit::None,
        kind: MetricType::Gauge,
        help: "Sessions without series, because there are too many; the newest have series.",
        value: |of| number(of.omitted),
    },
    OwnMetric {
        name: "files",
        unit: Unit::None,
        kind: MetricType::Gauge,
        help: "Logs that are followed.",
        value: |of| number(of.files),
    },
    OwnMetric {
        name: "scanned",
        unit: Unit::None,
        kind: MetricType::Gauge,
        help: "1 once all logs were read, at least their ends.",
        value: |of| number(of.is_scanned.into()),
    },
    OwnMetric {
        name: "resident_memory",
        unit: Unit::Bytes,
        kind: MetricType::Gauge,
        help: "Memory that ctxgauge uses.",
        value: |of| of.memory.map(OwnValue::Number),
    },
    OwnMetric {
        name: "read",
        unit: Unit::Bytes,
        kind: MetricType::Counter,
        help: "Bytes that ctxgauge has read.",
        value: |of| of.read.map(OwnValue::Number),
    },
    OwnMetric {
        name: "read_latency",
        unit: Unit::Seconds,
        kind: MetricType::Histogram,
        help: "Time from the write of a record until it was read.",
        value: |of| Some(OwnValue::Latencies(&of.latency)),
    },
    OwnMetric {
        name: "build",
        unit: Unit::None,
        kind: MetricType::Info,
        help: "The version of ctxgauge.",
        value: |of| Some(OwnValue::Info("version", of.version)),
    },
];
