//! What `ls` says of a long log, which it reads from its end, is what a report says, or it is marked.

use crate::support::{ctxgauge, json_report};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A log of lines.
#[derive(Default)]
struct Log(String);

impl Log {
    fn line(mut self, line: &Value) -> Log {
        writeln!(self.0, "{line}").unwrap();
        self
    }

    /// A line of a rollout of Codex.
    fn rollout(self, kind: &str, payload: &Value) -> Log {
        let at = "2026-11-02T10:00:00Z";
        self.line(&json!({ "timestamp": at, "type": kind, "payload": payload }))
    }

    fn begin(self) -> Log {
        let meta = json!({ "id": "0199-x", "cwd": "/home/dev/shop", "cli_version": "0.146.0" });
        let turn = json!({ "model": "gpt-5.6-sol", "cwd": "/home/dev/shop" });
        let text = json!([{ "type": "input_text", "text": "Read all of it." }]);
        let message = json!({ "type": "message", "role": "user", "content": text });
        self.rollout("session_meta", &meta)
            .rollout("event_msg", &json!({ "type": "task_started" }))
            .rollout("turn_context", &turn)
            .rollout("response_item", &message)
    }

    /// A response with so many calls, whose results stand before its report.
    fn calls(mut self, response: usize, calls: usize, prompt: u64) -> Log {
        let id = |call: usize| format!("call_{response:012}{call:012}");
        for call in 0..calls {
            let item = json!({ "type": "function_call", "name": "shell", "arguments": "{}", "call_id": id(call) });
            self = self.rollout("response_item", &item);
        }
        for call in 0..calls {
            let output = "a row of the table, ".repeat(2_000);
            let item =
                json!({ "type": "function_call_output", "call_id": id(call), "output": output });
            self = self.rollout("response_item", &item);
        }
        self.count(prompt, prompt * response as u64)
    }

    fn count(self, prompt: u64, before: u64) -> Log {
        let usage = |input: u64| json!({ "input_tokens": input, "output_tokens": 60, "total_tokens": input + 60 });
        let info = json!({
            "total_token_usage": usage(before + prompt), "last_token_usage": usage(prompt), "model_context_window": 258_400,
        });
        self.rollout("event_msg", &json!({ "type": "token_count", "info": info }))
    }

    /// A compaction without a size, and the first response after it.
    fn compacted(self) -> Log {
        let history = json!([
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Read all of it." }] },
            { "type": "compaction", "encrypted_content": "gAAAAA".repeat(10_000) },
        ]);
        let compacted = json!({ "message": "", "replacement_history": history });
        let text = json!([{ "type": "output_text", "text": "It is read." }]);
        let message = json!({ "type": "message", "role": "assistant", "content": text });
        self.rollout("event_msg", &json!({ "type": "task_started" }))
            .rollout("compacted", &compacted)
            .rollout("response_item", &message)
            .count(18_000, 900_000)
    }

    /// The row of `ls`, and the report.
    fn both(&self, name: &str) -> (Value, Value) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(name);
        fs::write(&path, &self.0).unwrap();
        (row(home.path(), &path), json_report(&path))
    }
}

fn row(home: &Path, log: &Path) -> Value {
    let output = ctxgauge(home).args(["ls", "--json"]).arg(log).output();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    list["sessions"][0].clone()
}

fn is_provisional(row: &Value, key: &str) -> bool {
    let keys = row["provisional"].as_array().unwrap();
    keys.iter().any(|provisional| provisional == key)
}

const ROLLOUT: &str = "rollout-2026-11-02T10-00-00-0199-x.jsonl";

/// The last piece of the log holds some of the results alone, and the report that follows them. It looks as if their prompt had
/// been reported.
#[test]
fn results_before_their_report_are_all_read() {
    let mut log = Log::default().begin();
    for response in 0..6 {
        log = log.calls(response, 1, 12_000 * (response as u64 + 1));
    }
    let (row, report) = log.calls(6, 3, 82_000).both(ROLLOUT);
    let (listed, whole) = (&row["context"], &report["context"]);
    assert_eq!(listed["known"], 82_060);
    assert_eq!(listed["known"], whole["known"]);
    assert_eq!(listed["source"], "delta");
    let used = whole["used"].as_u64().unwrap();
    assert!(used > 100_000, "{used}");
    let [low, high] = ["low", "high"].map(|key| listed[key].as_u64().unwrap());
    assert!((low..=high).contains(&used), "{low} {used} {high}");
    assert!(is_provisional(&row, "used"));
    assert_eq!(row["final"], false);
}

