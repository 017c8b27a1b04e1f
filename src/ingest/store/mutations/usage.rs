//! Every number of every usage report of every hand-written log, changed to something that is no number of
//! tokens: what is reported is what was reported before, or nothing, and it is counted.

use super::{Log, Spot, logs, spots, type_of};
use model::Source;
use model::event::{Entry, Event};
use std::collections::HashSet;

/// What is no number of tokens. Fractions and numbers beyond any plausible one are none either.
const ODD: [&str; 7] = [
    "\"7\"",
    "-1",
    "18446744073709551615",
    "1e30",
    "0.5",
    "true",
    "[1]",
];

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

fn refused(entries: &[Entry]) -> usize {
    let is_refused = |entry: &&Entry| matches!(entry.event, Event::UnreadableUsage);
    entries.iter().filter(is_refused).count()
}

/// Whether a report was refused. Another one of the same response may then be used.
pub(super) fn is_refused(original: &[Entry], odd: &[Entry]) -> bool {
    refused(odd) > refused(original)
}

/// The numbers in a part of a log, each kind of place once.
fn numbers(log: &Log, part: &str, seen: &mut HashSet<(&'static str, String)>) -> Vec<Spot> {
    let mut found = Vec::new();
    spots(part, 0, "", &mut found);
    found.retain(|spot| {
        type_of(&part[spot.value.clone()]) == '7' && seen.insert((log.format.id, spot.path.clone()))
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
            for spot in numbers(&log, part, &mut seen) {
                let with = |value: &str| {
                    let (before, after) = (&part[..spot.value.start], &part[spot.value.end..]);
                    log.entries(nth, &[before, value, after].concat())
                };
                let number: f64 = part[spot.value.clone()].parse().unwrap();
                if reports(&with(&format!("{}", number + 1.0))) == known {
                    // None of a usage report.
                    continue;
                }
                let absent = reports(&with("null"));
                for value in ODD {
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
                        let (name, path) = (&log.name, &spot.path);
                        faults.push(format!("{name} {}: {path}: {value} {what}", nth + 1));
                    };
                    if let Some(wrong) = now.iter().find(|report| !known.contains(report)) {
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
