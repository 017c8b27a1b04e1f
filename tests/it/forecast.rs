//! A session at work, reported while it fills: the forecast is there, and is told in both styles.

use crate::support::{ctxgauge, json_report, json_report_by};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// A Claude Code log of 40 requests, each 2,000 tokens larger than the one before and 20 seconds after
/// it, the last of 120,000 tokens and just now. It compacts at 155,000.
fn log_at_work() -> String {
    let mut log = String::new();
    let now = jiff::Timestamp::now();
    for n in 0..40i64 {
        let at = now - jiff::SignedDuration::from_secs(20 * (39 - n));
        let parent = (n > 0).then(|| format!("r{}", n - 1));
        let line = json!({
            "type": "assistant", "uuid": format!("r{n}"), "parentUuid": parent, "isSidechain": false,
            "sessionId": "5e550000-0000-4000-8000-00000000000f", "version": "2.1.17",
            "cwd": "/home/dev/shop", "timestamp": at.to_string(), "requestId": format!("req_{n}"),
            "message": {
                "id": format!("msg_{n}"), "type": "message", "role": "assistant",
                "model": "claude-opus-4-5-20251101",
                "content": [{ "type": "text", "text": "on" }],
                "usage": { "input_tokens": 2, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": 41_998 + 2_000 * n, "output_tokens": 1 },
            },
        });
        writeln!(log, "{line}").unwrap();
    }
    log
}

fn write(folder: &Path, log: &str) -> std::path::PathBuf {
    let path = folder.join("5e550000-0000-4000-8000-00000000000f.jsonl");
    std::fs::write(&path, log).unwrap();
    path
}

#[test]
fn a_session_at_work_is_forecast() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &log_at_work());
    let report = json_report_by(&path, jiff::Timestamp::now);
    let compaction = &report["compaction"];
    assert_eq!(compaction["trigger"], 155_000);
    let requests = &compaction["requests_left"];
    let middle = requests["p50"].as_u64().unwrap();
    assert!((16..24).contains(&middle), "{requests}");
    assert!(requests["p10"].as_u64() < Some(middle) && requests["p90"].as_u64() > Some(middle));
    assert!(compaction["turns_left"]["p50"].is_u64());
    let minutes = compaction["minutes_left"]["p50"].as_f64().unwrap();
    assert!((4.0..9.0).contains(&minutes), "{minutes}");

    let output = ctxgauge(folder.path()).arg("report").arg(&path).output();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = format!("compacts in about {middle} requests (");
    assert!(text.contains(&told), "{told:?} is missing:\n{text}");
    assert!(text.contains(" of work"), "{text}");
}

#[test]
fn an_idle_session_has_requests_left_but_no_minutes() {
    let folder = tempfile::tempdir().unwrap();
    let year = jiff::Timestamp::now().to_string()[..4].to_owned();
    let long_ago =
        log_at_work().replace(&format!("\"timestamp\":\"{year}-"), "\"timestamp\":\"2020-");
    let report = json_report(&write(folder.path(), &long_ago));
    assert!(report["compaction"]["requests_left"].is_object());
    assert_eq!(report["compaction"]["minutes_left"], Value::Null);
}
