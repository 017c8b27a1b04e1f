//! The subjects of tool calls: the file that was read, the command that ran. A result's own text often
//! does not contain it.

use super::Kind;
use super::event::Key;
use super::session::Session;
use crate::history::{ItemIx, ItemRef};
use std::borrow::Cow;
use std::collections::HashMap;

/// The names of arguments that describe a call best, the best first.
const DESCRIPTIVE: [&str; 14] = [
    "file_path",
    "absolute_path",
    "notebook_path",
    "path",
    "file",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "description",
    "skill",
    "name",
    "prompt",
];

/// The tool calls of a session, by their ids. A call in pieces is represented by its first piece with a
/// subject.
#[derive(Debug, Clone, Default)]
pub struct Calls(HashMap<Key, ItemIx>);

impl Calls {
    /// Returns the tool calls of a session.
    pub fn of(session: &Session) -> Calls {
        let items = session.items().iter().enumerate();
        let mut calls = HashMap::new();
        for (ix, item) in items.filter(|(_, item)| item.kind() == Kind::ToolCall) {
            if let Some(call) = item.call()
                && subject(item.preview()).is_some()
            {
                calls.entry(call).or_insert(ix);
            }
        }
        Calls(calls)
    }

    /// Returns the subject of the call that a tool's result belongs to, from the beginning of its arguments: at most
    /// [`super::event::PREVIEW_BYTES`] long, on one line. Paths below the session's folder are relative to it.
    pub fn subject<'s>(&self, session: &'s Session, result: &ItemRef<'_>) -> Option<Cow<'s, str>> {
        if result.kind() != Kind::ToolResult {
            return None;
        }
        let call = session.items().get(*self.0.get(&result.call()?)?)?;
        let subject = subject(call.preview())?;
        let below = session
            .meta
            .cwd
            .as_deref()
            .filter(|cwd| cwd.len() > 1)
            .and_then(|cwd| subject.strip_prefix(cwd)?.strip_prefix('/'));
        Some(plain(below.unwrap_or(subject)))
    }
}

/// Returns the text unescaped from JSON, on one line: line breaks and tabs become spaces. What is no escape, or is cut
/// off, stays as it is.
fn plain(escaped: &str) -> Cow<'_, str> {
    if !escaped.contains('\\') {
        return Cow::Borrowed(escaped);
    }
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let mut behind = after.chars();
        match behind.next() {
            Some(same @ ('"' | '\\' | '/')) => text.push(same),
            Some('n' | 'r' | 't') => text.push(' '),
            _ => {
                text.push('\\');
                behind = after.chars();
            }
        }
        rest = behind.as_str();
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Returns the subject of arguments in JSON, perhaps cut off: the value of the most descriptive name, else the first
/// string among them.
fn subject(arguments: &str) -> Option<&str> {
    let found = pairs(arguments).min_by_key(|(name, _)| {
        let rank = DESCRIPTIVE.iter().position(|it| it == name);
        rank.unwrap_or(DESCRIPTIVE.len())
    });
    found
        .map(|(_, value)| value)
        .filter(|value| !value.is_empty())
}

/// Returns the names and strings of an object, `"name":"text"`, still escaped.
fn pairs(json: &str) -> impl Iterator<Item = (&str, &str)> {
    let (_, mut rest) = json.split_once('{').unwrap_or(("", ""));
    std::iter::from_fn(move || {
        loop {
            let (_, after) = rest.split_once('"')?;
            let (name, after) = quoted(after);
            let value = after.trim_start().strip_prefix(':').map(str::trim_start);
            match value.and_then(|value| value.strip_prefix('"')) {
                Some(value) => {
                    let (text, after) = quoted(value);
                    rest = after;
                    return Some((name, text));
                }
                None => rest = after,
            }
        }
    })
}

/// Returns a string up to its closing quote, or to the end where it is cut off, and what follows.
fn quoted(text: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::event::NewItem;
    use crate::testing::{Log, new_item};
    use proptest::prelude::*;

    #[test]
    fn the_subject_of_a_call_in_pieces_is_in_the_first_piece_that_has_one() {
        let piece = |id: &str, kind, preview: &str| NewItem {
            call: Some(Key::of(id)),
            preview: preview.into(),
            ..new_item(Role::Assistant, kind, 10)
        };
        let call = |id, preview| piece(id, Kind::ToolCall, preview);
        let log = Log::new()
            .node("1", vec![call("a", r#"Read {"path": "src/db.rs"#)])
            .node("2", vec![call("b", "Shell")])
            .node("3", vec![call("a", r#"", "limit": 5}"#)])
            .node("4", vec![call("b", r#"{"command": "cargo test"}"#)])
            .node("5", vec![piece("a", Kind::ToolResult, "1 use std")])
            .node("6", vec![piece("b", Kind::ToolResult, "ok")]);
        let calls = Calls::of(&log.session);
        let expected = |ix: usize| calls.subject(&log.session, &log.session.items().at(ix));
        assert_eq!(expected(4).as_deref(), Some("src/db.rs"));
        assert_eq!(expected(5).as_deref(), Some("cargo test"));
    }

    #[test]
    fn escapes_are_resolved() {
        let cases = [
            (r#"rg \"a b\" src"#, r#"rg "a b" src"#),
            (r"cat <<EOF\nfix\tit", "cat <<EOF fix it"),
            (r"printf 'a\\nb'", r"printf 'a\nb'"),
            (r"C:\\work", r"C:\work"),
            (r"\u00e9 and \", r"\u00e9 and \"),
        ];
        for (escaped, expected) in cases {
            assert_eq!(plain(escaped), expected, "{escaped}");
        }
    }

    #[test]
    fn the_most_descriptive_argument_is_the_subject() {
        let cases = [
            (
                r#"Read {"limit":20,"file_path":"/src/db.rs"}"#,
                "/src/db.rs",
            ),
            (
                r#"Bash {"description":"Run tests","command":"cargo test"}"#,
                "cargo test",
            ),
            (
                r#"Edit {"replace_all":false,"file_path":"/src/ma"#,
                "/src/ma",
            ),
            (r#"{"cmd": "rg \"a b\" src"}"#, r#"rg \"a b\" src"#),
            (r#"Task {"kind":"explore","n":3}"#, "explore"),
        ];
        for (arguments, expected) in cases {
            assert_eq!(subject(arguments), Some(expected), "{arguments}");
        }
        for nothing in ["", "ls -l", "{}", r#"{"n":1}"#, r#"{"a":""}"#, "{\""] {
            assert_eq!(subject(nothing), None, "{nothing}");
        }
    }

    proptest! {
        #[test]
        fn no_arguments_break_it(arguments in "[{}\":,\\\\a é]{0,40}") {
            let expected = subject(&arguments).map(plain);
            prop_assert!(expected.is_none_or(|expected| expected.len() <= arguments.len()));
        }
    }
}
