//! Growth: no field of any log makes reading slower than the number of its lines does.
//!
//! `cargo bench --bench growth`, or `-- AGENT…` for some agents. For each field of each kind of line in the fixtures, a
//! log repeats that line with new ids. Where the field is an id, it has one value in all of them; where not, another one
//! in each. The processor time of `report` and of `ls --totals --by model` at 2,000 and at 16,000 lines gives the
//! exponent of the growth. Fails if one is above 1.2. Documents and databases are not part of it.
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
    let (mut seen, mut findings, mut steepest) = (BTreeSet::new(), 0, 0.0_f64);
    for fixture in listed(folder) {
        let Ok(log) = fs::read_to_string(fixture.join("log.jsonl")) else {
            continue;
        };
        for line in log.lines() {
            let Ok(record @ Value::Object(_)) = serde_json::from_str(line) else {
                continue;
            };
            let kind = kind_of(&record);
            for field in fields(&record) {
                if !seen.insert(format!("{kind} {field}")) {
                    continue;
                }
                for command in COMMANDS {
                    let growth = growth(&log, &record, &field, command);
                    steepest = steepest.max(growth.unwrap_or(0.0));
                    if let Some(growth) = growth.filter(|growth| *growth > HIGHEST) {
                        println!("{agent} {kind} {field}: n^{growth:.2} in {}", command[0]);
                        findings += 1;
                    }
                }
            }
        }
    }
    println!(
        "{agent}: {} fields, the steepest n^{steepest:.2}",
        seen.len()
    );
    findings
}

/// Returns the exponent with which reading grows; `None`: it is too quick to measure, or the log is not read.
fn growth(log: &str, record: &Value, field: &str, command: &[&str]) -> Option<f64> {
    let folder = tempfile::tempdir().unwrap();
    let time = |lines: usize| {
        let path = folder.path().join("log.jsonl");
        let mut text = log.to_owned();
        for nth in 0..lines {
            text.push_str(&changed(record, field, nth).to_string());
            text.push('\n');
        }
        fs::write(&path, text).unwrap();
        let arguments = [command, &[path.to_str().unwrap()]].concat();
        once(&ctxgauge(folder.path(), &arguments)).cpu
    };
    let exponent = || {
        let (none, few, many) = (time(0), time(FEW), time(MANY));
        let few = few.saturating_sub(none).as_secs_f64().max(0.001);
        let ratio = many.saturating_sub(none).as_secs_f64() / few;
        let exponent = ratio.ln() / (MANY as f64 / FEW as f64).ln();
        (many > SHORTEST).then_some(exponent)
    };
    let first = exponent()?;
    // Noise is not a finding: the least of three counts.
    let again = || exponent().unwrap_or(0.0);
    Some(if first > HIGHEST {
        first.min(again()).min(again())
    } else {
        first
    })
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
