#![cfg(unix)]

use super::*;
use crate::testing::{session, start as first_line, there};
use crate::wire;
use files::waiting::wait_for;
use model::lists::sessions::Sessions;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// The rows and messages of one machine, whose `ssh` is a script.
struct Seen {
    all: Arc<Mutex<(Sessions, Vec<String>)>>,
    links: Option<Links>,
    folder: TempDir,
}

impl Seen {
    /// Runs a script in the place of `ssh`. `$D` is a folder of its own.
    fn run(script: &str, silence: Duration) -> Seen {
        let folder = tempfile::tempdir().unwrap();
        let ssh = folder.path().join("ssh");
        let d = folder.path().display();
        fs::write(&ssh, format!("#!/bin/sh\nD={d}\n{script}\n")).unwrap();
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
        let all = Arc::new(Mutex::new((Sessions::new(Arc::default()), Vec::new())));
        let shared = Arc::clone(&all);
        let options = Options {
            ssh: ssh.into(),
            silence,
            ..Options::new(agents::by_id)
        };
        let host = Host::read("build-1").unwrap();
        let links = super::start(vec![host], &options, move |event| {
            let mut all = shared.lock().unwrap();
            match event {
                Event::Update(update) => all.0.apply(update),
                Event::Said(_, text) => all.1.push(text),
            }
            ControlFlow::Continue(())
        });
        Seen {
            all,
            links: Some(links.unwrap()),
            folder,
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn wait(&self, what: &str, is_it: impl Fn(&Sessions, &[String]) -> bool) {
        wait_for(what, || {
            let all = self.all.lock().unwrap();
            let is_it = is_it(&all.0, &all.1);
            is_it.then_some(()).ok_or_else(|| format!("{:?}", all.1))
        });
    }

    fn wait_until_said(&self, text: &str) {
        self.wait(text, |_, said| said.iter().any(|it| it.contains(text)));
    }
}

fn long() -> Duration {
    Duration::from_secs(3_600)
}

/// A script that prints the lines of a machine with one session, after a greeting.
fn lines() -> String {
    let (sessions, key) = there();
    let row = wire::row(&sessions, key).unwrap();
    let at = Timestamp::now();
    let session = session("a", at, &row);
    format!(
        "cat <<'END'\n{}\n{session}\n{{\"type\":\"scanned\"}}\nEND\n",
        first_line()
    )
}

#[test]
fn a_session_comes_after_a_greeting_and_a_line_without_end_costs_no_memory() {
    let script = format!(
        "echo welcome; {}head -c 50000000 /dev/zero | tr '\\0' x; echo; {}exec sleep 1000",
        lines(),
        "echo '{\"type\":\"heartbeat\"}'\n"
    );
    let seen = Seen::run(&script, long());
    seen.wait_until_said("1 line before those of ctxgauge passed over: welcome");
    seen.wait_until_said("left out: lines that are not understood");
    seen.wait("a session", |sessions, _| sessions.len() == 1);
}

#[test]
fn what_ssh_says_is_shown_and_its_rows_are_old_until_it_is_back() {
    let script = format!(
        "test -e $D/down && {{ printf 'first\\nssh: no \\033[2Jroute\\n' >&2; exit 255; }}\n{}while ! test -e $D/down; do sleep 0.01; done; exit 255",
        lines()
    );
    let seen = Seen::run(&script, long());
    let is_away = |sessions: &Sessions| {
        let key = sessions.keys().next();
        key.is_some_and(|key| sessions.away(key).is_some_and(|away| away.since.is_some()))
    };
    seen.wait("a session", |sessions, _| {
        sessions.len() == 1 && !is_away(sessions)
    });
    fs::write(seen.path("down"), "").unwrap();
    seen.wait_until_said("ssh: no ");
    seen.wait("old rows", |sessions, said| {
        let now = Timestamp::now();
        let live = sessions.keys().any(|key| sessions.live(key, now).is_some());
        let is_inert = said.iter().all(|it| !it.contains('\u{1b}'));
        is_away(sessions) && !live && is_inert && sessions.hosts_away() == 1
    });
    fs::remove_file(seen.path("down")).unwrap();
    seen.wait("the machine is back", |sessions, _| {
        sessions.len() == 1 && sessions.hosts_away() == 0
    });
}

#[test]
fn for_a_machine_without_the_program_the_command_that_copies_it_is_shown() {
    let seen = Seen::run("echo 'sh: ctxgauge: not found' >&2; exit 127", long());
    seen.wait_until_said("not installed there; to copy this one: scp /");
    seen.wait_until_said(" build-1:/usr/local/bin/ctxgauge");
}

#[test]
fn a_machine_that_goes_silent_is_away_and_comes_back_with_its_next_line() {
    let script = format!(
        "{}while ! test -e $D/go; do sleep 0.01; done\nwhile :; do echo '{{\"type\":\"heartbeat\"}}'; sleep 0.01; done",
        lines()
    );
    let seen = Seen::run(&script, Duration::from_millis(300));
    seen.wait("silence", |sessions, _| {
        sessions.hosts_away() == 1 && sessions.len() == 1
    });
    fs::write(seen.path("go"), "").unwrap();
    seen.wait("a line", |sessions, _| sessions.hosts_away() == 0);
}

#[test]
fn a_machine_that_is_stopped_is_away_until_it_continues() {
    let script = format!(
        "echo $$ > $D/new; mv $D/new $D/id\n{}while :; do echo '{{\"type\":\"heartbeat\"}}'; sleep 0.01; done",
        lines()
    );
    let seen = Seen::run(&script, Duration::from_secs(1));
    let id = wait_for("a process", || fs::read_to_string(seen.path("id")));
    let signal = |name: &str| {
        let kill = Command::new("kill").args([name, id.trim()]).status();
        assert!(kill.unwrap().success());
    };
    seen.wait("a session", |sessions, _| {
        sessions.len() == 1 && sessions.hosts_away() == 0
    });
    signal("-STOP");
    seen.wait("silence", |sessions, _| {
        sessions.hosts_away() == 1 && sessions.len() == 1
    });
    signal("-CONT");
    seen.wait("a line", |sessions, _| sessions.hosts_away() == 0);
}

#[test]
fn a_program_that_is_missing_is_said() {
    let mut options = Options::new(agents::by_id);
    options.ssh = "/nonexistent/ssh".into();
    let said = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&said);
    let host = Host::read("build-1").unwrap();
    let _links = super::start(vec![host], &options, move |event| {
        if let Event::Said(_, text) = event {
            to.lock().unwrap().push(text);
        }
        ControlFlow::Continue(())
    });
    wait_for("a message", || {
        let said = said.lock().unwrap();
        let is_it = said
            .iter()
            .any(|it: &String| it.contains("could not run /nonexistent/ssh"));
        is_it.then_some(()).ok_or_else(|| format!("{said:?}"))
    });
}

#[test]
fn the_process_ends_with_the_links() {
    let script = "echo $$ > $D/new; mv $D/new $D/id; exec sleep 1000";
    let mut seen = Seen::run(script, long());
    let id = wait_for("a process", || fs::read_to_string(seen.path("id")));
    let process = Path::new("/proc").join(id.trim());
    if !Path::new("/proc/self").exists() {
        return;
    }
    assert!(process.exists());
    drop(seen.links.take());
    assert!(!process.exists());
}
