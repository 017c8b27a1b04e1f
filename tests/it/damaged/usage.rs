//! Every number of every usage report of every hand-written log, changed to something that is no number of
//! tokens: each number that is reported is what it was before, others are missing, and it is counted.

use super::logs::{Log, logs};
use crate::fuzzed::targets::damage::fields::{Field, fields};
use crate::fuzzed::targets::damage::values::{NO_TOKENS, type_of};
use ctxgauge::model::Source;
use ctxgauge::model::event::{Entry, Event};
use std::collections::HashSet;

/// The numbers of a report: prompt, cached part, output and reasoning.
type Report = (u64, u64, Option<u64>, Option<u64>);

fn reports(entries: &[Entry]) -> Vec<Report> {
    let reports = entries.iter().filter_map(|entry| match &entry.event {
        Event::Usage(usage) if usage.source == Source::Reported => {
            Some((usage.prompt, usage.cached, usage.output, usage.reasoning))
        }
        _ => None,
    });
    reports.collect()
}

/// Whether a report is this one, without the numbers that cannot be read.
fn is_part(part: &Report, whole: &Report) -> bool {
    let is_part = |part: Option<u64>, whole| part.is_none() || part == whole;
    let is_cached = part.1 == 0 || part.1 == whole.1;
    part.0 == whole.0 && is_cached && is_part(part.2, whole.2) && is_part(part.3, whole.3)
}

fn refused(entries: &[Entry]) -> usize {
    let is_refused = |entry: &&Entry| matches!(entry.event, Event::UnreadableUsage);
    entries.iter().filter(is_refused).count()
}

/// Whether a report was refused. Another one of the same response may then be used.
pub(super) fn is_refused(original: &[Entry], odd: &[Entry]) -> bool {
    refused(odd) > refused(original)
}

/// The numbers in a part of a log, each kind of place once.
fn numbers(log: &Log, part: &str, seen: &mut HashSet<(&'static str, String)>) -> Vec<Field> {
    let mut found = fields(part);
    found.retain(|field| {
        type_of(&part[field.value.clone()]) == '7'
            && seen.insert((log.format.id, field.path.clone()))
    });
    found
}

#[test]
fn a_usage_part_that_is_no_number_makes_no_known_number_and_is_counted() {
    let (mut seen, mut faults, mut tried) = (HashSet::new(), Vec::new(), 0);
    for log in logs() {
        let original = log.original();
        let known = reports(&original);
        for (nth, part) in log.parts.iter().enumerate() {
            for field in numbers(&log, part, &mut seen) {
                let with = |value: &str| {
                    let (before, after) = (&part[..field.value.start], &part[field.value.end..]);
                    log.entries(nth, &[before, value, after].concat())
                };
                let number: f64 = part[field.value.clone()].parse().unwrap();
                if reports(&with(&format!("{}", number + 1.0))) == known {
                    // None of a usage report.
                    continue;
                }
                let absent = reports(&with("null"));
                for value in NO_TOKENS {
                    tried += 1;
                    let odd = with(value);
                    // OpenTelemetry's instrumentations mean by -1 that there is no number, and OTLP writes
                    // numbers of 64 bits as strings.
                    let is_otel = log.format.id == "otel-genai";
                    if is_otel && (value == "-1" && reports(&odd) == absent || value == "\"7\"") {
                        continue;
                    }
                    let now = reports(&odd);
                    let mut note = |what: &str| {
                        let (name, path) = (&log.name, &field.path);
                        faults.push(format!("{name} {}: {path}: {value} {what}", nth + 1));
                    };
                    let is_known = |report: &&Report| known.iter().any(|it| is_part(report, it));
                    if let Some(wrong) = now.iter().find(|report| !is_known(report)) {
                        note(&format!("is reported as {wrong:?}"));
                    }
                    if now != known && refused(&odd) == refused(&original) {
                        note("is not counted");
                    }
                }
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}
