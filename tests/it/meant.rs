//! What each fixture is about: `meant.toml` beside its log has one sentence, `about`, and three to ten values of
//! the log's report. A key is the path of a value in the JSON: the elements of a list have numbers, and `length`
//! is how many there are. TOML has no null: `"null"` stands for it.

use crate::fixtures::each_case;
use crate::support::{json_report, manifest_folder};
use serde_json::{Value, json};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

/// As many values as a reviewer takes in at a glance.
const VALUES: RangeInclusive<usize> = 3..=10;

/// Fewer words are a name.
const FEWEST_WORDS: usize = 5;

#[test]
fn every_fixture_has_the_values_that_it_is_about() {
    let mut wrong = Vec::new();
    each_case(|log, file| {
        let folder = manifest_folder().join("tests/fixtures");
        let folder = file.parent().unwrap().strip_prefix(folder).unwrap();
        let found = differences(log, file.parent().unwrap());
        wrong.extend(found.iter().map(|it| format!("{}: {it}", folder.display())));
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A line for everything in which a case's `meant.toml` is incomplete or differs from the report of its log.
fn differences(log: &Path, case: &Path) -> Vec<String> {
    let Ok(text) = fs::read_to_string(case.join("meant.toml")) else {
        return vec!["no meant.toml".to_owned()];
    };
    let mut meant = match text.parse::<toml::Table>() {
        Ok(meant) => meant,
        Err(error) => return vec![format!("meant.toml: {error}")],
    };
    let mut wrong = Vec::new();
    let about = meant.remove("about");
    if !about.is_some_and(|about| about.as_str().is_some_and(is_sentence)) {
        wrong.push(format!(
            "`about` is no sentence of {FEWEST_WORDS} words or more with a full stop"
        ));
    }
    let values = values(&meant);
    if !VALUES.contains(&values.len()) {
        let (fewest, most) = VALUES.into_inner();
        wrong.push(format!(
            "{} values instead of {fewest} to {most}",
            values.len()
        ));
    }
    let report = json_report(log);
    for (path, expected) in values {
        let found = path.iter().try_fold(report.clone(), element);
        if found.as_ref() != Some(&expected) {
            let found = found.map_or("nothing".to_owned(), |found| found.to_string());
            let path = path.join(".");
            wrong.push(format!("{path}: expected {expected}, found {found}"));
        }
    }
    wrong
}

fn is_sentence(text: &str) -> bool {
    text.ends_with('.') && text.split_whitespace().count() >= FEWEST_WORDS
}

/// The values in a table and in the tables inside it, with their paths.
fn values(table: &toml::Table) -> Vec<(Vec<&str>, Value)> {
    let mut values = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => {
                values.extend(self::values(inner).into_iter().map(|(mut path, value)| {
                    path.insert(0, key.as_str());
                    (path, value)
                }))
            }
            toml::Value::String(text) if text == "null" => {
                values.push((vec![key.as_str()], Value::Null));
            }
            value => values.push((vec![key.as_str()], json!(value))),
        }
    }
    values
}

/// The part of a JSON value that one key of a path names.
fn element(value: Value, key: &&str) -> Option<Value> {
    match value {
        Value::Object(mut object) => object.remove(*key),
        Value::Array(list) if *key == "length" => Some(json!(list.len())),
        Value::Array(list) => list.into_iter().nth(key.parse().ok()?),
        _ => None,
    }
}

#[test]
fn a_value_is_found_by_its_path() {
    let report = json!({"calls": [{"input": 5, "a.b/c": null}]});
    let at = |path: &[&str]| path.iter().try_fold(report.clone(), element);
    assert_eq!(at(&["calls", "0", "input"]), Some(json!(5)));
    assert_eq!(at(&["calls", "0", "a.b/c"]), Some(Value::Null));
    assert_eq!(at(&["calls", "length"]), Some(json!(1)));
    assert_eq!(at(&["calls", "1", "input"]), None);
    assert_eq!(at(&["calls", "0", "output"]), None);
}

#[test]
fn what_is_not_as_meant_is_one_line_each() {
    let case = tempfile::tempdir().unwrap();
    let log = manifest_folder().join("tests/fixtures/codex/manual-compaction/log.jsonl");
    let differences_of = |meant: &str| {
        fs::write(case.path().join("meant.toml"), meant).unwrap();
        differences(&log, case.path())
    };
    assert_eq!(differences(&log, case.path()), ["no meant.toml"]);
    assert_eq!(
        differences_of("about = \"Too short.\"\ncalls.0.input = 5001\ncalls.9.input = \"null\""),
        [
            "`about` is no sentence of 5 words or more with a full stop",
            "2 values instead of 3 to 10",
            "calls.0.input: expected 5001, found 5000",
            "calls.9.input: expected null, found nothing",
        ]
    );
    let right = "about = \"The first request has an answer.\"
        calls.length = 1
        calls.0.input = 5000
        compaction.past.0.after = \"null\"";
    assert_eq!(differences_of(right), [""; 0]);
}
