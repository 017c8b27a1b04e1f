//! Writes and recognises the calls of this program in an agent's settings.

use super::command::{commands_in, quoted, words};
use std::path::Path;

/// The option that marks a command of a program with another name as ours, so that it is found again wherever that
/// program is now. The commands `statusline`, `hook` and `mcp` accept it, and it has no effect there.
const MARK: &str = "--ctxgauge";
/// The option with a status line of another tool.
const CHAIN: &str = "--chain";

/// The program, as settings name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(String);

impl Program {
    /// The program's name.
    pub const NAME: &str = "ctxgauge";

    /// Returns the program by its name, which the user's `PATH` leads to.
    pub fn by_name() -> Program {
        Program(Program::NAME.to_owned())
    }

    /// Returns the program by its path.
    pub fn at(path: &Path) -> Program {
        Program(path.to_string_lossy().into_owned())
    }

    /// Returns its name or path, to be started without a shell.
    pub(super) fn executable(&self) -> &str {
        &self.0
    }

    /// Returns the server, to be started without a shell: the program and its arguments.
    pub(super) fn server(&self) -> Vec<String> {
        let words = [&self.0, "mcp"].into_iter();
        let mark = (!is_named(&self.0)).then_some(MARK);
        words.chain(mark).map(str::to_owned).collect()
    }

    /// Returns true if a program and its arguments, as settings name them without a shell, are our server.
    pub(super) fn is_server(&self, call: &[String]) -> bool {
        self.is_call(call, "mcp")
    }

    /// Returns one of its commands, for a shell.
    pub fn command(&self, verb: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@\\".contains(c);
        let program = if self.0.chars().all(is_plain) {
            self.0.clone()
        } else {
            quoted(&self.0)
        };
        if is_named(&self.0) {
            format!("{program} {verb}")
        } else {
            format!("{program} {verb} {MARK}")
        }
    }

    /// Returns the status line that runs another one too.
    pub(super) fn chained(&self, other: &str) -> String {
        format!("{} {CHAIN} {}", self.command("statusline"), quoted(other))
    }

    /// Returns true if a command in somebody's settings runs this program and nothing else, so that it may be taken
    /// out.
    pub(super) fn is_all_of(&self, command: &str, verb: &str) -> bool {
        words(command).is_some_and(|words| self.is_call(&words, verb))
    }

    /// Returns true if a command in somebody's settings runs this program, among other things that it may run.
    pub(super) fn is_in(&self, command: &str, verb: &str) -> bool {
        let mut commands = commands_in(command);
        self.is_all_of(command, verb) || commands.any(|words| self.is_call(&words, verb))
    }

    fn is_call(&self, words: &[String], verb: &str) -> bool {
        let [program, first, options @ ..] = words else {
            return false;
        };
        let is_ours = || {
            is_named(program) || *program == self.0 || options.iter().any(|option| option == MARK)
        };
        first == verb && is_ours()
    }
}

/// Returns true if a program at this path has our name.
fn is_named(path: &str) -> bool {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".exe").unwrap_or(file) == Program::NAME
}

/// Returns the other status line that ours runs too.
pub(super) fn chained_in(command: &str) -> Option<String> {
    let mut words = words(command)?.into_iter();
    while let Some(word) = words.next() {
        if word == CHAIN {
            return words.next();
        }
        let value = word
            .strip_prefix(CHAIN)
            .and_then(|rest| rest.strip_prefix('='));
        if let Some(other) = value {
            return Some(other.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERBS: [&str; 2] = ["hook", "statusline"];

    #[test]
    fn our_own_commands_are_recognised_wherever_the_program_is_and_whatever_it_is_called() {
        let undoing = Program::by_name();
        for path in [
            "ctxgauge",
            "/opt/ctxgauge",
            "/lib/node_modules/@ctxgauge/linux-x64/ctxgauge",
            "/home/ada lovelace/bin/ctxgauge",
            "/opt/gauge",
            "/home/ada lovelace/it's/ctxgauge-0.9",
            r"C:\Tools\ctxgauge.exe",
            r"C:\Program Files\gauge.exe",
        ] {
            let program = Program::at(Path::new(path));
            for (verb, other) in VERBS.into_iter().zip(VERBS.into_iter().rev()) {
                let command = program.command(verb);
                assert!(undoing.is_all_of(&command, verb), "{command}");
                assert!(!undoing.is_in(&command, other), "{command}");
                let more = format!("{command} --within 80");
                assert!(undoing.is_all_of(&more, verb), "{more}");
            }
        }
        // Entered by hand, and taken out by the same program.
        let gauge = Program::at(Path::new("/opt/gauge"));
        assert!(gauge.is_all_of("/opt/gauge hook", "hook"));
        assert!(undoing.is_all_of("\"/a b/ctxgauge\" hook", "hook"));
    }

    #[test]
    fn commands_of_others_are_not_ours() {
        let program = Program::by_name();
        for other in [
            "my-ctxgauge hook",
            "ctxgauge-x hook",
            "gauge hook",
            "/opt/gauge hook",
            "ctxgauge",
            "ctxgauge report",
            "echo ctxgauge hook",
            "echo /ctxgauge hook",
            "hook --ctxgauge",
            "",
        ] {
            assert!(!program.is_all_of(other, "hook"), "{other}");
            assert!(!program.is_in(other, "hook"), "{other}");
        }
        for other in ["ccusage statusline", "npx ccusage statusline --offline"] {
            assert!(!program.is_in(other, "statusline"), "{other}");
        }
    }

    #[test]
    fn what_runs_more_than_ours_stays_and_is_not_entered_again() {
        let program = Program::by_name();
        for mixed in [
            "ctxgauge hook; notify-send done",
            "ctxgauge hook || true",
            "cd /tmp && ctxgauge hook --within 80",
            "sh -c 'ctxgauge hook'",
            "COLUMNS=80 ctxgauge hook",
            "theirs --also \"/opt/gauge hook --ctxgauge\"",
        ] {
            assert!(program.is_in(mixed, "hook"), "{mixed}");
            assert!(!program.is_all_of(mixed, "hook"), "{mixed}");
        }
    }

    #[test]
    fn a_chained_command_is_one_word_and_comes_back() {
        let programs = [Program::by_name(), Program::at(Path::new("/opt/gauge"))];
        for program in programs {
            for other in [
                "npx -y ccstatusline@latest",
                "sh -c 'echo \"$HOME\" | cat'",
                "''",
                "/opt/gauge statusline --ctxgauge",
            ] {
                let chained = program.chained(other);
                assert!(Program::by_name().is_all_of(&chained, "statusline"));
                assert_eq!(chained_in(&chained).as_deref(), Some(other), "{chained}");
                let formatted = format!("{chained} --format short");
                assert_eq!(chained_in(&formatted).as_deref(), Some(other));
            }
        }
        for (command, other) in [
            ("ctxgauge statusline", None),
            ("ctxgauge statusline --chain", None),
            ("ctxgauge statusline --chain=\"a b\"", Some("a b")),
        ] {
            assert_eq!(chained_in(command).as_deref(), other, "{command}");
        }
    }
}
