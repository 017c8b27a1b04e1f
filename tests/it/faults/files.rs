//! What is in a file's place may be a pipe, a device, a socket, a folder or a link: nothing waits for it, nothing
//! reads it without end, and the user is told where it matters.
#![cfg(unix)]

use crate::support::{ctxgauge, manifest_folder};
use crate::terminal::Terminal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A program that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

fn fixture(path: &str) -> PathBuf {
    manifest_folder().join("tests/fixtures").join(path)
}

fn fifo(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

/// Copies a file into a folder that is made.
fn put(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

/// Runs a command that must end by itself.
fn ended(command: &mut Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{command:?} hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    ended(ctxgauge(home).args(arguments).stdin(Stdio::null()))
}

fn error(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A session of Claude Code in its place below a home.
fn session(home: &Path, id: &str) -> PathBuf {
    let log = home.join(format!(".claude/projects/-home-dev-shop/{id}.jsonl"));
    put(
        &fixture("claude-code/response_in_several_lines/log.jsonl"),
        &log,
    );
    log
}

const ID: &str = "5e550000-0000-4000-8000-000000000001";

#[test]
fn a_pipe_in_the_place_of_a_log_is_refused_by_every_command() {
    let home = tempfile::tempdir().unwrap();
    let pipe = home.path().join("log.jsonl");
    fifo(&pipe);
    let link = home.path().join("link.jsonl");
    symlink(&pipe, &link).unwrap();
    for path in [&pipe, &link] {
        let path = path.to_str().unwrap();
        for command in [&["ls"][..], &["audit"], &["agents", "check"]] {
            let why = error(&run(home.path(), &[command, &[path]].concat()));
            assert!(why.contains("a pipe"), "{command:?}: {why}");
        }
    }
    let why = error(&run(home.path(), &["report", link.to_str().unwrap()]));
    assert!(why.contains("nobody writes to this pipe"), "{why}");
}

#[test]
fn pipes_among_logs_stop_no_list() {
    let home = tempfile::tempdir().unwrap();
    let log = session(home.path(), ID);
    let folder = log.parent().unwrap();
    fifo(&folder.join("5e550000-0000-4000-8000-000000000002.jsonl"));
    symlink(
        folder.join("5e550000-0000-4000-8000-000000000002.jsonl"),
        folder.join("5e550000-0000-4000-8000-000000000003.jsonl"),
    )
    .unwrap();
    let sessions = home.path().join(".copilot/session-state").join(ID);
    put(
        &fixture("copilot-cli/telemetry_tells_prompts/log.jsonl"),
        &sessions.join("events.jsonl"),
    );
    let telemetry = home.path().join(".copilot/otel");
    fs::create_dir_all(&telemetry).unwrap();
    fifo(&telemetry.join("spans.jsonl"));
    symlink("/dev/zero", telemetry.join("zero.jsonl")).unwrap();
    fifo(&home.path().join(".copilot/session-store.db"));
    let list = json(&run(home.path(), &["ls", "--json"]));
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "{list}");
}

/// A conversation of OpenHands: the folder of its events, and its state.
fn conversation(home: &Path) -> (PathBuf, PathBuf) {
    let case = fs::read_dir(fixture("openhands")).unwrap().flatten();
    let case = case
        .map(|case| case.path())
        .find(|case| case.join("base_state.json").exists());
    let case = case.unwrap();
    let folder = home.join(".openhands/conversations/5e550000000040008000000000000001");
    fs::create_dir_all(folder.join("events")).unwrap();
    for file in fs::read_dir(case.join("events")).unwrap().flatten() {
        fs::copy(file.path(), folder.join("events").join(file.file_name())).unwrap();
    }
    let state = folder.join("base_state.json");
    fs::copy(case.join("base_state.json"), &state).unwrap();
    (folder.join("events"), state)
}

#[test]
fn a_pipe_in_the_place_of_a_state_file_leaves_the_session_without_it() {
    let home = tempfile::tempdir().unwrap();
    let (events, state) = conversation(home.path());
    let before = json(&run(
        home.path(),
        &["report", "--json", events.to_str().unwrap()],
    ));
    assert_eq!(before["session"]["unreadable"], 0);
    for what in ["pipe", "zero", "folder"] {
        match what {
            "pipe" => {
                fs::remove_file(&state).unwrap();
                fifo(&state);
            }
            "zero" => {
                fs::remove_file(&state).unwrap();
                symlink("/dev/zero", &state).unwrap();
            }
            _ => {
                fs::remove_file(&state).unwrap();
                fs::create_dir(&state).unwrap();
            }
        }
        let report = json(&run(
            home.path(),
            &["report", "--json", events.to_str().unwrap()],
        ));
        assert_eq!(
            report["session"]["unreadable"], 1,
            "{what}: {}",
            report["session"]
        );
        let list = json(&run(home.path(), &["ls", "--json"]));
        assert_eq!(
            list["sessions"].as_array().unwrap().len(),
            1,
            "{what}: {list}"
        );
    }
}

#[test]
fn a_pipe_in_the_place_of_the_newest_event_is_a_problem_of_its_session_alone() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), ID);
    let (events, _) = conversation(home.path());
    let newest = events.join("event-99999-5e550000-0000-4000-8000-000000000009.json");
    for make in [fifo as fn(&Path), |path| {
        symlink("/dev/zero", path).unwrap()
    }] {
        make(&newest);
        let output = run(home.path(), &["ls", "--json"]);
        let list = json(&output);
        assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("event-99999"), "{said}");
        let why = error(&run(home.path(), &["report", events.to_str().unwrap()]));
        assert!(
            why.contains("not a file") || why.contains("leads out"),
            "{why}"
        );
        fs::remove_file(&newest).unwrap();
    }
}

