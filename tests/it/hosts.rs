//! The sessions of other machines, through the whole program: `follow --summaries` of another home is read as the screens
//! read it, through a script in the place of `ssh` and, where it is installed, through a real `sshd` on loopback.
#![cfg(unix)]

mod sshd;

use crate::fuzzed::targets::sessions::RULES;
use crate::fuzzed::targets::{hosts, seeds};
use crate::support::{ctxgauge, manifest_folder, process, schema};
use ctxgauge::agents;
use ctxgauge::files::waiting::wait_for;
use ctxgauge::hosts::{Event, Host, Links, Options, start};
use ctxgauge::model::lists::sessions::Sessions;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::prelude::*;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use tempfile::TempDir;

/// The logs of the other machine.
const LOGS: [&str; 3] = [
    "response_in_several_lines",
    "compact_boundary_keeps_nothing",
    "advisor_is_billed_apart",
];

/// A home with logs.
fn home_there() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-there");
    fs::create_dir_all(&folder).unwrap();
    for name in LOGS {
        let log = format!("tests/fixtures/claude-code/{name}/log.jsonl");
        fs::copy(
            manifest_folder().join(log),
            folder.join(format!("{name}.jsonl")),
        )
        .unwrap();
    }
    home
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes `ctxgauge` there: the program with that home.
fn program_there(home: &Path) -> PathBuf {
    let program = home.join("bin/ctxgauge");
    let built = process(home).get_program().to_owned();
    let run = format!(
        "exec env -i HOME='{}' TZ=UTC PATH=/usr/bin:/bin '{}' \"$@\"",
        home.display(),
        Path::new(&built).display()
    );
    script(&program, &run);
    program
}

type Seen = Arc<Mutex<(Sessions, Vec<String>)>>;

fn follow(ssh: &Path, hosts: &[&str]) -> (Links, Seen) {
    let seen: Seen = Arc::new(Mutex::new((Sessions::new(Arc::clone(&RULES)), Vec::new())));
    let shared = Arc::clone(&seen);
    let options = Options {
        ssh: ssh.into(),
        ..Options::new(agents::by_id)
    };
    let hosts = hosts.iter().map(|name| Host::read(name).unwrap());
    let links = start(hosts.collect(), &options, move |event| {
        let mut seen = shared.lock().unwrap();
        match event {
            Event::Update(update) => seen.0.apply(update),
            Event::Said(host, text) => seen.1.push(format!("{host}: {text}")),
        }
        ControlFlow::Continue(())
    });
    (links.unwrap(), seen)
}

/// The sizes of the sessions in the list of the other machine.
fn listed_there(home: &Path) -> Vec<(String, u64, Option<u64>, u64)> {
    let output = ctxgauge(home).args(["ls", "--json"]).output();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut all: Vec<_> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let context = &it["context"];
            let project = it["project"].as_str().unwrap();
            (
                project.to_owned(),
                context["used"].as_u64().unwrap(),
                it["trigger"].as_u64(),
                context["window"].as_u64().unwrap(),
            )
        })
        .collect();
    all.sort();
    all
}

fn listed_here(sessions: &Sessions, host: &str) -> Vec<(String, u64, Option<u64>, u64)> {
    let of_host = sessions
        .gauges()
        .filter(|(key, _)| sessions.host(*key).is_some_and(|it| **it == *host));
    let mut all: Vec<_> = of_host
        .map(|(_, gauge)| {
            let project = sessions.project_of(gauge);
            let project = project.strip_prefix(&format!("{host}:")).unwrap();
            let limits = gauge.limits();
            (
                project.to_owned(),
                gauge.context.used,
                limits.trigger,
                limits.window,
            )
        })
        .collect();
    all.sort();
    all
}

fn wait_for_rows(seen: &Seen, home: &Path, host: &str) {
    wait_for("the rows of the other machine", || {
        let there = listed_there(home);
        let seen = seen.lock().unwrap();
        let here = listed_here(&seen.0, host);
        let is_it = here == there && here.len() == LOGS.len() && seen.0.hosts_away() == 0;
        is_it
            .then_some(())
            .ok_or_else(|| format!("{here:?} {there:?} {:?}", seen.1))
    });
}

/// A script in the place of `ssh` that reaches two homes as `one` and `two`, unless there is a file `down` in it. It writes
/// the id of its process to `id`.
fn ssh_to(one: &TempDir, two: &TempDir) -> PathBuf {
    let ssh = one.path().join("bin/ssh");
    let (one, two) = (one.path().display(), two.path().display());
    // The arguments after `--` are the machine, which is the name of a variable here, and the command.
    script(
        &ssh,
        &format!(
            "one='{one}'; two='{two}'
while test \"$1\" != --; do shift; done
eval home=\\$$2
shift 2
test -e $home/down && {{ echo no route >&2; exit 255; }}
echo $$ > $home/id
PATH=$home/bin:$PATH exec \"$@\""
        ),
    );
    ssh
}

