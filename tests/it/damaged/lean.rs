//! A reading for usage gives what all records say of it, whatever a field of a record is.

use super::logs::{Log, logs};
use crate::fuzzed::targets::damage::fields::fields;
use crate::fuzzed::targets::damage::values::TYPES;
use ctxgauge::ingest::log::usage_facts::UsageFacts;
use ctxgauge::model::event::EventSink;
use memchr::memmem;
use std::collections::HashSet;

/// What a reading for usage gives, where one line is another text.
fn usage(log: &Log, changed: usize, text: &str) -> UsageFacts {
    let mut out = EventSink::for_usage();
    let mut decoder = log.format.decoder();
    let marks = log.format.usage_marks;
    for (place, text) in log.lines(changed, text) {
        let text = text.as_bytes();
        let has = |mark: &&str| memmem::find(text, mark.as_bytes()).is_some();
        let counts = marks.is_empty() || marks.iter().any(has) || decoder.needs(text);
        if !text.trim_ascii().is_empty() && counts {
            out.begin(place);
            decoder.read_usage(text, &mut out);
        }
    }
    let mut usage = UsageFacts::default();
    out.entries.into_iter().for_each(|entry| usage.add(entry));
    usage.done()
}

/// What all records say of it.
fn usage_of_all(log: &Log, changed: usize, text: &str) -> UsageFacts {
    let mut usage = UsageFacts::default();
    let entries = log.entries(changed, text).into_iter();
    entries.for_each(|entry| usage.add_if_any(entry));
    usage.done()
}

/// Formats that decode less of a line for usage, or fewer lines.
const LEAN: [&str; 2] = ["claude-code", "codex"];

#[test]
fn an_odd_field_is_the_same_to_a_reading_for_usage() {
    let (mut seen, mut faults, mut tried) = (HashSet::new(), Vec::new(), 0);
    for log in logs().iter().filter(|log| LEAN.contains(&log.format.id)) {
        for (nth, part) in log.parts.iter().enumerate() {
            let mut fields = fields(part);
            fields.retain(|field| seen.insert((log.format.id, field.path.clone())));
            for field in fields {
                let values = TYPES.iter().map(|(_, [value, _])| (&field.value, *value));
                for (range, value) in values.chain([(&field.field, "")]) {
                    let text = [&part[..range.start], value, &part[range.end..]].concat();
                    tried += 1;
                    if usage(log, nth, &text) != usage_of_all(log, nth, &text) {
                        let (name, path) = (&log.name, &field.path);
                        faults.push(format!("{name} {}: {path}: {value}", nth + 1));
                    }
                }
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}
