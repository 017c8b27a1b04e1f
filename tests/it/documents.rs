//! What each document says, as text: its Markdown and its HTML are made of the same parts.

use crate::support::{ctxgauge, manifest_folder};
use std::fs;
use std::path::Path;

/// Runs a command on logs of this home.
fn run(home: &Path, arguments: &[&str], logs: &[&str]) -> String {
    let mut command = ctxgauge(home);
    let logs = logs.iter().map(|log| home.join(log));
    let output = command.args(arguments).args(logs).output();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    text.replace(home.to_str().unwrap(), "[home]")
}

#[test]
fn each_document_says_the_same_as_before() {
    let home = tempfile::tempdir().unwrap();
    let fixtures = manifest_folder().join("tests/fixtures/claude-code");
    for (fixture, name) in [
        ("compact_keeps_a_segment", "before.jsonl"),
        ("rewind_leaves_a_branch", "after.jsonl"),
    ] {
        let log = fixtures.join(fixture).join("log.jsonl");
        fs::copy(log, home.path().join(name)).unwrap();
    }
    let both = ["before.jsonl", "after.jsonl"];
    let documents: [(&[&str], &[&str]); 6] = [
        (&["report"], &both[..1]),
        (&["audit"], &both),
        (&["check", "--max-percent", "1"], &both[..1]),
        (&["diff"], &both),
        (&["models", "claude-opus-4-6"], &[]),
        (&["agents", "kiro"], &[]),
    ];
    for (arguments, logs) in documents {
        insta::assert_snapshot!(arguments[0], run(home.path(), arguments, logs));
    }
}
