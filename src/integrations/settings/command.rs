//! Commands in settings, which a shell runs, taken apart into words.

use std::iter::Peekable;
use std::str::Chars;

/// The characters that separate commands, or that a shell expands.
const OPERATORS: [char; 9] = [';', '|', '&', '<', '>', '(', ')', '`', '\n'];

/// Returns the words of a command; `None`: it is more than a program with its arguments.
pub(super) fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = command.chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let inside = inside(&mut chars, next)?;
                word.get_or_insert_default().push_str(&inside);
            }
            // Elsewhere it is a part of a path of Windows.
            '\\' if chars.next_if_eq(&'\'').is_some() => word.get_or_insert_default().push('\''),
            next if OPERATORS.contains(&next) => return None,
            next => word.get_or_insert_default().push(next),
        }
    }
    words.extend(word);
    Some(words)
}

/// Returns the text up to the quote that ends it; `None`: there is none, or a shell puts something in.
fn inside(chars: &mut Peekable<Chars<'_>>, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            next if next == quote => return Some(text),
            '$' | '`' if quote == '"' => return None,
            '\\' if quote == '"' && chars.next_if_eq(&'"').is_some() => text.push('"'),
            next => text.push(next),
        }
    }
}

/// Returns the words of each command in a line of several, without their quotes and the variables that are set for
/// them.
pub(super) fn commands_in(line: &str) -> impl Iterator<Item = Vec<String>> {
    let is_end = |c: char| OPERATORS.contains(&c) || c == '\'' || c == '"';
    let is_assignment = |word: &&str| word.contains('=');
    let commands = line.split(is_end);
    commands.map(move |command| {
        let words = command.split_whitespace().skip_while(is_assignment);
        words.map(str::to_owned).collect()
    })
}

/// Returns a text as one word for a shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_program_with_arguments_is_words_and_all_else_is_not() {
        for (command, expected) in [
            ("a b  c", &["a", "b", "c"][..]),
            (r"C:\Tools\a.exe b", &[r"C:\Tools\a.exe", "b"]),
            (
                r#"'/x y/a' --f="{p} \"z\"" ''"#,
                &["/x y/a", "--f={p} \"z\"", ""],
            ),
            (r"'it'\''s'", &["it's"]),
            ("$HOME/a b", &["$HOME/a", "b"]),
            ("", &[]),
        ] {
            assert_eq!(words(command).unwrap(), expected, "{command}");
        }
        for other in [
            "a; b",
            "a | b",
            "a && b",
            "a > b",
            "$(a) b",
            "`a` b",
            "\"$(a)\" b",
            "\"$A\" b",
            "a 'b",
            "a\nb",
        ] {
            assert_eq!(words(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_quoted_text_is_one_word(text in "[^\u{0}]{0,40}") {
            prop_assert_eq!(words(&quoted(&text)), Some(vec![text]));
        }

        #[test]
        fn any_command_can_be_taken_apart(command in any::<String>()) {
            drop(words(&command));
            prop_assert!(commands_in(&command).count() > 0);
        }
    }
}
