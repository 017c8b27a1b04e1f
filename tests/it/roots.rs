//! `--root` and `roots`: folders with the homes of other users and other systems, whose agents have settings of their
//! own; and places that are polled.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A response of Claude Code, which worked in a folder.
fn response(session: &str, cwd: &str, tokens: u64) -> String {
    let line = |kind: &str, message: Value| {
        json!({
            "type": kind, "uuid": format!("{session}-{kind}-{tokens}"), "parentUuid": null, "sessionId": session,
            "timestamp": "2026-11-20T10:00:00Z", "requestId": format!("r{tokens}"), "cwd": cwd,
            "version": "2.1.330", "message": message, "isSidechain": false,
        })
        .to_string()
    };
    let usage = json!({ "input_tokens": tokens, "output_tokens": 10 });
    let text = json!([{ "type": "text", "text": "done" }]);
    let user = line("user", json!({ "role": "user", "content": "go on" }));
    let message = json!({
        "role": "assistant", "id": format!("m{tokens}"), "model": "claude-sonnet-4-8", "content": text, "usage": usage,
    });
    format!("{user}\n{}\n", line("assistant", message))
}

/// A session of Claude Code in this home, which worked in a folder.
fn session(home: &Path, id: &str, cwd: &str) {
    let project = cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let log = home.join(format!(".claude/projects/{project}/{id}.jsonl"));
    put(&log, &response(id, cwd, 1_000));
}

/// Settings of Claude Code, which compacts when this share of the window is full.
fn settings(percent: u64) -> String {
    json!({ "env": { "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": percent.to_string() } }).to_string()
}

fn id(n: u64) -> String {
    format!("5e550000-0000-4000-8000-{n:012}")
}

/// The trigger of each session of `ls`, by its id's last digit.
fn triggers(home: &Path, roots: &[&Path]) -> Vec<(String, u64)> {
    let mut command = ctxgauge(home);
    command.args(["ls", "--json"]);
    for root in roots {
        command.arg("--root").arg(root);
    }
    let output = command.output();
    let list: Value = serde_json::from_slice(&output.stdout).expect("a list");
    let sessions = list["sessions"].as_array().unwrap().iter();
    let mut triggers: Vec<(String, u64)> = sessions
        .map(|session| {
            let id = session["id"].as_str().unwrap();
            let trigger = session["trigger"].as_u64().unwrap_or_default();
            (id[id.len() - 1..].to_owned(), trigger)
        })
        .collect();
    triggers.sort();
    triggers
}

fn expected(percents: &[(&str, u64)]) -> Vec<(String, u64)> {
    let row = |(id, percent): &(&str, u64)| ((*id).to_owned(), 180_000 * percent / 100);
    percents.iter().map(row).collect()
}

#[test]
fn each_root_has_the_settings_of_its_own_agent() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own");
    // A home, an agent's folder, and a folder for logs of an agent.
    let homes = ["a", "b", "c"].map(|name| dir.path().join("others").join(name));
    for (n, home) in (1..).zip(&homes) {
        session(home, &id(n), "/srv/shop");
        put(&home.join(".claude/settings.json"), &settings(20 * n));
    }
    session(&own, &id(9), "/srv/shop");
    put(&own.join(".claude/settings.json"), &settings(90));
    let named = [
        homes[0].clone(),
        homes[1].join(".claude"),
        homes[2].join(".claude/projects"),
    ];
    let roots: Vec<&Path> = named.iter().map(|root| root.as_path()).collect();
    let all = expected(&[("1", 20), ("2", 40), ("3", 60), ("9", 90)]);
    assert_eq!(triggers(&own, &roots), all);
    let roots: Vec<String> = roots
        .iter()
        .map(|root| format!("{:?}", root.display().to_string()))
        .collect();
    put(
        &own.join(".config/ctxgauge/config.toml"),
        &format!("roots = [{}]\n", roots.join(", ")),
    );
    assert_eq!(triggers(&own, &[]), all, "by the configuration");
    let mut monitor = Monitor::open(&own, &[], (200, 30));
    // Of 20, 40, 60 and 90 % of 180k.
    for headroom in ["~35k", "~71k", "~107k", "~161k"] {
        monitor.wait_for_text(headroom);
    }
    monitor.press("q");
    monitor.end().unwrap();
}

#[test]
fn a_database_in_a_root_has_the_settings_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let model = |reserved: u64| {
        let limit = json!({ "context": 100_000, "input": 100_000, "output": 1_000 });
        let models = json!({ "lab-large": { "limit": limit } });
        json!({ "compaction": { "reserved": reserved }, "provider": { "lab": { "models": models } } }).to_string()
    };
    let script = "tests/fixtures/opencode/prompts_are_input_and_cache/log.sql";
    let script = fs::read_to_string(manifest_folder().join(script)).unwrap();
    let [own, other] = ["own", "others/a"].map(|name| dir.path().join(name));
    for (home, reserved) in [(&own, 10_000), (&other, 30_000)] {
        put(
            &home.join(".config/opencode/opencode.json"),
            &model(reserved),
        );
    }
    let data = other.join(".local/share/opencode");
    fs::create_dir_all(&data).unwrap();
    let database = rusqlite::Connection::open(data.join("opencode.db")).unwrap();
    database.execute_batch(&script).unwrap();
    drop(database);
    for root in [&other, &data] {
        assert_eq!(
            triggers(&own, &[root]),
            [("1".to_owned(), 70_000)],
            "{root:?}"
        );
    }
}

