//! The program in this process.

use super::program::environment;
use ctxgauge::commands::locale::Terminals;
use ctxgauge::commands::program::{self, Streams};
use ctxgauge::commands::streams::{Messages, Output};
use ctxgauge::files::paths::{Env, Folders, User};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus};

/// The user of a home folder, with these variables.
pub fn user(home: &Path, environment: HashMap<String, OsString>) -> User {
    let below = |name: &str| Some(home.join(name));
    User {
        folders: Folders {
            home: Some(home.to_owned()),
            xdg_config: below(".config"),
            xdg_data: below(".local/share"),
            config: below(".config"),
            state: below(".local/state"),
            cache: below(".cache"),
        },
        env: Env::from(move |name: &str| environment.get(name).cloned()),
    }
}

/// A command line. Its working directory is that of the tests: a test that needs another starts a
/// [`process`](super::process).
pub struct CommandLine {
    arguments: Vec<OsString>,
    input: Vec<u8>,
    home: PathBuf,
    environment: HashMap<String, OsString>,
}

/// The program in an empty home: no logs, no configuration, no variable of ours, no terminal.
pub fn ctxgauge(home: &Path) -> CommandLine {
    CommandLine {
        arguments: vec!["ctxgauge".into()],
        input: Vec::new(),
        home: home.to_owned(),
        environment: environment(home),
    }
}

impl CommandLine {
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut CommandLine {
        self.args([argument])
    }

    pub fn args(&mut self, more: impl IntoIterator<Item: AsRef<OsStr>>) -> &mut CommandLine {
        let more = more.into_iter().map(|each| each.as_ref().to_owned());
        self.arguments.extend(more);
        self
    }

    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut CommandLine {
        self.envs([(name, value)])
    }

    pub fn envs<V: AsRef<OsStr>>(
        &mut self,
        set: impl IntoIterator<Item = (impl Into<String>, V)>,
    ) -> &mut CommandLine {
        let set = set.into_iter();
        let set = set.map(|(name, value)| (name.into(), value.as_ref().to_owned()));
        self.environment.extend(set);
        self
    }

    /// What an agent passes to it.
    pub fn input(&mut self, passed: impl Into<Vec<u8>>) -> &mut CommandLine {
        self.input = passed.into();
        self
    }

    /// Runs it with this standard output. Returns the exit code and what is on standard error.
    pub fn print_to(&mut self, stdout: impl Write) -> (u8, Vec<u8>) {
        let user = user(&self.home, self.environment.clone());
        let (mut out, mut stderr) = (Output::new(stdout), Vec::new());
        let mut err = Messages::new(&mut stderr, &user.env);
        let streams = Streams {
            input: Box::new(Cursor::new(self.input.clone())),
            out: &mut out,
            err: &mut err,
            terminals: Terminals::default(),
        };
        let mut arguments = self.arguments.clone();
        arguments.extend(at_leisure(&self.arguments[1..]).iter().map(OsString::from));
        let code = program::run(&arguments, &user, streams);
        drop((out, err));
        (code, stderr)
    }

    /// Runs it.
    pub fn output(&mut self) -> process::Output {
        let mut stdout = Vec::new();
        let (code, stderr) = self.print_to(&mut stdout);
        process::Output {
            status: exit_status(code),
            stdout,
            stderr,
        }
    }
}

/// More arguments of a status line: a time long enough for any machine. How fast it is, a benchmark measures.
pub fn at_leisure(arguments: &[impl AsRef<OsStr>]) -> &'static [&'static str] {
    let command = arguments.first().map(AsRef::as_ref);
    match command.and_then(OsStr::to_str) {
        Some("statusline" | "status") => &["--within", "600000"],
        _ => &[],
    }
}

/// The status of a process that exits with this code.
fn exit_status(code: u8) -> ExitStatus {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::from_raw(i32::from(code) << 8);
    #[cfg(windows)]
    return std::os::windows::process::ExitStatusExt::from_raw(code.into());
}
