//! A home for the program, and the program in it.

use crate::common::home::Home;
use crate::common::screen::Screen;
use serde_json::Value;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_ctxgauge");
/// No command takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(30);
/// The list, for programs.
pub const LIST: [&str; 2] = ["ls", "--json"];
/// A panic's exit code.
const PANIC: i32 = 101;

/// A home with logs, and a folder for what the program keeps.
pub struct Place {
    home: Home,
    own: TempDir,
}

/// How a program has ended.
#[derive(Debug)]
pub struct Ended {
    /// `None`: it had to be killed.
    status: Option<ExitStatus>,
    pub out: String,
    pub err: String,
}

impl Place {
    /// So many logs of Claude Code, to which nobody writes.
    pub fn new(logs: usize) -> Place {
        Place {
            home: Home::new(logs, 30_000, Duration::from_secs(3600)),
            own: tempfile::tempdir().unwrap(),
        }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn logs(&self) -> &[PathBuf] {
        &self.home.logs
    }

    /// The folder of the program's caches.
    pub fn caches(&self) -> PathBuf {
        self.own.path().join("cache/ctxgauge")
    }

    /// The program. What it keeps is kept for the next.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_in(&self.own.path().join("cache"), arguments)
    }

    /// The same without a cache.
    pub fn command_alone(&self, arguments: &[&str]) -> Command {
        self.command_in(Path::new("/dev/null/none"), arguments)
    }

    fn command_in(&self, cache: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).env_clear();
        command.env("HOME", self.home());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("XDG_CACHE_HOME", cache);
        command.env("XDG_STATE_HOME", self.own.path().join("state"));
        command
    }

    /// The monitor.
    pub fn monitor(&self) -> Screen {
        Screen::start_with(PROGRAM, &[], self.home(), self.own.path())
    }

    /// The rows of a list that is read without a cache.
    pub fn rows(&self) -> Result<Vec<String>, String> {
        ended(self.command_alone(&LIST)).rows()
    }

    /// Whether a list by the cache has these rows, and is about nothing else.
    pub fn lists(&self, rows: &[String]) -> Result<(), String> {
        let list = ended(self.command(&LIST));
        match (list.rows()?, list.err.is_empty()) {
            (found, true) if found == rows => Ok(()),
            (found, _) => Err(format!("{}: {found:#?} instead of {rows:#?}", list.err)),
        }
    }
}

/// Runs a command to its end. Its output goes through pipes: a limit of files' size is none of theirs.
pub fn ended(mut command: Command) -> Ended {
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    thread::scope(|scope| {
        let (out, err) = (scope.spawn(|| text(out)), scope.spawn(|| text(err)));
        Ended {
            status: end_of(&mut child),
            out: out.join().unwrap(),
            err: err.join().unwrap(),
        }
    })
}

/// How a program ends. One that takes too long is killed.
fn end_of(child: &mut Child) -> Option<ExitStatus> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

fn text(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Ended {
    /// Its exit code; `None`: a signal ended it, or it did not end.
    pub fn code(&self) -> Option<i32> {
        self.status?.code()
    }

    /// The signal that has ended it, of it or of the shell that it is for.
    pub fn signal(&self) -> Option<i32> {
        self.status?.signal()
    }

    /// The rows of a list that has succeeded, in an order of their own.
    pub fn rows(&self) -> Result<Vec<String>, String> {
        let list = serde_json::from_str::<Value>(&self.out);
        match (self.code(), list) {
            (Some(0), Ok(list)) => {
                let rows = list["sessions"].as_array().into_iter().flatten();
                let mut rows: Vec<String> = rows.map(Value::to_string).collect();
                rows.sort();
                Ok(rows)
            }
            _ => Err(format!("no list: {self:?}")),
        }
    }

    /// Whether it ended by itself and said why it failed, if it did.
    pub fn in_order(&self) -> Result<(), String> {
        let is_told = |code| code == 0 || (code != PANIC && !self.err.is_empty());
        if self.code().is_some_and(is_told) && !self.err.contains("panicked") {
            Ok(())
        } else {
            Err(format!("{self:?}"))
        }
    }
}
