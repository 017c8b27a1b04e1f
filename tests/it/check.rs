//! `ctxgauge check`: what it prints, and the exit codes that scripts branch on.

use crate::support::{ctxgauge, manifest_folder, schema};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn fixture(path: &str) -> PathBuf {
    manifest_folder().join("tests/fixtures").join(path)
}

fn check(home: &Path, arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = ctxgauge(home);
    command.arg("check").args(arguments).args(paths);
    command.output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a check of all logs of Claude Code, and reads its JSON.
fn json(arguments: &[&str]) -> (Value, Option<i32>) {
    let home = tempfile::tempdir().unwrap();
    let arguments = [arguments, &["--json"]].concat();
    let output = check(home.path(), &arguments, &[&fixture("claude-code")]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    schema::check("bounds-1.json", &document);
    (document, output.status.code())
}

#[test]
fn a_bound_that_is_passed_ends_with_1_and_has_a_line() {
    let (document, code) = json(&["--max-tokens", "30k", "--max-item", "500"]);
    assert_eq!(code, Some(1));
    let passed = document["passed"].as_array().unwrap();
    let whats: Vec<&str> = passed
        .iter()
        .map(|of| of["what"].as_str().unwrap())
        .collect();
    assert!(
        whats.contains(&"tokens") && whats.contains(&"item"),
        "{whats:?}"
    );
    for of in passed {
        let number = |key: &str| of[key].as_f64().unwrap();
        assert!(number("value") > number("bound"), "{of}");
        assert!(
            (number("value") - number("bound") - number("by")).abs() < 0.2,
            "{of}"
        );
    }

    let home = tempfile::tempdir().unwrap();
    let arguments = ["--max-tokens", "30k", "--max-item", "500"];
    let output = check(home.path(), &arguments, &[&fixture("claude-code")]);
    assert_eq!(output.status.code(), Some(1));
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().count(), passed.len() + 1, "{lines}");
    assert!(lines.contains("more than 30.0k, since 20"), "{lines}");

    let arguments = [&arguments[..], &["--format", "github"]].concat();
    let output = check(home.path(), &arguments, &[&fixture("claude-code")]);
    assert_eq!(output.status.code(), Some(1));
    let lines = text(&output.stdout);
    assert!(
        lines
            .lines()
            .all(|line| line.starts_with("::error title=ctxgauge%3A "))
    );
    assert_eq!(lines.lines().count(), passed.len());
}

#[test]
fn where_no_bound_is_passed_it_ends_with_0() {
    let (document, code) = json(&["--max-percent", "1000", "--max-compactions", "1000"]);
    assert_eq!(
        (code, &document["passed"]),
        (Some(0), &serde_json::json!([]))
    );
    assert!(document["sessions"].as_u64().unwrap() > 20);
}

#[test]
fn what_was_and_is_no_more_counts_only_with_ever() {
    let compacted = fixture("claude-code/compact_boundary_keeps_nothing/log.jsonl");
    let home = tempfile::tempdir().unwrap();
    let code = |arguments: &[&str]| check(home.path(), arguments, &[&compacted]).status.code();
    assert_eq!(code(&["--max-tokens", "100k"]), Some(0));
    assert_eq!(code(&["--max-tokens", "100k", "--ever"]), Some(1));
    assert_eq!(code(&["--max-compactions", "0"]), Some(1));
}

#[test]
fn wrong_options_end_with_2_and_what_cannot_be_read_with_3() {
    let home = tempfile::tempdir().unwrap();
    let log = fixture("claude-code/thinking_stays/log.jsonl");
    let code = |arguments: &[&str], paths: &[&Path]| {
        let output = check(home.path(), arguments, paths);
        (output.status.code(), text(&output.stderr))
    };
    for wrong in [
        &[][..],
        &["--max-percent", "-1"],
        &["--max-percent", "much"],
        &["--max-tokens", "20 apples"],
        &["--max-item", "0"],
        &["--max-percent", "1", "--since", "never"],
        &["--max-percent", "1", "--since", "1d", "--session", "x"],
    ] {
        assert_eq!(code(wrong, &[&log]).0, Some(2), "{wrong:?}");
    }
    let bound = &["--max-percent", "80"][..];
    let missing = home.path().join("a\nmissing.jsonl");
    let (ended, message) = code(bound, &[&log, &missing]);
    assert_eq!(ended, Some(3));
    assert!(message.contains("no such file or folder"), "{message}");
    assert_eq!(
        message
            .lines()
            .filter(|line| line.starts_with("ctxgauge:"))
            .count(),
        1
    );
    // Nothing in the project of the working directory; an empty folder; no log; a session that there is not.
    assert_eq!(code(bound, &[]).0, Some(3));
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert_eq!(code(bound, &[&empty]).0, Some(3));
    let other = home.path().join("other.txt");
    fs::write(&other, "no log").unwrap();
    assert_eq!(code(bound, &[&other]).0, Some(3));
    assert_eq!(
        code(&["--max-percent", "1", "--session", "nobody"], &[&log]).0,
        Some(3)
    );
    let config = home.path().join("wrong.toml");
    fs::write(&config, "no such key").unwrap();
    let config = config.to_str().unwrap();
    assert_eq!(
        code(&["--max-percent", "1", "--config", config], &[&log]).0,
        Some(3)
    );
}

#[test]
fn sessions_are_selected_by_id_and_by_when_they_were_written() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("logs");
    fs::create_dir(&folder).unwrap();
    let from = fixture("claude-code/thinking_stays/log.jsonl");
    let (old, new) = (folder.join("old.jsonl"), folder.join("new.jsonl"));
    fs::copy(&from, &old).unwrap();
    let text = fs::read_to_string(&from).unwrap();
    let id = text
        .split("\"sessionId\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    fs::write(&new, text.replace(id, "another-session")).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().write(true).open(&old).unwrap();
    file.set_modified(long_ago).unwrap();
    let sessions = |arguments: &[&str]| {
        let arguments = [&["--max-tokens", "1", "--json"], arguments].concat();
        let output = check(home.path(), &arguments, &[&folder]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["sessions"].as_u64().unwrap()
    };
    assert_eq!(sessions(&[]), 2);
    assert_eq!(sessions(&["--since", "7d"]), 1);
    assert_eq!(sessions(&["--since", "1970-01-01"]), 2);
    assert_eq!(sessions(&["--session", "another-s"]), 1);
}
