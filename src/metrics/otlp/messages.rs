//! The requests of OTLP: the numbers of a moment, and compactions.
//!
//! The names of messages and fields are those of the protocol's own definitions (opentelemetry-proto 1.10).

use super::compactions::Compacted;
use super::wire::{Encoding, Field, Wire};
use crate::catalogue::{FAMILIES, Family, Kind, Number};
use crate::labels::Labels;
use crate::own::{LATENCIES, Latencies, OWN, OwnKind, OwnMetric, OwnValue};
use crate::snapshot::{SessionNumbers, Snapshot};
use crate::unit::Unit;
use jiff::Timestamp;

/// The name of the log record of a compaction.
const EVENT: &str = "ctxgauge.compaction";
/// The severity of a log record: `INFO`.
const INFO: u8 = 9;
/// Counters are sent whole, not what was added.
const CUMULATIVE: u8 = 2;

/// Fields that several messages have.
const RESOURCE: Field = (1, "resource");
const SCOPE: Field = (1, "scope");
const NAME: Field = (1, "name");
const DATA_POINTS: Field = (1, "dataPoints");
const TEMPORALITY: Field = (2, "aggregationTemporality");
const START: Field = (2, "startTimeUnixNano");
const TIME: Field = (3, "timeUnixNano");
const POINT_ATTRIBUTES: Field = (7, "attributes");

/// A value of an attribute.
#[derive(Debug, Clone, Copy)]
enum Value<'a> {
    Text(&'a str),
    Whole(u64),
    Real(f64),
}

/// An attribute.
type Attribute<'a> = (&'a str, Value<'a>);

/// A part of a snapshot, for one request.
pub struct Part<'s> {
    /// All of it.
    pub snapshot: &'s Snapshot,
    /// The sessions that are in this part, each with the time since which its counters count.
    pub sessions: &'s [(&'s SessionNumbers, Timestamp)],
    /// The time since which the program's own counters count; `None`: another part has them.
    pub begun: Option<Timestamp>,
}

/// Returns the request with a part of the numbers, and the number of its data points.
pub fn metrics(
    encoding: Encoding,
    resource: &[(String, String)],
    part: &Part<'_>,
) -> (Vec<u8>, u64) {
    let points = std::cell::Cell::new(0);
    let body = encoding.message(|wire| {
        wire.each((1, "resourceMetrics"), [()], |wire, ()| {
            of_resource(wire, resource);
            wire.each((2, "scopeMetrics"), [()], |wire, ()| {
                scope(wire);
                let families = FAMILIES.iter().filter_map(|family| {
                    let samples = samples(family, part);
                    (!samples.is_empty()).then_some(Metric::Family(family, samples))
                });
                let own = OWN.iter().filter_map(|metric| {
                    let begun = part.begun?;
                    Some(Metric::Own(
                        metric,
                        (metric.value)(&part.snapshot.own)?,
                        begun,
                    ))
                });
                let at = part.snapshot.at;
                wire.each((2, "metrics"), families.chain(own), |wire, metric| {
                    points.set(points.get() + metric.write(wire, at));
                });
            });
        });
    });
    (body, points.get())
}

/// A metric that has data points.
enum Metric<'a> {
    Family(&'a Family, Vec<Sample<'a>>),
    Own(&'a OwnMetric, OwnValue<'a>, Timestamp),
}

struct Sample<'a> {
    labels: &'a Labels,
    begun: Timestamp,
    by: Option<(&'static str, &'static str)>,
    number: Number,
}

fn samples<'a>(family: &Family, part: &Part<'a>) -> Vec<Sample<'a>> {
    let sessions = part.sessions.iter();
    let all = sessions.flat_map(|(session, begun)| {
        let samples = (family.samples)(session).into_iter();
        samples.map(|(value, number)| Sample {
            labels: &session.labels,
            begun: *begun,
            by: Some((family.by, value)).filter(|_| !family.by.is_empty()),
            number,
        })
    });
    // JSON has no other numbers.
    let is_finite =
        |sample: &Sample<'_>| !matches!(sample.number, Number::Real(real) if !real.is_finite());
    all.filter(is_finite).collect()
}

