//! The program under a filter of system calls: no network, no child process; and nothing is written but its own
//! state and cache.
//!
//! The filter is applied by this test binary, started once more, which then becomes the program.

use crate::program::manifest_folder;
use crate::terminal::Terminal;
use nix::libc;
use portable_pty::CommandBuilder;
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter_all_threads,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program to become, with its arguments, a line each.
const BECOME: &str = "CTXGAUGE_TEST_BECOME";
/// The exit code where the system has no such filters.
const NO_FILTER: i32 = 77;
/// The arguments by which this binary runs nothing but [`becomes_the_program`].
const ALONE: [&str; 4] = [
    "--exact",
    "confined::becomes_the_program",
    "--nocapture",
    "--quiet",
];

/// Calls that kill the process: sockets of every kind, and new processes.
fn forbidden() -> Option<SeccompFilter> {
    // A thread is a clone with this flag.
    let thread = u64::try_from(libc::CLONE_THREAD).ok()?;
    let is_process = SeccompCmpOp::MaskedEq(thread);
    let is_process = SeccompCondition::new(0, SeccompCmpArgLen::Qword, is_process, 0).ok()?;
    let process = SeccompRule::new(vec![is_process]).ok()?;
    let mut calls = BTreeMap::from([(libc::SYS_socket, vec![]), (libc::SYS_clone, vec![process])]);
    #[cfg(target_arch = "x86_64")]
    calls.extend([(libc::SYS_fork, vec![]), (libc::SYS_vfork, vec![])]);
    filter(calls, SeccompAction::KillProcess)
}

/// Calls whose flags cannot be looked at: the C library uses older ones where there are none.
fn absent() -> Option<SeccompFilter> {
    let calls = BTreeMap::from([(libc::SYS_clone3, vec![])]);
    filter(
        calls,
        SeccompAction::Errno(u32::try_from(libc::ENOSYS).ok()?),
    )
}

fn filter(calls: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> Option<SeccompFilter> {
    let target = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    SeccompFilter::new(calls, SeccompAction::Allow, action, target).ok()
}

/// Not a test: what the others start this binary for.
#[test]
fn becomes_the_program() {
    let Ok(program) = std::env::var(BECOME) else {
        return;
    };
    for filter in [absent(), forbidden()] {
        let code = filter.and_then(|filter| filter.try_into().ok());
        let applied = code.map(|code: Vec<_>| apply_filter_all_threads(&code));
        if !matches!(applied, Some(Ok(()))) {
            std::process::exit(NO_FILTER);
        }
    }
    let mut words = program.lines();
    match words.next() {
        Some("socket") => drop(std::net::UdpSocket::bind("127.0.0.1:0")),
        Some("process") => drop(Command::new("true").status()),
        Some(name) => panic!(
            "{}",
            Command::new(name).args(words).env_remove(BECOME).exec()
        ),
        None => {}
    }
}

fn confined(home: &Path, words: &[&str]) -> Output {
    confined_command(home, words).output().unwrap()
}

fn confined_command(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(ALONE)
        .env_clear()
        .env("HOME", home)
        .env("TMPDIR", home.join("tmp"));
    command
        .env("TERM", "xterm-256color")
        .env(BECOME, words.join("\n"));
    command
}

/// Whether the system can apply the filters, and they work.
fn can_confine(home: &Path) -> bool {
    for forbidden in ["socket", "process"] {
        let status = confined(home, &[forbidden]).status;
        if status.code() == Some(NO_FILTER) {
            return false;
        }
        assert_eq!(
            status.signal(),
            Some(libc::SIGSYS),
            "{forbidden}: {status:?}"
        );
    }
    true
}

/// Every file below a folder, with its length and when it was written.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, meta) = (
            entry.as_ref().unwrap().path(),
            entry.unwrap().metadata().unwrap(),
        );
        if meta.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path, (meta.len(), meta.modified().unwrap()));
        }
    }
    files
}

