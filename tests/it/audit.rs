//! The audit of made-up logs, and what else shows how good the numbers are.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, json_report, manifest_folder};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const ESTIMATORS: [&str; 8] = [
    "outputs",
    "chars4",
    "chars35",
    "o200k",
    "o200k-tools",
    "last-total",
    "delta",
    "calibrated",
];

fn run(arguments: &[&str], paths: &[&Path]) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    let output = command.args(arguments).args(paths).output();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    String::from_utf8(output.stdout).unwrap()
}

fn audit(arguments: &[&str], path: &Path) -> Value {
    let arguments = [&["audit", "--json"], arguments].concat();
    serde_json::from_str(&run(&arguments, &[path])).unwrap()
}

#[test]
fn an_audit_begins_with_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let fixture = manifest_folder().join("tests/fixtures/claude-code");
    fs::copy(fixture.join("response_in_several_lines/log.jsonl"), &log).unwrap();
    let text = run(&["audit"], &[&log]);
    assert!(
        text.starts_with("verdict: `calibrated` is at most "),
        "{text}"
    );
    assert!(text.contains("\n1 request, 1 log\n"), "{text}");
}

/// A conversation of so many steps: the model says something and calls a tool, the tool gives back
/// more or less. The provider counts a third more than the words, and frames each message.
fn made_up(session: &str, steps: u64) -> String {
    made_up_at(session, steps, 1)
}

/// The same of a provider that counts `times` as many tokens.
fn made_up_at(session: &str, steps: u64, times: u64) -> String {
    let mut lines = Vec::new();
    let mut parent = Value::Null;
    let mut push = |kind: &str, message: Value, request: Option<u64>| {
        let uuid = format!("u{}", lines.len());
        let line = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
            "requestId": request.map(|n| format!("req_{n}")), "uuid": uuid, "sessionId": session,
            "timestamp": format!("2026-09-20T10:{:02}:{:02}.000Z", lines.len() / 60, lines.len() % 60),
            "cwd": "/home/dev/shop", "version": "2.1.219",
        });
        parent = json!(uuid);
        lines.push(line.to_string());
    };
    let words = |n: u64, seed: u64| -> String {
        let word =
            |i| ["alpha", "river", "stone", "window", "garden"][((i * 7 + seed) % 5) as usize];
        (0..n).map(word).collect::<Vec<_>>().join(" ")
    };
    push(
        "user",
        json!({ "role": "user", "content": "look around" }),
        None,
    );
    let mut prompt = 20_000;
    for step in 0..steps {
        let output = 40 + step % 7;
        let call = json!({
            "model": "claude-opus-4-8", "id": format!("m{step}"), "type": "message", "role": "assistant",
            "content": [{ "type": "tool_use", "id": format!("t{step}"), "name": "Read", "input": { "n": step } }],
            "stop_reason": "tool_use",
            "usage": { "input_tokens": 3, "cache_creation_input_tokens": 0,
                       "cache_read_input_tokens": prompt - 3, "output_tokens": output },
        });
        push("assistant", call, Some(step));
        let size = 20 + (step * 97) % 900;
        let result = json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("t{step}"), "content": words(size, step) },
        ]});
        push("user", result, None);
        prompt += output + size * 4 / 3 * times + 20;
    }
    lines.join("\n") + "\n"
}