/// Appends a response to a log, with a prompt of 50,000 tokens.
fn grow(home: &Path) {
    let log = home
        .join(".claude/projects/-there")
        .join(format!("{}.jsonl", LOGS[0]));
    let text = fs::read_to_string(&log).unwrap();
    let mut file = OpenOptions::new().append(true).open(&log).unwrap();
    let last = text
        .lines()
        .rfind(|line| line.contains("\"input_tokens\""))
        .unwrap();
    let mut grown: Value = serde_json::from_str(last).unwrap();
    grown["uuid"] = "grown".into();
    grown["message"]["id"] = "grown".into();
    grown["requestId"] = "grown".into();
    grown["timestamp"] = jiff::Timestamp::now().to_string().into();
    grown["message"]["usage"]["input_tokens"] = 50_000.into();
    writeln!(file, "{grown}").unwrap();
}

#[test]
fn windows_of_a_configuration_are_those_of_the_machine_of_a_session() {
    let (one, two) = (home_there(), home_there());
    program_there(one.path());
    program_there(two.path());
    let path = one.path().join(".config/ctxgauge/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "[[window]]\nmodel = \"*\"\ntokens = 77_000\n").unwrap();
    let (_links, seen) = follow(&ssh_to(&one, &two), &["one", "two"]);
    wait_for_rows(&seen, one.path(), "one");
    wait_for_rows(&seen, two.path(), "two");
    let seen = seen.lock().unwrap();
    let windows = |host| {
        let rows = listed_here(&seen.0, host).into_iter();
        rows.map(|(.., window)| window).collect::<Vec<_>>()
    };
    assert_eq!(windows("one"), [77_000; LOGS.len()]);
    assert!(windows("two").iter().all(|window| *window != 77_000));
}

#[test]
fn lines_for_people_have_the_sessions_of_other_machines_and_say_which_does_not_answer() {
    let (here, one) = (tempfile::tempdir().unwrap(), home_there());
    program_there(one.path());
    ssh_to(&one, &one);
    let mut command = process(here.path());
    let bin = one.path().join("bin");
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    command.args(["--plain", "--ascii", "ssh://one"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = channel();
    thread::spawn(move || {
        let lines = out.lines().map_while(Result::ok);
        lines.map_while(|line| sender.send(line).ok()).count();
    });
    let mut seen = Vec::new();
    let mut next = |text: &str| {
        wait_for(text, || {
            while let Ok(line) = lines.try_recv() {
                seen.push(line);
                if seen.last().is_some_and(|line| line.contains(text)) {
                    return Ok(());
                }
            }
            Err(seen.join("\n"))
        });
    };
    next(" one: 3 sessions, 0 at work");
    grow(one.path());
    next(" claude one:");
    fs::write(one.path().join("down"), "").unwrap();
    let id = fs::read_to_string(one.path().join("id")).unwrap();
    kill(Pid::from_raw(id.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
    next(" one does not answer: ");
    fs::remove_file(one.path().join("down")).unwrap();
    next(" one answers again");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!seen.iter().any(|line| line.contains("begins")), "{seen:?}");
}

#[test]
fn rows_of_another_machine_are_those_of_its_own_list() {
    let (one, two) = (home_there(), home_there());
    program_there(one.path());
    program_there(two.path());
    let ssh = ssh_to(&one, &two);
    let (links, seen) = follow(&ssh, &["one", "two"]);
    wait_for_rows(&seen, one.path(), "one");
    wait_for_rows(&seen, two.path(), "two");
    let before = listed_there(two.path());
    grow(two.path());
    assert_ne!(listed_there(two.path()), before);
    wait_for_rows(&seen, two.path(), "two");
    drop(links);
}

#[test]
fn lines_for_another_machine_are_of_the_schema_and_have_no_texts() {
    let home = home_there();
    let mut command = process(home.path());
    command.args(["follow", "--summaries"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut sessions = 0;
    for line in lines.map_while(Result::ok) {
        let line: Value = serde_json::from_str(&line).unwrap();
        schema::check("follow-1.json", &line);
        match line["type"].as_str().unwrap() {
            "scanned" => break,
            "session" => sessions += 1,
            _ => {}
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(sessions, LOGS.len());
}

proptest! {
    #[test]
    fn any_damaged_row_of_any_agent_is_drawn(
        seed: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        static SEEDS: std::sync::LazyLock<Vec<seeds::Seed>> =
            std::sync::LazyLock::new(|| seeds::of("hosts"));
        let (_, seed) = seed.get(&SEEDS);
        let mut input = seed.clone();
        for (at, byte) in changes {
            let at = at.index(input.len());
            if at >= hosts::ROW.len() {
                input[at] = byte;
            }
        }
        hosts::check(&input);
    }
}
