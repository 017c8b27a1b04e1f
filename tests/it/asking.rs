//! `ctxgauge mcp`: which of several sessions of a folder asks.

use crate::mcp::{Client, server, set_time};
use crate::support::manifest_folder;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A home, a folder in it by its real path, and a client's server in that.
struct Place {
    _home: tempfile::TempDir,
    home: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn new() -> Place {
        let home = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(home.path()).unwrap();
        let folder = real.join("shop");
        fs::create_dir_all(&folder).unwrap();
        Place {
            home: real,
            folder,
            _home: home,
        }
    }

    /// What a client of this name is answered: the session, how it was found, and what makes it uncertain.
    fn asks(&self, client: &str) -> (String, String, String) {
        self.asks_with(client, &[])
    }

    /// The same, of a server that was started with these variables.
    fn asks_with(&self, client: &str, variables: &[(&str, &str)]) -> (String, String, String) {
        let mut command = server(&self.home, &[]);
        command.envs(variables.iter().copied());
        let mut client = Client::start(command.current_dir(&self.folder), client);
        let session = client.ask("context_now")["session"].clone();
        let text = |key: &str| session[key].as_str().unwrap_or_default().to_owned();
        (text("id"), text("found_by"), text("note"))
    }

    /// A session of pi with a last message that makes a call.
    fn pi(&self, id: &str, call: Value) -> PathBuf {
        let folder = self.home.join(".pi/agent/sessions/--shop--");
        fs::create_dir_all(&folder).unwrap();
        let records = [
            json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-11-01T10:00:00.000Z", "cwd": self.folder}),
            json!({"type": "message", "id": "e1", "parentId": null, "timestamp": "2026-11-01T10:00:01.000Z", "message": {
                "role": "user", "content": [{"type": "text", "text": "How full are you?"}], "timestamp": 1}}),
            json!({"type": "message", "id": "e2", "parentId": "e1", "timestamp": "2026-11-01T10:00:02.000Z", "message": {
                "role": "assistant", "content": [call], "provider": "lab", "model": "lab-large",
                "usage": {"input": 900, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 920},
                "stopReason": "toolUse", "timestamp": 2}}),
        ];
        let path = folder.join(format!("2026-11-01T10-00-00-000Z_{id}.jsonl"));
        let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
        fs::write(&path, lines.concat()).unwrap();
        path
    }

    /// A session of Qwen Code that calls a tool by another one, and the answer if it has it. B is the newer one.
    fn qwen(&self, id: &str, answer: Option<&str>) {
        let folder = self.home.join(".qwen/projects/-shop/chats");
        fs::create_dir_all(&folder).unwrap();
        let record = |uuid: &str, parent: Value, kind: &str, parts: Value| {
            let role = if kind == "assistant" { "model" } else { "user" };
            json!({"uuid": uuid, "parentUuid": parent, "sessionId": id, "timestamp": "2026-11-01T10:00:00.000Z",
                "type": kind, "cwd": self.folder, "version": "0.24.4", "message": {"role": role, "parts": parts}})
        };
        let arguments = json!({"name": "mcp__ctxgauge__context_now", "arguments": {}});
        let call = json!([{"functionCall": {"id": "c1", "name": "tool_call", "args": arguments}}]);
        let mut records = vec![
            record(
                "u1",
                Value::Null,
                "user",
                json!([{"text": "How full are you?"}]),
            ),
            record("u2", json!("u1"), "assistant", call),
        ];
        if let Some(output) = answer {
            let response = json!({"id": "c1", "name": "tool_call", "response": {"output": output}});
            let parts = json!([{"functionResponse": response}]);
            records.push(record("u3", json!("u2"), "tool_result", parts));
        }
        let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
        let path = folder.join(format!("{id}.jsonl"));
        fs::write(&path, lines.concat()).unwrap();
        set_time(&path, u64::from(id == B));
    }
}

const A: &str = "01a21d54-0000-7000-8000-00000000000a";
const B: &str = "01a21d54-0000-7000-8000-00000000000b";
const IN_ITS_LOG: &str = "the call is in its log";

fn call(name: &str, arguments: Value) -> Value {
    json!({"type": "toolCall", "id": "c1", "name": name, "arguments": arguments})
}

fn codemode(code: &str) -> Value {
    call("codemode", json!({"code": code}))
}

fn append(path: &Path, record: &Value) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{text}{record}\n")).unwrap();
}

#[test]
fn of_two_at_work_the_one_that_makes_the_call_asks() {
    let place = Place::new();
    let asks = || place.asks("pi");
    let script = "return await tools.mcp__ctxgauge__context_now({})";
    let a = place.pi(A, codemode(script));
    place.pi(B, call("bash", json!({"command": "sleep 9"})));
    assert_eq!(asks(), (A.into(), IN_ITS_LOG.into(), String::new()));
    // A call by its name is more than the same word in another one.
    place.pi(B, call("mcp__ctxgauge__context_now", json!({})));
    assert_eq!(asks(), (B.into(), IN_ITS_LOG.into(), String::new()));
    // Both ask.
    place.pi(B, codemode(script));
    let (_, found_by, note) = asks();
    assert_eq!(found_by, "newest log of the working directory");
    assert!(note.contains(A) && note.contains(B), "{note}");
    assert!(!note.ends_with('…'), "{note}");
    // The first one has its answer.
    append(
        &a,
        &json!({"type": "message", "id": "e3", "parentId": "e2", "timestamp": "2026-11-01T10:00:03.000Z", "message": {
            "role": "toolResult", "toolCallId": "c1", "toolName": "codemode", "isError": false, "timestamp": 3,
            "content": [{"type": "text", "text": "{}"}]}}),
    );
    assert_eq!(asks(), (B.into(), IN_ITS_LOG.into(), String::new()));
    // Another tool.
    place.pi(B, call("mcp__ctxgauge__largest_items", json!({})));
    let (_, _, note) = asks();
    assert!(note.contains(A) && note.contains(B), "{note}");
}

