//! Standard output that is closed early or full, for every command.

use crate::support::{ctxgauge, manifest_folder, process};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::process::{Command, Output, Stdio};

/// Every command and every format, but for those that need a terminal or do not end.
fn commands() -> Vec<Vec<String>> {
    let log =
        manifest_folder().join("tests/fixtures/claude-code/response_in_several_lines/log.jsonl");
    let log = log.to_str().unwrap();
    let mut commands = vec![
        vec!["--help"],
        vec!["--version"],
        vec!["help", "report"],
        vec!["report", "--help"],
        vec!["ls", log, "--totals"],
        vec!["audit", log, "--worst", "3"],
        vec!["report", log, "--ascii"],
        vec!["check", log, "--max-percent", "80", "--json"],
        vec!["follow", log],
        vec!["search", "pool", log],
        vec!["search", "pool", log, "--json"],
    ];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        commands.push(vec!["completions", shell]);
    }
    for command in [
        &["report", log][..],
        &["ls", log],
        &["models"],
        &["agents"],
        &["agents", "check", log],
    ] {
        commands.push(command.to_vec());
        commands.push([command, &["--json"]].concat());
    }
    commands.push(vec!["audit", log, "--json"]);
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    commands.into_iter().map(owned).collect()
}

/// Commands that are run as processes too: standard output is the same for all.
fn some_commands() -> impl Iterator<Item = Vec<String>> {
    commands().into_iter().step_by(8)
}

fn run(command: &[String], out: Stdio) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut program: Command = process(home.path());
    program.args(command).stdin(Stdio::null()).stdout(out);
    program.output().unwrap()
}

/// Standard output that takes nothing.
struct Refusing(ErrorKind);

impl Write for Refusing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(self.0.into())
    }
}

/// The exit code, and what is printed on standard error, with such an output.
fn refused(command: &[String], why: ErrorKind) -> (u8, String) {
    let home = tempfile::tempdir().unwrap();
    let mut line = ctxgauge(home.path());
    let (code, stderr) = line.args(command).print_to(Refusing(why));
    (code, String::from_utf8(stderr).unwrap())
}

#[test]
fn a_closed_pipe_ends_every_command_in_silence() {
    for command in commands() {
        let ended = refused(&command, ErrorKind::BrokenPipe);
        assert_eq!(ended, (0, String::new()), "{command:?}");
    }
    for command in some_commands() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(&command, writer.into());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(message, "", "{command:?}");
        assert!(output.status.success(), "{command:?}: {:?}", output.status);
    }
}

#[test]
fn following_a_quiet_log_ends_when_its_reader_has_gone() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log.jsonl");
    let fixture = "tests/fixtures/claude-code/response_in_several_lines/log.jsonl";
    std::fs::copy(manifest_folder().join(fixture), &log).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut program: Command = process(home.path());
    program.args(["follow", "--heartbeat", "1h"]).arg(&log);
    program.stdin(Stdio::null()).stdout(Stdio::from(writer));
    let mut following = program.spawn().unwrap();
    // The child's is the only other copy of the pipe's end.
    drop(program);
    let mut first = String::new();
    let mut lines = BufReader::new(reader);
    lines.read_line(&mut first).unwrap();
    assert!(first.contains("start"), "{first}");
    drop(lines);
    assert!(following.wait().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error_of_every_command() {
    let check = |command: &[String], code: Option<i32>, message: &str| {
        let expected = "ctxgauge: could not write to standard output: ";
        assert!(message.starts_with(expected), "{command:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{command:?}: {message}");
        // 1 is an answer of these.
        let answers = ["check", "search"].contains(&command[0].as_str());
        let expected = if answers { 3 } else { 1 };
        assert_eq!(code, Some(expected), "{command:?}");
    };
    for command in commands() {
        let (code, message) = refused(&command, ErrorKind::StorageFull);
        check(&command, Some(code.into()), &message);
    }
    for command in some_commands() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let output = run(&command, full.unwrap().into());
        let message = String::from_utf8_lossy(&output.stderr);
        check(&command, output.status.code(), &message);
    }
}
