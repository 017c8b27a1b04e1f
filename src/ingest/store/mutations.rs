//! Every field of every hand-written log, changed to another JSON type, made null, or removed: it costs
//! itself alone, and what it costs is counted. Where a plain value is removed, the other items and the
//! reports of its record stay, and so do all other records. A number of a usage report costs the report: no
//! sum of what is left of it is believed.

mod lean;
mod nested;
mod usage;

use super::document;
use format::Format;
use model::event::{ByLength, Entry, Event, Place, Sink};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A log in parts: its lines, the files of its folder, or one document.
struct Log {
    format: &'static Format,
    name: String,
    parts: Vec<String>,
    is_document: bool,
}

impl Log {
    fn original(&self) -> Vec<Entry> {
        let first = self.parts.first();
        first.map_or_else(Vec::new, |text| self.entries(0, text))
    }

    /// The entries of the log, where one part is another text. All have their places in the log as it is,
    /// since some decoders name nodes by them.
    fn entries(&self, changed: usize, text: &str) -> Vec<Entry> {
        let mut out = Sink::new(&ByLength);
        if self.is_document {
            document::decode(self.format, text.as_bytes(), &mut out);
            return out.entries;
        }
        let mut decoder = self.format.decoder();
        let (mut line, mut offset) = (0, 0);
        for (nth, part) in self.parts.iter().enumerate() {
            line += 1;
            let len = part.len() as u64;
            let place = Place { line, offset, len };
            offset += len + 1;
            let text = if nth == changed { text } else { part };
            if !text.trim().is_empty() {
                out.begin(place);
                decoder.read_line(text, &mut out);
            }
        }
        out.entries
    }
}

/// All logs, the long ones last: what is tried once is tried where that takes less time.
fn logs() -> Vec<Log> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut logs = Vec::new();
    for format in agents::ALL {
        for case in folder(&root.join(format.id)) {
            let files = folder(&case);
            let name = case.strip_prefix(&root).unwrap().display().to_string();
            let log = |parts, is_document| Log {
                format,
                name: name.clone(),
                parts,
                is_document,
            };
            let read = |path: &PathBuf| fs::read_to_string(path).ok();
            let file = |name: &str| read(&case.join(name));
            // The files of agents that find others by their names.
            let is_named = |path: &&PathBuf| {
                let path = path.to_string_lossy();
                path.ends_with(".messages.json") || path.ends_with("api_conversation_history.json")
            };
            let named = files.iter().find(is_named);
            if let Some(text) = file("log.jsonl") {
                logs.push(log(text.lines().map(Into::into).collect(), false));
            } else if let Some(text) = file("log.json").or_else(|| named.and_then(read)) {
                logs.push(log(vec![text], true));
            } else {
                let parts = |name: &str| {
                    let parts = files.iter().find(|path| path.ends_with(name));
                    let parts = parts.map(|path| folder(path)).unwrap_or_default();
                    parts.iter().filter_map(read).collect::<Vec<String>>()
                };
                let journal = parts("journal");
                let lines = journal.iter().flat_map(|part| part.lines().map(Into::into));
                logs.push(log(
                    parts("events").into_iter().chain(lines).collect(),
                    false,
                ));
            }
        }
    }
    logs.sort_by_key(|log| log.parts.iter().map(String::len).sum::<usize>() > 16_000);
    logs
}

