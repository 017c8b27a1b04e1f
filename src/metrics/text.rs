//! Writes numbers in the format of OpenMetrics, or in the text format that Prometheus had before it.

use crate::catalogue::{FAMILIES, Family, Number};
use crate::labels::SampleLabels;
use crate::own::{OWN, OwnMetric, OwnValue};
use crate::snapshot::Snapshot;
use crate::unit::Unit;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{self, Registry};
use std::fmt;
use strum::{EnumIter, EnumMessage, IntoStaticStr};

/// A format of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumIter, EnumMessage, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    /// Prometheus's text format 0.0.4, which node_exporter reads.
    #[default]
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// Returns the type of an answer in this format.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// Returns the format that an HTTP header `Accept` asks for. OpenMetrics is sent only to those who know it.
    pub fn accepted(accept: &str) -> Format {
        let (mut old, mut new) = (0, 0);
        for wanted in accept.split(',') {
            let mut parts = wanted.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            let mut quality = 1_000;
            for part in parts {
                if let Some(value) = part.strip_prefix("q=") {
                    let value: f64 = value.trim().parse().unwrap_or_default();
                    quality = (value.clamp(0.0, 1.0) * 1_000.0) as u32;
                }
            }
            match name.as_str() {
                "application/openmetrics-text" => new = new.max(quality),
                "text/plain" | "text/*" | "*/*" => old = old.max(quality),
                _ => {}
            }
        }
        if new > 0 && new >= old {
            Format::OpenMetrics
        } else {
            Format::Prometheus
        }
    }
}

/// Returns the numbers of a moment as text.
///
/// # Errors
///
/// If a number is larger than the format can have.
pub fn text(snapshot: Snapshot, format: Format) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("ctxgauge");
    registry.register_collector(Box::new(snapshot));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(match format {
        Format::OpenMetrics => text,
        Format::Prometheus => as_before(&text),
    })
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in FAMILIES {
            self.family(&mut encoder, family)?;
        }
        for metric in OWN {
            if let Some(value) = (metric.value)(&self.own) {
                own(&mut encoder, metric, &value)?;
            }
        }
        Ok(())
    }
}

fn own(
    encoder: &mut DescriptorEncoder<'_>,
    metric: &OwnMetric,
    value: &OwnValue<'_>,
) -> fmt::Result {
    let mut write = |value: &dyn EncodeMetric| {
        let what = (metric.name, metric.unit, metric.help);
        described(encoder, what, value.metric_type(), |encoder| {
            value.encode(encoder)
        })
    };
    match (metric.kind, value) {
        (MetricType::Counter, OwnValue::Number(value)) => write(&ConstCounter::new(*value)),
        (_, OwnValue::Number(value)) => write(&ConstGauge::new(*value)),
        (_, OwnValue::Latencies(latencies)) => write(&latencies.0),
        (_, OwnValue::Info(label, text)) => write(&Info::new([(*label, *text)])),
    }
}

impl Snapshot {
    fn family(&self, encoder: &mut DescriptorEncoder<'_>, family: &Family) -> fmt::Result {
        let what = (family.name, family.unit, family.help);
        described(encoder, what, family.kind, |mut encoder| {
            for session in &self.sessions {
                for (part, number) in (family.samples)(session) {
                    let labels = SampleLabels {
                        session: &session.labels,
                        by: Some((family.by, part)).filter(|_| !family.by.is_empty()),
                    };
                    sample(family.kind, number, encoder.encode_family(&labels)?)?;
                }
            }
            Ok(())
        })
    }
}

fn sample(kind: MetricType, number: Number, encoder: MetricEncoder<'_>) -> fmt::Result {
    match (kind, number) {
        (MetricType::Counter, Number::Whole(value)) => ConstCounter::new(value).encode(encoder),
        (MetricType::Counter, Number::Real(value)) => ConstCounter::new(value).encode(encoder),
        (_, Number::Whole(value)) => ConstGauge::new(value).encode(encoder),
        (_, Number::Real(value)) => ConstGauge::new(value).encode(encoder),
    }
}