#[test]
fn findings_of_the_first_half_are_compared_with_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let all = made_up_at("a", 400, 3).replace("\"Read\"", "\"Bash\"");
    // After the first 60 of 400 requests, no line is long.
    let is_late = |nth: usize| nth > 120;
    let small = all.lines().enumerate().map(|(nth, line)| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let result = line.pointer_mut("/message/content/0/content");
        if let Some(Value::String(result)) = result.filter(|_| is_late(nth)) {
            result.truncate(1_400);
        }
        format!("{line}\n")
    });
    let small: String = small.collect();
    for (text, held) in [(all, 1), (small, 0)] {
        let log = write(folder.path(), "log.jsonl", &text);
        let found = audit(&["--why"], &log);
        let kinds = json!({ "found": 1, "held": held });
        assert_eq!(found["kinds"]["oversized"], kinds, "{found}");
        assert_eq!(found["sessions"], 1, "{found}");
        // The context grows, so a smaller window saves more of the second half.
        let window = &found["windows"][0];
        let [promised, rest] = ["promised", "rest"].map(|key| window[key].as_f64().unwrap());
        assert!(0.0 < promised && promised < rest && rest < 1.0, "{window}");
        let shown = run(&["audit", "--why"], &[&log]);
        assert!(shown.contains("it came again"), "{shown}");
    }
    let short = write(folder.path(), "log.jsonl", &made_up("a", 12));
    assert_eq!(audit(&["--why"], &short)["sessions"], 0);
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_list_names_each_session_and_its_columns_stand() {
    let fixtures = manifest_folder().join("tests/fixtures");
    let logs = [
        "cursor/query_in_tags",
        "kimi/cli_wire_compaction",
        "droid/tools_and_reminders",
    ];
    let logs = logs.map(|case| fixtures.join(case).join("log.jsonl"));
    let told = run(&["ls"], &logs.each_ref().map(PathBuf::as_path));
    let table: Vec<&str> = told.lines().take_while(|line| !line.is_empty()).collect();
    let (heading, rows) = table.split_first().unwrap();
    assert_eq!(rows.len(), 3, "{told}");
    let ends = |line: &str, column: &str| {
        let end = heading.find(column).unwrap() + column.len();
        line.chars().nth(end - 1).is_some_and(|c| c != ' ') && line.chars().nth(end) == Some(' ')
    };
    for row in rows {
        assert!(ends(row, "CONTEXT") && ends(row, "HEADROOM"), "{told}");
    }
    for name in ["shop", "Why does the import fail?"] {
        assert!(told.contains(name), "{told}");
    }
}

#[test]
fn logs_without_reports_are_said_to_have_nothing_to_compare() {
    let log = manifest_folder().join("tests/fixtures/cursor/query_in_tags/log.jsonl");
    let told = run(&["audit"], &[&log]);
    assert!(
        told.starts_with("nothing to compare: no usage report"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1);
}

#[test]
fn an_audit_has_a_row_for_each_estimator_and_each_model() {
    let report = audit(&[], &manifest_folder().join("tests/fixtures"));
    assert_eq!(report["schema"], "ctxgauge.audit/1");
    let requests = report["requests"].as_u64().unwrap();
    assert!(requests > 0);
    let models = report["models"].as_object().unwrap();
    let groups = models.values().chain([&report, &report["main"]]);
    for group in groups {
        for name in ESTIMATORS {
            for number in ["p50", "p90", "p95", "p99", "bias", "worst"] {
                let error = &group["estimators"][name][number];
                assert!(error.is_f64(), "{name} {number}: {error}");
            }
            let number = |of: &Value, name: &str| of[name].as_u64().unwrap();
            let (of, decisions) = (&group["estimators"][name], &group["decisions"]);
            assert!(number(of, "false_alarms") <= number(decisions, "not_due"));
            assert!(number(of, "missed") <= number(decisions, "due"));
        }
        assert_eq!(
            group["estimators"].as_object().unwrap().len(),
            ESTIMATORS.len()
        );
        let covered = group["covered"].as_f64().unwrap();
        let unexplained = group["unexplained"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&covered) && unexplained >= 0.0);
        assert!(group["width"]["p50"].as_f64() <= group["width"]["p95"].as_f64());
    }
    let by_model: u64 = models
        .values()
        .map(|m| m["requests"].as_u64().unwrap())
        .sum();
    assert_eq!(by_model, requests);
    assert!(
        report["main"]["requests"].as_u64().unwrap() < requests,
        "sub-agents count too"
    );
    assert!(report.as_object().unwrap().contains_key("forecast"));
}

