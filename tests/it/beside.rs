//! What agents write beside their logs, through the whole program: Copilot CLI's telemetry.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const SESSION: &str = "5e000000-0000-4000-8000-000000000007";

/// A home with a session, and what its telemetry says.
fn home() -> (tempfile::TempDir, PathBuf, String) {
    let home = tempfile::tempdir().unwrap();
    let case = manifest_folder().join("tests/fixtures/copilot-cli/telemetry_tells_prompts");
    let folder = home.path().join(".copilot/session-state").join(SESSION);
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("events.jsonl");
    fs::copy(case.join("log.jsonl"), &log).unwrap();
    let spans = fs::read_to_string(case.join("otel.jsonl")).unwrap();
    (home, log, spans)
}

fn report(home: &Path, log: &Path, exported: Option<&Path>) -> Value {
    let mut command = ctxgauge(home);
    if let Some(path) = exported {
        command.env("COPILOT_OTEL_FILE_EXPORTER_PATH", path);
    }
    let output = command.args(["report", "--json"]).arg(log).output();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn assert_joined(report: &Value) {
    let calls = report["calls"].as_array().unwrap();
    let inputs: Vec<u64> = calls
        .iter()
        .filter_map(|call| call["input"].as_u64())
        .collect();
    assert_eq!(
        inputs,
        [22_799, 23_610],
        "side calls and other sessions' are none of its own"
    );
    // The prompt and the output of the second response; what the user has said since is estimated.
    assert_eq!(report["context"]["known"], 23_610 + 31);
    assert_eq!(report["context"]["source"], "delta");
    assert_eq!(report["context"]["window_source"], "log");
}

#[test]
fn prompts_are_known_where_telemetry_is_written() {
    let (home, log, spans) = home();
    assert_eq!(report(home.path(), &log, None)["context"]["known"], 0);

    let named = home.path().join("elsewhere.jsonl");
    fs::write(&named, &spans).unwrap();
    assert_joined(&report(home.path(), &log, Some(&named)));

    let folder = home.path().join(".copilot/otel");
    fs::create_dir_all(&folder).unwrap();
    fs::rename(&named, folder.join("spans.jsonl")).unwrap();
    assert_joined(&report(home.path(), &log, None));

    let totals = ctxgauge(home.path())
        .args(["ls", "--totals", "--json"])
        .output();
    let totals: Value = serde_json::from_slice(&totals.stdout).unwrap();
    assert_eq!(totals["totals"]["copilot-cli"]["input"], 22_799 + 23_610);
}

#[test]
fn the_gauge_moves_when_telemetry_comes_late() {
    let (home, _, spans) = home();
    let folder = home.path().join(".copilot/otel");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("spans.jsonl");
    fs::write(&file, "").unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for("the session, estimated", |s| {
        s.contains("shop") && !s.contains("23.")
    });
    let mut file = OpenOptions::new().append(true).open(&file).unwrap();
    for line in spans.split_inclusive('\n') {
        let (head, tail) = line.split_at(line.len() / 2);
        file.write_all(head.as_bytes()).unwrap();
        file.write_all(tail.as_bytes()).unwrap();
    }
    monitor.wait_for_text("23.");
}

#[test]
fn a_conversation_in_lines_has_the_numbers_of_its_database() {
    let home = tempfile::tempdir().unwrap();
    let cases = manifest_folder().join("tests/fixtures/antigravity");
    let folder = home.path().join(".gemini/antigravity-cli");
    let id = "a6000000-0000-4000-8000-000000000001";
    let lines = folder.join(format!(
        "brain/{id}/.system_generated/logs/transcript.jsonl"
    ));
    let database = folder.join(format!("conversations/{id}.db"));
    for path in [&lines, &database] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    fs::copy(
        cases.join("checkpoint_in_place_of_history/log.jsonl"),
        &lines,
    )
    .unwrap();
    let all = || {
        let output = ctxgauge(home.path()).args(["ls", "--json"]).output();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        list["sessions"].as_array().unwrap().clone()
    };
    assert_eq!(all()[0]["context"]["known"], 0);

    let sql = fs::read_to_string(cases.join("numbers_of_the_database_alone/log.sql")).unwrap();
    let writer = rusqlite::Connection::open(&database).unwrap();
    writer.execute_batch(&sql).unwrap();
    drop(writer);
    let sessions = all();
    assert_eq!(sessions.len(), 1, "one conversation, kept twice");
    assert_eq!(sessions[0]["project"], "harbour");
    assert_eq!(sessions[0]["model"], "gemini-3-pro");
    assert_eq!(sessions[0]["context"]["known"], 10_256 + 33);
    let report = report(home.path(), &lines, None);
    let calls = report["calls"].as_array().unwrap().iter();
    let inputs: Vec<u64> = calls.filter_map(|call| call["input"].as_u64()).collect();
    assert_eq!(inputs, [9_200, 9_916, 10_256]);
    assert_eq!(report["session"]["cwd"], "/home/dev/harbour");

    // The database is the log where there are no lines.
    fs::remove_file(&lines).unwrap();
    let sessions = all();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["context"]["known"], 10_504 + 20);
    assert_eq!(sessions[0]["project"], "harbour");
}