/// Writes the name, unit and meaning of a metric, and then its samples.
fn described(
    encoder: &mut DescriptorEncoder<'_>,
    (name, unit, help): (&str, Unit, &str),
    kind: MetricType,
    samples: impl FnOnce(MetricEncoder<'_>) -> fmt::Result,
) -> fmt::Result {
    let unit = (unit != Unit::None).then(|| registry::Unit::Other(unit.name().to_owned()));
    samples(encoder.encode_descriptor(name, help, unit.as_ref(), kind)?)
}

/// Returns text of OpenMetrics in the format before it: there a counter has its whole name in what describes it too, an
/// information is a gauge, and units and an end are not said.
fn as_before(text: &str) -> String {
    let mut before = String::with_capacity(text.len());
    let mut help: Option<(&str, &str)> = None;
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(name), meaning) => {
                help = Some((name, meaning.unwrap_or_default()));
            }
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", kind),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    kind => ("", kind),
                };
                if let Some((name, meaning)) = help.take() {
                    before += &format!("# HELP {name}{suffix} {meaning}\n");
                }
                before += &format!("# TYPE {name}{suffix} {kind}\n");
            }
            (Some("#"), ..) => {}
            _ => {
                before += line;
                before.push('\n');
            }
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::{ExtraLabel, Naming};
    use crate::testing::{IDS, followed, own, samples, session};
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn texts(snapshot: impl Fn() -> Snapshot) -> [String; 2] {
        [Format::OpenMetrics, Format::Prometheus].map(|format| text(snapshot(), format).unwrap())
    }

    fn some() -> Snapshot {
        let followed = followed(vec![session("5e55", "some-model")], IDS);
        Snapshot {
            own: own(),
            ..followed.snapshot()
        }
    }

    #[test]
    fn a_session_in_both_formats() {
        let [new, old] = texts(some);
        insta::assert_snapshot!("openmetrics", new);
        insta::assert_snapshot!("prometheus", old);
    }

    #[test]
    fn both_formats_have_the_same_samples() {
        let [new, old] = texts(some);
        let is_info = |name: &str| name.ends_with("_info");
        assert_eq!(samples(&new), samples(&old));
        assert!(new.ends_with("# EOF\n") && !old.contains("# EOF"));
        // In the old format each sample has the name that describes it, or one that a histogram adds to.
        let described: HashSet<&str> = old
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
            .collect();
        for sample in samples(&old) {
            let mut of = ["_bucket", "_sum", "_count"].into_iter();
            let of = of.find_map(|end| sample.name.strip_suffix(end));
            let name = of
                .filter(|of| described.contains(of))
                .unwrap_or(&sample.name);
            assert!(described.contains(name), "{}", sample.name);
        }
        assert!(
            old.lines()
                .any(|line| line.starts_with("# TYPE") && is_info(line.split(' ').nth(2).unwrap()))
        );
    }

    #[test]
    fn names_are_as_prometheus_wants_them() {
        let mut seen = HashSet::new();
        let names = FAMILIES.iter().map(Family::whole_name);
        for name in names.chain(OWN.iter().map(OwnMetric::whole_name)) {
            assert!(name.starts_with("ctxgauge_"), "{name}");
            assert!(
                name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'),
                "{name}"
            );
            assert!(seen.insert(name.clone()), "{name} is there twice");
        }
        let [_, old] = texts(some);
        let found: HashSet<String> = old
            .lines()
            .filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split(' ').next()?.to_owned()))
            .collect();
        assert_eq!(found, seen);
        let own = OWN.iter().map(|metric| metric.help);
        for help in FAMILIES.iter().map(|family| family.help).chain(own) {
            assert!(
                help.ends_with('.') && !help.contains(['\n', '\\', '"']),
                "{help}"
            );
        }
    }

    #[test]
    fn the_format_is_the_one_that_is_asked_for() {
        let prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
            text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        for (accept, format) in [
            ("", Format::Prometheus),
            ("*/*", Format::Prometheus),
            (
                "text/html, application/xhtml+xml, */*;q=0.8",
                Format::Prometheus,
            ),
            (prometheus, Format::OpenMetrics),
            ("Application/OpenMetrics-Text", Format::OpenMetrics),
            (
                "application/openmetrics-text; q=0, text/plain",
                Format::Prometheus,
            ),
            (
                "application/openmetrics-text;q=0.2,text/plain;q=0.9",
                Format::Prometheus,
            ),
            (
                "application/openmetrics-text;q=nonsense,,;;=",
                Format::Prometheus,
            ),
        ] {
            assert_eq!(Format::accepted(accept), format, "{accept}");
        }
    }

    proptest! {
        /// Text of a log stays the value of a label, however it imitates the format.
        #[test]
        fn any_text_is_read_back_as_the_label_that_it_is(
            id in ".{0,40}",
            model in prop_oneof![any::<String>(), Just("a\"} 1\n# EOF\n\\".to_owned())],
            title in any::<String>(),
        ) {
            let mut session = session(&id, &model);
            session.meta.title = Some(title.into());
            let naming = Naming {
                extra: vec![ExtraLabel::Title, ExtraLabel::Project],
                ..IDS
            };
            let followed = followed(vec![session], naming);
            for text in texts(|| followed.snapshot()) {
                let used: Vec<_> = samples(&text)
                    .into_iter()
                    .filter(|sample| sample.name == "ctxgauge_context_tokens")
                    .collect();
                prop_assert_eq!(used.len(), 1);
                let labels = &used[0].labels;
                prop_assert_eq!(labels.len(), 5);
                prop_assert_eq!(&labels["model"], &crate::labels::value(&model));
                prop_assert_eq!(&labels["project"], "shop");
                for value in labels.values() {
                    prop_assert!(value.chars().count() <= 140 && !value.contains(char::is_control), "{value:?}");
                }
            }
        }
    }
}
