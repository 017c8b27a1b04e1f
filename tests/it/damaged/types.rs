//! Every field of every hand-written log, changed to another JSON type, made null, or removed: it costs
//! itself alone, and what it costs is counted. Where a plain value is removed, the other items and the
//! reports of its record stay, and so do all other records. A number of a usage report costs the report: no
//! sum of what is left of it is believed.

use super::logs::{Log, logs};
use super::usage;
use crate::fuzzed::targets::damage::fields::{Field, fields};
use crate::fuzzed::targets::damage::values::{TYPES, type_of};
use ctxgauge::model::event::{Entry, Event};
use std::collections::HashSet;
use std::ops::Range;

/// All entries but the counts of lost fields.
fn facts(entries: &[Entry]) -> Vec<&Entry> {
    let is_lost = |entry: &&Entry| matches!(entry.event, Event::Lost(_) | Event::UnreadableUsage);
    entries.iter().filter(|entry| !is_lost(entry)).collect()
}

/// How many reports and items records hold.
#[derive(Default, PartialEq)]
struct Contents {
    reports: usize,
    items: usize,
}

/// What the records on these lines hold.
fn contents(entries: &[Entry], is_line: impl Fn(u64) -> bool) -> Contents {
    let mut contents = Contents::default();
    for entry in entries.iter().filter(|entry| is_line(entry.place.line())) {
        match &entry.event {
            Event::Usage(_) => contents.reports += 1,
            Event::Node(node) => contents.items += node.items.len(),
            _ => {}
        }
    }
    contents
}

/// Whether more is counted, as lost or as passed over.
fn is_counted(original: &[Entry], odd: &[Entry]) -> bool {
    let is_lost = |event: &Event| matches!(event, Event::Lost(_));
    let is_passed_over = |event: &Event| {
        matches!(
            event,
            Event::Skipped(_) | Event::Unknown(_) | Event::Unreadable(_)
        )
    };
    let count = |entries: &[Entry], is: fn(&Event) -> bool| {
        entries.iter().filter(|entry| is(&entry.event)).count()
    };
    count(odd, is_lost) > count(original, is_lost)
        || count(odd, is_passed_over) > count(original, is_passed_over)
}

/// Formats of which a record's names, numbers or texts say what becomes of other records: pieces of one
/// message, envelopes of one exchange, events about other events, requests and checkpoints that repeat the
/// history.
const LINKED: [&str; 9] = [
    "gemini-cli",
    "hpd-agent",
    "mew",
    "mistral-vibe",
    "openhands",
    "otel-genai",
    "ouro",
    "request-log",
    "vscode-gateway",
];

/// A part of a log, and what is wrong with how its changed fields are read.
struct Part<'a> {
    log: &'a Log,
    nth: usize,
    text: &'a str,
    original: &'a [Entry],
    tried: usize,
    faults: Vec<String>,
}

/// What another type of value in a field comes to.
#[derive(PartialEq)]
enum Read {
    /// The same as without the field, or something that is counted or wrong.
    ByType,
    /// The value matters, not its type.
    AsText,
}

