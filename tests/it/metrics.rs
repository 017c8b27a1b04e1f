//! `ctxgauge metrics` and `ctxgauge serve` through the whole program, from logs to the numbers that a store gets.
#![cfg(unix)]

mod documents;
mod pages;
mod prometheus;
mod requests;

use crate::support::{ctxgauge, manifest_folder, process};
use ctxgauge::files::waiting::{DEADLINE, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// The logs: agent, folder in the home, name, fixture.
const LOGS: [(&str, &str); 2] = [
    (
        ".claude/projects/-home-dev-shop/5e55.jsonl",
        "claude-code/compact_keeps_a_segment",
    ),
    (
        ".codex/sessions/2026/11/28/rollout-2026-11-28T10-00-00-11111111-1111-7111-8111-111111111111.jsonl",
        "codex/local-compaction",
    ),
];

/// A home with logs whose newest record is of now.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (to, fixture) in LOGS {
        let log = format!("tests/fixtures/{fixture}/log.jsonl");
        let log = fs::read_to_string(manifest_folder().join(log)).unwrap();
        let to = home.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, as_of_now(&log)).unwrap();
    }
    home
}

/// Moves all times of a log, so that the last is now.
fn as_of_now(log: &str) -> String {
    const BEGIN: &str = "\"timestamp\":\"";
    let parts: Vec<&str> = log.split(BEGIN).collect();
    let time = |part: &str| part[..part.find('"')?].parse::<jiff::Timestamp>().ok();
    let newest = parts.iter().filter_map(|part| time(part)).max().unwrap();
    let passed = jiff::Timestamp::now().duration_since(newest);
    let mut moved = parts[0].to_owned();
    for part in &parts[1..] {
        moved += BEGIN;
        match time(part) {
            Some(at) => {
                moved += &format!("{:.3}", at + passed);
                moved += &part[part.find('"').unwrap()..];
            }
            None => moved += part,
        }
    }
    moved
}

