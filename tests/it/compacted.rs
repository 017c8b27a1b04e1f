//! Before the first response, and between a compaction and the next one, no report holds anything of the context. All show
//! one number meanwhile.

use crate::support::claude::{Home, ID, log};
use crate::support::manifest_folder;
use serde_json::{Value, json};
use std::fs;

/// A text whose tokens are not those that its length suggests.
fn digits() -> String {
    let digits: Vec<String> = (0..3_000).map(|number| (number % 10).to_string()).collect();
    digits.join(" ")
}

fn compaction() -> String {
    let now = jiff::Timestamp::now();
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "u9", "parentUuid": null,
        "logicalParentUuid": "u2", "sessionId": ID, "timestamp": now, "content": "Conversation compacted",
        "compactMetadata": {"trigger": "manual", "preTokens": 165_100}});
    let summary = json!({"type": "user", "uuid": "u10", "parentUuid": "u9", "sessionId": ID, "isCompactSummary": true,
        "timestamp": now, "message": {"role": "user", "content": digits()}});
    format!("{boundary}\n{summary}\n")
}

/// The size of the context that a report has, in thousands.
fn reported(home: &Home) -> String {
    let report = printed(home, &["report", "--json", "--session", ID], &Value::Null);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["context"]["known"], 0);
    let hundreds = (report["context"]["used"].as_u64().unwrap() + 50) / 100;
    format!("{}.{}k", hundreds / 10, hundreds % 10)
}

fn printed(home: &Home, arguments: &[&str], input: &Value) -> String {
    let mut command = home.program(arguments);
    let output = command.input(input.to_string().as_bytes()).output();
    String::from_utf8(output.stdout).unwrap()
}

fn first_line(home: &Home, arguments: &[&str], input: &Value) -> String {
    let text = printed(home, arguments, input);
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn all_show_the_same_until_the_next_response() {
    let home = Home::with_log(165_000);
    let event = |name: &str| {
        json!({"session_id": ID, "transcript_path": home.log(), "cwd": "/shop", "hook_event_name": name,
            "trigger": "manual", "prompt": "Go on."})
    };
    let hook = |name| first_line(&home, &["hook", "--within", "600000"], &event(name));
    hook("PreCompact");
    fs::write(home.log(), log(165_000) + &compaction()).unwrap();

    let shown = reported(&home);
    let format = "{used} {tokens}";
    let line = first_line(
        &home,
        &["statusline", "--format", format],
        &home.input(Value::Null),
    );
    assert!(line.starts_with(&format!("{shown} ")), "{line}, {shown}");
    let status = first_line(
        &home,
        &["status", "--session", ID, "--format", format],
        &json!(null),
    );
    assert_eq!(status, line);
    let said = hook("PostCompact");
    assert!(said.contains(&format!(" to ~{shown};")), "{said}, {shown}");
}

#[test]
fn so_they_do_before_the_first_response() {
    let home = Home::new();
    let message = json!({"role": "user", "content": digits()});
    let prompt = json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": ID, "cwd": "/shop",
        "version": "2.1.330", "timestamp": jiff::Timestamp::now(), "message": message});
    fs::write(home.log(), format!("{prompt}\n")).unwrap();
    let line = first_line(
        &home,
        &["statusline", "--format", "{used}"],
        &home.input(Value::Null),
    );
    assert_eq!(line.trim_start_matches('~'), reported(&home));
}

/// After `/compress`, Qwen Code passes its own estimate where it passes the prompt of the last request otherwise.
#[test]
fn an_agents_estimate_is_not_taken_for_a_report() {
    let home = Home::new();
    let folder = home.path().join(".qwen/projects/-home-dev-shop/chats");
    fs::create_dir_all(&folder).unwrap();
    let name = "tests/fixtures/qwen-code/compression_by_command_restores_files/log.jsonl";
    let fixture = fs::read_to_string(manifest_folder().join(name)).unwrap();
    let until = fixture.find(r#"{"uuid":"u2""#).unwrap();
    let log = fixture[..until].replace("5e55", ID);
    fs::write(folder.join(format!("{ID}.jsonl")), log).unwrap();
    let line = |current_usage: u64| {
        let input = json!({"session_id": ID, "cwd": "/home/dev/shop", "model": {"display_name": "qwen3-coder-plus"},
            "version": "0.24.4", "metrics": {"models": {}},
            "context_window": {"context_window_size": 1_000_000, "current_usage": current_usage}});
        first_line(&home, &["statusline", "--format", "{tokens}"], &input)
    };
    let (estimated, reported) = (line(120), line(130));
    assert!(!estimated.contains("known"), "{estimated}");
    assert!(reported.contains("130 known"), "{reported}");
}
