//! Keys, and how people write them.

use std::fmt;
use std::str::FromStr;

/// A key as pressed, without a terminal's own types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyPress {
    /// A character, as typed: shift is part of it.
    Char(char),
    /// A character with control held, in lower case.
    Ctrl(char),
    /// The arrow.
    Up,
    /// The arrow.
    Down,
    /// The arrow.
    Left,
    /// The arrow.
    Right,
    /// The arrow with shift held.
    ShiftLeft,
    /// The arrow with shift held.
    ShiftRight,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Return.
    Enter,
    /// Escape.
    Esc,
    /// The tabulator.
    Tab,
    /// The tabulator with shift held.
    BackTab,
    /// Deletes to the left.
    Backspace,
    /// Deletes to the right.
    Delete,
    /// A function key, from 1 to 12.
    F(u8),
}

/// The function keys that terminals distinguish.
const FUNCTION_KEYS: std::ops::RangeInclusive<u8> = 1..=12;

/// The keys that have names: as they are shown, and the other ways to write them, in lower case.
const NAMED: &[(KeyPress, &str, &[&str])] = &[
    (KeyPress::Char(' '), "space", &[]),
    (KeyPress::Up, "↑", &["up"]),
    (KeyPress::Down, "↓", &["down"]),
    (KeyPress::Left, "←", &["left"]),
    (KeyPress::Right, "→", &["right"]),
    (KeyPress::ShiftLeft, "⇧←", &["shift-left"]),
    (KeyPress::ShiftRight, "⇧→", &["shift-right"]),
    (KeyPress::PageUp, "PgUp", &["page-up", "pageup"]),
    (
        KeyPress::PageDown,
        "PgDn",
        &["pgdown", "page-down", "pagedown"],
    ),
    (KeyPress::Home, "Home", &[]),
    (KeyPress::End, "End", &[]),
    (KeyPress::Enter, "Enter", &["return"]),
    (KeyPress::Esc, "Esc", &["escape"]),
    (KeyPress::Tab, "Tab", &[]),
    (KeyPress::BackTab, "⇧Tab", &["shift-tab", "backtab"]),
    (KeyPress::Backspace, "⌫", &["backspace"]),
    (KeyPress::Delete, "Del", &["delete"]),
];

impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name, _)) = NAMED.iter().find(|(key, ..)| key == self) {
            return f.write_str(name);
        }
        match self {
            KeyPress::Ctrl(' ') => f.write_str("^space"),
            KeyPress::Ctrl(c) => write!(f, "^{}", c.to_ascii_uppercase()),
            KeyPress::Char(c) => write!(f, "{c}"),
            KeyPress::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// The reason for which a name is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// No key has this name.
    #[error(
        "unknown key '{0}'; use a character, ctrl-x, shift-left, space, enter, esc, tab, \
         backtab, up, down, left, right, home, end, pgup, pgdn, backspace, delete, f1 to f12"
    )]
    Unknown(String),
    /// Terminals send it as another key.
    #[error("terminals cannot distinguish '{0}' from '{1}'; use '{1}'")]
    Same(String, KeyPress),
    /// Terminals do not send it.
    #[error("terminals cannot send '{0}'; ctrl works with a to z and space")]
    Control(String),
}

impl FromStr for KeyPress {
    type Err = InvalidKey;

    /// Reads a key as people write it, and as it is shown: `s`, `G`, `ctrl-x`, `^X`, `shift-left`,
    /// `space`, `f1`, `pgup`, `PgUp`.
    fn from_str(text: &str) -> Result<KeyPress, InvalidKey> {
        if let Some(c) = one(text)
            && !c.is_control()
            && named(text).is_none()
        {
            return Ok(KeyPress::Char(c));
        }
        let lower = text.to_lowercase();
        if let Some(key) = named(&lower) {
            return Ok(key);
        }
        let unknown = || InvalidKey::Unknown(text.escape_debug().to_string());
        if let Some(key) = after(&lower, &["ctrl-", "ctrl+", "c-", "^"]) {
            return match (key, one(key)) {
                ("space", _) => Ok(KeyPress::Ctrl(' ')),
                (_, Some('i')) => Err(InvalidKey::Same(text.to_owned(), KeyPress::Tab)),
                (_, Some('m')) => Err(InvalidKey::Same(text.to_owned(), KeyPress::Enter)),
                (_, Some('[')) => Err(InvalidKey::Same(text.to_owned(), KeyPress::Esc)),
                (_, Some(c)) if c.is_ascii_lowercase() => Ok(KeyPress::Ctrl(c)),
                (_, Some(_)) => Err(InvalidKey::Control(text.escape_debug().to_string())),
                (_, None) => Err(unknown()),
            };
        }
        if let Some(c) = after(&lower, &["shift-", "shift+"]).and_then(one)
            && c.is_ascii_lowercase()
        {
            return Ok(KeyPress::Char(c.to_ascii_uppercase()));
        }
        lower
            .strip_prefix('f')
            .and_then(|number| number.parse().ok())
            .filter(|number| FUNCTION_KEYS.contains(number))
            .map(KeyPress::F)
            .ok_or_else(unknown)
    }
}

