//! Growth: no field of any log makes reading slower than the number of its lines does.
//!
//! `cargo bench --bench growth`, or `-- AGENT…` for some agents. For each field of each kind of line in the fixtures, a
//! log repeats that line with new ids. Where the field is an id, it has one value in all of them; where not, another one
//! in each. The processor time of `report` and `ls --totals --by model` at 1,000 and at 10,000 lines gives the exponent of
//! the growth, and where it is high, at 10,000 and at 40,000 lines. Fails if one is above 1.2; the other fields of that
//! line are left out then. All 3,600 fields take a quarter of an hour on one core; the largest agent takes two minutes.
//! Documents and databases are not part of it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;

use common::measure::{ctxgauge, environment, once, serve};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const FEW: usize = 1_000;
const MANY: usize = 10_000;
const HIGHEST: f64 = 1.2;
/// It stands for the number of a copy.
const PLACE: &str = "{nth}";
/// A quicker reading is too short to measure its growth.
const SHORTEST: Duration = Duration::from_millis(40);
/// A reading of so many seconds is slow whatever else the machine does.
const CLEAR: Duration = Duration::from_secs(3);
/// So many times the lines are read where the growth is high.
const MORE: usize = 4;
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
    let (mut seen, mut findings, mut highest) = (BTreeSet::new(), 0, 0.0_f64);
    for fixture in listed(folder) {
        let Ok(log) = fs::read_to_string(fixture.join("log.jsonl")) else {
            continue;
        };
        let logs = Logs::new(&log);
        for line in log.lines() {
            let Ok(record @ Value::Object(_)) = serde_json::from_str(line) else {
                continue;
            };
            let kind = kind_of(&record);
            for field in fields(&record) {
                if !seen.insert(format!("{kind} {field}")) {
                    continue;
                }
                let copies = changed(&record, &field);
                let mut steep = 0;
                for (command, growth) in COMMANDS.iter().zip(logs.growth(&copies)) {
                    highest = highest.max(growth);
                    if growth > HIGHEST {
                        println!("{agent} {kind} {field}: n^{growth:.2} in {}", command[0]);
                        steep += 1;
                    }
                }
                findings += steep;
                // The line's other fields would most likely take as long, for the same reason.
                if steep > 0 {
                    break;
                }
            }
        }
    }
    println!("{agent}: {} fields, at most n^{highest:.2}", seen.len());
    findings
}

/// Logs that end with copies of one of their lines.
struct Logs<'l> {
    log: &'l str,
    folder: TempDir,
    /// What each command takes for the log alone.
    alone: [Duration; COMMANDS.len()],
}

impl<'l> Logs<'l> {
    fn new(log: &'l str) -> Self {
        let mut logs = Logs {
            log,
            folder: tempfile::tempdir().unwrap(),
            alone: Default::default(),
        };
        logs.write("", 0);
        logs.alone = logs.times("", 0);
        logs
    }

    /// Returns the exponent with which each command grows; 0 where it is too quick to measure, or refuses the log.
    fn growth(&self, copies: &str) -> [f64; COMMANDS.len()] {
        self.write(copies, MANY);
        if self.is_refused() {
            return [0.0; COMMANDS.len()];
        }
        let many = self.times(copies, MANY);
        let growth = exponents(self.times(copies, FEW), many, MANY / FEW);
        let is_high = growth.iter().any(|growth| *growth > HIGHEST);
        if !is_high || many.iter().any(|time| *time > CLEAR) {
            return growth;
        }
        // Noise is a smaller part of more lines, and only ever adds to a time.
        let [many, more] = [MANY, MORE * MANY].map(|lines| {
            let [one, other] = [0; 2].map(|_| self.times(copies, lines));
            std::array::from_fn(|nth| one[nth].min(other[nth]))
        });
        exponents(many, more, MORE)
    }

    /// Returns the time of each command for this many copies, without that for the log alone.
    fn times(&self, copies: &str, lines: usize) -> [Duration; COMMANDS.len()] {
        self.write(copies, lines);
        let times = COMMANDS.map(|command| self.time(command));
        std::array::from_fn(|nth| times[nth].saturating_sub(self.alone[nth]))
    }

    fn write(&self, copies: &str, lines: usize) {
        let mut text = self.log.to_owned();
        for nth in 0..lines {
            // Of one length, so that they are also in order as strings.
            text.push_str(&copies.replace(PLACE, &(100_000 + nth).to_string()));
            text.push('\n');
        }
        fs::write(self.path(), text).unwrap();
    }

    /// Returns true if the log exceeds a limit of the program: each line of a room's log can be a record for everyone in
    /// it.
    fn is_refused(&self) -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxgauge"));
        environment(&mut command, self.folder.path());
        let output = command.arg("report").arg(self.path()).output().unwrap();
        String::from_utf8_lossy(&output.stderr).contains("it has more than")
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("log.jsonl")
    }

    fn time(&self, command: &[&str]) -> Duration {
        let path = self.path();
        let arguments = [command, &[path.to_str().unwrap()]].concat();
        once(&ctxgauge(self.folder.path(), &arguments)).cpu
    }
}

/// Returns the exponents of the growth from few lines to `times` as many; 0 where it is too quick to measure.
fn exponents<const N: usize>(few: [Duration; N], many: [Duration; N], times: usize) -> [f64; N] {
    std::array::from_fn(|nth| {
        let [few, many] = [few[nth], many[nth]].map(|time| time.as_secs_f64());
        let ratio = many / few.max(0.002);
        let is_measured = many > SHORTEST.as_secs_f64();
        if is_measured {
            ratio.log(times as f64)
        } else {
            0.0
        }
    })
}

/// Returns the line of a record's copies, with places for the number of the copy: ids are new in each but for the field,
/// which is the same if it is an id, and new if not.
fn changed(record: &Value, field: &str) -> String {
    fn walk(value: &Value, path: &str, field: &str) -> Value {
        match value {
            Value::Object(object) => {
                let entries = object.iter();
                let walked = entries.map(|(key, value)| {
                    (key.clone(), walk(value, &format!("{path}/{key}"), field))
                });
                Value::Object(walked.collect::<Map<_, _>>())
            }
            Value::Array(list) => {
                let elements = list.iter();
                elements
                    .map(|value| walk(value, &format!("{path}/*"), field))
                    .collect()
            }
            _ if is_id(path) == (path == field) => value.clone(),
            Value::String(text) if text.parse::<Timestamp>().is_ok() => {
                format!("{}.{PLACE}Z", &text[..19]).into()
            }
            Value::String(text) => format!("{text}-{PLACE}").into(),
            Value::Number(_) => PLACE.into(),
            _ => value.clone(),
        }
    }
    walk(record, "", field)
        .to_string()
        .replace(&format!("\"{PLACE}\""), PLACE)
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
    const NAMES: [&str; 4] = ["type", "subtype", "role", "kind"];
    let parts = ["", "/message", "/payload", "/payload/item", "/attachment"];
    let objects = parts.iter().filter_map(|path| record.pointer(path));
    objects
        .flat_map(|object| NAMES.iter().filter_map(|name| object.get(name)?.as_str()))
        .collect::<Vec<_>>()
        .join("/")
}