#[test]
fn a_container_has_its_own_settings_and_paths() {
    let dir = tempfile::tempdir().unwrap();
    let (own, system) = (dir.path().join("own"), dir.path().join("merged"));
    put(&system.join("etc/passwd"), "root:x:0:0::/root:/bin/sh\n");
    // Of this machine, by the paths that the logs have.
    let here = dir.path().join("shop");
    put(&here.join(".claude/settings.json"), &settings(10));
    let shop = here.to_str().unwrap();
    for (home, n) in [("root", 1), ("home/ada", 2), ("home/bob", 3)] {
        session(&system.join(home), &id(n), shop);
    }
    session(&own, &id(4), shop);
    put(&own.join(".claude/settings.json"), &settings(90));
    let all = |roots: &[&Path]| triggers(&own, roots);
    let usual = |n: &str| (n.to_owned(), 167_000);
    assert_eq!(
        all(&[&system]),
        [
            usual("1"),
            usual("2"),
            usual("3"),
            expected(&[("4", 10)])[0].clone()
        ],
        "a project of this machine is not theirs"
    );
    put(
        &system.join("home/ada/.claude/settings.json"),
        &settings(40),
    );
    put(
        &system.join("etc/claude-code/managed-settings.json"),
        &settings(60),
    );
    assert_eq!(
        all(&[&system])[..3],
        expected(&[("1", 60), ("2", 60), ("3", 60)])
    );
    fs::remove_dir_all(system.join("etc/claude-code")).unwrap();
    // Where the paths lead there.
    put(
        &system
            .join(shop.trim_start_matches('/'))
            .join(".claude/settings.json"),
        &settings(70),
    );
    let theirs = expected(&[("1", 70), ("2", 70), ("3", 70)]);
    assert_eq!(all(&[&system])[..3], theirs);
    let homes = [system.join("root"), system.join("home")];
    assert_eq!(all(&[&homes[0], &homes[1]])[..3], theirs);
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_a_container() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let (own, system) = (dir.path().join("own"), dir.path().join("merged"));
    put(&system.join("etc/passwd"), "");
    put(&dir.path().join("secret/settings.json"), &settings(10));
    let home = system.join("root");
    session(&home, &id(1), "/work");
    let outside = dir.path().join("secret/settings.json");
    symlink(&outside, home.join(".claude/settings.json")).unwrap();
    symlink(dir.path().join("secret"), system.join("work")).unwrap();
    put(
        &dir.path().join("secret/.claude/settings.json"),
        &settings(10),
    );
    assert_eq!(triggers(&own, &[&system]), [("1".to_owned(), 167_000)]);
    // One that stays inside counts.
    fs::remove_file(home.join(".claude/settings.json")).unwrap();
    put(&system.join("opt/settings.json"), &settings(50));
    symlink(
        "../../opt/settings.json",
        home.join(".claude/settings.json"),
    )
    .unwrap();
    assert_eq!(triggers(&own, &[&system]), expected(&[("1", 50)]));
}

#[test]
fn a_log_in_a_root_that_is_polled_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (own, root) = (dir.path().join("own"), dir.path().join("far"));
    session(&root, &id(1), "/srv/shop");
    put(&own.join(".config/ctxgauge/config.toml"), "poll = true\n");
    let arguments = ["--root", root.to_str().unwrap()];
    let mut monitor = Monitor::open(&own, &arguments, (120, 30));
    monitor.wait_for_text("1.0k");
    let log = root.join(format!(".claude/projects/-srv-shop/{}.jsonl", id(1)));
    let grown = fs::read_to_string(&log).unwrap() + &response(&id(1), "/srv/shop", 77_000);
    fs::write(&log, grown).unwrap();
    monitor.wait_for_text("77.0k");
    session(&root, &id(2), "/srv/blog");
    monitor.wait_for_text("blog");
    monitor.press("q");
    monitor.end().unwrap();
    let output = ctxgauge(&own)
        .args(["agents", "claude-code"])
        .args(arguments)
        .output();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("polled"), "{text}");
    let output = ctxgauge(&own)
        .args(["agents", "--json"])
        .args(arguments)
        .output();
    let agents: Value = serde_json::from_slice(&output.stdout).unwrap();
    let polled = agents["polled"].as_array().unwrap();
    let place = json!({ "path": root.display().to_string(), "because": "the configuration" });
    assert!(polled.contains(&place), "{polled:?}");
}
