//! What is in a file's place may be a pipe, a device, a socket, a folder or a link: nothing waits for it, nothing
//! reads it without end, and the user is told where it matters.
#![cfg(unix)]

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder, process};
use ctxgauge::files::waiting;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

fn fixture(path: &str) -> PathBuf {
    manifest_folder().join("tests/fixtures").join(path)
}

fn fifo(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

fn file(path: &Path) {
    fs::write(path, "").unwrap();
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
    waiting::wait_for("end of the command", || match child.try_wait().unwrap() {
        Some(_) => Ok(()),
        None => Err(format!("{command:?}")),
    });
    child.wait_with_output().unwrap()
}

/// Runs a command line that must end by itself.
fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = ctxgauge(home);
    command.args(arguments);
    let running = thread::spawn(move || command.output());
    waiting::wait_for("end of the command", || {
        let ended = running.is_finished().then_some(());
        ended.ok_or_else(|| format!("{arguments:?}"))
    });
    running.join().unwrap()
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
fn a_pipe_in_the_place_of_a_part_of_the_cache_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let log = fs::File::options()
        .write(true)
        .open(session(home.path(), ID));
    // Only what nobody writes to is kept.
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000);
    log.unwrap().set_modified(then).unwrap();
    let list = || run(home.path(), &["ls", "--json"]);
    let expected = json(&list());
    let cache = home.path().join(".cache/ctxgauge");
    for part in ["", "-journal", "-wal", "-shm"] {
        let _ = fs::remove_dir_all(&cache);
        fs::create_dir_all(&cache).unwrap();
        for (suffix, make) in [("", file as fn(&Path)), (part, fifo)] {
            let path = cache.join(format!("index.sqlite{suffix}"));
            let _ = fs::remove_file(&path);
            make(&path);
        }
        let output = list();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("could not write the index"), "{part}: {said}");
        assert_eq!(json(&output), expected, "{part}");
    }
}

#[test]
fn a_locked_database_is_busy_and_never_no_session() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let sql = fixture("opencode/prompts_are_input_and_cache/log.sql");
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer
        .execute_batch(&fs::read_to_string(sql).unwrap())
        .unwrap();
    // A transaction that is larger than its writer's memory is written to the database as it goes on.
    let write = "PRAGMA cache_size = 1; BEGIN; CREATE TABLE more(text);
         WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100)
         INSERT INTO more SELECT zeroblob(10000) FROM n";
    let lock = || writer.execute_batch(write).unwrap();
    let release = || writer.execute_batch("ROLLBACK").unwrap();
    let report = ["report", path.to_str().unwrap()];
    let commands = [&["ls"][..], &report];
    let begin = |command: &&[&str]| {
        let mut program = process(home.path());
        program.args(*command);
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        program.spawn().unwrap()
    };
    // A lock alone is in nobody's way.
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for command in commands {
        assert!(run(home.path(), command).status.success());
    }
    release();
    lock();
    let waiting: Vec<_> = commands.iter().map(begin).collect();
    for busy in waiting {
        let busy = busy.wait_with_output().unwrap();
        assert_eq!(busy.status.code(), Some(75), "{busy:?}");
        let said = error(&busy);
        assert!(said.contains("try again"), "{said}");
        assert!(!said.contains("no session"), "{said}");
    }
    release();
    for command in commands {
        assert!(run(home.path(), command).status.success());
    }
    // A lock that is released in time is waited for.
    lock();
    let mut list = process(home.path());
    let list = list.args(["ls", "--json"]).stdout(Stdio::piped());
    let list = list.spawn().unwrap();
    release();
    let list = json(&list.wait_with_output().unwrap());
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
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
    // Wide: a second message of the same pipe makes the line longer.
    let mut monitor = Monitor::open(home.path(), &[], (240, 40));
    monitor.wait_for_text("shop");
    fs::remove_file(&log).unwrap();
    fifo(&log);
    monitor.wait_for("what is wrong", |screen| screen.contains("named pipe"));
    // The other one goes on.
    let text = fs::read_to_string(&other).unwrap();
    let mut lines = text.lines().collect::<Vec<_>>();
    let renamed = text.replace("/home/dev/shop", "/home/dev/harbour");
    lines.push(renamed.lines().last().unwrap());
    fs::write(&other, renamed.as_bytes()).unwrap();
    monitor.wait_for_text("harbour");
    fs::remove_file(&log).unwrap();
    let again = String::from_utf8(before)
        .unwrap()
        .replace("/home/dev/shop", "/home/dev/quay");
    fs::write(&log, again).unwrap();
    monitor.wait_for_text("quay");
    monitor.press("q");
}

