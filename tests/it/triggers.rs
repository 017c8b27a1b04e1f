//! What else than the size compacts a session next, from its log and its agent's settings, on the faces that show it.

use crate::support::ctxgauge;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const ID: &str = "5e550000-0000-4000-8000-000000000045";

fn ago(minutes: i64) -> Timestamp {
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
    now - SignedDuration::from_mins(minutes)
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A session of Claude Code whose last request was sent ten minutes ago, to be kept for so long.
fn claude(home: &Path, prompt: u64, ttl: &str) -> PathBuf {
    let at = ago(10);
    let record = |more: Value| {
        let mut record = json!({"sessionId": ID, "cwd": "/shop", "version": "2.1.332",
            "entrypoint": "cli", "timestamp": at});
        record
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let value = json!({"type": "ephemeral", "ttl": ttl});
    let lines = [
        record(json!({"type": "user", "uuid": "u1", "parentUuid": null,
            "message": {"role": "user", "content": "sort the invoices"}})),
        record(json!({"type": "api-request", "id": "q1",
            "params": {"model": "claude-opus-5", "betas": []},
            "keep": 0, "tail": [], "cacheControl": [{"path": ["system", 0], "value": value}]})),
        record(
            json!({"type": "assistant", "uuid": "a1", "parentUuid": "u1", "requestId": "req_1",
            "requestRef": "q1", "message": {"id": "msg_1", "role": "assistant", "model": "claude-opus-5",
            "content": [{"type": "text", "text": "They are sorted."}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 0, "output_tokens": 8,
                "cache_creation_input_tokens": prompt - 3}}}),
        ),
    ];
    let log = home.join(format!(".claude/projects/-shop/{ID}.jsonl"));
    put(&log, &lines.concat());
    log
}

fn json_of(home: &Path, arguments: &[&str]) -> Value {
    let output = ctxgauge(home).args(arguments).output();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn report(home: &Path, log: &Path) -> Value {
    json_of(home, &["report", log.to_str().unwrap(), "--json"])
}

fn text(home: &Path, arguments: &[&str]) -> String {
    let output = ctxgauge(home).env("TZ", "UTC").args(arguments).output();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_idle_compaction_is_foretold_to_the_minute() {
    let home = tempfile::tempdir().unwrap();
    let log = claude(home.path(), 250_000, "1h");
    let report = report(home.path(), &log);
    let next = &report["compaction"]["next"][0];
    assert_eq!(
        (&next["kind"], &next["sure"]),
        (&json!("idle"), &json!(false))
    );
    let at: Timestamp = next["at"].as_str().unwrap().parse().unwrap();
    let sent: Timestamp = report["cache"]["sent_at"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(at.duration_since(sent), SignedDuration::from_mins(54));
    assert_eq!(report["cache"]["state"], "warm");
    assert_eq!(report["cache"]["source"], "log");
    // The trigger stays what it is.
    assert_eq!(report["compaction"]["trigger_source"], "policy");
    let time = at.strftime("%H:%M").to_string();
    let sentence = format!("at {time} if nobody types");
    let path = log.to_str().unwrap();
    for arguments in [
        &["report", path][..],
        &["status", "--session", ID, "--format", "{next}"],
        &["ls"],
    ] {
        let shown = text(home.path(), arguments);
        let expected = if arguments == ["ls"] {
            &sentence[..8]
        } else {
            &sentence
        };
        assert!(shown.contains(expected), "{arguments:?}: {shown}");
    }
    let listed = json_of(home.path(), &["ls", "--json"]);
    assert_eq!(listed["sessions"][0]["next"][0]["at"], next["at"]);
    assert_eq!(listed["sessions"][0]["cache"]["state"], "warm");
    let check = |minutes: &str| {
        let arguments = ["check", path, "--min-minutes-left", minutes];
        ctxgauge(home.path()).args(arguments).output().status
    };
    assert!(check("30").success());
    assert!(!check("50").success());
}

#[test]
fn what_excludes_an_idle_compaction() {
    let home = tempfile::tempdir().unwrap();
    let kinds = |log: &Path| {
        let report = report(home.path(), log);
        let next = report["compaction"]["next"].as_array().unwrap().clone();
        next.into_iter().map(|next| next["kind"].clone()).collect()
    };
    let size = vec![json!("size")];
    let kinds: &dyn Fn(&Path) -> Vec<Value> = &kinds;
    // A cache of five minutes, and a context that is too small.
    assert_eq!(kinds(&claude(home.path(), 250_000, "5m")), size);
    assert_eq!(kinds(&claude(home.path(), 150_000, "1h")), size);
    let log = claude(home.path(), 250_000, "1h");
    let settings = home.path().join(".claude/settings.json");
    put(&settings, r#"{"idleCompaction":false}"#);
    assert_eq!(kinds(&log), size);
    // An idle time of zero is none.
    put(
        &settings,
        r#"{"env":{"CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS":"0"}}"#,
    );
    assert_eq!(kinds(&log)[0], "idle");
    put(&settings, r#"{"autoCompactEnabled":false}"#);
    assert_eq!(kinds(&log), Vec::<Value>::new());
}

#[test]
fn a_summary_that_waits_is_found_beside_the_log() {
    let home = tempfile::tempdir().unwrap();
    let log = claude(home.path(), 150_000, "5m");
    put(
        &home.path().join(".claude.json"),
        r#"{"cachedGrowthBookFeatures":{"tengu_sepia_moth":true}}"#,
    );
    let of = |log: &Path| {
        let report = report(home.path(), log);
        let next = report["compaction"]["next"].as_array().unwrap().clone();
        next.into_iter().find(|next| next["kind"] == "background")
    };
    let made = of(&log).unwrap();
    assert_eq!(made["setting"], ".claude.json");
    assert!(made["tokens"].is_u64() && made["size"].is_null());
    let ready = log.with_extension("").join("precompact.json");
    put(&ready, r#"{"version":7,"preCompactTokens":148908}"#);
    assert_eq!(of(&log).unwrap()["size"], 148_908);
    fs::remove_file(ready).unwrap();
    assert!(of(&log).unwrap()["size"].is_null());
}

/// A session of Codex whose last turn had this hash.
fn codex(home: &Path, hash: &str) -> PathBuf {
    let at = ago(10);
    let line = |kind: &str, payload: Value| {
        format!(
            "{}\n",
            json!({"timestamp": at, "type": kind, "payload": payload})
        )
    };
    let usage = json!({"input_tokens": 36_000, "cached_input_tokens": 0, "output_tokens": 133,
        "reasoning_output_tokens": 0, "total_tokens": 36_133});
    let lines = [
        line(
            "session_meta",
            json!({"id": ID, "timestamp": at, "cwd": "/shop", "originator": "codex_cli_rs",
            "cli_version": "0.171.0", "source": "cli"}),
        ),
        line(
            "turn_context",
            json!({"turn_id": "t1", "cwd": "/shop", "model": "gpt-5.5", "comp_hash": hash}),
        ),
        line(
            "response_item",
            json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "sort the invoices"}]}),
        ),
        line(
            "response_item",
            json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "They are sorted."}]}),
        ),
        line(
            "event_msg",
            json!({"type": "token_count", "info": {"total_token_usage": usage,
            "last_token_usage": usage, "model_context_window": 76_000}}),
        ),
    ];
    let name = format!(".codex/sessions/2026/11/26/rollout-2026-11-26T10-00-00-{ID}.jsonl");
    let log = home.join(name);
    put(&log, &lines.concat());
    log
}