fn folder(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// A field of an object in a text.
struct Spot {
    /// The names and types of what it is in, and its own name.
    path: String,
    value: Range<usize>,
    /// What to cut out to remove the field.
    field: Range<usize>,
}

impl Spot {
    /// Whether it decides what its record, message or request is, so that all of that may go with it.
    fn identifies(&self) -> bool {
        const NAMES: [&str; 7] = [
            "type",
            "role",
            "subtype",
            "id",
            "uuid",
            "usageScope",
            "compaction_output",
        ];
        NAMES.contains(&self.name())
    }

    /// Whether it is the size of a prompt, without which there is no report.
    fn is_prompt(&self) -> bool {
        let name = self.name().to_ascii_lowercase();
        let names = [
            "input",
            "prompt",
            "token_count",
            "currenttokens",
            "conversationtokens",
            "totaltokens",
        ];
        names.iter().any(|part| name.starts_with(part))
    }

    /// Whether it is a text that is sent, of which parts may be items of their own.
    fn is_text(&self) -> bool {
        self.name().to_ascii_lowercase().ends_with("content")
    }

    fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// The fields of a JSON value at any depth.
fn spots(json: &str, base: usize, path: &str, found: &mut Vec<Spot>) {
    let start = |value: &RawValue| value.get().as_ptr() as usize - json.as_ptr() as usize;
    if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(json) {
        for element in elements {
            let path = format!("{path}[]");
            spots(element.get(), base + start(element), &path, found);
        }
    } else if let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
        let kinds = ["type", "role", "subtype", "kind", "event", "method"];
        let kinds = kinds.iter().filter_map(|kind| fields.get(*kind));
        let kinds: Vec<&str> = kinds
            .map(|kind| kind.get())
            .filter(|k| k.len() < 40)
            .collect();
        for (name, value) in &fields {
            let path = format!("{path}{{{}}}.{name}", kinds.join(" "));
            let from = start(value);
            let to = from + value.get().len();
            let quoted = serde_json::to_string(name).unwrap();
            let Some(key) = json[..from].rfind(&quoted) else {
                continue;
            };
            // The comma after it, or the one before it.
            let after = json[to..].len() - json[to..].trim_start().len();
            let field = if json[to + after..].starts_with(',') {
                key..to + after + 1
            } else {
                json[..key].rfind([',', '{']).unwrap()..to
            };
            let field = if json[field.clone()].starts_with('{') {
                field.start + 1..field.end
            } else {
                field
            };
            found.push(Spot {
                path: path.clone(),
                value: base + from..base + to,
                field: base + field.start..base + field.end,
            });
            spots(value.get(), base + from, &path, found);
        }
    }
}

/// Two values of each JSON type.
const VALUES: [(char, [&str; 2]); 4] = [
    ('t', ["true", "false"]),
    ('7', ["7000001", "80000002"]),
    ('"', ["\"odd\"", "\"even\""]),
    (
        '{',
        [
            r#"{"type":"text","text":"odd","content":"odd"}"#,
            r#"{"type":"text","text":"even","content":"even"}"#,
        ],
    ),
];

/// The type of a JSON value, as in [`VALUES`].
fn type_of(json: &str) -> char {
    match json.as_bytes()[0] {
        b't' | b'f' => 't',
        b'-' | b'0'..=b'9' => '7',
        first => char::from(first),
    }
}

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
    for entry in entries.iter().filter(|entry| is_line(entry.place.line)) {
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

    fn note(&mut self, field: &Spot, value: &str, what: &str) {
        let (name, line) = (&self.log.name, self.nth + 1);
        let Spot { path, .. } = field;
        self.faults
            .push(format!("{name} {line}: {path}: {value} {what}"));
    }

    fn type_of(&self, field: &Spot) -> char {
        type_of(&self.text[field.value.clone()])
    }

    /// Without a plain field, the other items and reports of its record stay, and so do all other records.
    fn check_removed(&mut self, field: &Spot, removed: &[Entry]) {
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
    fn check_types(&mut self, field: &Spot, removed: &[Entry]) -> Read {
        let with = |part: &Self, value: &str| part.with([&field.value].into_iter(), value);
        let old = self.type_of(field);
        let mut read = Read::AsText;
        for (_, [value, other]) in VALUES.into_iter().filter(|(kind, _)| *kind != old) {
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
    fn check_unread(&mut self, fields: &[Spot]) {
        if fields.is_empty() {
            return;
        }
        let values = VALUES.map(|(kind, [value, _])| (kind, value));
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
            let mut fields = Vec::new();
            spots(text, 0, "", &mut fields);
            let (mut unread, mut as_text) = (Vec::new(), 0..0);
            for field in fields {
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
    entry.place.line == part as u64 + 1
        && matches!(entry.event, Event::Lost(_) | Event::Unreadable(_))
}
