//! `ctxgauge follow` through the whole program.
#![cfg(unix)]

use crate::support::{ctxgauge, manifest_folder, process, schema};
use ctxgauge::files::waiting::wait_for;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A program that follows, and its lines as they come.
struct Following {
    child: Child,
    lines: Receiver<String>,
    /// Fails in the test's own thread if a line is not as it should be.
    check: fn(&Value),
    home: tempfile::TempDir,
}

impl Following {
    fn start(folder: &Path, options: &[&str]) -> Following {
        Following::run("follow", folder, options, |line| {
            schema::check("follow-1.json", line);
        })
    }

    fn run(name: &str, folder: &Path, options: &[&str], check: fn(&Value)) -> Following {
        let home = tempfile::tempdir().unwrap();
        let mut command = process(home.path());
        command.arg(name).arg(folder).args(options);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Following {
            child,
            lines,
            check,
            home,
        }
    }

    /// The next line of this type for which this holds.
    fn next(&self, r#type: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        self.next_line(|line| line["type"] == r#type && is_it(line))
    }

    fn next_line(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        wait_for("a line", || {
            while let Ok(line) = self.lines.try_recv() {
                let line: Value = serde_json::from_str(&line).unwrap();
                (self.check)(&line);
                if is_it(&line) {
                    return Ok(line);
                }
                last = line;
            }
            Err(last.clone())
        })
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn some_log() -> String {
    let name = "tests/fixtures/claude-code/response_in_several_lines/log.jsonl";
    fs::read_to_string(manifest_folder().join(name)).unwrap()
}

#[test]
fn changes_of_sessions_are_lines_until_a_signal_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (
        folder.path().join("one.jsonl"),
        folder.path().join("two.jsonl"),
    );
    let text = some_log();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&one, lines[..2].concat()).unwrap();
    let following = Following::start(folder.path(), &["--every", "10ms", "--heartbeat", "100ms"]);
    let start = following.next("start", |_| true);
    assert_eq!(
        (&start["seq"], &start["schema"]),
        (&0.into(), &"ctxgauge.follow/1".into())
    );
    let first = following.next("session", |_| true);
    assert_eq!(following.next("scanned", |_| true)["sessions"], 1);
    following.next("heartbeat", |_| true);

    // It grows, and says what `ls` says.
    let mut log = OpenOptions::new().append(true).open(&one).unwrap();
    log.write_all(lines[2..].concat().as_bytes()).unwrap();
    let listed = || {
        let mut ls = ctxgauge(following.home.path());
        let output = ls.args(["ls", "--json"]).arg(folder.path()).output();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        list["sessions"][0].clone()
    };
    let expected = listed()["context"]["used"].clone();
    let grown = following.next("session", |line| line["context"]["used"] == expected);
    assert_eq!(grown["session"], first["session"]);
    for (key, value) in listed().as_object().unwrap() {
        // Between the two, a minute may have passed.
        if key != "live" && key != "updated_at" {
            assert_eq!(&grown[key], value, "{key}");
        }
    }
    // Another one comes, and goes.
    fs::write(&two, &text).unwrap();
    let new = following.next("session", |line| line["session"] != first["session"]);
    fs::remove_file(&two).unwrap();
    let gone = following.next("gone", |_| true);
    assert_eq!(
        (&gone["session"], &gone["path"]),
        (&new["session"], &new["path"])
    );
    // The first is rewritten.
    fs::write(&one, lines[..1].concat()).unwrap();
    following.next("session", |line| {
        line["session"] == first["session"] && line["context"]["known"] == 0
    });

    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let mut other = Following::start(folder.path(), &[]);
        other.next("scanned", |_| true);
        let id = i32::try_from(other.child.id()).unwrap();
        kill(Pid::from_raw(id), signal).unwrap();
        assert_eq!(other.child.wait().unwrap().code(), Some(code));
    }
}

