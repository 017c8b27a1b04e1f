//! Bytes in a log that are no text: the line that holds them still gives its usage, and the damage is counted.

use crate::support::{ctxgauge, json_report, manifest_folder};
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Where the damage is: in a string of a record with a usage report.
const HERE: &str = "@@";

/// Logs of several agents, by the names of their files. Each ends with a usage report of 33,000 tokens.
const LOGS: [(&str, &str); 3] = [
    (
        "5e550000-0000-4000-8000-000000000001.jsonl",
        concat!(
            r#"{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"s","timestamp":"2026-09-20T10:00:00Z","version":"2.1.39","cwd":"/","message":{"role":"user","content":"Count the lamps."}}"#,
            "\n",
            r#"{"type":"assistant","uuid":"u2","parentUuid":"u1","isSidechain":false,"sessionId":"s","timestamp":"2026-09-20T10:00:01Z","version":"2.1.39","cwd":"/","requestId":"r1","message":{"model":"claude-opus-4-6","id":"m1","type":"message","role":"assistant","content":[{"type":"text","text":"Seven @@ lamps."}],"stop_reason":"end_turn","usage":{"input_tokens":32980,"output_tokens":20}}}"#,
            "\n",
        ),
    ),
    (
        "rollout-2026-09-20T10-00-00-5e550000-0000-4000-8000-000000000001.jsonl",
        concat!(
            r#"{"timestamp":"2026-09-20T10:00:00Z","type":"session_meta","payload":{"id":"5e550000-0000-4000-8000-000000000001","cwd":"/","cli_version":"0.146.0"}}"#,
            "\n",
            r#"{"timestamp":"2026-09-20T10:00:01Z","type":"event_msg","note":"a @@ note","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":32980,"output_tokens":20},"last_token_usage":{"input_tokens":32980,"output_tokens":20,"total_tokens":33000}}}}"#,
            "\n",
        ),
    ),
    (
        "2026-09-20T10-00-00-000Z_5e55.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"5e55","timestamp":"2026-09-20T10:00:00Z","cwd":"/"}"#,
            "\n",
            r#"{"type":"message","id":"e1","parentId":null,"timestamp":"2026-09-20T10:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"Seven @@ lamps."}],"api":"a","provider":"p","model":"brook-1","usage":{"input":32980,"output":20,"cacheRead":0,"cacheWrite":0,"totalTokens":33000},"stopReason":"stop"}}"#,
            "\n",
        ),
    ),
];

/// The report of these bytes, in a file of that name.
fn report(folder: &Path, name: &str, log: &[u8]) -> Value {
    let path = folder.join(name);
    fs::write(&path, log).unwrap();
    json_report(&path)
}

/// Damages logs, and checks that their usage is known as before.
fn costs_no_usage(damage: impl Fn(&str) -> Vec<u8>) {
    for (name, log) in LOGS {
        let folder = tempfile::tempdir().unwrap();
        let whole = report(folder.path(), name, log.as_bytes());
        let known = whole["context"]["known"].as_u64();
        assert_eq!(known, Some(33_000), "{name}");
        assert_eq!(whole["session"]["damaged"], Value::Null, "{name}");

        let damaged = report(folder.path(), name, &damage(log));
        assert_eq!(damaged["context"]["known"].as_u64(), known, "{name}");
        assert_eq!(damaged["session"]["unreadable"], 0, "{name}");
        assert_eq!(damaged["session"]["damaged"], 1, "{name}");
    }
}

/// The log with these bytes in place of a mark.
fn with(log: &str, mark: &str, bytes: &[u8]) -> Vec<u8> {
    let (before, after) = log.split_once(mark).unwrap();
    [before.as_bytes(), bytes, after.as_bytes()].concat()
}

#[test]
fn one_nul_in_a_string_costs_no_usage() {
    costs_no_usage(|log| with(log, HERE, b"\0"));
}

#[test]
fn one_invalid_byte_in_a_string_costs_no_usage() {
    for bytes in [&b"\x80"[..], b"\xff\xfe", b"\xe6\xbc"] {
        costs_no_usage(|log| with(log, HERE, bytes));
    }
}

#[test]
fn a_raw_escape_or_tab_in_a_string_costs_no_usage() {
    for bytes in [&b"\x1b[31m"[..], b"\t", b"\r", b"\x01\x02"] {
        costs_no_usage(|log| with(log, HERE, bytes));
    }
}

#[test]
fn bytes_that_are_no_text_between_values_cost_no_usage() {
    for bytes in [&b"\0"[..], b"\x80", b"\x0b\xff"] {
        let bytes = [b",", bytes, b"\"output"].concat();
        costs_no_usage(|log| with(log, ",\"output", &bytes));
    }
}

#[test]
fn a_line_after_thousands_of_nuls_of_a_crash_is_read() {
    let nuls = vec![0; 10_000];
    costs_no_usage(|log| {
        let last = log.trim_end().rfind('\n').unwrap() + 1;
        [&log.as_bytes()[..last], &nuls, &log.as_bytes()[last..]].concat()
    });
    costs_no_usage(|log| [log.trim_end().as_bytes(), &nuls, b"\n"].concat());
}

#[test]
fn a_line_of_nuls_alone_is_counted_as_unreadable() {
    for (name, log) in LOGS {
        let folder = tempfile::tempdir().unwrap();
        let log = [log.as_bytes(), &[0; 5_000], b"\n"].concat();
        let report = report(folder.path(), name, &log);
        assert_eq!(report["context"]["known"], 33_000, "{name}");
        assert_eq!(report["session"]["unreadable"], 1, "{name}");
    }
}

#[test]
fn damage_is_said_in_the_report_and_costs_nothing_in_the_list() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let (name, log) = LOGS[0];
    let path = folder.join(name);
    fs::write(&path, with(log, HERE, b"\0")).unwrap();
    let output = ctxgauge(home.path()).arg("report").arg(&path).output();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 damaged line, read without"), "{text}");
    let output = ctxgauge(home.path()).args(["ls", "--json"]).output();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list["sessions"][0]["context"]["known"], 33_000);
}

#[test]
fn a_usage_column_of_a_database_that_holds_text_makes_no_known_number() {
    let databases = [
        ("hermes/one_request", "state.db", "input_tokens"),
        ("hermes/one_request", "state.db", "cache_read_tokens"),
        ("goose/schema_5", "sessions.db", "input_tokens"),
    ];
    for (fixture, name, column) in databases {
        let sql = manifest_folder().join("tests/fixtures").join(fixture);
        let sql = fs::read_to_string(sql.join("log.sql")).unwrap();
        let report = |change: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            let database = Connection::open(&path).unwrap();
            database.execute_batch(&sql).unwrap();
            database.execute_batch(change).unwrap();
            drop(database);
            json_report(&path)
        };
        let whole = report("");
        assert!(whole["context"]["known"].as_u64() > Some(0), "{fixture}");
        for odd in ["'many'", "x'00ff'", "-5", "1e30"] {
            let report = report(&format!("UPDATE sessions SET {column} = {odd}"));
            let (known, session) = (&report["context"]["known"], &report["session"]);
            assert_eq!(*known, 0, "{fixture} {column} {odd}");
            assert_eq!(session["unreadable_usage"], 1, "{fixture} {column} {odd}");
            assert_eq!(session["unreadable"], 0, "{fixture} {column} {odd}");
        }
    }
}