#[test]
fn what_was_learned_beats_what_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "log.jsonl", &made_up("5e55", 120));
    let report = audit(&["--worst", "3"], &log);
    let p95 = |name: &str| report["estimators"][name]["p95"].as_f64().unwrap();
    assert!(p95("calibrated") < p95("delta"));
    assert!(p95("delta") < p95("last-total"));
    assert!(p95("last-total") < p95("outputs"));
    // The requests whose prediction a report shows are those that were audited.
    let calls = json_report(&log);
    let calls = calls["calls"].as_array().unwrap().iter();
    let predicted: Vec<&Value> = calls.filter(|call| !call["predicted"].is_null()).collect();
    assert_eq!(report["requests"], predicted.len());
    let inside = predicted.iter().filter(|call| {
        let at = |name: &str| call[name].as_u64().unwrap();
        (at("predicted_low")..=at("predicted_high")).contains(&at("input"))
    });
    let covered = inside.count() as f64 / predicted.len() as f64;
    assert!((report["covered"].as_f64().unwrap() - covered).abs() < 1e-9);

    let worst = report["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 3);
    assert_eq!(worst[0]["error"].as_f64().unwrap().abs() as f32, {
        report["estimators"]["calibrated"]["worst"]
            .as_f64()
            .unwrap() as f32
    });
    let came: Vec<&str> = worst[0]["came"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["kind"].as_str().unwrap())
        .collect();
    assert_eq!(came, ["tool_call", "tool_result"]);
}

#[test]
fn the_worst_are_those_of_the_chosen_estimator() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "log.jsonl", &made_up("5e55", 40));
    let text = run(
        &["audit", "--estimator", "last-total", "--worst", "1"],
        &[&log],
    );
    assert!(text.contains("worst predictions by last-total"), "{text}");
    // The largest result that was not counted: 20 + 873 words.
    let misses: Vec<&str> = text
        .lines()
        .filter(|line| line.trim_start().starts_with("+ tool"))
        .collect();
    assert_eq!(misses.len(), 1, "{text}");
    assert!(misses[0].contains("Read"), "{text}");
    for name in ESTIMATORS {
        assert!(text.contains(name), "{name}");
    }
}

#[test]
fn a_request_that_several_logs_repeat_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.jsonl", &made_up("5e55", 30));
    let one = audit(&[], folder.path());
    write(folder.path(), "b.jsonl", &made_up("5e56", 33));
    let both = audit(&[], folder.path());
    assert_eq!(one["requests"], 29);
    assert_eq!((&both["requests"], &both["logs"]), (&json!(32), &json!(2)));
    assert_eq!(
        both,
        audit(&[], folder.path()),
        "the same logs, the same numbers"
    );
}

/// A conversation of so many steps with a window of 200,000, which is compacted at this size.
fn compacted(steps: u64, before: u64) -> String {
    let log = made_up("5e55", steps).replace("claude-opus-4-8", "claude-opus-4-6");
    let boundary = json!({
        "parentUuid": null, "isSidechain": false, "type": "system", "subtype": "compact_boundary",
        "content": "Conversation compacted", "uuid": "b0", "sessionId": "5e55",
        "timestamp": "2026-09-20T11:00:00.000Z", "version": "2.1.219",
        "compactMetadata": { "trigger": "auto", "preTokens": before },
    });
    format!("{log}{boundary}\n")
}

#[test]
fn the_forecast_is_held_against_compactions_that_took_place() {
    let folder = tempfile::tempdir().unwrap();
    let log = compacted(60, 60_000);
    write(folder.path(), "a.jsonl", &log);
    let forecast = audit(&[], folder.path())["forecast"].clone();
    assert_eq!(forecast["points"], 5);
    for before in ["3", "5", "10", "20", "40"] {
        assert_eq!(forecast["at"][before]["points"], 1, "{before}");
    }
    // A fork that repeats the compaction adds nothing.
    let fork = format!("{log}{{\"type\":\"summary\"}}\n");
    write(folder.path(), "b.jsonl", &fork);
    assert_eq!(audit(&[], folder.path())["forecast"], forecast);
    let text = run(&["audit"], &[folder.path()]);
    assert!(text.contains("straight line"), "{text}");
}

