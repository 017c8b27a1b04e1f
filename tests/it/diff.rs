//! Two sessions beside each other, or two moments of one.

use crate::support::{ctxgauge, manifest_folder, schema};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn run(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    command.arg("diff").args(arguments).output()
}

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let document = text(&[arguments, &["--json"]].concat());
    let document = serde_json::from_str(&document).unwrap();
    schema::check("diff-1.json", &document);
    document
}

/// A log whose first request defines a tool of an MCP server, and the same without the server.
fn with_and_without(folder: &Path) -> [PathBuf; 2] {
    let fixture = "tests/fixtures/claude-code/requests_say_what_they_hold/log.jsonl";
    let with = fs::read_to_string(manifest_folder().join(fixture)).unwrap();
    let (start, end) = (
        ",{\"name\":\"mcp__docs__search\"",
        "\"required\":[\"path\"]}}",
    );
    let without: Vec<String> = with
        .lines()
        .map(|line| match line.split_once(start) {
            Some((before, rest)) => {
                let (_, after) = rest.split_once(end).unwrap();
                format!("{before}{after}")
            }
            None => line.replace("\"input_tokens\":520,", "\"input_tokens\":397,"),
        })
        .collect();
    let without = without.join("\n") + "\n";
    assert_ne!(with, without);
    let paths = ["with", "without"].map(|name| folder.join(name).with_extension("jsonl"));
    for (path, text) in paths.iter().zip([with, without]) {
        fs::write(path, text).unwrap();
    }
    paths
}

#[test]
fn the_first_line_names_the_server_that_made_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let [with, without] = with_and_without(folder.path());
    let paths = [with.to_str().unwrap(), without.to_str().unwrap()];
    let shown = text(&paths);
    let first = shown.lines().next().unwrap();
    let expected = "First request: 520, then 397 (-123): MCP server docs -123";
    assert_eq!(first, expected, "{shown}");

    let document = json(&paths);
    assert_eq!(document["headline"], expected);
    assert_eq!(document["change"]["first_request"], -123);
    let servers = document["servers"].as_array().unwrap();
    let docs = servers.iter().find(|row| row["name"] == "docs").unwrap();
    assert_eq!(docs["changed"], "gone");
    assert_eq!(docs["after"], Value::Null);
    let markdown = text(&[&paths[..], &["--format", "markdown"]].concat());
    assert!(
        markdown.starts_with("# First request: 520, then 397 (-123): `MCP server docs` -123\n"),
        "{markdown}"
    );
    assert!(
        markdown.contains("\n| `docs` | 123 | — | -123 |\n"),
        "{markdown}"
    );
}

/// The sum of a column of rows.
fn sum(rows: &Value, side: &str) -> u64 {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[side]["tokens"].as_u64().unwrap_or(0))
        .sum()
}

#[test]
fn roles_add_up_to_the_context_on_both_sides() {
    insta::glob!("../fixtures", "claude-code/*/log.jsonl", |path| {
        let other = manifest_folder().join("tests/fixtures/codex/other-tools/log.jsonl");
        let document = json(&[path.to_str().unwrap(), other.to_str().unwrap()]);
        for side in ["before", "after"] {
            let used = document[side]["context"]["used"].as_u64().unwrap();
            assert_eq!(sum(&document["roles"], side), used, "{path:?}");
        }
        let rows = document["roles"].as_array().unwrap().iter();
        let change: i64 = rows.map(|row| row["change"].as_i64().unwrap()).sum();
        assert_eq!(document["change"]["context"], change);
        for row in document["items"].as_array().unwrap() {
            let tokens = |side: &str| row[side]["tokens"].as_i64().unwrap_or(0);
            assert_eq!(row["change"], tokens("after") - tokens("before"));
            assert_ne!(row["change"], 0);
        }
    });
}

#[test]
fn two_moments_of_a_session_are_those_of_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let [log, _] = with_and_without(folder.path());
    let log = log.to_str().unwrap();
    let document = json(&[log, "--from", "1", "--to", "2"]);
    assert_eq!(document["before"]["requests"], 1);
    assert_eq!(document["after"]["requests"], 2);
    assert_eq!(document["before"]["request"], 1);
    let (known, first) = (&document["before"]["context"], &document["before"]);
    assert!(known["known"].as_u64() >= first["first_request"].as_u64());
    let context = document["change"]["context"].as_i64().unwrap();
    assert!(
        context > 0
            && document["headline"]
                .as_str()
                .unwrap()
                .starts_with("Context: ")
    );
    let costs = ["before", "after"].map(|side| document[side]["cost_usd"].as_f64().unwrap());
    assert!(0.0 < costs[0] && costs[0] < costs[1], "{costs:?}");
    // Up to now it is all that there was.
    let last = json(&[log, "--from", "3"]);
    assert_eq!(last["change"]["requests"], 0);
}

#[test]
fn what_cannot_be_compared_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let [log, _] = with_and_without(folder.path());
    let log = log.to_str().unwrap();
    for (arguments, code, why) in [
        (&[][..], 2, "BEFORE"),
        (&[log, log], 2, "--from and --to"),
        (&[log, "--from", "2", "--to", "2"], 2, "--from and --to"),
        (&[log, "--from", "0"], 1, "there is no request 0"),
        (&[log, "--from", "99"], 1, "requests 1 to 3"),
        (&[log, "no-such-session"], 1, "no-such-session"),
    ] {
        let output = run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(why), "{arguments:?}: {error}");
    }
}

#[test]
fn a_session_is_found_by_its_id() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/shop");
    fs::create_dir_all(&folder).unwrap();
    let [with, without] = with_and_without(&folder);
    let other = fs::read_to_string(&without)
        .unwrap()
        .replace("5e55", "77aa");
    fs::write(&without, other).unwrap();
    fs::rename(&with, folder.join("5e55.jsonl")).unwrap();
    fs::rename(&without, folder.join("77aa.jsonl")).unwrap();
    let mut command = ctxgauge(home.path());
    let output = command.args(["diff", "5e55", "77aa"]).output();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.starts_with("First request: 520, then 397"), "{shown}");
}

#[test]
fn texts_of_the_log_mark_nothing_up() {
    let fixture = "tests/fixtures/claude-code/hostile_text_is_inert/log.jsonl";
    let hostile = manifest_folder().join(fixture);
    let folder = tempfile::tempdir().unwrap();
    let [_, other] = with_and_without(folder.path());
    let paths = [other.to_str().unwrap(), hostile.to_str().unwrap()];
    for format in ["text", "markdown", "html", "json"] {
        let shown = text(&[&paths[..], &["--format", format, "--items", "100"]].concat());
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{shown}");
        // In Markdown, texts of the log are code.
        let is_markdown = format == "markdown";
        let outside = shown.split('`').step_by(2).collect::<String>();
        assert!(!is_markdown || !outside.contains('<'), "{shown}");
    }
}