/// Runs a report on a pipe that a thread writes to.
fn report_of_pipe(home: &Path, text: &[u8]) -> Output {
    let pipe = home.join("pipe");
    fifo(&pipe);
    let writer = std::thread::spawn({
        let (pipe, text) = (pipe.clone(), text.to_owned());
        move || fs::write(pipe, text)
    });
    let path = pipe.to_str().unwrap();
    let output = run(home, &["report", "--json", path]);
    writer.join().unwrap().unwrap();
    fs::remove_file(&pipe).unwrap();
    output
}

#[test]
fn a_pipe_that_the_user_names_is_read_like_standard_input() {
    let home = tempfile::tempdir().unwrap();
    let log = session(home.path(), ID);
    let text = fs::read(&log).unwrap();
    let path = log.to_str().unwrap();
    let expected = json(&run(home.path(), &["report", "--json", path]))["context"].clone();
    let of_pipe = json(&report_of_pipe(home.path(), &text));
    assert_eq!(of_pipe["context"], expected);
    for named in ["-", "/dev/stdin", "/dev/fd/0"] {
        let mut command = process(home.path());
        command
            .args(["report", "--json", named])
            .stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &text).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(json(&output)["context"], expected, "{named}");
    }
    // A shell passes `<(command)` as the path of a pipe.
    if Path::new("/bin/bash").exists() {
        let line = format!(
            "{} report --json <(cat '{path}')",
            env!("CARGO_BIN_EXE_ctxgauge")
        );
        let mut shell = Command::new("/bin/bash");
        shell.arg("-c").arg(line).env("HOME", home.path());
        assert_eq!(json(&ended(&mut shell))["context"], expected);
    }
}

#[test]
fn a_pipe_of_something_else_is_refused_by_its_name() {
    let home = tempfile::tempdir().unwrap();
    for (text, what) in [(&b"hello\n"[..], "not JSON"), (b"", "empty")] {
        let why = error(&report_of_pipe(home.path(), text));
        assert!(why.contains("pipe") && why.contains(what), "{why}");
    }
}

#[test]
fn a_pipe_is_shown_on_the_screen() {
    let home = tempfile::tempdir().unwrap();
    let pipe = home.path().join("pipe");
    fifo(&pipe);
    let text = fs::read(fixture("claude-code/response_in_several_lines/log.jsonl")).unwrap();
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, text)
    });
    let mut monitor = Monitor::open(home.path(), &[pipe.to_str().unwrap()], (140, 40));
    monitor.wait_for_text("shop");
    monitor.press("q");
    writer.join().unwrap().unwrap();
}

#[test]
fn a_byte_order_mark_does_not_hide_what_a_log_is() {
    let home = tempfile::tempdir().unwrap();
    for log in [
        "claude-code/response_in_several_lines/log.jsonl",
        "gemini-cli/document/log.json",
    ] {
        let log = fixture(log);
        let marked = home
            .path()
            .join("marked")
            .with_extension(log.extension().unwrap());
        let bytes = fs::read(&log).unwrap();
        fs::write(&marked, [b"\xef\xbb\xbf", &bytes[..]].concat()).unwrap();
        let context = |path: &Path| {
            let report = run(home.path(), &["report", "--json", path.to_str().unwrap()]);
            json(&report)["context"].clone()
        };
        assert_eq!(context(&marked), context(&log));
        let piped = report_of_pipe(home.path(), &fs::read(&marked).unwrap());
        assert_eq!(json(&piped)["context"], context(&log));
    }
    let utf_16: Vec<u8> = "{\"type\":\"user\"}\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let path = home.path().join("log.jsonl");
    for mark in [&b"\xff\xfe"[..], b""] {
        fs::write(&path, [mark, &utf_16].concat()).unwrap();
        let why = error(&run(home.path(), &["report", path.to_str().unwrap()]));
        assert!(why.contains("UTF-16"), "{why}");
    }
    let utf_32: Vec<u8> = "{\"type\":\"user\"}\n"
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    for mark in [&b"\xff\xfe\0\0"[..], b""] {
        fs::write(&path, [mark, &utf_32].concat()).unwrap();
        let why = error(&run(home.path(), &["report", path.to_str().unwrap()]));
        assert!(why.contains("iconv -f UTF-32"), "{why}");
    }
}

