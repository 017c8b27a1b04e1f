//! Shows a text in another program, which takes over the terminal for a while.
//!
//! An editor gets the text as it is: it shows control characters as such. A pager may write to the terminal
//! whatever it reads (`cat`, `less -R`): it gets the text with control characters made visible. No shell is
//! involved.

use crate::tui::app::pager::{Program, visible};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// The program and its arguments, from the environment. Quotes and backslashes group words as in a shell;
/// nothing else of a shell applies.
pub(super) fn words(
    program: Program,
    env: &dyn Fn(&'static str) -> Option<OsString>,
) -> Vec<OsString> {
    let (names, default): (&[&'static str], &str) = match program {
        Program::Pager => (&["PAGER"], "less"),
        Program::Editor if cfg!(windows) => (&["VISUAL", "EDITOR"], "notepad"),
        Program::Editor => (&["VISUAL", "EDITOR"], "vi"),
    };
    let named = names.iter().filter_map(|name| env(name));
    let mut named = named.map(split).filter(|words| !words.is_empty());
    named.next().unwrap_or_else(|| vec![default.into()])
}

fn split(line: OsString) -> Vec<OsString> {
    // On Windows a backslash is part of a path.
    let Some(text) = line.to_str().filter(|_| !cfg!(windows)) else {
        return vec![line];
    };
    match shell_words::split(text) {
        Ok(words) => words.into_iter().map(OsString::from).collect(),
        // A quote that is not closed.
        Err(_) => text.split_whitespace().map(OsString::from).collect(),
    }
}

/// Runs it on a file until it ends.
///
/// # Errors
///
/// What is wrong and what to do, if it cannot be run or fails.
pub(super) fn run(words: &[OsString], file: &Path) -> Result<(), String> {
    let Some((name, arguments)) = words.split_first() else {
        return Ok(());
    };
    let status = Command::new(name).args(arguments).arg(file).status();
    let name = name.to_string_lossy();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} ended with {status}")),
        Err(e) => Err(format!(
            "could not run {name}: {e}; set PAGER, or VISUAL or EDITOR, to an installed program"
        )),
    }
}

/// Writes a text with control characters made visible, except tabs and newlines.
pub(super) struct Inert<W: Write> {
    out: W,
    /// The start of a character whose rest was not written yet.
    rest: Vec<u8>,
}

impl<W: Write> Inert<W> {
    pub(super) fn new(out: W) -> Inert<W> {
        Inert {
            out,
            rest: Vec::new(),
        }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let picture = |c| match c {
            '\n' | '\t' => c,
            c => visible(c),
        };
        let text: String = text.chars().map(picture).collect();
        self.out.write_all(text.as_bytes())
    }
}

impl<W: Write> Write for Inert<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.put(chunk.valid())?;
            let broken = chunk.invalid();
            let unfinished = chunks.peek().is_none()
                && std::str::from_utf8(broken).is_err_and(|e| e.error_len().is_none());
            if unfinished {
                self.rest = broken.to_vec();
            } else if !broken.is_empty() {
                self.put("\u{fffd}")?;
            }
        }
        Ok(bytes.len())
    }

    /// A character that is still incomplete is written as a replacement.
    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.rest).is_empty() {
            self.put("\u{fffd}")?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::is_unsafe_to_show;
    use proptest::prelude::*;

    fn command(program: Program, named: &[(&str, &str)]) -> Vec<OsString> {
        let named = |name: &'static str| {
            let found = named.iter().find(|(known, _)| *known == name);
            found.map(|(_, line)| OsString::from(line))
        };
        words(program, &named)
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

    proptest! {
        #[test]
        fn pagers_get_safe_text(bytes in prop_oneof![
            any::<Vec<u8>>(),
            any::<String>().prop_map(String::into_bytes),
        ], chunk in 1_usize..9) {
            let mut inert = Inert::new(Vec::new());
            for part in bytes.chunks(chunk) {
                inert.write_all(part).unwrap();
            }
            inert.flush().unwrap();
            let picture = |c| if matches!(c, '\n' | '\t') { c } else { visible(c) };
            let whole: String = String::from_utf8_lossy(&bytes).chars().map(picture).collect();
            let written = String::from_utf8(inert.out).unwrap();
            prop_assert!(!written.contains(|c| !matches!(c, '\n' | '\t') && is_unsafe_to_show(c)));
            prop_assert_eq!(written, whole);
        }
    }
}
