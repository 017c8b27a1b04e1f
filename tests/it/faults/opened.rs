//! Which files are opened: the paths in logs and the links beside them lead to decoys, which the system reports as
//! soon as somebody opens one.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder};
use ctxgauge::files::waiting::wait_for;
use notify::event::{AccessKind, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

/// A folder that reports whoever opens something in it.
struct Decoys {
    folder: PathBuf,
    _watcher: RecommendedWatcher,
    opened: Receiver<PathBuf>,
}

impl Decoys {
    /// Watches the files and folders that are there.
    fn watch(folder: &Path) -> Decoys {
        let (sender, opened) = channel();
        let on_event = move |event: notify::Result<notify::Event>| {
            let event = event.unwrap();
            if matches!(event.kind, EventKind::Access(AccessKind::Open(_))) {
                event
                    .paths
                    .into_iter()
                    .for_each(|path| sender.send(path).unwrap());
            }
        };
        let mut watcher = notify::recommended_watcher(on_event).unwrap();
        watcher.watch(folder, RecursiveMode::Recursive).unwrap();
        let decoys = Decoys {
            folder: folder.to_owned(),
            _watcher: watcher,
            opened,
        };
        // To watch a folder is to open it.
        decoys.opened();
        decoys
    }

    /// What was opened since the last call.
    fn opened(&self) -> BTreeSet<PathBuf> {
        // A new name each time: it may be reported more than once.
        let last = tempfile::NamedTempFile::new_in(&self.folder).unwrap();
        let mut opened = BTreeSet::new();
        loop {
            let path = wait_for("file that is opened", || self.opened.try_recv());
            if path == last.path() {
                return opened;
            }
            opened.insert(path);
        }
    }
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Copies a folder, with another text in the place of the folder that the fixtures name.
fn copy(from: &Path, to: &Path, home: &str) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to, home);
        } else if to.extension().is_none_or(|ext| ext != "snap") {
            let text = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&text).replace("/home/dev", home);
            put(&to, text.as_bytes());
        }
    }
}

fn run(home: &Path, arguments: &[&str]) {
    let output = ctxgauge(home).args(arguments).output();
    assert!(output.status.code().is_some(), "{output:?}");
}

#[test]
fn paths_in_logs_are_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let decoys = tempfile::tempdir().unwrap();
    let at = |name: &str| decoys.path().join(name);
    // The folders in which the sessions of the fixtures work, and some files that they name.
    for project in ["shop", "harbour", "api", "fair"] {
        for file in [
            "src/main.rs",
            "README.md",
            "AGENTS.md",
            "CLAUDE.md",
            ".claude/notes.json",
            "a.png",
        ] {
            put(&at(project).join(file), b"{}");
        }
        put(&at(project).join(".claude/settings.json"), b"{}");
    }
    let fixtures = manifest_folder().join("tests/fixtures");
    let logs = home.path().join("logs");
    copy(&fixtures, &logs, decoys.path().to_str().unwrap());
    let decoys = Decoys::watch(decoys.path());
    fs::read(decoys.folder.join("shop/a.png")).unwrap();
    assert_eq!(decoys.opened(), [decoys.folder.join("shop/a.png")].into());

    for command in ["ls", "audit"] {
        run(home.path(), &[command, "--json", logs.to_str().unwrap()]);
    }
    // An agent's settings for a project are in the project's folder.
    let mut opened = decoys.opened();
    opened.retain(|path| !path.ends_with(".claude/settings.json"));
    assert!(opened.is_empty(), "{opened:#?}");
}