#[test]
fn another_model_of_codex_compacts_before_the_next_turn() {
    let home = tempfile::tempdir().unwrap();
    let log = codex(home.path(), "2911");
    let first = |log: &Path| report(home.path(), log)["compaction"]["next"][0].clone();
    let config = home.path().join(".codex/config.toml");
    put(&config, "model = \"gpt-5.5\"\n");
    assert_eq!(first(&log)["kind"], "size");
    put(&config, "model = \"gpt-5.6-sol\"\n");
    let next = first(&log);
    assert_eq!(next["kind"], "model-change");
    assert_eq!(next["model"], "gpt-5.6-sol");
    let shown = text(home.path(), &["report", log.to_str().unwrap()]);
    assert!(
        shown.contains("may compact before the next turn: gpt-5.6-sol has another hash"),
        "{shown}"
    );
    // The server's list goes before the table.
    put(
        &home.path().join(".codex/models_cache.json"),
        r#"{"models":[{"slug":"gpt-5.6-sol","comp_hash":"2911"}]}"#,
    );
    assert_eq!(first(&log)["kind"], "size");
}

#[test]
fn codex_compacts_in_the_background_from_a_share_of_the_raw_window_on() {
    let home = tempfile::tempdir().unwrap();
    let log = codex(home.path(), "2911");
    let of = |config: &str| {
        put(&home.path().join(".codex/config.toml"), config);
        let report = report(home.path(), &log);
        let next = report["compaction"]["next"].as_array().unwrap().clone();
        next.into_iter().find(|next| next["kind"] == "background")
    };
    let feature = "[features.async_compaction]\nenabled = true\n";
    let percent = "model_async_compact_threshold_percent = 55\n";
    let next = of(&format!("{feature}{percent}")).unwrap();
    assert_eq!(
        (&next["tokens"], &next["setting"]),
        (&json!(44_000), &json!("config.toml"))
    );
    // 65 % of 80,000, of which 76,000 are used. Codex passes over a percent at another place.
    for config in [feature.to_owned(), format!("{percent}{feature}")] {
        assert_eq!(of(&config).unwrap()["tokens"], 51_984, "{config}");
    }
    assert_eq!(of(percent), None);
    // Only OpenAI compacts for its clients, whatever the id is.
    let of_relay = |name: &str| {
        let provider = format!("[model_providers.relay]\nname = \"{name}\"\n");
        of(&format!("model_provider = \"relay\"\n{feature}{provider}"))
    };
    assert_eq!(of_relay("Relay"), None);
    assert!(of_relay("OpenAI").is_some());
}