/// Copies the first case of every agent.
fn some_logs(into: &Path) {
    for agent in entries(&manifest_folder().join("tests/fixtures")) {
        copy(&entries(&agent)[0], &into.join(agent.file_name().unwrap()));
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in entries(from) {
            copy(&entry, &to.join(entry.file_name().unwrap()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Asks `ctxgauge mcp` for a context.
#[cfg(feature = "mcp")]
fn serve_an_agent(home: &Path, program: &str) {
    use std::io::Write;
    let mut child = confined_command(
        home,
        &[program, "mcp", "--texts", "--session", "000000000001"],
    )
    .stdin(std::process::Stdio::piped())
    .stdout(std::process::Stdio::piped())
    .spawn()
    .unwrap();
    let mut requests = child.stdin.take().unwrap();
    let initialize = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
    for (id, method, params) in [
        (0, "initialize", initialize),
        (1, "tools/call", r#"{"name":"context_now"}"#),
        (
            2,
            "tools/call",
            r#"{"name":"item_text","arguments":{"id":0}}"#,
        ),
    ] {
        writeln!(
            requests,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        )
        .unwrap();
    }
    drop(requests);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.matches("structuredContent").count(), 2, "{answers}");
}

/// Runs what agents run, with what they pass.
fn run_for_an_agent(home: &Path, program: &str, log: &Path) {
    use std::io::Write;
    let log = log.to_str().unwrap();
    for (arguments, passed) in [
        (
            &["statusline", "--within", "600000"][..],
            r#""context_window":{"context_window_size":200000}"#,
        ),
        (
            &["hook", "--within", "600000"],
            r#""hook_event_name":"PreCompact","trigger":"auto""#,
        ),
        (&["status", "--session", "5e55", "--within", "600000"], ""),
    ] {
        let mut command = confined_command(home, &[&[program], arguments].concat());
        command.stdin(std::process::Stdio::piped());
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let input = format!(r#"{{"session_id":"5e55","transcript_path":"{log}",{passed}}}"#);
        // Not each of them reads it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let is_line = String::from_utf8_lossy(&output.stdout).contains("21.6k known");
        assert_eq!(is_line, arguments[0] != "hook", "{arguments:?}: {output:?}");
    }
}

#[test]
fn no_network_no_process_and_no_write_but_its_own() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    fs::create_dir_all(home.join("tmp")).unwrap();
    if !can_confine(home) {
        return;
    }
    let logs = home.join("logs");
    some_logs(&logs);
    let project = home.join(".claude/projects/-shop");
    fs::create_dir_all(&project).unwrap();
    let log =
        manifest_folder().join("tests/fixtures/claude-code/response_in_several_lines/log.jsonl");
    let own_log = project.join("5e550000-0000-4000-8000-000000000001.jsonl");
    fs::copy(log, &own_log).unwrap();
    let before = files(home);
    let program = env!("CARGO_BIN_EXE_ctxgauge");
    let (logs, project) = (logs.to_str().unwrap(), project.to_str().unwrap());
    for arguments in [
        &["ls"][..],
        &["ls", logs, "--totals", "--json"],
        &["report", project],
        &["audit", project],
        &["agents"],
        &["models", "--json"],
        &["completions", "bash"],
    ] {
        let output = confined(home, &[&[program], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    #[cfg(feature = "mcp")]
    serve_an_agent(home, program);
    run_for_an_agent(home, program, &own_log);
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(ALONE);
    command.env_clear();
    command.env("HOME", home);
    command.env("TMPDIR", home.join("tmp"));
    command.env("TERM", "xterm-256color");
    command.env(BECOME, program);
    let mut terminal = Terminal::start(command, (120, 36));
    terminal.wait_for_text("21.6k");
    for key in ["s", "s", "\r", "\r"] {
        terminal.press(key);
    }
    terminal.wait_for_text("items");
    terminal.press("\r");
    terminal.wait_for_text("copy");
    terminal.write("q");
    assert!(terminal.wait_for_end().success());

    let after = files(home);
    let own = [
        home.join(".local/state/ctxgauge"),
        home.join(".cache/ctxgauge"),
    ];
    let is_own = |path: &Path| own.iter().any(|folder| path.starts_with(folder));
    let others: BTreeMap<_, _> = after
        .clone()
        .into_iter()
        .filter(|(path, _)| !is_own(path))
        .collect();
    assert_eq!(others, before, "only state and cache are written");
    let written: Vec<_> = after.keys().filter(|path| is_own(path)).collect();
    assert!(written.len() > 1, "{written:?}");
    for path in written {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{path:?} is for its user alone");
    }
}