#[test]
fn links_beside_logs_do_not_lead_out() {
    let home = tempfile::tempdir().unwrap();
    let decoys = tempfile::tempdir().unwrap();
    let decoy = |name: &str| {
        let path = decoys.path().join(name);
        put(&path, b"{\"a\":1}\n");
        path
    };
    let fixtures = manifest_folder().join("tests/fixtures");
    // A tree that somebody else made, which the user looks into.
    let tree = home.path().join("tree");
    let copy = |from: &str, to: &str| {
        let to = tree.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(fixtures.join(from), &to).unwrap();
        to
    };
    let link = |to: PathBuf, at: PathBuf| {
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        drop(fs::remove_file(&at));
        symlink(to, at).unwrap();
    };
    let id = "5e000000-0000-4000-8000-000000000007";

    // Settings of the agent and of a project, and the registry of running sessions.
    let log = copy(
        "claude-code/response_in_several_lines/log.jsonl",
        &format!(".claude/projects/-shop/{id}.jsonl"),
    );
    let project = tree.join("project");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(
        &log,
        text.replace("/home/dev/shop", project.to_str().unwrap()),
    )
    .unwrap();
    for at in [
        ".claude/settings.json",
        ".claude.json",
        ".claude/.claude.json",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        &format!(".claude/sessions/{}.json", std::process::id()),
    ] {
        link(decoy("settings.json"), tree.join(at));
    }
    // Telemetry and a database.
    copy(
        "copilot-cli/telemetry_tells_prompts/log.jsonl",
        &format!(".copilot/session-state/{id}/events.jsonl"),
    );
    link(decoy("spans.jsonl"), tree.join(".copilot/otel/spans.jsonl"));
    link(decoy("store.db"), tree.join(".copilot/session-store.db"));
    // States.
    for (from, log, state) in [
        (
            "droid/settings_have_the_newest_prompt/log.jsonl",
            "droid/log.jsonl",
            "droid/log.settings.json",
        ),
        (
            "grok/compaction_between_call_and_result/log.jsonl",
            "grok/a/updates.jsonl",
            "grok/a/summary.json",
        ),
        (
            "openhands/state_tells_calls/base_state.json",
            "hands/a/state.json",
            "hands/a/base_state.json",
        ),
    ] {
        copy(from, log);
        link(decoy("state.json"), tree.join(state));
    }
    for event in fs::read_dir(fixtures.join("openhands/state_tells_calls/events"))
        .unwrap()
        .flatten()
    {
        let name = event.file_name();
        let name = name.to_str().unwrap();
        copy(
            &format!("openhands/state_tells_calls/events/{name}"),
            &format!("hands/a/events/{name}"),
        );
        copy(
            &format!("openhands/state_tells_calls/events/{name}"),
            &format!("hands/b/events/{name}"),
        );
    }
    link(
        decoy("event.json"),
        tree.join("hands/b/events/event-99999-5e550000-0000-4000-8000-000000000009.json"),
    );
    // What a log continues.
    let case = "codex/fork-by-reference";
    let fork = copy(
        &format!("{case}/log.jsonl"),
        "codex/sessions/2026/11/21/rollout-2026-11-20T10-04-00-cccccccc-3333-7333-8333-333333333333.jsonl",
    );
    let base = "rollout-2026-11-20T10-02-00-bbbbbbbb-2222-7222-8222-222222222222.jsonl";
    let archived = decoys.path().join("archived");
    put(
        &archived.join(base),
        &fs::read(fixtures.join(case).join(base)).unwrap(),
    );
    link(archived.join(base), fork.with_file_name(base));
    link(archived, tree.join("codex/archived_sessions"));

    let decoys = Decoys::watch(decoys.path());
    let folder = tree.to_str().unwrap();
    for command in [
        &["ls", "--json", folder][..],
        &["audit", "--json", folder],
        &["ls", "--json", "--root", folder],
    ] {
        run(home.path(), command);
    }
    let named = [
        log,
        fork,
        tree.join("hands/a/events"),
        tree.join("hands/b/events"),
    ];
    for log in named {
        run(home.path(), &["report", log.to_str().unwrap()]);
    }
    let opened = decoys.opened();
    assert!(opened.is_empty(), "{opened:#?}");
}