#[test]
fn a_pipe_beside_a_database_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let database = home.path().join("crush.db");
    let sql = fs::read_dir(fixture("crush")).unwrap().flatten();
    let sql = sql
        .map(|case| case.path().join("log.sql"))
        .find(|sql| sql.exists());
    let writer = rusqlite::Connection::open(&database).unwrap();
    writer
        .execute_batch(&fs::read_to_string(sql.unwrap()).unwrap())
        .unwrap();
    writer
        .pragma_update(None, "journal_mode", "delete")
        .unwrap();
    drop(writer);
    let path = database.to_str().unwrap();
    let all = json(&run(home.path(), &["ls", "--json", path]));
    assert!(!all["sessions"].as_array().unwrap().is_empty(), "{all}");
    for suffix in ["-journal", "-wal", "-shm"] {
        for make in [fifo as fn(&Path), |path| {
            symlink("/dev/zero", path).unwrap()
        }] {
            let beside = home.path().join(format!("crush.db{suffix}"));
            make(&beside);
            let why = error(&run(home.path(), &["report", path]));
            assert!(why.contains(suffix), "{suffix}: {why}");
            fs::remove_file(&beside).unwrap();
        }
    }
}

#[test]
fn a_pipe_in_the_place_of_a_configuration_file_is_named() {
    let home = tempfile::tempdir().unwrap();
    let log = session(home.path(), ID);
    let own = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&own).unwrap();
    for name in ["config.toml", "models.toml"] {
        for make in [fifo as fn(&Path), |path| {
            symlink("/dev/zero", path).unwrap()
        }] {
            make(&own.join(name));
            let why = error(&run(home.path(), &["report", log.to_str().unwrap()]));
            assert!(why.contains(name) && why.contains("not a file"), "{why}");
            fs::remove_file(own.join(name)).unwrap();
        }
    }
    // The user may name a pipe.
    let output = run(
        home.path(),
        &["--config", "/dev/null", "report", log.to_str().unwrap()],
    );
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_log_that_becomes_a_pipe_is_reported_and_read_again_when_it_is_a_file() {
    let home = tempfile::tempdir().unwrap();
    let log = session(home.path(), ID);
    let other = session(home.path(), "5e550000-0000-4000-8000-000000000002");
    let before = fs::read(&log).unwrap();
    let mut terminal = Terminal::open(home.path(), &[], (140, 40));
    terminal.wait_for_text("shop");
    fs::remove_file(&log).unwrap();
    fifo(&log);
    terminal.wait_for("what is wrong", |screen| screen.contains("named pipe"));
    // The other one goes on.
    let text = fs::read_to_string(&other).unwrap();
    let mut lines = text.lines().collect::<Vec<_>>();
    let renamed = text.replace("/home/dev/shop", "/home/dev/harbour");
    lines.push(renamed.lines().last().unwrap());
    fs::write(&other, renamed.as_bytes()).unwrap();
    terminal.wait_for_text("harbour");
    fs::remove_file(&log).unwrap();
    let again = String::from_utf8(before)
        .unwrap()
        .replace("/home/dev/shop", "/home/dev/quay");
    fs::write(&log, again).unwrap();
    terminal.wait_for_text("quay");
    terminal.press("q");
}
