//! The sessions of other machines, through the whole program: `follow --summaries` of another home is read as the screens
//! read it, through a script in the place of `ssh` and, where it is installed, through a real `sshd` on loopback.
#![cfg(unix)]

use crate::fuzzed::targets::sessions::RULES;
use crate::fuzzed::targets::{hosts, seeds};
use crate::support::{ctxgauge, manifest_folder, process, schema};
use ctxgauge::agents;
use ctxgauge::files::waiting::wait_for;
use ctxgauge::hosts::{Event, Host, Links, Options, start};
use ctxgauge::model::sessions::Sessions;
use proptest::prelude::*;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
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

#[test]
fn rows_of_another_machine_are_those_of_its_own_list() {
    let (one, two) = (home_there(), home_there());
    program_there(one.path());
    program_there(two.path());
    let ssh = one.path().join("bin/ssh");
    // The arguments after `--` are the machine, which is the name of a folder here, and the command.
    let names = format!(
        "one='{}'; two='{}'",
        one.path().display(),
        two.path().display()
    );
    script(
        &ssh,
        &format!(
            "{names}\nwhile test \"$1\" != --; do shift; done\neval home=\\$$2\nshift 2\nPATH=$home/bin:$PATH exec \"$@\""
        ),
    );
    let (links, seen) = follow(&ssh, &["one", "two"]);
    wait_for_rows(&seen, one.path(), "one");
    wait_for_rows(&seen, two.path(), "two");
    // A log grows there.
    let log = two
        .path()
        .join(".claude/projects/-there")
        .join(format!("{}.jsonl", LOGS[0]));
    let text = fs::read_to_string(&log).unwrap();
    let before = listed_there(two.path());
    let mut file = OpenOptions::new().append(true).open(&log).unwrap();
    let last = text
        .lines()
        .rfind(|line| line.contains("\"input_tokens\""))
        .unwrap();
    let mut grown: Value = serde_json::from_str(last).unwrap();
    grown["uuid"] = "grown".into();
    grown["message"]["id"] = "grown".into();
    grown["requestId"] = "grown".into();
    grown["message"]["usage"]["input_tokens"] = 50_000.into();
    writeln!(file, "{grown}").unwrap();
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

/// A real `sshd` as the user of the tests.
struct Sshd {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Sshd {
    /// Starts one that runs commands in this home; `None`: it is not installed.
    fn start(folder: &Path, home: &Path, port: u16) -> Option<Sshd> {
        let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].map(Path::new);
        let sshd = sshd.into_iter().find(|path| path.exists())?;
        let keygen = |name: &str| {
            let key = folder.join(name);
            if key.exists() {
                return Some(());
            }
            let run = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(key)
                .status();
            run.is_ok_and(|status| status.success()).then_some(())
        };
        keygen("host")?;
        keygen("user")?;
        fs::copy(folder.join("user.pub"), folder.join("authorized")).unwrap();
        let command = folder.join("command");
        script(
            &command,
            &format!(
                "PATH='{}/bin':$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
                home.display()
            ),
        );
        let d = folder.display();
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {d}/host\nPidFile none\nUsePAM no\nStrictModes no\n\
             AuthorizedKeysFile {d}/authorized\nPasswordAuthentication no\nPermitRootLogin yes\nForceCommand {}\n",
            command.display()
        );
        fs::write(folder.join("conf"), settings).unwrap();
        // As root it wants its folder.
        let _ = fs::create_dir("/run/sshd");
        let child = Command::new(sshd)
            .args(["-D", "-e", "-f"])
            .arg(folder.join("conf"))
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .ok()?;
        Some(Sshd {
            child,
            folder: folder.to_owned(),
            port,
        })
    }

    /// The script that is run as `ssh`: the real one, with the key of this machine and no configuration.
    fn client(&self) -> PathBuf {
        let path = self.folder.join("ssh");
        let d = self.folder.display();
        script(
            &path,
            &format!(
                "exec ssh -F none -i {d}/user -o UserKnownHostsFile={d}/known -o StrictHostKeyChecking=accept-new -p {} \"$@\"",
                self.port
            ),
        );
        path
    }

    /// Ends the server and the connections that it has.
    fn stop(&mut self) {
        let id = self.child.id().to_string();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let child = nix::unistd::Pid::from_raw(child.parse().unwrap());
            let _ = nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.stop();
    }
}

#[test]
fn a_real_sshd_that_is_killed_and_started_again_is_away_and_back() {
    let (home, folder) = (home_there(), tempfile::tempdir().unwrap());
    program_there(home.path());
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let Some(mut sshd) = Sshd::start(folder.path(), home.path(), port) else {
        println!("no sshd here: rows were not read through a real one");
        return;
    };
    let user = Command::new("id").arg("-un").output().unwrap().stdout;
    let user = String::from_utf8(user).unwrap().trim().to_owned();
    let name = format!("{user}@127.0.0.1");
    let (_links, seen) = follow(&sshd.client(), &[&name]);
    wait_for_rows(&seen, home.path(), &name);
    sshd.stop();
    wait_for("old rows", || {
        let seen = seen.lock().unwrap();
        let is_it = seen.0.hosts_away() == 1 && seen.0.len() == LOGS.len();
        is_it.then_some(()).ok_or_else(|| format!("{:?}", seen.1))
    });
    let again = Sshd::start(folder.path(), home.path(), port);
    assert!(again.is_some());
    wait_for_rows(&seen, home.path(), &name);
}