#[test]
fn a_hard_link_of_a_log_is_no_second_session() {
    let home = tempfile::tempdir().unwrap();
    let log = session(home.path(), ID);
    let folder = log.parent().unwrap();
    let link = folder.join("5e550000-0000-4000-8000-000000000000.jsonl");
    fs::hard_link(&log, &link).unwrap();
    let sessions = |arguments: &[&str]| {
        let list = json(&run(home.path(), &[&["ls", "--json"], arguments].concat()));
        list["sessions"].as_array().unwrap().clone()
    };
    assert_eq!(sessions(&[]).len(), 1);
    // Each is found where it is named.
    for path in [&log, &link] {
        let found = sessions(&[path.to_str().unwrap()]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["path"], path.to_str().unwrap());
    }
    let both = [&log, &link].map(|path| path.to_str().unwrap());
    assert_eq!(sessions(&both).len(), 1);
    fs::remove_file(&link).unwrap();
    assert_eq!(sessions(&[]).len(), 1);

    // On screen, a link that is made later changes nothing.
    let mut monitor = Monitor::open(home.path(), &[], (140, 40));
    monitor.wait_for_text("1 session");
    fs::hard_link(&log, &link).unwrap();
    session(home.path(), "5e550000-0000-4000-8000-000000000002");
    monitor.wait_for_text("2 sessions");
    monitor.press("q");
}

#[test]
fn a_bad_mapping_is_left_out_and_the_others_go_on() {
    let home = tempfile::tempdir().unwrap();
    let log = session(home.path(), ID);
    let log = log.to_str().unwrap();
    let mappings = home.path().join(".config/ctxgauge/agents");
    fs::create_dir_all(&mappings).unwrap();
    fs::write(mappings.join("bad.toml"), "rows = 7\n").unwrap();
    fifo(&mappings.join("pipe.toml"));
    symlink("/dev/zero", mappings.join("zero.toml")).unwrap();
    let config = "[[policy]]\nagent = \"bad\"\nshare = 0.5\n";
    fs::write(home.path().join(".config/ctxgauge/config.toml"), config).unwrap();
    for command in [
        &["ls", "--json"][..],
        &["report", "--json", log],
        &["models"],
        &["agents"],
    ] {
        let output = run(home.path(), command);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        for name in ["bad.toml", "pipe.toml", "zero.toml"] {
            assert!(
                said.contains(name) && said.contains("left out"),
                "{command:?}: {said}"
            );
        }
    }
    let why = error(&run(home.path(), &["agents", "check", log]));
    assert!(why.contains("bad.toml"), "{why}");
    let mut monitor = Monitor::open(home.path(), &[], (140, 40));
    monitor.wait_for("the session, and what is left out", |screen| {
        screen.contains("shop") && screen.contains("left out")
    });
}

#[test]
fn a_bad_theme_stops_no_screen_unless_it_is_the_chosen_one() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), ID);
    let themes = home.path().join(".config/ctxgauge/themes");
    fs::create_dir_all(&themes).unwrap();
    fs::write(themes.join("mine.toml"), "[styles]\nquiet = \"dimm\"\n").unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (140, 40));
    monitor.wait_for("the session, and what is left out", |screen| {
        screen.contains("shop") && screen.contains("left out")
    });
    for (name, why) in [("mine", "dimm"), ("none", "unknown theme 'none'")] {
        let refused = Monitor::try_open(home.path(), &["--theme", name], (140, 40), &[]);
        let said = format!("{:#}", refused.err().unwrap());
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn with_too_few_descriptors_every_command_says_so_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let log = session(home.path(), ID);
    let program = env!("CARGO_BIN_EXE_ctxgauge");
    let commands = ["ls", &format!("report '{}'", log.display()), "audit"];
    for limit in [8, 12, 14, 16, 20] {
        for command in commands {
            let script = format!("ulimit -n {limit}; exec '{program}' {command}");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).stdin(Stdio::null());
            shell.env("HOME", home.path());
            let output = ended(&mut shell);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{limit} {command}: {said}");
            if output.status.success() {
                assert!(!output.stdout.is_empty(), "{limit} {command}")
            } else {
                assert!(said.contains("ulimit -n"), "{limit} {command}: {said}")
            }
            assert!(limit > 12 || !output.status.success(), "{limit} {command}");
        }
        // The monitor needs more, and says so before it looks for a terminal.
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {limit}; exec '{program}'")]);
        shell.env("HOME", home.path()).stdin(Stdio::null());
        let said = error(&ended(&mut shell));
        assert!(said.contains("ulimit -n"), "{limit}: {said}");
    }
}