/// A program that serves.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(home: &Path, options: &[&str]) -> Server {
        let mut command = process(home);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(options);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening at http://");
        let address = address.and_then(|rest| rest.strip_suffix("/metrics"));
        Server {
            child,
            address: address.unwrap().parse().unwrap(),
        }
    }

    fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Sends a request and returns the head and the body of the answer.
    fn ask(&self, request: &str) -> (String, String) {
        ask(self.address, request)
    }

    fn get(&self, path: &str, accept: &str) -> (String, String) {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: here\r\nAccept: {accept}\r\n\r\n"
        ))
    }

    /// The numbers, once all logs were read whole.
    fn numbers(&self) -> Numbers {
        wait_for("numbers of all sessions", || {
            let (_, body) = self.get("/metrics", "text/plain");
            let numbers = Numbers::read(&body);
            let read = numbers.all("ctxgauge_requests_total").len();
            if read == LOGS.len() {
                Ok(numbers)
            } else {
                Err(body)
            }
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// Sends a request to a server and returns the head and the body of the answer.
fn ask(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect(&answer);
    (head.to_owned(), body.to_owned())
}

/// The samples of a text by name and labels, as they are written.
#[derive(Debug, PartialEq)]
struct Numbers(BTreeMap<String, f64>);

impl Numbers {
    fn read(text: &str) -> Numbers {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        });
        let mut numbers = BTreeMap::new();
        for (name, value) in samples {
            assert_eq!(numbers.insert(name.clone(), value), None, "{name}");
        }
        Numbers(numbers)
    }

    fn all(&self, name: &str) -> Vec<(&str, f64)> {
        let all = self.0.iter();
        let all = all.filter(|(key, _)| key.split('{').next() == Some(name));
        all.map(|(key, value)| (key.as_str(), *value)).collect()
    }

    /// The numbers of sessions that do not change while nothing is written.
    fn lasting(&self) -> BTreeMap<&str, f64> {
        let all = self.0.iter();
        let of = all.filter(|(key, _)| key.contains("session=") && !key.contains("record_age"));
        of.map(|(key, value)| (key.as_str(), *value)).collect()
    }

    fn of(&self, name: &str, session: &Value, more: &str) -> Option<f64> {
        let text = |key: &str| session[key].as_str().unwrap();
        let (agent, model, id) = (text("agent"), text("model"), text("id"));
        let labels = format!("agent=\"{agent}\",model=\"{model}\",session=\"{id}\"{more}");
        self.0.get(&format!("ctxgauge_{name}{{{labels}}}")).copied()
    }
}

fn listed(home: &Path) -> Vec<Value> {
    let output = ctxgauge(home).args(["ls", "--json"]).output();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    list["sessions"].as_array().unwrap().clone()
}

#[test]
fn each_number_is_the_one_that_ls_lists() {
    let home = home();
    let server = Server::start(home.path(), &["--session-ids"]);
    let numbers = server.numbers();
    let sessions = listed(home.path());
    assert_eq!(sessions.len(), LOGS.len());
    for session in &sessions {
        let context = &session["context"];
        for (name, expected) in [
            ("context_tokens", &context["used"]),
            ("context_known_tokens", &context["known"]),
            ("context_estimated_tokens", &context["estimated"]),
            ("context_low_tokens", &context["low"]),
            ("context_high_tokens", &context["high"]),
            ("window_tokens", &context["window"]),
            ("own_count_tokens", &context["own_count"]),
            ("trigger_tokens", &session["trigger"]),
            ("headroom_tokens", &session["headroom"]),
        ] {
            assert_eq!(
                numbers.of(name, session, ""),
                expected.as_f64(),
                "{name} {session:#}"
            );
        }
        let age = numbers.of("record_age_seconds", session, "").unwrap();
        assert!((0.0..600.0).contains(&age), "{age}");
        let compactions = numbers.all("ctxgauge_compactions_total").into_iter();
        let id = format!("session=\"{}\"", session["id"].as_str().unwrap());
        let compactions = compactions.filter(|(key, _)| key.contains(&id));
        assert_eq!(compactions.map(|(_, n)| n).sum::<f64>(), 1.0);
    }
    // So does the other format, and the command that writes once.
    let (head, body) = server.get("/metrics", "application/openmetrics-text; version=1.0.0");
    assert!(
        head.contains("application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    assert!(body.ends_with("# EOF\n"));
    assert_eq!(Numbers::read(&body).lasting(), numbers.lasting());
    let once = process(home.path())
        .args(["metrics", "--session-ids"])
        .output();
    let once = String::from_utf8(once.unwrap().stdout).unwrap();
    assert_eq!(Numbers::read(&once).lasting(), numbers.lasting());
}

#[test]
fn what_is_appended_is_in_the_next_answer() {
    let home = home();
    let server = Server::start(home.path(), &["--session-ids"]);
    let before = server.numbers();
    let log = home.path().join(LOGS[1].0);
    let text = fs::read_to_string(&log).unwrap();
    let report = as_of_now(text.lines().next_back().unwrap());
    let report = report
        .replace(":9000,", ":29000,")
        .replace(":9010}", ":29010}");
    let report = report
        .replace(":409100,", ":438100,")
        .replace(":409610}", ":438620}");
    let mut log = OpenOptions::new().append(true).open(&log).unwrap();
    writeln!(log, "{report}").unwrap();
    wait_for("what ls lists", || {
        let now = server.numbers();
        let sessions = listed(home.path());
        let is_listed = |session: &Value| {
            now.of("context_tokens", session, "") == session["context"]["used"].as_f64()
        };
        let latencies = now.0["ctxgauge_read_latency_seconds_count"];
        if now.lasting() != before.lasting() && sessions.iter().all(is_listed) && latencies > 0.0 {
            Ok(())
        } else {
            Err(format!("{now:?}"))
        }
    });
}

#[test]
fn ids_are_hashed_and_the_same_in_each_run() {
    let home = home();
    let run = |options: &[&str]| {
        let output = process(home.path()).arg("metrics").args(options).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let text = run(&[]);
    for secret in ["5e55", "11111111", "shop", "title", "project"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert_eq!(
        Numbers::read(&run(&[])).lasting(),
        Numbers::read(&text).lasting()
    );
    let salt = home.path().join(".local/state/ctxgauge/metrics-salt");
    assert_eq!(salt.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let labelled = run(&["--labels", "project,title"]);
    assert!(
        labelled.contains("project=\"ada/shop\"") && labelled.contains("title=\""),
        "{labelled}"
    );
}

/// A program that keeps a file fresh.
fn keep(home: &Path, file: &Path) -> Child {
    let mut command = process(home);
    command.args(["metrics", "--every", "1s", "-o"]).arg(file);
    command.stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_file_is_kept_fresh_and_is_whole_at_any_time() {
    let home = home();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ctxgauge.prom");
    let mut child = keep(home.path(), &file);
    let number = |path: &PathBuf| Some(path.metadata().ok()?.modified().unwrap());
    let first = wait_for("a file", || number(&file).ok_or("none"));
    wait_for("another one", || {
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("# HELP ctxgauge_") && text.ends_with('\n'),
            "{text}"
        );
        assert!(text.contains("ctxgauge_build_info"), "{text}");
        number(&file).filter(|now| *now != first).ok_or("none")
    });
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let names = fs::read_dir(folder.path()).unwrap().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["ctxgauge.prom"]);
}

#[test]
fn a_signal_is_the_exit_code_though_nobody_reads_the_output() {
    let home = home();
    let mut command = process(home.path());
    // It warns once it listens, and handles signals by then.
    command.args(["serve", "--listen", "0.0.0.0:0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    assert!(line.starts_with("warning: "), "{line}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
}

#[test]
fn another_kind_of_file_is_not_replaced() {
    let home = home();
    let log = home.path().join(LOGS[0].0);
    let before = fs::read(&log).unwrap();
    let output = keep(home.path(), &log).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(why.contains("which is not replaced"), "{why}");
    assert_eq!(fs::read(&log).unwrap(), before);
}
