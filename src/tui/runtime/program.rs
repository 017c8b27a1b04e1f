//! Shows a text in another program, which takes over the terminal for a while.
//!
//! An editor gets the text as it is: it shows control characters as such. A pager may write to the terminal
//! whatever it reads (`cat`, `less -R`): it gets the text with control characters made visible. No shell is
//! involved.

use crate::app::pager::Program;
use std::ffi::OsString;
use std::path::{Path, PathBuf, is_separator};
use std::process::{Child, Command};
use tempfile::NamedTempFile;

/// Returns the program and its arguments, from the environment. Quotes and backslashes group words as in a shell;
/// nothing else of a shell applies.
pub(super) fn words(program: Program, env: &dyn Fn(&str) -> Option<OsString>) -> Vec<OsString> {
    let (names, default): (&[&'static str], &str) = match program {
        Program::Pager => (&["PAGER"], "less"),
        Program::Editor => (
            &["VISUAL", "EDITOR"],
            files::of_system("vi", "vi", "notepad"),
        ),
    };
    names
        .iter()
        .filter_map(|name| env(name))
        .map(split)
        .find(|words| !words.is_empty())
        .unwrap_or_else(|| vec![default.into()])
}

/// Returns the user's pager and its arguments.
pub fn pager(env: &dyn Fn(&str) -> Option<OsString>) -> Vec<OsString> {
    words(Program::Pager, env)
}

fn split(line: OsString) -> Vec<OsString> {
    // On Windows a backslash is part of a path.
    let Some(text) = line.to_str().filter(|_| !is_separator('\\')) else {
        return vec![line];
    };
    match shell_words::split(text) {
        Ok(words) => words.into_iter().map(OsString::from).collect(),
        // A quote is not closed.
        Err(_) => text.split_whitespace().map(OsString::from).collect(),
    }
}

/// A program that is to take over the terminal.
pub(super) struct Opening {
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    /// A log, a folder or a text that it opens.
    pub(super) path: Option<PathBuf>,
    /// The file of a text, which is removed on drop. Only the user may read it.
    pub(super) _temporary: Option<NamedTempFile>,
}

/// A pager or editor that runs.
pub(super) struct RunningProgram {
    name: String,
    child: Child,
}

/// Starts it, on a file if there is one.
///
/// # Errors
///
/// Returns the problem, and what to do about it, if the program cannot be run.
pub(super) fn start(words: &[OsString], file: Option<&Path>) -> Result<RunningProgram, String> {
    let (name, arguments) = words.split_first().ok_or("no program is named")?;
    let child = Command::new(name).args(arguments).args(file).spawn();
    // Of a shell, what it runs.
    let name = match arguments {
        [flag, command] if flag == "-c" || flag == "/C" => command,
        _ => name,
    };
    let name = name.to_string_lossy().into_owned();
    match child {
        Ok(child) => Ok(RunningProgram { name, child }),
        Err(e) if file.is_none() => Err(format!("could not run {name}: {e}")),
        Err(e) => Err(format!(
            "could not run {name}: {e}; set PAGER, or VISUAL or EDITOR, to an installed program"
        )),
    }
}

impl RunningProgram {
    /// Returns its process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it ends.
    ///
    /// # Errors
    ///
    /// That it failed.
    pub(super) fn wait(mut self) -> Result<(), String> {
        let name = self.name;
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            // A shell's code for a program that it did not find: the first word after a change of the folder.
            Ok(status) if status.code() == Some(127) => {
                let command = name.rsplit("&& ").next().unwrap_or_default();
                let program = command.split(' ').next().unwrap_or_default();
                Err(format!("{program} is not in your PATH"))
            }
            Ok(status) => Err(format!("{name} ended with {status}")),
            Err(e) => Err(format!("could not wait for {name}: {e}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(program: Program, named: &[(&str, &str)]) -> Vec<OsString> {
        let named = |name: &str| {
            let found = named.iter().find(|(known, _)| *known == name);
            found.map(|(_, line)| OsString::from(line))
        };
        words(program, &named)
    }

    #[cfg(unix)]
    fn run(words: &[OsString], file: &Path) -> Result<(), String> {
        start(words, Some(file))?.wait()
    }

    #[test]
    fn the_environment_names_the_program() {
        assert_eq!(command(Program::Pager, &[]), ["less"]);
        assert_eq!(command(Program::Pager, &[("PAGER", " ")]), ["less"]);
        let editor = [("VISUAL", "code --wait"), ("EDITOR", "ed")];
        assert_eq!(command(Program::Editor, &editor), ["code", "--wait"]);
        assert_eq!(command(Program::Editor, &editor[1..]), ["ed"]);
        let words = command(Program::Pager, &[("PAGER", "less $(id);")]);
        assert_eq!(words, ["less", "$(id);"], "no shell reads it");
    }

    #[cfg(unix)]
    #[test]
    fn quotes_keep_paths_and_arguments_whole() {
        let cases: [(&str, &[&str]); 4] = [
            ("'/opt/My Editor/ed' -n", &["/opt/My Editor/ed", "-n"]),
            ("/opt/My\\ Editor/ed -n", &["/opt/My Editor/ed", "-n"]),
            ("code --user-data \"a b\"", &["code", "--user-data", "a b"]),
            ("it's broken", &["it's", "broken"]),
        ];
        for (line, words) in cases {
            assert_eq!(command(Program::Editor, &[("EDITOR", line)]), words);
        }
    }

    #[cfg(unix)]
    #[test]
    fn failures_are_reported() {
        let file = Path::new("a file");
        assert_eq!(run(&["true".into()], file), Ok(()));
        let error = run(&["false".into()], file).unwrap_err();
        assert!(error.starts_with("false ended with"), "{error}");
        let error = run(&["no-such-program".into()], file).unwrap_err();
        assert!(
            error.starts_with("could not run no-such-program"),
            "{error}"
        );
        let shell = |command: &str| {
            let words = ["sh", "-c", command].map(OsString::from);
            start(&words, None)?.wait()
        };
        for command in [
            "no-such-program --resume 1",
            "cd '/' && no-such-program --resume 1",
        ] {
            let error = shell(command).unwrap_err();
            assert_eq!(error, "no-such-program is not in your PATH");
        }
        let error = shell("exit 3").unwrap_err();
        assert_eq!(error, "exit 3 ended with exit status: 3");
    }
}