#[test]
fn texts_are_said_if_they_are_asked_for_and_names_are_not_said_if_they_are_not_wanted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.jsonl"), some_log()).unwrap();
    let said = |options: &[&str]| {
        let following = Following::start(folder.path(), options);
        following.next("session", |_| true).to_string()
    };
    let prompt = "where is the pool made?";
    let plain = said(&[]);
    assert!(!plain.contains(prompt) && plain.contains("shop"), "{plain}");
    let all = said(&["--texts"]);
    assert!(all.contains(prompt), "{all}");
    let redacted = said(&["--redact"]);
    for name in [prompt, "shop", "one.jsonl", "5e55"] {
        assert!(!redacted.contains(name), "{redacted}");
    }
}

/// Clap drops a requirement that conflicts: `--reports` requires `--texts`, which `--redact` forbids.
#[test]
fn whole_reports_are_refused_beside_redact() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("one.jsonl");
    fs::write(&log, some_log()).unwrap();
    for option in ["--reports", "--texts", "--summaries"] {
        let mut follow = ctxgauge(folder.path());
        let output = follow
            .args(["follow", "--redact", option])
            .arg(&log)
            .output();
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(output.stdout.is_empty(), "{option}");
    }
}

#[test]
fn the_report_of_a_log_is_that_of_its_time_also_when_it_was_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (log, elsewhere) = (folder.path().join("one.jsonl"), folder.path().join("two"));
    let text = some_log();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&log, lines[..2].concat()).unwrap();
    let options = ["--texts", "--reports", "--every", "0s"];
    let following = Following::start(&log, &options);
    let report = || {
        let mut report = ctxgauge(following.home.path());
        let output = report.args(["report", "--json"]).arg(&log).output();
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report.as_object_mut().unwrap().remove("schema");
        report
    };
    let is_same = |line: &Value| line["report"] == report();
    following.next("session", is_same);
    let mut file = OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(lines[2..].concat().as_bytes()).unwrap();
    let grown = following.next("session", is_same);
    assert_eq!(grown["report"]["context"]["used"], grown["context"]["used"]);
    fs::rename(&log, &elsewhere).unwrap();
    following.next("gone", |_| true);
    fs::rename(&elsewhere, &log).unwrap();
    following.next("session", is_same);
}

#[test]
fn a_report_that_follows_is_a_line_for_each_change_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("one.jsonl");
    let text = some_log();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&log, lines[..2].concat()).unwrap();
    let following = Following::run("report", &log, &["--follow", "--json"], |line| {
        assert!(
            line["type"].is_null() && !line["context"].is_null(),
            "{line}"
        );
    });
    let is_same = |line: &Value| {
        let report = ctxgauge(following.home.path())
            .args(["report", "--json"])
            .arg(&log)
            .output();
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        ["context", "calls", "messages"]
            .iter()
            .all(|part| line[part] == report[part])
    };
    following.next_line(is_same);
    let mut file = OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(lines[2..].concat().as_bytes()).unwrap();
    following.next_line(is_same);
}

/// The lines of the program with `--plain`, until it is ended.
struct Plain {
    child: Child,
    lines: Receiver<String>,
    _home: tempfile::TempDir,
}

impl Plain {
    fn start(folder: &Path) -> Plain {
        let home = tempfile::tempdir().unwrap();
        let mut command = process(home.path());
        command.args(["--plain", "--ascii"]).arg(folder);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Plain {
            child,
            lines,
            _home: home,
        }
    }

    /// The next line that contains this.
    fn next(&self, text: &str) -> String {
        let mut seen = Vec::new();
        wait_for(text, || {
            while let Ok(line) = self.lines.try_recv() {
                assert!(line.is_ascii() && !line.contains('\u{1b}'), "{line:?}");
                if line.contains(text) {
                    return Ok(line);
                }
                seen.push(line);
            }
            Err(seen.join("\n"))
        })
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn changes_are_told_in_words_in_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let text = some_log();
    let mut plain = Plain::start(folder.path());
    plain.next(" 0 sessions, 0 at work");
    fs::write(folder.path().join("one.jsonl"), &text).unwrap();
    let begun = plain.next("begins: ");
    assert!(begun.contains("shop") && begun.contains('%'), "{begun}");
    // The first nine characters are the time.
    assert_eq!(begun.as_bytes()[2], b':', "{begun}");
    let id = i32::try_from(plain.child.id()).unwrap();
    kill(Pid::from_raw(id), Signal::SIGINT).unwrap();
    assert_eq!(plain.child.wait().unwrap().code(), Some(130));
}
