//! A session is named by its id, the beginning of it, its name or its title, by every command that takes a path. A name
//! means the session itself, not its sub-agents.

use crate::support::{CommandLine, ctxgauge};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

/// A session of Claude Code in a project, with this first prompt.
fn log(id: &str, project: &str, prompt: &str) -> String {
    let line = |kind: &str, parent: Value, message: Value| {
        json!({
            "type": kind, "uuid": format!("{id}-{kind}"), "parentUuid": parent, "sessionId": id,
            "timestamp": "2026-11-20T10:00:00Z", "requestId": format!("r{id}"),
            "cwd": format!("/home/dev/{project}"), "version": "2.1.330", "message": message,
            "isSidechain": false,
        })
    };
    let asked = json!({ "role": "user", "content": prompt });
    let answered = json!({
        "role": "assistant", "id": format!("m{id}"), "model": "claude-opus-4-8",
        "content": [{ "type": "text", "text": "the answer" }],
        "usage": {
            "input_tokens": 9_000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
            "output_tokens": 12,
        },
    });
    let first = line("user", Value::Null, asked);
    let second = line("assistant", json!(format!("{id}-user")), answered);
    format!("{first}\n{second}\n")
}

/// Two sessions of the project `shop`, one of `blog`, and a sub-agent of the first.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    let agents = folder.join("aaaa1111/subagents");
    fs::create_dir_all(&agents).unwrap();
    let write = |path: &Path, text: String| fs::write(path, text).unwrap();
    write(
        &folder.join("aaaa1111.jsonl"),
        log("aaaa1111", "shop", "Mend the cart"),
    );
    write(
        &folder.join("bbbb2222.jsonl"),
        log("bbbb2222", "shop", "Why is the import slow"),
    );
    write(
        &folder.join("cccc3333.jsonl"),
        log("cccc3333", "blog", "Write a page"),
    );
    let helper = log("aaaa1111", "shop", "Look for the cart").replace(
        "\"isSidechain\":false",
        "\"isSidechain\":true,\"agentId\":\"dddd4444\"",
    );
    write(&agents.join("agent-dddd4444.jsonl"), helper);
    home
}

fn run(home: &Path, arguments: &[&str]) -> (String, String) {
    let mut command: CommandLine = ctxgauge(home);
    let output: Output = command.args(arguments).output();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (out, err)
}

fn reported(home: &Path, session: &str) -> String {
    let (out, err) = run(home, &["report", "--json", "--session", session]);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{session}: {err}"));
    report["session"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_word_means_the_session_that_it_names() {
    let home = home();
    for (word, id) in [
        ("aaaa1111", "aaaa1111"),
        ("bbbb", "bbbb2222"),
        // The project's name, of the only session there.
        ("blog", "cccc3333"),
        ("mend the CART", "aaaa1111"),
        // A part of two titles, of which one is a sub-agent's.
        ("cart", "aaaa1111"),
        ("import", "bbbb2222"),
        ("Look for", "dddd4444"),
    ] {
        assert!(reported(home.path(), word).contains(id), "{word}");
    }
}

#[test]
fn sessions_that_a_word_may_mean_are_listed_with_title_age_and_id() {
    let home = home();
    let (_, err) = run(home.path(), &["report", "--session", "shop"]);
    assert!(
        err.contains("2 sessions of this machine match 'shop'"),
        "{err}"
    );
    for (id, title) in [
        ("aaaa1111", "Mend the cart"),
        ("bbbb2222", "Why is the import slow"),
    ] {
        let row = err.lines().find(|line| line.contains(id)).unwrap();
        assert!(row.trim_end().ends_with(title), "{err}");
        let age = row.split_whitespace().next().unwrap();
        assert!(age.ends_with(['s', 'm', 'h', 'd', 'w']), "{row}");
    }
    assert!(!err.contains("dddd4444"), "{err}");
}

#[test]
fn every_command_that_takes_a_path_takes_a_session() {
    let home = home();
    let folder = home.path().join(".claude/projects");
    let folder = folder.to_str().unwrap();
    for paths in [&[][..], &[folder]] {
        let run = |arguments: &[&str]| {
            let (out, err) = run(home.path(), &[arguments, paths].concat());
            assert!(!out.is_empty(), "{arguments:?}: {err}");
            out
        };
        let exported = run(&["export", "--session", "mend the cart"]);
        assert_eq!(exported.lines().count(), 1, "{exported}");
        assert!(exported.contains("aaaa1111"), "{exported}");
        let listed = run(&["ls", "--session", "blog"]);
        assert!(
            listed.contains("cccc3333") && !listed.contains("aaaa1111"),
            "{listed}"
        );
        let found = run(&["search", "--session", "blog", "answer"]);
        assert_eq!(found.lines().count(), 1, "{found}");
        let audited = run(&["audit", "--json", "--session", "blog"]);
        let audited: Value = serde_json::from_str(&audited).unwrap();
        assert_eq!(audited["logs"], 1);
        let checked = run(&["check", "--max-percent", "99", "--session", "blog"]);
        assert!(checked.starts_with("1 session checked"), "{checked}");
    }
    let (line, _) = run(
        home.path(),
        &["status", "--session", "blog", "--format", "{session}"],
    );
    assert_eq!(line.trim(), "cccc3333");
    let (_, err) = run(home.path(), &["status", "--session", "shop"]);
    assert!(err.contains("2 sessions of this machine"), "{err}");
    let (out, _) = run(home.path(), &["diff", "--session", "blog", "bbbb"]);
    assert!(out.contains("\n  after "), "{out}");
    #[cfg(feature = "mcp")]
    {
        let (_, err) = run(home.path(), &["mcp", "--session", "zzz"]);
        assert!(err.contains("no session 'zzz'"), "{err}");
    }
}
