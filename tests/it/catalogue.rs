//! The table of models by provider: shown with its sources, and made anew from a list that the user has.

use crate::support::{ctxgauge, manifest_folder};
use serde_json::Value;
use std::fs;
use std::path::Path;

const LIST: &str = r#"{"openai":{"id":"openai","models":{"gpt-5.6-sol":{
    "limit":{"context":333000,"output":64000},"cost":{"input":7,"output":21,"cache_read":0.7}}}}}"#;

fn run(home: &Path, arguments: &[&str]) -> (bool, String, String) {
    let output = ctxgauge(home).arg("models").args(arguments).output();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn row(home: &Path) -> Value {
    let (_, json, _) = run(home, &["gpt-5.6-sol", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["by_provider"].as_array().unwrap();
    let of = |row: &&Value| row["provider"] == "openai" && row["model"] == "gpt-5.6-sol";
    rows.iter().find(of).unwrap().clone()
}

#[test]
fn a_downloaded_list_goes_before_the_built_in_table_until_its_file_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let before = row(home);
    assert_eq!(before["window"], 1_050_000);
    assert_eq!(before["clients"]["pi"], 272_000);
    assert!(before["source"].as_str().unwrap().contains("litellm 1."));

    let file = home.join("api.json");
    fs::write(&file, LIST).unwrap();
    let (done, out, err) = run(home, &["import", file.to_str().unwrap()]);
    assert!(done && out.contains("1 model of models.dev"), "{out}{err}");
    let after = row(home);
    assert_eq!(after["window"], 333_000);
    assert_eq!(after["price"]["input"], 7.0);
    assert_eq!(after["clients"]["pi"], 272_000);
    let source = after["source"].as_str().unwrap();
    assert!(source.contains("models.dev as imported"), "{source}");
    let (_, text, _) = run(home, &["gpt-5.6-sol"]);
    assert!(text.contains("openai: gpt-5.6-sol"), "{text}");
    assert!(text.contains("models.dev as imported"), "{text}");

    fs::remove_file(home.join(".config/ctxgauge/catalogue.tsv")).unwrap();
    assert_eq!(row(home), before);
}

#[test]
fn a_broken_list_changes_nothing_and_is_named() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for (text, why) in [
        ("{\"openai\":{\"models\":", "line 1"),
        ("{\"a\":1}", "no model with a window"),
        ("", "no JSON object"),
    ] {
        let file = home.join("list.json");
        fs::write(&file, text).unwrap();
        let (done, _, err) = run(home, &["import", file.to_str().unwrap()]);
        assert!(
            !done && err.contains(why) && err.contains("list.json"),
            "{err}"
        );
    }
    let (done, _, err) = run(home, &["import", "nowhere.json"]);
    assert!(!done && err.contains("nowhere.json"), "{err}");
    assert!(!home.join(".config/ctxgauge/catalogue.tsv").exists());
}

/// Logs that name their provider, and what has to be added to some of their databases.
const LOGS: [(&str, &str, &str); 9] = [
    (
        "pi/system_messages_are_prompt_and_tools/log.jsonl",
        "lab",
        "",
    ),
    (
        "cline/sub_agent_in_its_parents_folder/agent_1.messages.json",
        "openrouter",
        "",
    ),
    ("opencode/an_export/log.json", "lab", ""),
    ("opencode/rows_of_2_hold_whole_messages/log.sql", "lab", ""),
    ("kilo/a_compaction/log.sql", "lab", ""),
    ("codex/sub-agent/log.jsonl", "openai", ""),
    (
        "openclaw/compaction_keeps_the_newest/log.jsonl",
        "openai",
        "",
    ),
    ("crush/august_2025/log.sql", "openrouter", ""),
    (
        "goose/schema_5/log.sql",
        "groq",
        "ALTER TABLE sessions ADD COLUMN provider_name TEXT; UPDATE sessions SET provider_name = 'groq'",
    ),
];

#[test]
fn the_provider_that_a_log_names_is_read() {
    for (log, provider, added) in LOGS {
        let home = tempfile::tempdir().unwrap();
        let mut path = manifest_folder().join("tests/fixtures").join(log);
        if log.ends_with(".sql") {
            let database = home.path().join("log.db");
            let connection = rusqlite::Connection::open(&database).unwrap();
            connection
                .execute_batch(&fs::read_to_string(&path).unwrap())
                .unwrap();
            connection.execute_batch(added).unwrap();
            path = database;
        }
        let mut command = ctxgauge(home.path());
        let output = command
            .args(["agents", "check", "--records", "100"])
            .arg(path)
            .output();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(
            out.contains(&format!("provider {provider}")),
            "{log}: {out}"
        );
    }
}
