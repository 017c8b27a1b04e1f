//! Finds out what a mistyped name was meant to be.

use super::Cli;
use crate::nearest::nearest;
use clap::CommandFactory;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The names that other programs have for a command, each with its name here.
const SYNONYMS: [(&str, &str); 4] = [
    ("sessions", "ls"),
    ("show", "report"),
    ("status", "ls"),
    ("version", "--version"),
];

/// Returns the error for a first word that is neither a file nor a command; `None`: it is one of them.
///
/// `arguments` are those of the process, the program's own name first.
pub fn unknown_command(arguments: &[OsString]) -> Option<String> {
    let command = Cli::command();
    let word = first_word(&command, arguments.iter().skip(1))?;
    let word = word.to_str().filter(|word| is_name(word))?;
    let names = command.get_subcommands().map(clap::Command::get_name);
    let names: Vec<&str> = names.collect();
    if names.contains(&word) || Path::new(word).symlink_metadata().is_ok() {
        return None;
    }
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == word);
    let synonym = synonym.map(|(_, name)| *name);
    let advice = match synonym.or_else(|| nearest(word, names.iter().copied())) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the commands are {}", names.join(", ")),
    };
    let mut id = String::new();
    if word.contains(|c: char| c.is_ascii_digit()) {
        id = format!("`--session {word}` chooses a session by its id; ");
    }
    Some(format!("no file and no command '{word}'; {id}{advice}"))
}

/// Returns true if the command is `hook`.
///
/// `arguments` are those of the process, the program's own name first.
pub fn is_hook(arguments: &[OsString]) -> bool {
    let word = first_word(&Cli::command(), arguments.iter().skip(1));
    word.is_some_and(|word| word == "hook")
}

/// Returns true if a word can be the name of a command.
fn is_name(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_plain)
}

/// Returns the first argument that is neither an option nor the value of one.
fn first_word<'a>(
    command: &clap::Command,
    mut arguments: impl Iterator<Item = &'a OsString>,
) -> Option<&'a OsString> {
    let takes_value = |option: &OsStr| {
        let name = option.to_str().and_then(|option| option.strip_prefix("--"));
        let mut options = command.get_arguments();
        options.any(|known| {
            let is_named = name.is_some() && known.get_long() == name;
            is_named && known.get_action().takes_values()
        })
    };
    loop {
        let argument = arguments.next()?;
        if argument == "--" {
            return arguments.next();
        }
        if !argument.as_encoded_bytes().starts_with(b"-") {
            return Some(argument);
        }
        if takes_value(argument) {
            arguments.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(line: &str) -> Option<String> {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        unknown_command(&arguments)
    }

    #[test]
    fn a_word_that_is_nothing_gets_the_nearest_command() {
        for (line, meant) in [
            ("ctxgauge lss", "`ls`"),
            ("ctxgauge reprot x --json", "`report`"),
            ("ctxgauge --theme dark adit", "`audit`"),
            ("ctxgauge --ascii modles", "`models`"),
            ("ctxgauge --theme=dark Agent", "`agents`"),
            ("ctxgauge -- hlep", "`help`"),
            ("ctxgauge sessions", "`ls`"),
            ("ctxgauge zzz", "the commands are report, ls,"),
        ] {
            let message = message(line).unwrap_or_default();
            assert!(message.contains(meant), "{line}: {message}");
        }
        let lss = "no file and no command 'lss'; did you mean `ls`?";
        assert_eq!(message("ctxgauge lss").as_deref(), Some(lss));
    }

    #[test]
    fn commands_files_and_what_looks_like_a_path_are_left_alone() {
        for line in [
            "ctxgauge",
            "ctxgauge --demo",
            "ctxgauge -",
            "ctxgauge ls lss",
            "ctxgauge help lss",
            "ctxgauge --agent lss",
            "ctxgauge --config lss ls",
            "ctxgauge src",
            "ctxgauge no/such/log",
            "ctxgauge log.jsonl",
        ] {
            assert_eq!(message(line), None, "{line}");
        }
    }
}