#[test]
fn decisions_are_counted_beside_the_errors() {
    let folder = tempfile::tempdir().unwrap();
    let log = compacted(200, 160_000);
    write(folder.path(), "a.jsonl", &log);
    let report = audit(&[], folder.path());
    // 199 requests, and the compaction, which shows that the trigger is 160,000 here.
    assert_eq!(report["decisions"], json!({ "due": 1, "not_due": 199 }));
    let wrong = |name: &str| {
        let of = &report["estimators"][name];
        (
            of["false_alarms"].as_u64().unwrap(),
            of["missed"].as_u64().unwrap(),
        )
    };
    assert_eq!(wrong("outputs"), (0, 1));
    assert_eq!(wrong("last-total"), (0, 1));
    let (false_alarms, missed) = wrong("chars35");
    assert!(false_alarms > 10 && missed == 0, "{false_alarms}");
    // A fork that repeats it adds nothing.
    let fork = format!("{log}{{\"type\":\"summary\"}}\n");
    write(folder.path(), "b.jsonl", &fork);
    assert_eq!(audit(&[], folder.path())["decisions"], report["decisions"]);
    let text = run(&["audit"], &[folder.path()]);
    assert!(text.contains("1 at the trigger, 199 below it"), "{text}");
    let wide: Vec<&str> = text
        .lines()
        .filter(|line| line.chars().count() > 80)
        .collect();
    // In a pipe sentences and facts are lines.
    let (verdict, others) = wide.split_at(2);
    assert!(verdict.iter().all(|line| line.ends_with('.')), "{wide:#?}");
    assert!(verdict[0].starts_with("verdict: `calibrated` is"), "{text}");
    assert!(others.iter().all(|line| line.ends_with(')')), "{wide:#?}");
}

#[test]
fn history_from_before_the_log_is_gone_after_a_compaction_wherever_it_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("5e55.jsonl");
    let case = "tests/fixtures/claude-code/begins_midway_then_compacts/log.jsonl";
    fs::copy(manifest_folder().join(case), &log).unwrap();
    let report = json_report(&log)["context"].clone();
    let listed = ctxgauge(home.path()).args(["ls", "--json"]).output();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let listed = &listed["sessions"][0]["context"];
    let number = |context: &Value, name: &str| context[name].as_u64().unwrap();
    // The summary and the usual prefix, not the 151,000 of which the log has next to nothing.
    assert!(
        (20_000..30_000).contains(&number(&report, "used")),
        "{report}"
    );
    assert!(
        number(&report, "used").abs_diff(number(listed, "used")) < 20,
        "{listed}"
    );
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("24.1k");
}

#[test]
fn nothing_to_audit_is_said() {
    let home = tempfile::tempdir().unwrap();
    let output = ctxgauge(home.path()).args(["audit", "--json"]).output();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && err.contains("no log"), "{err}");
}

#[test]
fn models_lists_its_tables_and_ones_own() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&folder).unwrap();
    let own = "[[model]]\nids = [\"mine-*\"]\nwindow = 77_000\ntokenizer = \"o200k\"\n";
    fs::write(folder.join("models.toml"), own).unwrap();
    let list = |arguments: &[&str]| {
        let output = ctxgauge(home.path()).arg("models").args(arguments).output();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&list(&["--json"])).unwrap();
    assert_eq!(json["schema"], "ctxgauge.models/1");
    assert_eq!(json["models"][0]["window"], 77_000);
    assert!(
        json["models"][0]["source"]
            .as_str()
            .unwrap()
            .ends_with("models.toml")
    );
    for (table, column) in [("models", "ids"), ("policies", "agent")] {
        for row in json[table].as_array().unwrap() {
            assert!(!row[column].is_null() && !row["source"].as_str().unwrap().is_empty());
        }
    }
    assert!(json["tokenizers"]["o200k"]["per_token"].is_number());
    let text = list(&[]);
    assert!(text.contains("mine-*") && text.contains("77.0k"), "{text}");
}