/// What was in the context before a compaction was not read, so it shows no trigger.
#[test]
fn a_compaction_with_nothing_before_it_refutes_no_rule() {
    let mut log = Log::default().begin();
    for response in 0..8 {
        log = log.calls(response, 1, 12_000 * (response as u64 + 1));
    }
    let (row, report) = log.compacted().both(ROLLOUT);
    assert_eq!(report["compaction"]["trigger"], 244_800);
    assert_eq!(row["trigger"], report["compaction"]["trigger"]);
    assert_eq!(row["trigger_source"], "policy");
    assert_eq!(row["context"]["used"], report["context"]["used"]);
    assert!(is_provisional(&row, "trigger"));
}

/// A status line and a hook read the log from that compaction on.
#[test]
fn a_line_and_a_hook_agree_with_the_report_after_a_compaction() {
    let home = tempfile::tempdir().unwrap();
    let mut log = Log::default().begin();
    for response in 0..1_200 {
        log = log.calls(response, 1, 12_000 + 50 * response as u64);
    }
    let log = log.compacted();
    let folder = home.path().join(".codex/sessions/2026/11/02");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(ROLLOUT);
    fs::write(&path, &log.0).unwrap();
    let report = json_report(&path);
    assert_eq!(report["compaction"]["trigger"], 244_800);
    let format = "{percent} | {trigger} | {until}";
    let status = ["status", "--session", "0199-x", "--format", format];
    let output = ctxgauge(home.path()).args(status).output();
    let line = String::from_utf8(output.stdout).unwrap();
    // The size of the compaction was not read.
    let start = "~7% of 245k trigger | trigger ~245k (policy) | ~22";
    assert!(line.starts_with(start), "{line}");
    let prompt = json!({
        "session_id": "0199-x", "turn_id": "t", "transcript_path": path, "cwd": "/home/dev/shop",
        "hook_event_name": "UserPromptSubmit", "model": "gpt-5.6-sol", "permission_mode": "default", "prompt": "Go on.",
    });
    let hook = ["hook", "--within", "600000", "--block-at", "95%"];
    let input = prompt.to_string();
    let mut program = ctxgauge(home.path());
    let answer = program.args(hook).input(input.as_bytes()).output();
    assert_eq!(String::from_utf8(answer.stdout).unwrap(), "");
}

/// A compaction that is far back shows when the agent compacts, and a large prompt which window it has.
#[test]
fn a_trigger_and_a_window_that_depend_on_what_was_not_read_are_marked() {
    let claude = |uuid: &str, parent: Option<&str>, more: Value| {
        let mut line = json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": "5e55", "timestamp": "2026-11-02T10:00:00Z",
            "cwd": "/home/dev/shop", "version": "2.1.330", "isSidechain": false,
        });
        let (line, more) = (line.as_object_mut().unwrap(), more.as_object().unwrap());
        line.extend(more.clone());
        Value::Object(line.clone())
    };
    let says = |uuid: &str, parent: &str, text: &str| {
        let message = json!({ "role": "user", "content": text });
        claude(
            uuid,
            Some(parent),
            json!({ "type": "user", "message": message }),
        )
    };
    let answers = |uuid: &str, parent: &str, prompt: u64| {
        let message = json!({
            "role": "assistant", "id": uuid, "model": "claude-opus-4-8", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "Yes." }],
            "usage": { "input_tokens": prompt, "output_tokens": 10 },
        });
        let more = json!({ "type": "assistant", "requestId": uuid, "message": message });
        claude(uuid, Some(parent), more)
    };
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
        "compactMetadata": { "trigger": "auto", "preTokens": 167_766 },
    });
    let log = Log::default()
        .line(&claude(
            "u1",
            None,
            json!({ "type": "user", "message": { "role": "user", "content": "Begin." } }),
        ))
        .line(&answers("a1", "u1", 160_000))
        .line(&claude("c1", None, boundary))
        .line(&says("u2", "c1", "This session is being continued."))
        .line(&answers("a2", "u2", 20_000))
        .line(&says("u3", "a2", &"a row of the table, ".repeat(20_000)))
        .line(&answers("a3", "u3", 110_000))
        .line(&says("u4", "a3", "Go on."))
        .line(&answers("a4", "u4", 110_100));
    let (row, report) = log.both("5e55.jsonl");
    assert_eq!(report["compaction"]["trigger"], 167_766);
    assert_eq!(row["context"]["used"], report["context"]["used"]);
    assert_ne!(row["trigger"], report["compaction"]["trigger"]);
    assert_eq!(row["provisional"], json!(["window", "trigger"]));
    assert_eq!(row["final"], false);
}
