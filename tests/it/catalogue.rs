//! The table of models by provider, and the provider that a log names.

use crate::support::{ctxgauge, manifest_folder};
use std::fs;

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
