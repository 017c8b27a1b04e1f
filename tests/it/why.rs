//! `ctxgauge why` through the whole program.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder, schema};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A log with a cause that the provider logged, and one that nobody knows, which tries to control the terminal.
const LOG: &str = "tests/fixtures/claude-code/rebuilt_cache_has_a_cause/log.jsonl";

fn why(home: &Path, arguments: &[&str]) -> String {
    let log = manifest_folder().join(LOG);
    let mut command = ctxgauge(home);
    let output = command.arg("why").arg(log).args(arguments).output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn rebuilt_caches_are_listed_by_the_providers_cause_with_what_to_change() {
    let home = tempfile::tempdir().unwrap();
    let text = why(home.path(), &[]);
    assert!(
        text.contains("the cache was rebuilt: tools changed"),
        "{text}"
    );
    assert!(
        text.contains("connect servers and plugins before"),
        "{text}"
    );
    // An unknown cause is shown as it is, and is inert.
    assert!(
        text.contains("new_reason") && !text.contains('\x1b'),
        "{text}"
    );
    // What was kept of the log gives the same.
    assert_eq!(why(home.path(), &[]), text);
}

#[test]
fn findings_are_in_order_and_have_no_sum() {
    let home = tempfile::tempdir().unwrap();
    let found: Value = serde_json::from_str(&why(home.path(), &["--json"])).unwrap();
    schema::check("why-1.json", &found);
    let findings = found["findings"].as_array().unwrap();
    let costs: Vec<f64> = findings
        .iter()
        .filter_map(|finding| finding["cost_usd"].as_f64())
        .collect();
    assert!(
        costs.len() > 1 && costs.is_sorted_by(|a, b| a >= b),
        "{costs:?}"
    );
    let keys = found.as_object().unwrap().keys();
    let of_sums = keys.filter(|key| key.contains("saving") || key.contains("grade"));
    assert_eq!(of_sums.count(), 0, "{found}");
    let agents = findings.iter().map(|finding| &finding["agent"]);
    assert!(agents.into_iter().all(|agent| agent == "claude-code"));
}

#[test]
fn a_report_has_the_findings_of_its_session_in_the_same_words() {
    let home = tempfile::tempdir().unwrap();
    let report = |arguments: &[&str]| {
        let mut command = ctxgauge(home.path());
        let log = manifest_folder().join(LOG);
        let output = command.arg("report").arg(log).args(arguments).output();
        String::from_utf8(output.stdout).unwrap()
    };
    let listed: Value = serde_json::from_str(&why(home.path(), &["--json"])).unwrap();
    let reported: Value = serde_json::from_str(&report(&["--json"])).unwrap();
    let (listed, reported) = (&listed["findings"], &reported["findings"]);
    let rebuilds = listed.as_array().unwrap().iter();
    let rebuilds: Vec<&Value> = rebuilds.filter(|it| it["kind"] == "rebuild").collect();
    assert!(rebuilds.len() > 1, "{listed}");
    for (of_all, of_one) in rebuilds.iter().zip(reported.as_array().unwrap()) {
        for key in [
            "kind", "about", "what", "count", "tokens", "cost_usd", "act",
        ] {
            assert_eq!(of_all[key], of_one[key], "{key}");
        }
    }
    let text = report(&[]);
    for part in ["1. the cache was rebuilt: ", "connect servers and plugins"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A redacted report names no cause that nobody knows.
    let page = report(&["--format", "markdown"]);
    assert!(
        page.contains("the cache was rebuilt: tools changed"),
        "{page}"
    );
    assert!(
        !page.contains("new reason") && !page.contains('\x1b'),
        "{page}"
    );
}

/// A log with a result that the agent cut, and which ten requests carried.
fn cut_result() -> String {
    let line = |n: usize, kind: &str, message: Value| {
        let parent = n.checked_sub(1).map(|before| format!("u{before}"));
        let record = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": format!("u{n}"),
            "timestamp": format!("2026-11-20T10:{n:02}:00.000Z"), "requestId": format!("req_{n}"),
            "cwd": "/home/dev/shop", "sessionId": "4eb2", "version": "2.1.330",
        });
        format!("{record}\n")
    };
    let rows: String = (0..600)
        .map(|row| format!("row {row} of the table\n"))
        .collect();
    let result = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": format!("{rows}[Output truncated]\n")},
    ]});
    let answer = |n: usize, content: Value| {
        let prompt = 40_000 + 400 * n;
        json!({
            "model": "claude-opus-5", "id": format!("msg_{n}"), "type": "message", "role": "assistant", "content": [content],
            "usage": {"input_tokens": 400, "cache_creation_input_tokens": 0, "cache_read_input_tokens": prompt, "output_tokens": 90},
        })
    };
    let call =
        json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat table"}});
    let mut log = line(
        0,
        "user",
        json!({"role": "user", "content": "look at the table"}),
    );
    log += &line(1, "assistant", answer(1, call));
    log += &line(2, "user", result);
    for n in (3..30).step_by(2) {
        log += &line(
            n,
            "assistant",
            answer(n, json!({"type": "text", "text": "So it is."})),
        );
        log += &line(
            n + 1,
            "user",
            json!({"role": "user", "content": "and then?"}),
        );
    }
    log
}

#[test]
fn the_tab_reads_the_texts_goes_to_their_item_and_back_and_without_it() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("4eb2.jsonl");
    fs::write(&log, cut_result()).unwrap();
    let mut monitor = Monitor::open(home.path(), &[log.to_str().unwrap()], (120, 40));
    monitor.wait_for_text("look at the table");
    monitor.press("8");
    let tab = monitor.wait_for_text("results of Bash were cut");
    assert!(tab.contains("limit what the command prints"), "{tab}");
    monitor.press("⏎");
    monitor.wait_for("its item", |screen| {
        let selected = screen.lines().find(|line| line.starts_with('▌'));
        selected.is_some_and(|line| line.contains("T Bash"))
    });
    monitor.press("⎋");
    monitor.wait_for_text("results of Bash were cut");
    monitor.press("m");
    monitor.wait_for_text("without 1 marked");
    monitor.press("⎋");
    monitor.wait_for_text("results of Bash were cut");
    // A session that has grown is read again.
    let grown = cut_result()
        .replace("4eb2", "4eb3")
        .replace("[Output truncated]", "");
    fs::write(&log, grown).unwrap();
    monitor.play_until("nothing is found", |screen| {
        !screen.contains("results of Bash were cut")
    });
}