/// The sessions that `ls` shows of a folder.
fn listed(home: &Path, root: &Path) -> Vec<String> {
    let output = ctxgauge(home)
        .args(["ls", "--json", "--root", root.to_str().unwrap()])
        .output();
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let sessions = list["sessions"].as_array().unwrap().iter();
    let mut ids: Vec<String> = sessions
        .map(|session| session["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[test]
fn no_link_below_a_root_is_followed_out_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    let (own, system, eve) = (at("own"), at("merged"), at("merged/home/eve"));
    let id = |n: u64| format!("5e550000-0000-4000-8000-{n:012}");
    let fixture = |path: &str| {
        fs::read_to_string(manifest_folder().join("tests/fixtures").join(path)).unwrap()
    };
    let log = fixture("claude-code/response_in_several_lines/log.jsonl");
    let session = |folder: &Path, n: u64| {
        let text = log.replace("5e000000-0000-4000-8000-000000000007", &id(n));
        put(&folder.join(id(n)).with_extension("jsonl"), text.as_bytes());
    };
    // This machine.
    let here = at("here");
    session(&here.join(".claude/projects/-secret"), 9);
    session(&here.join(".codex/sessions"), 8);
    let database = here.join(".local/share/opencode/opencode.db");
    fs::create_dir_all(database.parent().unwrap()).unwrap();
    let writer = rusqlite::Connection::open(&database).unwrap();
    writer
        .execute_batch(&fixture("opencode/prompts_are_input_and_cache/log.sql"))
        .unwrap();
    drop(writer);
    put(&here.join("projects.json"), b"{\"projects\":[]}");
    put(&here.join(".claude/settings.json"), b"{}");
    put(&here.join(".claude/sessions/7.json"), b"{}");
    put(&here.join("state/clients/0123456789abcdef.json"), b"{}");
    put(&here.join("proc/7/stat"), b"7 (a) S 1");
    // A container, in which somebody has made links.
    put(&system.join("etc/passwd"), b"");
    let own_logs = eve.join(".claude/projects/-own");
    session(&own_logs, 1);
    session(&system.join("data/logs"), 2);
    put(&eve.join(".claude/sessions-of/7.json"), b"{}");
    let up = format!("{}{}", "../".repeat(24), here.join(".claude").display());
    for (name, to) in [
        ("home/ada/.claude/projects", here.join(".claude/projects")),
        ("home/bob", here.clone()),
        ("home/fay/.claude", up.into()),
        ("root", here.clone()),
        ("proc", here.join("proc")),
        (
            "home/eve/.claude/projects/-folder",
            here.join(".claude/projects/-secret"),
        ),
        ("home/eve/.claude/projects/-all", "/".into()),
        ("home/eve/.claude/projects/-loop", "-loop".into()),
        ("home/eve/.claude/projects/-inside", "/data/logs".into()),
        (
            "home/eve/.claude/settings.json",
            here.join(".claude/settings.json"),
        ),
        ("home/eve/.claude/sessions", here.join(".claude/sessions")),
        ("home/eve/.codex/sessions", here.join(".codex/sessions")),
        (
            "home/eve/.local/share/opencode/opencode.db",
            database.clone(),
        ),
        (
            "home/eve/.local/share/crush/projects.json",
            here.join("projects.json"),
        ),
        ("home/eve/.local/state/ctxgauge", here.join("state")),
    ] {
        fs::create_dir_all(system.join(name).parent().unwrap()).unwrap();
        symlink(to, system.join(name)).unwrap();
    }
    let secret = here.join(".claude/projects/-secret");
    let file = id(9) + ".jsonl";
    symlink(secret.join(&file), own_logs.join(&file)).unwrap();
    fs::create_dir_all(own_logs.join(id(1))).unwrap();
    symlink(&secret, own_logs.join(id(1)).join("subagents")).unwrap();

    let decoys = Decoys::watch(&here);
    let both = [id(1), id(2)];
    assert_eq!(listed(&own, &system), both);
    assert_eq!(listed(&own, &eve), both);
    for root in [&system, &eve] {
        let root = ["--root", root.to_str().unwrap()];
        for command in [&["search", "."][..], &["audit"], &["report", &id(2)]] {
            run(&own, &[command, &root].concat());
        }
        let mut monitor = Monitor::open(&own, &root, (120, 30));
        monitor.wait_for_text("shop");
        monitor.press("q");
        monitor.end().unwrap();
    }
    // A home in no system: a link to `/data` was meant for another one.
    fs::remove_file(system.join("etc/passwd")).unwrap();
    assert_eq!(listed(&own, &eve), both[..1]);
    assert_eq!(decoys.opened(), BTreeSet::new());
}
