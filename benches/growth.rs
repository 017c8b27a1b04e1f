//! Growth: no field of any log makes reading slower than the number of its lines does.
//!
//! `cargo bench --bench growth`, or `-- AGENT…` for some agents. For each field of each kind of line in the fixtures, a
//! log repeats that line with new ids. Where the field is an id, it has one value in all of them; where not, another one
//! in each. Where `report` or `ls --totals --by model` takes longer than with new ids alone, the processor time at 2,000
//! and at 16,000 lines gives the exponent of the growth. Fails if one is above 1.2. Documents and databases are not part of it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;

use common::measure::{ctxgauge, once, serve};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FEW: usize = 2_000;
const MANY: usize = 16_000;
const HIGHEST: f64 = 1.2;
/// A quicker reading is too short to measure its growth.
const SHORTEST: Duration = Duration::from_millis(150);
const COMMANDS: [&[&str]; 2] = [
    &["report", "--json"],
    &["ls", "--totals", "--by", "model", "--json"],
];

fn main() {
    serve(&[]);
    let agents: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut findings = 0;
    for folder in listed(&fixtures) {
        let agent = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if agents.is_empty() || agents.contains(&agent) {
            findings += fields_of(&agent, &folder);
        }
    }
    assert_eq!(findings, 0, "fields above n^{HIGHEST}");
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Measures each field of an agent's lines. Returns the number of those that grow too fast.
fn fields_of(agent: &str, folder: &Path) -> usize {
    let (mut seen, mut findings) = (BTreeSet::new(), 0);
    for fixture in listed(folder) {
        let Ok(log) = fs::read_to_string(fixture.join("log.jsonl")) else {
            continue;
        };
        for line in log.lines() {
            let Ok(record @ Value::Object(_)) = serde_json::from_str(line) else {
                continue;
            };
            let kind = kind_of(&record);
            let mut fields = fields(&record);
            fields.retain(|field| seen.insert(format!("{kind} {field}")));
            if fields.is_empty() {
                continue;
            }
            for command in COMMANDS {
                let logs = Logs {
                    log: &log,
                    record: &record,
                    command,
                };
                let usual = logs.time("", MANY);
                // No field has this name: all ids are new.
                for field in std::iter::once("").chain(fields.iter().map(String::as_str)) {
                    let is_slow = || logs.time(field, MANY) > usual.max(SHORTEST).mul_f64(1.4);
                    if (field.is_empty() || is_slow())
                        && let Some(growth) = logs.growth(field).filter(|it| *it > HIGHEST)
                    {
                        println!("{agent} {kind} {field}: n^{growth:.2} in {}", command[0]);
                        findings += 1;
                    }
                }
            }
        }
    }
    println!("{agent}: {} fields", seen.len());
    findings
}

/// Logs that end with copies of one of their lines, and the command that reads them.
struct Logs<'l> {
    log: &'l str,
    record: &'l Value,
    command: &'l [&'l str],
}

impl Logs<'_> {
    /// Returns the exponent with which reading grows, by the least of three times; `None`: it is too quick to measure.
    fn growth(&self, field: &str) -> Option<f64> {
        let least = |lines| (0..3).map(|_| self.time(field, lines)).min().unwrap();
        let many = least(MANY);
        if many < SHORTEST {
            return None;
        }
        let none = least(0);
        let [few, many] = [least(FEW), many].map(|time| time.saturating_sub(none).as_secs_f64());
        Some((many / few.max(0.002)).ln() / (MANY as f64 / FEW as f64).ln())
    }

    fn time(&self, field: &str, lines: usize) -> Duration {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut text = self.log.to_owned();
        for nth in 0..lines {
            text.push_str(&changed(self.record, field, nth).to_string());
            text.push('\n');
        }
        fs::write(&path, text).unwrap();
        let arguments = [self.command, &[path.to_str().unwrap()]].concat();
        once(&ctxgauge(folder.path(), &arguments)).cpu
    }
}

/// Returns the record's n-th copy: ids are new in each but for the field, which is the same if it is an id, and new if
/// not.
fn changed(record: &Value, field: &str, nth: usize) -> Value {
    fn walk(value: &Value, path: &str, field: &str, nth: usize) -> Value {
        match value {
            Value::Object(object) => {
                let entries = object.iter();
                let walked = entries.map(|(key, value)| {
                    (
                        key.clone(),
                        walk(value, &format!("{path}/{key}"), field, nth),
                    )
                });
                Value::Object(walked.collect::<Map<_, _>>())
            }
            Value::Array(list) => {
                let elements = list.iter();
                elements
                    .map(|value| walk(value, &format!("{path}/*"), field, nth))
                    .collect()
            }
            _ if is_id(path) == (path == field) => value.clone(),
            Value::String(text) => format!("{text}-{nth}").into(),
            Value::Number(_) => nth.into(),
            _ => value.clone(),
        }
    }
    walk(record, "", field, nth)
}

/// Returns true if a field is an id by its name.
fn is_id(path: &str) -> bool {
    let name = path
        .rsplit('/')
        .find(|part| *part != "*")
        .unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    lower.ends_with("id") || lower == "key" || lower == "parent"
}

/// Returns the paths of all strings and numbers of a record, without those of arguments, which are text.
fn fields(record: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, all: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) if !path.ends_with("/input") && !path.ends_with("/args") => {
                for (key, value) in object {
                    walk(value, &format!("{path}/{key}"), all);
                }
            }
            Value::Array(list) => list
                .iter()
                .for_each(|value| walk(value, &format!("{path}/*"), all)),
            Value::String(_) | Value::Number(_) => drop(all.insert(path.to_owned())),
            _ => {}
        }
    }
    let mut all = BTreeSet::new();
    walk(record, "", &mut all);
    all
}

/// Returns the words by which a line's kind is recognised.
fn kind_of(record: &Value) -> String {
    ["/type", "/role", "/kind", "/message/role", "/payload/type"]
        .iter()
        .filter_map(|path| record.pointer(path)?.as_str())
        .collect::<Vec<_>>()
        .join("/")
}
