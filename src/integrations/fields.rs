//! The JSON that agents pass, field by field. It comes from a program that changes from version to version: what is of
//! another type, too long or cannot be true is left out.

use serde_json::{Map, Value};
use std::path::PathBuf;

/// The smallest window that is believed, in tokens.
pub(crate) const SMALLEST_WINDOW: u64 = 1_000;
/// The largest number of tokens that is believed.
pub(crate) const MOST_TOKENS: u64 = 1_000_000_000;
/// The most bytes of input that are read. The agents write a few kilobytes, and a prompt.
pub const LARGEST_INPUT: u64 = 4 << 20;
/// The longest id, model or version that is taken, in bytes.
const LONGEST_WORD: usize = 256;
/// The longest path that is taken, in bytes.
const LONGEST_PATH: usize = 4096;

/// The reason for which there is no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoInput {
    /// There were no bytes.
    #[error("standard input is empty: an agent passes JSON to this command")]
    Empty,
    /// It ended within the JSON.
    #[error("the JSON on standard input is cut")]
    Cut,
    /// It is something else.
    #[error("standard input is not the JSON object that an agent passes to this command")]
    Other,
}

impl NoInput {
    /// Returns one word for it.
    pub fn word(self) -> &'static str {
        match self {
            NoInput::Empty => "no input",
            NoInput::Cut => "input cut",
            NoInput::Other => "unknown input",
        }
    }
}

/// Returns the fields of the object that an agent passes.
pub(crate) fn read_fields(input: &[u8]) -> Result<Map<String, Value>, NoInput> {
    if input.trim_ascii().is_empty() {
        return Err(NoInput::Empty);
    }
    match serde_json::from_slice(input) {
        Ok(Value::Object(fields)) => Ok(fields),
        Err(error) if error.is_eof() => Err(NoInput::Cut),
        _ => Err(NoInput::Other),
    }
}

/// Returns true if a text can be a session's id: a path is none.
pub fn is_id(id: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    !id.is_empty() && id.len() <= LONGEST_WORD && id.chars().all(is_part) && !id.starts_with('.')
}

pub(crate) fn object<'v>(of: &'v Map<String, Value>, name: &str) -> Option<&'v Map<String, Value>> {
    of.get(name).and_then(Value::as_object)
}

pub(crate) fn word(of: &Map<String, Value>, name: &str) -> Option<String> {
    let text = of.get(name).and_then(Value::as_str)?;
    (!text.is_empty() && text.len() <= LONGEST_WORD).then(|| text.to_owned())
}

/// Returns a session's id.
pub(crate) fn id(of: &Map<String, Value>, name: &str) -> Option<String> {
    word(of, name).filter(|id| is_id(id))
}

pub(crate) fn path(of: &Map<String, Value>, name: &str) -> Option<PathBuf> {
    let text = of.get(name).and_then(Value::as_str)?;
    let fits = !text.is_empty() && text.len() <= LONGEST_PATH && !text.contains('\0');
    fits.then(|| PathBuf::from(text))
}

/// Returns a number of tokens; a fraction is rounded.
pub(crate) fn tokens(of: &Map<String, Value>, name: &str) -> Option<u64> {
    let number = of.get(name)?.as_f64()?.round();
    (0.0..=MOST_TOKENS as f64)
        .contains(&number)
        .then_some(number as u64)
}

/// Returns the tokens of a window.
pub(crate) fn window(of: &Map<String, Value>, name: &str) -> Option<u64> {
    tokens(of, name).filter(|window| *window >= SMALLEST_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_id() {
        for id in [
            "../../etc/passwd",
            "/etc/passwd",
            "a/b",
            "..",
            ".",
            "a\\b",
            "",
            "a b",
            "a\u{1b}[2J",
        ] {
            assert!(!is_id(id), "{id}");
        }
        assert!(is_id("3f2a1b00-0000-4000-8000-000000000001"));
    }

    #[test]
    fn what_is_no_object_is_named() {
        let of = |text: &str| read_fields(text.as_bytes());
        assert_eq!(of(""), Err(NoInput::Empty));
        assert_eq!(of(" \n"), Err(NoInput::Empty));
        for other in ["null", "[1]", "7", "\"x\"", "{]", "\u{feff}{}"] {
            assert_eq!(of(other), Err(NoInput::Other), "{other}");
        }
        assert_eq!(of("{\"a\": "), Err(NoInput::Cut));
        assert_eq!(of("{}"), Ok(Map::new()));
    }
}
