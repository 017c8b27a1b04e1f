//! What happens to files while they are followed, and to the cache and the state while they are written.
#![cfg(unix)]

use crate::support::{ctxgauge, manifest_folder};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A program that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The lines of an output, as they come.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// A child that does not outlive the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn some_log() -> PathBuf {
    let folder = manifest_folder().join("tests/fixtures/claude-code");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|case| case.path().join("log.jsonl"))
        .filter(|log| log.exists())
        .collect();
    cases.sort();
    cases.swap_remove(0)
}

#[test]
fn a_followed_log_that_is_gone_is_said_once_and_followed_when_it_is_back() {
    let home = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(some_log()).unwrap();
    let path = home.path().join("log.jsonl");
    fs::write(&path, &text).unwrap();
    let mut command = ctxgauge(home.path());
    command
        .args(["report", "--follow", "--format", "json"])
        .arg(&path);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    let out = lines(child.0.stdout.take().unwrap());
    let err = lines(child.0.stderr.take().unwrap());
    let first = out.recv_timeout(PATIENCE).unwrap();
    fs::remove_file(&path).unwrap();
    let said = err.recv_timeout(PATIENCE).unwrap();
    assert!(said.contains("log.jsonl' is gone"), "{said}");
    fs::write(&path, &text).unwrap();
    let said = err.recv_timeout(PATIENCE).unwrap();
    assert!(said.contains("log.jsonl' is back"), "{said}");
    let again = out.recv_timeout(PATIENCE).unwrap();
    let session = |line: &str| {
        let report: serde_json::Value = serde_json::from_str(line).unwrap();
        report["context"].clone()
    };
    assert_eq!(session(&again), session(&first));
    assert!(err.try_recv().is_err(), "once");
}

/// A home with some sessions of Claude Code.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/-shop");
    fs::create_dir_all(&project).unwrap();
    for n in 0..20 {
        let path = project.join(format!("5e550000-0000-4000-8000-0000000000{n:02}.jsonl"));
        fs::copy(some_log(), &path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let time = std::time::SystemTime::now() - Duration::from_secs(3600 + n);
        file.set_modified(time).unwrap();
    }
    home
}

fn ls(home: &Path) -> Command {
    let mut command = ctxgauge(home);
    command.args(["ls", "--totals", "--format", "json"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn listed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_cache_is_whole_after_a_kill_at_any_moment() {
    let home = home();
    let expected = listed(
        &ls(home.path())
            .env("XDG_CACHE_HOME", "/dev/null/none")
            .output()
            .unwrap(),
    );
    for wait in [0, 5, 10, 15, 20, 30, 40, 60, 80, 120] {
        let mut child = Ended(ls(home.path()).spawn().unwrap());
        thread::sleep(Duration::from_millis(wait));
        child.0.kill().unwrap();
        drop(child);
        let output = ls(home.path()).output().unwrap();
        assert_eq!(listed(&output), expected, "after {wait} ms");
        assert_eq!(output.stderr, b"");
        // Half of the rounds begin without a cache.
        if wait % 20 == 0 {
            let _ = fs::remove_dir_all(home.path().join(".cache"));
        }
    }
}

#[test]
fn several_of_us_at_once_share_a_cache() {
    let home = home();
    let expected = listed(
        &ls(home.path())
            .env("XDG_CACHE_HOME", "/dev/null/none")
            .output()
            .unwrap(),
    );
    for _ in 0..3 {
        let children: Vec<Child> = (0..4).map(|_| ls(home.path()).spawn().unwrap()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(listed(&output), expected);
            assert_eq!(output.stderr, b"");
        }
    }
}

#[test]
fn a_cache_that_cannot_be_made_costs_nothing_but_a_line() {
    let home = home();
    let expected = listed(&ls(home.path()).output().unwrap());
    let output = ls(home.path())
        .env("XDG_CACHE_HOME", "/dev/null/none")
        .output()
        .unwrap();
    assert_eq!(listed(&output), expected);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cache"), "{said}");
}

#[test]
fn a_full_disk_costs_nothing_but_a_line() {
    let home = home();
    let expected = listed(&ls(home.path()).output().unwrap());
    let _ = fs::remove_dir_all(home.path().join(".cache"));
    let ls = ls(home.path());
    let mut command = Command::new("/bin/sh");
    command.env_clear().envs(
        ls.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
    command.arg(ls.get_program()).args(ls.get_args());
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(listed(&output), expected);
    let said = String::from_utf8(output.stderr).unwrap();
    let is_about_it = |line: &str| line.contains("could not write the cache");
    assert!(said.lines().all(is_about_it), "{said}");
    assert!(!said.is_empty());
}
