//! Another program that has the terminal for a while, with a text to show.
//!
//! An editor gets the text as it is: it shows control characters as such. A pager may write to the
//! terminal whatever it reads (`cat`, `less -R`): it gets the text with pictures in their places. No
//! shell has a part in it.

use crate::tui::app::reader::{Program, visible};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// What the environment names for it: a program and its arguments, divided by white space.
pub(super) fn words(
    program: Program,
    env: &dyn Fn(&'static str) -> Option<OsString>,
) -> Vec<OsString> {
    let (names, usual): (&[&'static str], &str) = match program {
        Program::Pager => (&["PAGER"], "less"),
        Program::Editor if cfg!(windows) => (&["VISUAL", "EDITOR"], "notepad"),
        Program::Editor => (&["VISUAL", "EDITOR"], "vi"),
    };
    let named = names
        .iter()
        .filter_map(|name| env(name))
        .map(|line| split(&line));
    let mut named = named.filter(|words| !words.is_empty());
    named.next().unwrap_or_else(|| vec![usual.into()])
}

fn split(line: &OsStr) -> Vec<OsString> {
    match line.to_str() {
        Some(line) => line.split_whitespace().map(OsString::from).collect(),
        None => vec![line.to_owned()],
    }
}

/// Runs it on a file, until it ends. Says what is wrong and what to do if it does not.
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
            "could not run {name}: {e}; set PAGER, or VISUAL or EDITOR, to a program that is there"
        )),
    }
}

/// Writes a text on with pictures in the place of what could drive a terminal. Tabs and the ends of
/// lines stay.
pub(super) struct Inert<W: Write> {
    out: W,
    /// The beginning of a character that is not there as a whole yet.
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

    /// A character that is not finished by now never will be.
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

    fn said(program: Program, named: &[(&str, &str)]) -> Vec<OsString> {
        let named = |name: &'static str| {
            let found = named.iter().find(|(known, _)| *known == name);
            found.map(|(_, line)| OsString::from(line))
        };
        words(program, &named)
    }

    #[test]
    fn the_environment_names_the_program() {
        assert_eq!(said(Program::Pager, &[]), ["less"]);
        assert_eq!(said(Program::Pager, &[("PAGER", " ")]), ["less"]);
        let editor = [("VISUAL", "code --wait"), ("EDITOR", "ed")];
        assert_eq!(said(Program::Editor, &editor), ["code", "--wait"]);
        assert_eq!(said(Program::Editor, &editor[1..]), ["ed"]);
        // Nothing is a shell's to read.
        let words = said(Program::Pager, &[("PAGER", "less $(id);")]);
        assert_eq!(words, ["less", "$(id);"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_became_of_it_is_said() {
        let file = Path::new("a file");
        assert_eq!(run(&["true".into()], file), Ok(()));
        let said = run(&["false".into()], file).unwrap_err();
        assert!(said.starts_with("false ended with"), "{said}");
        let said = run(&["no-such-program".into()], file).unwrap_err();
        assert!(said.starts_with("could not run no-such-program"), "{said}");
    }

    proptest! {
        #[test]
        fn what_a_pager_gets_is_inert(bytes in prop_oneof![
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