impl Metric<'_> {
    /// Writes the metric, and returns the number of its data points.
    fn write(&self, wire: &mut Wire, at: Timestamp) -> u64 {
        match self {
            Metric::Family(family, samples) => {
                described(wire, &family.whole_name(), family.help, family.unit);
                let begun = |sample: &Sample<'_>| match family.kind {
                    Kind::Gauge => None,
                    Kind::Counter => Some(sample.begun),
                };
                numbers(wire, family.kind, samples, |wire, sample| {
                    let by = sample.by.map(|(name, value)| (name, Value::Text(value)));
                    let attributes = of_session(sample.labels).chain(by);
                    point(wire, attributes, begun(sample), at, sample.number);
                });
                samples.len() as u64
            }
            Metric::Own(metric, value, begun) => {
                described(wire, &metric.whole_name(), metric.help, metric.unit);
                let kind = match metric.kind {
                    OwnKind::Counter => Kind::Counter,
                    _ => Kind::Gauge,
                };
                let begun_of = Some(*begun).filter(|_| kind == Kind::Counter);
                let one = |wire: &mut Wire, label: Option<Attribute<'_>>, number| {
                    numbers(wire, kind, &[()], |wire, ()| {
                        point(wire, label.into_iter(), begun_of, at, number);
                    });
                };
                match value {
                    OwnValue::Number(number) => one(wire, None, Number::Whole(*number)),
                    OwnValue::Info(label, text) => {
                        one(wire, Some((label, Value::Text(text))), Number::Whole(1));
                    }
                    OwnValue::Latencies(latencies) => histogram(wire, latencies, *begun, at),
                }
                1
            }
        }
    }
}

fn described(wire: &mut Wire, name: &str, help: &str, unit: Unit) {
    wire.text(NAME, name);
    wire.text((2, "description"), help);
    // As the Unified Code for Units of Measure has them. What counts something has none: `1` would be a share.
    let unit = match unit {
        Unit::None => return,
        Unit::Tokens => "{token}",
        Unit::Seconds => "s",
        Unit::Bytes => "By",
    };
    wire.text((3, "unit"), unit);
}

fn numbers<T>(wire: &mut Wire, kind: Kind, all: &[T], write: impl Fn(&mut Wire, &T)) {
    match kind {
        Kind::Gauge => wire.inner((5, "gauge"), |wire| wire.each(DATA_POINTS, all, write)),
        Kind::Counter => wire.inner((7, "sum"), |wire| {
            wire.each(DATA_POINTS, all, write);
            wire.choice(TEMPORALITY, CUMULATIVE);
            wire.yes((3, "isMonotonic"));
        }),
    }
}

fn point<'a>(
    wire: &mut Wire,
    attributes: impl Iterator<Item = Attribute<'a>>,
    begun: Option<Timestamp>,
    at: Timestamp,
    number: Number,
) {
    wire.each(POINT_ATTRIBUTES, attributes, attribute);
    if let Some(begun) = begun {
        wire.fixed(START, nanos(begun));
    }
    wire.fixed(TIME, nanos(at));
    match number {
        Number::Whole(value) => wire.fixed((6, "asInt"), value.min(i64::MAX as u64)),
        Number::Real(value) => wire.real((4, "asDouble"), value),
    }
}

fn histogram(wire: &mut Wire, latencies: &Latencies, begun: Timestamp, at: Timestamp) {
    let counts = latencies.counts();
    wire.inner((9, "histogram"), |wire| {
        wire.each(DATA_POINTS, [()], |wire, ()| {
            wire.fixed(START, nanos(begun));
            wire.fixed(TIME, nanos(at));
            wire.fixed((4, "count"), counts.iter().sum());
            wire.real((5, "sum"), latencies.sum());
            wire.numbers((6, "bucketCounts"), &counts, |n| n, |n| format!("\"{n}\""));
            let real = |real: f64| format!("{real:?}");
            wire.numbers((7, "explicitBounds"), &LATENCIES, f64::to_bits, real);
        });
        wire.choice(TEMPORALITY, CUMULATIVE);
    });
}

