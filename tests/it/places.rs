//! Where agents keep their sessions, and what else is in the same folders.

use crate::support::{ctxgauge, manifest_folder};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Sessions and totals of a home, with these variables; `~` is the home.
fn list(home: &Path, set: &[(&str, &str)]) -> Value {
    let mut command = ctxgauge(home);
    for (name, value) in set {
        command.env(name, value.replace('~', home.to_str().unwrap()));
    }
    let output = command.args(["ls", "--totals", "--json"]).output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The ids of the sessions, sorted.
fn ids(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().unwrap().iter();
    let mut ids: Vec<&str> = sessions
        .map(|session| session["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    ids
}

/// A session of pi's with one answer.
fn pi(id: &str, prompt: u64) -> String {
    let head = format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-10-01T10:00:00.000Z","cwd":"/home/dev/shop"}}"#
    );
    let said = json!({ "type": "message", "id": format!("{id}-1"), "parentId": null, "timestamp": "2026-10-01T10:00:01.000Z",
        "message": { "role": "user", "content": "go on" } });
    let answer = json!({ "type": "message", "id": format!("{id}-2"), "parentId": format!("{id}-1"), "timestamp": "2026-10-01T10:00:02.000Z",
        "message": { "role": "assistant", "content": [{ "type": "text", "text": "done" }], "provider": "zai", "model": "glm-5",
            "usage": { "input": prompt, "output": 10, "cacheRead": 0, "cacheWrite": 0 }, "stopReason": "stop" } });
    format!("{head}\n{said}\n{answer}\n")
}

#[test]
fn sessions_of_pi_are_where_a_variable_or_a_setting_says_and_once() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let name = |id: &str| format!("2026-10-01T10-00-00-000Z_{id}.jsonl");
    put(&at("moved").join(name("a")), &pi("a", 1_000));
    put(
        &at(".omp/agent/sessions/--home-dev-shop--").join(name("a")),
        &pi("a", 1_000),
    );
    put(&at("kept").join(name("b")), &pi("b", 200));
    put(&at(".pi/agent/settings.json"), r#"{"sessionDir":"~/kept"}"#);
    assert_eq!(ids(&list(home.path(), &[])), ["a", "b"]);
    let moved = list(home.path(), &[("PI_CODING_AGENT_SESSION_DIR", "~/moved")]);
    assert_eq!(ids(&moved), ["a", "b"]);
    assert_eq!(moved["totals"]["pi"]["input"], 1_200);
    // Its settings are those of the folder that it was moved from.
    fs::remove_dir_all(at(".omp")).unwrap();
    let models = r#"{"providers":{"zai":{"models":[{"id":"glm-5","contextWindow":64000}]}}}"#;
    put(&at(".pi/agent/models.json"), models);
    let moved = list(home.path(), &[("PI_CODING_AGENT_SESSION_DIR", "~/moved")]);
    assert_eq!(moved["sessions"][0]["context"]["window"], 64_000);
}

#[test]
fn a_sub_agent_of_pi_is_known_by_its_first_line_and_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".pi/agent/sessions/--home-dev-shop--");
    let parent = "2026-10-01T10-00-00-000Z_p";
    put(&project.join(format!("{parent}.jsonl")), &pi("p", 1_000));
    let own = project.join(parent);
    put(&own.join("run/run-0/session.jsonl"), &pi("c", 300));
    let said = r#"{"recordType":"message","role":"assistant","usage":{"input":300,"output":10}}"#;
    put(&own.join("subagent-artifacts/run_transcript.jsonl"), said);
    put(
        &project.join("subagent-artifacts/run_transcript.jsonl"),
        said,
    );
    let list = list(home.path(), &[]);
    assert_eq!(ids(&list), ["c", "p"]);
    let sessions = list["sessions"].as_array().unwrap();
    let child = sessions
        .iter()
        .find(|session| session["id"] == "c")
        .unwrap();
    assert_eq!(child["parent"], "p");
    assert_eq!(list["totals"]["pi"]["input"], 1_300);
}

/// Writes a database of a fixture, changed by more SQL.
fn database(path: &Path, fixture: &str, more: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let sql = manifest_folder().join("tests/fixtures").join(fixture);
    let sql = fs::read_to_string(sql.join("log.sql")).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(&sql).unwrap();
    connection.execute_batch(more).unwrap();
}

#[test]
fn a_session_in_two_databases_is_one_and_a_variable_names_a_third() {
    let home = tempfile::tempdir().unwrap();
    let fixture = "opencode/prompts_are_input_and_cache";
    let folder = home.path().join(".local/share/opencode");
    database(&folder.join("opencode.db"), fixture, "");
    let later =
        "UPDATE session SET time_updated = time_updated + 90000, directory = '/home/dev/later'";
    database(&folder.join("opencode-local.db"), fixture, later);
    let renamed = "UPDATE session SET id = 'ses_own'; UPDATE message SET session_id = 'ses_own';
        UPDATE part SET session_id = 'ses_own'; UPDATE event_sequence SET aggregate_id = 'ses_own'";
    database(&home.path().join("elsewhere/my.db"), fixture, renamed);
    database(&folder.join("named.db"), fixture, renamed);
    let alone = list(home.path(), &[]);
    let count = ids(&alone).len();
    assert_eq!(ids(&alone).iter().filter(|id| **id == "ses_a1").count(), 1);
    let project = |list: &Value| {
        let sessions = list["sessions"].as_array().unwrap();
        let session = sessions.iter().find(|session| session["id"] == "ses_a1");
        session.unwrap()["project"].clone()
    };
    assert_eq!(project(&alone), "later");
    for named in ["~/elsewhere/my.db", "named.db"] {
        let list = list(home.path(), &[("OPENCODE_DB", named)]);
        assert!(ids(&list).contains(&"ses_own"), "{named}");
        assert_eq!(ids(&list).len(), count + 1, "{named}");
    }
    let none = list(home.path(), &[("OPENCODE_DB", ":memory:")]);
    assert_eq!(ids(&none).len(), count);
}

#[test]
fn archives_of_openclaw_count_in_totals_and_copies_nowhere() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".openclaw/agents/main/sessions");
    let at = "2026-10-02T10-00-00.000Z";
    put(&folder.join("s1.jsonl"), &pi("s1", 1_000));
    put(
        &folder.join(format!("s1.jsonl.reset.{at}")),
        &pi("s0", 20_000),
    );
    put(
        &folder.join(format!("s2.jsonl.deleted.{at}")),
        &pi("s2", 300),
    );
    put(&folder.join("s1.checkpoint.c1.jsonl"), &pi("other", 7));
    let all = list(home.path(), &[]);
    assert_eq!(ids(&all), ["s1"]);
    assert_eq!(all["totals"]["openclaw"]["input"], 21_300);
    // In a folder that the user names they are no more than that.
    let elsewhere = tempfile::tempdir().unwrap();
    let named = ctxgauge(elsewhere.path())
        .args(["ls", "--totals", "--json"])
        .arg(&folder)
        .output();
    let named: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(ids(&named), ["s1"]);
    // A file that he names is what he wants to see.
    let copy = ctxgauge(elsewhere.path())
        .args(["ls", "--json"])
        .arg(folder.join("s1.checkpoint.c1.jsonl"))
        .output();
    let copy: Value = serde_json::from_slice(&copy.stdout).unwrap();
    assert_eq!(ids(&copy), ["other"]);
}