impl Part<'_> {
    /// The entries with the fields' values changed to another, or the fields removed.
    fn with<'r>(&self, ranges: impl Iterator<Item = &'r Range<usize>>, value: &str) -> Vec<Entry> {
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for range in ranges {
            text.extend([&self.text[at..range.start], value]);
            at = range.end;
        }
        text.push_str(&self.text[at..]);
        self.log.entries(self.nth, &text)
    }

    fn note(&mut self, field: &Field, value: &str, what: &str) {
        let (name, line) = (&self.log.name, self.nth + 1);
        let Field { path, .. } = field;
        self.faults
            .push(format!("{name} {line}: {path}: {value} {what}"));
    }

    fn type_of(&self, field: &Field) -> char {
        type_of(&self.text[field.value.clone()])
    }

    /// Without a plain field, the other items and reports of its record stay, and so do all other records.
    fn check_removed(&mut self, field: &Field, removed: &[Entry]) {
        let is_linked = LINKED.contains(&self.log.format.id);
        if is_linked || matches!(self.type_of(field), '[' | '{') || field.identifies() {
            return;
        }
        // The messages of a document have lines of their own.
        let (is_document, own) = (self.log.is_document, self.nth as u64 + 1);
        let is_own = |line: u64| is_document || line == own;
        let before = contents(self.original, is_own);
        let after = contents(removed, is_own);
        if after.reports < before.reports && !field.is_prompt() {
            self.note(field, "(nothing)", "costs a report");
        }
        if after.items + 1 < before.items && !field.is_text() {
            self.note(field, "(nothing)", "costs several items");
        }
        let others = |entries: &[Entry]| contents(entries, |line| !is_own(line));
        if others(removed) != others(self.original) && !field.is_prompt() {
            self.note(field, "(nothing)", "changes what other records hold");
        }
    }

    /// A value of another type is as no value, and is counted where that matters.
    fn check_types(&mut self, field: &Field, removed: &[Entry]) -> Read {
        let with = |part: &Self, value: &str| part.with([&field.value].into_iter(), value);
        let old = self.type_of(field);
        let mut read = Read::AsText;
        for (_, [value, other]) in TYPES.into_iter().filter(|(kind, _)| *kind != old) {
            self.tried += 1;
            let odd = with(self, value);
            if usage::is_refused(self.original, &odd) {
                continue;
            }
            let is_absent = facts(&odd) == facts(removed);
            // A value of which more matters than its type is text.
            if !is_absent && facts(&odd) != facts(&with(self, other)) {
                continue;
            }
            read = Read::ByType;
            if !is_absent {
                self.note(field, value, "differs from the log without the field");
            } else if facts(&odd) != facts(self.original) && !is_counted(self.original, &odd) {
                let what = "differs from the original, and nothing is counted";
                self.note(field, value, what);
            }
        }
        if read == Read::ByType && facts(&with(self, "null")) != facts(removed) {
            self.note(field, "null", "is not absent");
        }
        read
    }

    /// The same of plain fields that can be removed without an effect: all are changed together, and one by one
    /// only if that has one.
    fn check_unread(&mut self, fields: &[Field]) {
        if fields.is_empty() {
            return;
        }
        let values = TYPES.map(|(kind, [value, _])| (kind, value));
        let have_effect = values
            .into_iter()
            .chain([(' ', "null")])
            .any(|(kind, value)| {
                let other = fields.iter().filter(|field| self.type_of(field) != kind);
                let mut ranges: Vec<_> = other.map(|field| &field.value).collect();
                ranges.sort_by_key(|range| range.start);
                self.tried += ranges.len();
                facts(&self.with(ranges.into_iter(), value)) != facts(self.original)
            });
        if have_effect {
            for field in fields {
                let removed = self.with([&field.field].into_iter(), "");
                self.check_types(field, &removed);
            }
        }
    }
}

#[test]
fn an_odd_field_costs_itself_and_is_counted() {
    let mut seen = HashSet::new();
    let mut faults = Vec::new();
    let mut tried = 0;
    for log in &logs() {
        let original = log.original();
        for (nth, text) in log.parts.iter().enumerate() {
            let mut part = Part {
                log,
                nth,
                text,
                original: &original,
                tried: 0,
                faults: Vec::new(),
            };
            if part.original.iter().any(|entry| is_odd(entry, nth)) {
                continue;
            }
            let (mut unread, mut as_text) = (Vec::new(), 0..0);
            for field in fields(text) {
                // What is in a text is text; of fields in one place of one kind of records, one will do.
                let mut is_new = || seen.insert((log.format.id, field.path.clone()));
                if as_text.contains(&field.value.start) || !is_new() {
                    continue;
                }
                let removed = part.with([&field.field].into_iter(), "");
                let is_plain = !matches!(part.type_of(&field), '[' | '{');
                if is_plain && facts(&removed) == facts(part.original) {
                    unread.push(field);
                    continue;
                }
                part.check_removed(&field, &removed);
                if part.check_types(&field, &removed) == Read::AsText {
                    as_text = field.value;
                }
            }
            part.check_unread(&unread);
            tried += part.tried;
            faults.append(&mut part.faults);
        }
    }
    assert!(tried > 1_000, "{tried}");
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}

/// Whether an entry shows that a part of a log is odd as it is.
fn is_odd(entry: &Entry, part: usize) -> bool {
    entry.place.line() == part as u64 + 1
        && matches!(entry.event, Event::Lost(_) | Event::Unreadable(_))
}