/// Returns the key of a name in lower case.
fn named(lower: &str) -> Option<KeyPress> {
    NAMED
        .iter()
        .find(|(_, shown, others)| shown.to_lowercase() == lower || others.contains(&lower))
        .map(|(key, ..)| *key)
}

fn after<'t>(text: &'t str, prefixes: &[&str]) -> Option<&'t str> {
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))
}

fn one(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        let cases = [
            ("s", KeyPress::Char('s')),
            ("G", KeyPress::Char('G')),
            ("shift-g", KeyPress::Char('G')),
            ("^", KeyPress::Char('^')),
            ("ü", KeyPress::Char('ü')),
            ("space", KeyPress::Char(' ')),
            (" ", KeyPress::Char(' ')),
            ("ctrl-x", KeyPress::Ctrl('x')),
            ("Ctrl+X", KeyPress::Ctrl('x')),
            ("^X", KeyPress::Ctrl('x')),
            ("ctrl-space", KeyPress::Ctrl(' ')),
            ("up", KeyPress::Up),
            ("↑", KeyPress::Up),
            ("shift-left", KeyPress::ShiftLeft),
            ("pgup", KeyPress::PageUp),
            ("PageDown", KeyPress::PageDown),
            ("esc", KeyPress::Esc),
            ("ENTER", KeyPress::Enter),
            ("backtab", KeyPress::BackTab),
            ("shift-tab", KeyPress::BackTab),
            ("f1", KeyPress::F(1)),
            ("F12", KeyPress::F(12)),
            ("f", KeyPress::Char('f')),
        ];
        for (text, key) in cases {
            assert_eq!(text.parse(), Ok(key), "{text}");
        }
    }

    #[test]
    fn invalid_keys_are_errors() {
        for text in [
            "", "sort", "f0", "f13", "f256", "ctrl-", "ctrl-up", "\u{1b}", "alt-x",
        ] {
            let error = text.parse::<KeyPress>().unwrap_err();
            assert!(matches!(error, InvalidKey::Unknown(_)), "{text:?}: {error}");
            assert!(!error.to_string().contains('\u{1b}'));
        }
        let same = "ctrl-i".parse::<KeyPress>().unwrap_err();
        assert!(same.to_string().ends_with("use 'Tab'"), "{same}");
        assert!("^[".parse::<KeyPress>().is_err());
        assert!(matches!(
            "ctrl-1".parse::<KeyPress>(),
            Err(InvalidKey::Control(_))
        ));
    }

    fn any_key() -> impl Strategy<Value = KeyPress> {
        let named: Vec<KeyPress> = NAMED.iter().map(|(key, ..)| *key).collect();
        prop_oneof![
            proptest::sample::select(named),
            FUNCTION_KEYS.prop_map(KeyPress::F),
            any::<char>()
                .prop_filter("no control", |c| !c.is_control())
                .prop_map(KeyPress::Char)
                .prop_filter("a name of its own", |p| named_char(*p)),
            prop_oneof![Just(' '), proptest::char::range('a', 'z')]
                .prop_filter("told apart", |c| !matches!(c, 'i' | 'm'))
                .prop_map(KeyPress::Ctrl),
        ]
    }

    /// A character that is not how another key is shown.
    fn named_char(key: KeyPress) -> bool {
        NAMED.iter().all(|(_, shown, _)| *shown != key.to_string())
    }

    proptest! {
        #[test]
        fn a_key_is_read_as_it_is_shown(key in any_key()) {
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }

        #[test]
        fn any_text_is_a_key_or_none(text in ".{0,9}") {
            let _ = text.parse::<KeyPress>();
        }
    }
}
