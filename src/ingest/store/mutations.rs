//! Every field of every hand-written log, changed to another JSON type, made null, or removed: it costs
//! itself alone, and what it costs is counted. Where a plain value is removed, the other items and the
//! reports of its record stay, and so do all other records. A number of a usage report costs the report: no
//! sum of what is left of it is believed.

mod nested;
mod usage;

use super::document;
use crate::agents::{self, Format};
use crate::model::event::{ByLength, Entry, Event, Place, Sink};
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

fn logs() -> Vec<Log> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
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
            let field = match json[to + after..].starts_with(',') {
                true => key..to + after + 1,
                false => json[..key].rfind([',', '{']).unwrap()..to,
            };
            let field = match json[field.clone()].starts_with('{') {
                true => field.start + 1..field.end,
                false => field,
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

#[test]
fn an_odd_field_costs_itself_and_is_counted() {
    let mut seen = HashSet::new();
    let mut faults = Vec::new();
    let mut tried = 0;
    for log in logs() {
        for (nth, part) in log.parts.iter().enumerate() {
            let mut fields = Vec::new();
            spots(part, 0, "", &mut fields);
            let original = log.entries(nth, part);
            if original.iter().any(|entry| is_odd(entry, nth)) {
                continue;
            }
            let mut text = 0..0;
            for field in fields {
                // What is in a text is text; of fields in one place of one kind of records, one will do.
                let mut is_new = || seen.insert((log.format.id, field.path.clone()));
                if text.contains(&field.value.start) || !is_new() {
                    continue;
                }
                let with = |range: &Range<usize>, value: &str| {
                    let text = [&part[..range.start], value, &part[range.end..]].concat();
                    log.entries(nth, &text)
                };
                let removed = with(&field.field, "");
                let mut note = |value: &str, what: &str| {
                    let Spot { path, .. } = &field;
                    faults.push(format!("{} {}: {path}: {value} {what}", log.name, nth + 1));
                };
                let old = type_of(&part[field.value.clone()]);
                let is_linked = LINKED.contains(&log.format.id);
                if !is_linked && !matches!(old, '[' | '{') && !field.identifies() {
                    // The messages of a document have lines of their own.
                    let is_own = |line: u64| log.is_document || line == nth as u64 + 1;
                    let before = contents(&original, is_own);
                    let after = contents(&removed, is_own);
                    if after.reports < before.reports && !field.is_prompt() {
                        note("(nothing)", "costs a report");
                    }
                    if after.items + 1 < before.items && !field.is_text() {
                        note("(nothing)", "costs several items");
                    }
                    let others = |entries: &[Entry]| contents(entries, |line| !is_own(line));
                    if others(&removed) != others(&original) && !field.is_prompt() {
                        note("(nothing)", "changes what other records hold");
                    }
                }
                let mut is_text = true;
                for (_, [value, other]) in VALUES.into_iter().filter(|(kind, _)| *kind != old) {
                    tried += 1;
                    let odd = with(&field.value, value);
                    if usage::is_refused(&original, &odd) {
                        continue;
                    }
                    let is_absent = facts(&odd) == facts(&removed);
                    // A value of which more matters than its type is text.
                    if !is_absent && facts(&odd) != facts(&with(&field.value, other)) {
                        continue;
                    }
                    is_text = false;
                    if !is_absent {
                        note(value, "differs from the log without the field");
                    } else if facts(&odd) != facts(&original) && !is_counted(&original, &odd) {
                        note(value, "differs from the original, and nothing is counted");
                    }
                }
                if is_text {
                    text = field.value.clone();
                } else if facts(&with(&field.value, "null")) != facts(&removed) {
                    note("null", "is not absent");
                }
            }
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
