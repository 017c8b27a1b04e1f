//! Numbers of hostile and damaged logs: none is shown as known that is not, and what could not be read is said.

use crate::support::{ctxgauge, json_report};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A log of Claude Code in its place below a home.
fn claude(home: &Path, lines: &[Value]) -> PathBuf {
    let path =
        home.join(".claude/projects/-home-dev-shop/5e550000-0000-4000-8000-000000000001.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines = lines.iter().map(|line| format!("{line}\n"));
    fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

/// A record of Claude Code's: the `n`th, after the one before it.
fn record(n: usize, kind: &str, more: &Value) -> Value {
    let mut record = json!({
        "parentUuid": format!("u{}", n - 1), "isSidechain": false, "type": kind, "uuid": format!("u{n}"),
        "timestamp": format!("2026-09-20T10:00:{n:02}.000Z"), "cwd": "/home/dev/shop",
        "sessionId": "5e550000-0000-4000-8000-000000000001", "version": "2.1.39",
    });
    let fields = more.as_object().unwrap().clone();
    record.as_object_mut().unwrap().extend(fields);
    record
}

fn user(n: usize, text: &str) -> Value {
    record(
        n,
        "user",
        &json!({"message": {"role": "user", "content": text}}),
    )
}

fn answer(n: usize, usage: &Value) -> Value {
    record(
        n,
        "assistant",
        &json!({"requestId": format!("r{n}"), "message": {
            "model": "claude-opus-4-6", "id": format!("m{n}"), "type": "message", "role": "assistant",
            "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn", "usage": usage,
        }}),
    )
}

fn usage(written: u64, read: u64) -> Value {
    json!({"input_tokens": 3, "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
        "output_tokens": 20})
}

/// A session's context in `ls`.
fn listed(home: &Path) -> Value {
    let output = ctxgauge(home).args(["ls", "--json"]).output();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    list["sessions"][0]["context"].clone()
}

#[test]
fn one_unreadable_part_of_a_usage_makes_no_known_number_and_is_said() {
    let home = tempfile::tempdir().unwrap();
    let odd = ["\"many\"", "-1", "18446744073709551615", "1e30", "[33000]"];
    for odd in odd {
        let mut numbers = usage(0, 0);
        numbers["cache_read_input_tokens"] = json!("ODD");
        let path = claude(
            home.path(),
            &[user(1, "Count the lamps."), answer(2, &numbers)],
        );
        let text = fs::read_to_string(&path).unwrap().replace("\"ODD\"", odd);
        fs::write(&path, text).unwrap();

        let report = json_report(&path);
        assert_eq!(report["context"]["known"], 0, "{odd}");
        assert!(report["context"]["estimated"].as_u64() > Some(3), "{odd}");
        assert_eq!(report["session"]["unreadable_usage"], 1, "{odd}");
        assert_eq!(listed(home.path())["known"], 0, "{odd}");
        let text = ctxgauge(home.path()).arg("report").arg(&path).output();
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(
            text.contains("1 unreadable usage report: what is missing in them is estimated"),
            "{text}"
        );
    }
    // Whole numbers with a point are numbers, and what is absent or null counts as nothing.
    for (read, known) in [(json!(33_000.0), 33_023), (json!(null), 23)] {
        let mut numbers = usage(0, 0);
        numbers["cache_read_input_tokens"] = read;
        let path = claude(home.path(), &[answer(1, &numbers)]);
        let report = json_report(&path);
        assert_eq!(report["context"]["known"], known);
        assert_eq!(report["session"]["unreadable_usage"], Value::Null);
    }
}

#[test]
fn a_log_without_its_beginning_keeps_no_lost_history_after_a_compaction() {
    let home = tempfile::tempdir().unwrap();
    let boundary = json!({"parentUuid": null, "subtype": "compact_boundary", "content": "Conversation compacted",
        "logicalParentUuid": "u4", "compactMetadata": {"trigger": "auto", "preTokens": 150_300}});
    let summary = json!({"isCompactSummary": true, "message": {"role": "user",
        "content": "This session is being continued from a previous conversation. All is done."}});
    let path = claude(
        home.path(),
        &[
            user(1, "and now the tests"),
            answer(2, &usage(100, 150_000)),
            user(3, "go on"),
            answer(4, &usage(100, 150_100)),
            record(5, "system", &boundary),
            record(6, "user", &summary),
        ],
    );
    let context = json_report(&path)["context"].clone();
    // What this version sends beside the conversation is 20,000 to 30,000 tokens.
    let (low, high) = (context["low"].as_u64(), context["high"].as_u64());
    assert!(
        low < Some(20_000) && high > Some(30_000) && high < Some(60_000),
        "{context}"
    );
    let (whole, quick) = (
        context["used"].as_u64(),
        listed(home.path())["used"].as_u64(),
    );
    let apart = whole.unwrap().abs_diff(quick.unwrap());
    assert!(apart < 100, "{whole:?} {quick:?}");
}

#[test]
fn a_models_table_with_impossible_numbers_costs_those_rows_alone_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let path = claude(home.path(), &[answer(1, &usage(0, 33_000))]);
    let folder = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&folder).unwrap();
    for window in ["0", "inf", "nan", "-5", "9_223_372_036_854_775_807"] {
        let table = format!(
            "[[model]]\nids = [\"claude-opus-4-6\"]\nwindow = {window}\ntokenizer = \"claude-4\"\n\n\
             [[policy]]\nagent = \"claude-code\"\nname = \"mine\"\nshare = nan\n\n\
             [[policy]]\nagent = \"claude-code\"\nname = \"half\"\nshare = 0.5\n"
        );
        fs::write(folder.join("models.toml"), table).unwrap();
        let mut command = ctxgauge(home.path());
        let output = command.arg("report").arg(&path).arg("--json").output();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{window}: {error}");
        assert!(
            error.contains("models.toml: line 3: a [[model]] is not used"),
            "{error}"
        );
        assert!(error.contains("1 to 1,000,000,000 tokens"), "{error}");
        assert!(
            error.contains("line 9: a [[policy]] is not used"),
            "{error}"
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (used, window) = (&report["context"]["used"], &report["context"]["window"]);
        assert_eq!((used, window), (&json!(33_023), &json!(200_000)));
        assert_eq!(report["compaction"]["policy"], "half");
        assert_eq!(report["compaction"]["trigger"], 100_000);
    }
}

#[test]
fn an_impossible_window_in_a_log_is_none() {
    let home = tempfile::tempdir().unwrap();
    let path = home
        .path()
        .join("rollout-2026-09-20T10-00-00-5e550000-0000-4000-8000-000000000001.jsonl");
    let numbers = json!({"input_tokens": 9000, "cached_input_tokens": 0, "output_tokens": 10,
        "reasoning_output_tokens": 0, "total_tokens": 9010});
    for window in [
        "0",
        "-1",
        "1e30",
        "18446744073709551615",
        "999999999999",
        "\"big\"",
        "[]",
    ] {
        let lines = [
            json!({"timestamp": "2026-09-20T10:00:00Z", "type": "session_meta", "payload": {
                "id": "5e550000-0000-4000-8000-000000000001", "cwd": "/", "cli_version": "0.146.0"}}),
            json!({"timestamp": "2026-09-20T10:00:01Z", "type": "event_msg", "payload": {"type": "token_count",
                "info": {"total_token_usage": numbers, "last_token_usage": numbers, "model_context_window": "ODD"}}}),
        ];
        let text = lines.map(|line| format!("{line}\n")).concat();
        fs::write(&path, text.replace("\"ODD\"", window)).unwrap();
        let report = json_report(&path);
        assert_eq!(report["context"]["known"], 9_010, "{window}");
        assert_eq!(report["context"]["window_source"], "guessed", "{window}");
        let percent = report["context"]["percent"].as_f64().unwrap();
        assert!(percent > 0.0 && percent < 100.0, "{window}: {percent}");
    }
}
