//! Names of metrics, which end with their unit.

use prometheus_client::metrics::MetricType;

/// The unit of a metric, which is a part of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// It counts what its name says.
    None,
    /// Tokens.
    Tokens,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// Returns the end of names with this unit.
    pub fn name(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Tokens => "tokens",
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
        }
    }
}

/// Returns the whole name of a metric, with the end that its kind has.
pub(crate) fn whole_name(name: &str, unit: Unit, kind: MetricType) -> String {
    let end = match kind {
        MetricType::Counter => "total",
        MetricType::Info => "info",
        _ => "",
    };
    let parts = ["ctxgauge", name, unit.name(), end];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("_")
}