/// Returns the request with compactions.
pub fn logs(encoding: Encoding, resource: &[(String, String)], all: &[Compacted]) -> Vec<u8> {
    encoding.message(|wire| {
        wire.each((1, "resourceLogs"), [()], |wire, ()| {
            of_resource(wire, resource);
            wire.each((2, "scopeLogs"), [()], |wire, ()| {
                scope(wire);
                wire.each((2, "logRecords"), all, record);
            });
        });
    })
}

fn record(wire: &mut Wire, compacted: &Compacted) {
    let at = compacted.at.unwrap_or(compacted.seen);
    wire.fixed((1, "timeUnixNano"), nanos(at));
    wire.choice((2, "severityNumber"), INFO);
    wire.text((3, "severityText"), "INFO");
    let (before, how_before) = compacted.before;
    let after = compacted.after.map(|(after, _)| format!(", {after} after"));
    let body = format!(
        "compacted ({}): {before} tokens before{}",
        compacted.cause,
        after.unwrap_or_default()
    );
    wire.inner((5, "body"), |wire| any(wire, Value::Text(&body)));
    let mut more = vec![
        ("log.record.uid", Value::Text(&compacted.id)),
        ("ctxgauge.compaction.cause", Value::Text(compacted.cause)),
        ("ctxgauge.compaction.before", Value::Whole(before)),
        (
            "ctxgauge.compaction.before_source",
            Value::Text(how_before.name()),
        ),
    ];
    if let Some((after, how)) = compacted.after {
        more.push(("ctxgauge.compaction.after", Value::Whole(after)));
        more.push(("ctxgauge.compaction.after_source", Value::Text(how.name())));
    }
    more.push((
        "ctxgauge.compaction.dropped",
        Value::Whole(compacted.dropped),
    ));
    if compacted.window > 0 {
        let share = before as f64 / compacted.window as f64;
        more.push(("gen_ai.context.window_size", Value::Whole(compacted.window)));
        more.push(("gen_ai.context.utilization", Value::Real(share)));
    }
    let attributes = of_session(&compacted.labels).chain(more);
    wire.each((6, "attributes"), attributes, attribute);
    wire.fixed((11, "observedTimeUnixNano"), nanos(compacted.seen));
    wire.text((12, "eventName"), EVENT);
}

fn of_resource(wire: &mut Wire, resource: &[(String, String)]) {
    wire.inner(RESOURCE, |wire| {
        let all = resource.iter();
        let all = all.map(|(name, value)| (name.as_str(), Value::Text(value)));
        wire.each((1, "attributes"), all, attribute);
    });
}

fn scope(wire: &mut Wire) {
    wire.inner(SCOPE, |wire| {
        wire.text(NAME, "ctxgauge");
        wire.text((2, "version"), env!("CARGO_PKG_VERSION"));
    });
}

/// Returns the attributes of a session, by the names of the conventions where they have one.
fn of_session(labels: &Labels) -> impl Iterator<Item = Attribute<'_>> {
    let known = labels.iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| {
        let name = match name {
            "agent" => "gen_ai.agent.name",
            "model" => "gen_ai.response.model",
            "session" => "gen_ai.conversation.id",
            name => name,
        };
        (name, Value::Text(value))
    })
}

fn attribute(wire: &mut Wire, (name, value): Attribute<'_>) {
    wire.text((1, "key"), name);
    wire.inner((2, "value"), |wire| any(wire, value));
}

fn any(wire: &mut Wire, value: Value<'_>) {
    match value {
        Value::Text(text) => wire.text((1, "stringValue"), text),
        Value::Whole(number) => wire.whole((3, "intValue"), number.min(i64::MAX as u64)),
        Value::Real(number) => wire.real((4, "doubleValue"), number),
    }
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
