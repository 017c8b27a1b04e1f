//! Shows a text in another program, which takes over the terminal for a while.
//!
//! An editor gets the text as it is: it shows control characters as such. A pager may write to the terminal
//! whatever it reads (`cat`, `less -R`): it gets the text with control characters made visible. No shell is
//! involved.

use crate::app::pager::Program;
use std::ffi::OsString;
use std::path::{Path, is_separator};
use std::process::{Child, Command};

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
    match shell_words(text) {
        Some(words) => words.into_iter().map(OsString::from).collect(),
        None => text.split_whitespace().map(OsString::from).collect(),
    }
}

/// Splits a line into words by a shell's rules of quotes, backslashes and comments; `None`: a quote is not closed.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let escaped = match (quote, c) {
            (Some('"') | None, '\\') => Some(chars.next()),
            _ => None,
        };
        match (quote, c, escaped) {
            (_, _, Some(Some('\n'))) => {}
            // Between double quotes, a backslash is one unless it escapes what has a meaning there.
            (Some(_), _, Some(next)) => {
                let next = next?;
                let is_escape = matches!(next, '$' | '`' | '"' | '\\');
                let kept = [(!is_escape).then_some('\\'), Some(next)];
                word.get_or_insert_default()
                    .extend(kept.into_iter().flatten());
            }
            (None, _, Some(next)) => word.get_or_insert_default().push(next.unwrap_or('\\')),
            (Some(open), _, None) if c == open => quote = None,
            (None, '\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t' | '\n', None) => words.extend(word.take()),
            (None, '#', None) if word.is_none() => {
                chars.by_ref().find(|c| *c == '\n');
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A pager or editor that runs.
pub(super) struct RunningProgram {
    name: String,
    child: Child,
}

/// Starts it on a file.
///
/// # Errors
///
/// Returns the problem, and what to do about it, if the program cannot be run.
pub(super) fn start(words: &[OsString], file: &Path) -> Result<RunningProgram, String> {
    let (name, arguments) = words.split_first().ok_or("no program is named")?;
    let child = Command::new(name).args(arguments).arg(file).spawn();
    let name = name.to_string_lossy().into_owned();
    match child {
        Ok(child) => Ok(RunningProgram { name, child }),
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
        start(words, file)?.wait()
    }

    #[test]
    fn words_are_grouped_as_a_shell_does() {
        let words = |line: &str| shell_words(line).map(|words| words.join("|"));
        let expected = [
            ("", ""),
            ("  less\t-R \n", "less|-R"),
            (r#"a 'b c' "d 'e'" f"g"'h'i"#, "a|b c|d 'e'|fghi"),
            (r"a\ b \'c\' \\d e\", r"a b|'c'|\d|e\"),
            (r#""a\"b\$c\`d\\e\f" '\g\'"#, r#"a"b$c`d\e\f|\g\"#),
            ("'' \"\" x", "||x"),
            ("a\\\nb \"c\\\nd\"", "ab|cd"),
            ("a#b #c\nd # e", "a#b|d"),
        ];
        for (line, of_line) in expected {
            assert_eq!(words(line).as_deref(), Some(of_line), "{line}");
        }
        for open in ["'a", "\"a", "a \"b\\\"", "\"\\"] {
            assert_eq!(words(open), None, "{open}");
        }
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
    }
}