#[test]
fn a_call_of_another_folder_or_agent_counts_for_nothing() {
    let place = Place::new();
    place.pi(A, call("bash", json!({"command": "sleep 9"})));
    let elsewhere = place.pi(B, call("context_now", json!({})));
    let text = fs::read_to_string(&elsewhere).unwrap();
    fs::write(&elsewhere, text.replace("/shop", "/shop/below")).unwrap();
    let found = place.asks("pi");
    assert_eq!((&*found.0, &*found.2), (A, ""));
    assert_eq!(found.1, "newest log of the working directory");
}

#[test]
fn a_variable_that_names_an_older_session_gives_way_to_the_one_with_the_call() {
    let place = Place::new();
    let asks = || {
        place.asks_with(
            "qwen-cli-mcp-client-ctxgauge",
            &[("QWEN_CODE_SESSION_ID", A)],
        )
    };
    place.qwen(A, Some("{}"));
    place.qwen(B, None);
    assert_eq!(asks(), (B.into(), IN_ITS_LOG.into(), String::new()));
    // Its own session has a call too: the other one is of another process.
    place.qwen(A, None);
    let (id, found_by, _) = asks();
    assert_eq!((&*id, &*found_by), (A, "QWEN_CODE_SESSION_ID"));
    // Nobody has it.
    place.qwen(A, Some("{}"));
    place.qwen(B, Some("{}"));
    let (id, _, note) = asks();
    assert_eq!(id, A);
    assert!(note.contains(B) && note.contains("/clear"), "{note}");
}

#[test]
fn a_sub_agent_that_asks_is_found_in_the_database_while_it_calls() {
    let place = Place::new();
    let folder = place.home.join(".local/share/opencode");
    fs::create_dir_all(&folder).unwrap();
    let fixture = manifest_folder().join("tests/fixtures/opencode/sub_agents_are_sessions/log.sql");
    let sql = fs::read_to_string(fixture).unwrap();
    let here = place.folder.display().to_string();
    let database = rusqlite::Connection::open(folder.join("opencode.db")).unwrap();
    database
        .execute_batch(&sql.replace("/home/dev/shop", &here))
        .unwrap();
    let run = |session: &str, tool: &str| {
        let message = json!({"role": "assistant", "mode": "build", "agent": "build", "path": {"cwd": here, "root": "/"},
            "cost": 0, "modelID": "lab-large", "providerID": "lab", "time": {"created": 1_790_000_090_000_u64},
            "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
        let part = json!({"type": "tool", "tool": tool, "callID": "call_9",
            "state": {"status": "running", "input": {}, "time": {"start": 1_790_000_090_000_u64}}});
        let id = format!("9_{session}");
        database
            .execute_batch(&format!(
                "INSERT OR REPLACE INTO message VALUES ('msg_{id}', '{session}', 1790000090000, 1790000090000, '{message}');
                 INSERT OR REPLACE INTO part VALUES ('prt_{id}', 'msg_{id}', '{session}', 1790000090000, 1790000090000, '{part}');
                 UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = '{session}';
                 UPDATE session SET time_updated = 1790000090000 WHERE id = '{session}';"
            ))
            .unwrap();
    };
    run("ses_e1", "task");
    run("ses_e2", "ctxgauge_context_now");
    let found = place.asks("opencode");
    assert_eq!(found, ("ses_e2".into(), IN_ITS_LOG.into(), String::new()));
    run("ses_e1", "ctxgauge_context_now");
    run("ses_e2", "bash");
    let found = place.asks("opencode");
    assert_eq!(found, ("ses_e1".into(), IN_ITS_LOG.into(), String::new()));
}

#[test]
fn a_sub_agent_in_the_log_of_its_session_is_found_there() {
    let place = Place::new();
    let fixture =
        manifest_folder().join("tests/fixtures/copilot-cli/sub_agents_are_apart/log.jsonl");
    let here = place.folder.display().to_string();
    let text = fs::read_to_string(fixture).unwrap();
    let text = text.replace("/home/dev/shop", &here);
    let text = text.replace(r#""name":"grep""#, r#""name":"ctxgauge-context_now""#);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let id = "5e000000-0000-4000-8000-000000000004";
    let log = place
        .home
        .join(format!(".copilot/session-state/{id}/events.jsonl"));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let mut numbered = lines.iter();
    let at = numbered
        .position(|line| line.contains("context_now"))
        .unwrap();
    fs::write(&log, lines[..=at].concat()).unwrap();
    let found = place.asks("copilot-cli");
    assert_eq!(found, ("agent-1".into(), IN_ITS_LOG.into(), String::new()));
    // It has its answer.
    fs::write(&log, lines[..=at + 1].concat()).unwrap();
    assert_eq!(place.asks("copilot-cli").0, id);
}
