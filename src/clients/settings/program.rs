//! How this program is called from an agent's settings.

use std::path::Path;

/// What a status line of another tool is passed with.
const CHAIN: &str = " statusline --chain ";
/// The program's name.
const NAME: &str = "ctxgauge";

/// The program, as settings name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(String);

impl Program {
    /// The program by its name, which the user's `PATH` leads to.
    pub fn by_name() -> Program {
        Program(NAME.to_owned())
    }

    /// The program by its path.
    pub fn at(path: &Path) -> Program {
        Program(path.to_string_lossy().into_owned())
    }

    /// Its name or path, to be started without a shell.
    pub(super) fn executable(&self) -> &str {
        &self.0
    }

    /// One of its commands, for a shell.
    pub(super) fn command(&self, verb: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:\\".contains(c);
        if self.0.chars().all(is_plain) {
            format!("{} {verb}", self.0)
        } else {
            format!("{} {verb}", quoted(&self.0))
        }
    }

    /// The status line that runs another one too.
    pub(super) fn chained(&self, other: &str) -> String {
        format!("{} --chain {}", self.command("statusline"), quoted(other))
    }
}

/// Whether a command in somebody's settings is one of ours.
pub(super) fn is_ours(command: &str, verb: &str) -> bool {
    let mut rest = command;
    while let Some((before, after)) = rest.split_once(NAME) {
        let begins = before.is_empty() || before.ends_with(['/', '\\', '\'', '"']);
        let after = after.strip_prefix(".exe").unwrap_or(after);
        let after = after.trim_start_matches(['\'', '"']);
        let words = after.strip_prefix(' ').map(str::split_whitespace);
        if begins && words.and_then(|mut words| words.next()) == Some(verb) {
            return true;
        }
        rest = after;
    }
    false
}

/// The other status line that ours runs too.
pub(super) fn chained_in(command: &str) -> Option<String> {
    let (_, rest) = command.split_once(CHAIN)?;
    let inside = rest.trim().strip_prefix('\'')?.strip_suffix('\'')?;
    Some(inside.replace(r"'\''", "'"))
}

/// A text as one word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_commands_are_recognised() {
        let home = Program::at(Path::new("/home/ada lovelace/bin/ctxgauge"));
        assert_eq!(
            home.command("hook"),
            "'/home/ada lovelace/bin/ctxgauge' hook"
        );
        for program in [
            Program::by_name(),
            home,
            Program::at(Path::new("/opt/ctxgauge")),
        ] {
            for verb in ["hook", "statusline"] {
                assert!(is_ours(&program.command(verb), verb), "{program:?}");
                assert!(is_ours(
                    &format!("{} --within 80", program.command(verb)),
                    verb
                ));
            }
            assert!(!is_ours(&program.command("hook"), "statusline"));
        }
        for other in [
            "my-ctxgauge hook",
            "ctxgauge-x hook",
            "ctxgauge",
            "echo ctxgauge hook",
            "ctxgauge report",
        ] {
            assert!(!is_ours(other, "hook"), "{other}");
        }
        assert!(is_ours(r"C:\Tools\ctxgauge.exe hook", "hook"));
    }

    #[test]
    fn a_chained_command_is_one_word_and_comes_back() {
        for other in [
            "npx -y ccstatusline@latest",
            "sh -c 'echo \"$HOME\" | cat'",
            "''",
        ] {
            let chained = Program::by_name().chained(other);
            assert!(is_ours(&chained, "statusline"));
            assert_eq!(chained_in(&chained).as_deref(), Some(other), "{chained}");
        }
        assert_eq!(chained_in("ctxgauge statusline"), None);
    }
}
