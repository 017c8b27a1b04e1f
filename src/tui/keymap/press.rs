//! Keys, and how people write them.

use std::fmt;
use std::str::FromStr;

/// A key as pressed, without a terminal's own types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Press {
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

/// The function keys that terminals tell apart.
const FUNCTION_KEYS: std::ops::RangeInclusive<u8> = 1..=12;

/// The keys that have names: as they are shown, and the other ways to write them, in lower case.
const NAMED: &[(Press, &str, &[&str])] = &[
    (Press::Char(' '), "space", &[]),
    (Press::Up, "↑", &["up"]),
    (Press::Down, "↓", &["down"]),
    (Press::Left, "←", &["left"]),
    (Press::Right, "→", &["right"]),
    (Press::ShiftLeft, "⇧←", &["shift-left"]),
    (Press::ShiftRight, "⇧→", &["shift-right"]),
    (Press::PageUp, "PgUp", &["page-up", "pageup"]),
    (
        Press::PageDown,
        "PgDn",
        &["pgdown", "page-down", "pagedown"],
    ),
    (Press::Home, "Home", &[]),
    (Press::End, "End", &[]),
    (Press::Enter, "Enter", &["return"]),
    (Press::Esc, "Esc", &["escape"]),
    (Press::Tab, "Tab", &[]),
    (Press::BackTab, "⇧Tab", &["shift-tab", "backtab"]),
    (Press::Backspace, "⌫", &["backspace"]),
    (Press::Delete, "Del", &["delete"]),
];

impl fmt::Display for Press {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name, _)) = NAMED.iter().find(|(press, ..)| press == self) {
            return f.write_str(name);
        }
        match self {
            Press::Ctrl(' ') => f.write_str("^space"),
            Press::Ctrl(c) => write!(f, "^{}", c.to_ascii_uppercase()),
            Press::Char(c) => write!(f, "{c}"),
            Press::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Why something is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPress {
    /// Nothing is called so.
    #[error(
        "no key is called '{0}'; write a character, ctrl-x, shift-left, space, enter, esc, tab, \
         backtab, up, down, left, right, home, end, pgup, pgdn, backspace, delete, f1 to f12"
    )]
    Unknown(String),
    /// Terminals send it as another key.
    #[error("terminals cannot tell '{0}' from '{1}'; write '{1}'")]
    Same(String, Press),
    /// Terminals do not send it.
    #[error("terminals do not send '{0}': control goes with the letters a to z, and with space")]
    Control(String),
}

impl FromStr for Press {
    type Err = NoPress;

    /// Reads a key as people write it, and as it is shown: `s`, `G`, `ctrl-x`, `^X`, `shift-left`,
    /// `space`, `f1`, `pgup`, `PgUp`.
    fn from_str(text: &str) -> Result<Press, NoPress> {
        let mut chars = text.chars();
        if let (Some(c), None) = (chars.next(), chars.next())
            && !c.is_control()
            && named(text).is_none()
        {
            return Ok(Press::Char(c));
        }
        let lower = text.to_lowercase();
        if let Some(press) = named(&lower) {
            return Ok(press);
        }
        let unknown = || NoPress::Unknown(text.escape_debug().to_string());
        if let Some(key) = after(&lower, &["ctrl-", "ctrl+", "c-", "^"]) {
            return match (key, one(key)) {
                ("space", _) => Ok(Press::Ctrl(' ')),
                (_, Some('i')) => Err(NoPress::Same(text.to_owned(), Press::Tab)),
                (_, Some('m')) => Err(NoPress::Same(text.to_owned(), Press::Enter)),
                (_, Some('[')) => Err(NoPress::Same(text.to_owned(), Press::Esc)),
                (_, Some(c)) if c.is_ascii_lowercase() => Ok(Press::Ctrl(c)),
                (_, Some(_)) => Err(NoPress::Control(text.escape_debug().to_string())),
                (_, None) => Err(unknown()),
            };
        }
        if let Some(c) = after(&lower, &["shift-", "shift+"]).and_then(one)
            && c.is_ascii_lowercase()
        {
            return Ok(Press::Char(c.to_ascii_uppercase()));
        }
        lower
            .strip_prefix('f')
            .and_then(|number| number.parse().ok())
            .filter(|number| FUNCTION_KEYS.contains(number))
            .map(Press::F)
            .ok_or_else(unknown)
    }
}

/// The key of a name in lower case.
fn named(lower: &str) -> Option<Press> {
    NAMED
        .iter()
        .find(|(_, shown, others)| shown.to_lowercase() == lower || others.contains(&lower))
        .map(|(press, ..)| *press)
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
            ("s", Press::Char('s')),
            ("G", Press::Char('G')),
            ("shift-g", Press::Char('G')),
            ("^", Press::Char('^')),
            ("ü", Press::Char('ü')),
            ("space", Press::Char(' ')),
            (" ", Press::Char(' ')),
            ("ctrl-x", Press::Ctrl('x')),
            ("Ctrl+X", Press::Ctrl('x')),
            ("^X", Press::Ctrl('x')),
            ("ctrl-space", Press::Ctrl(' ')),
            ("up", Press::Up),
            ("↑", Press::Up),
            ("shift-left", Press::ShiftLeft),
            ("pgup", Press::PageUp),
            ("PageDown", Press::PageDown),
            ("esc", Press::Esc),
            ("ENTER", Press::Enter),
            ("backtab", Press::BackTab),
            ("shift-tab", Press::BackTab),
            ("f1", Press::F(1)),
            ("F12", Press::F(12)),
            ("f", Press::Char('f')),
        ];
        for (text, press) in cases {
            assert_eq!(text.parse(), Ok(press), "{text}");
        }
    }

    #[test]
    fn what_is_no_key_is_said_to_be_none() {
        for text in [
            "", "sort", "f0", "f13", "f256", "ctrl-", "ctrl-up", "\u{1b}", "alt-x",
        ] {
            let error = text.parse::<Press>().unwrap_err();
            assert!(matches!(error, NoPress::Unknown(_)), "{text:?}: {error}");
            assert!(!error.to_string().contains('\u{1b}'));
        }
        let same = "ctrl-i".parse::<Press>().unwrap_err();
        assert!(same.to_string().ends_with("write 'Tab'"), "{same}");
        assert!("^[".parse::<Press>().is_err());
        assert!(matches!(
            "ctrl-1".parse::<Press>(),
            Err(NoPress::Control(_))
        ));
    }

    fn any_press() -> impl Strategy<Value = Press> {
        let named: Vec<Press> = NAMED.iter().map(|(press, ..)| *press).collect();
        prop_oneof![
            proptest::sample::select(named),
            FUNCTION_KEYS.prop_map(Press::F),
            any::<char>()
                .prop_filter("no control", |c| !c.is_control())
                .prop_map(Press::Char)
                .prop_filter("a name of its own", |p| named_char(*p)),
            prop_oneof![Just(' '), proptest::char::range('a', 'z')]
                .prop_filter("told apart", |c| !matches!(c, 'i' | 'm'))
                .prop_map(Press::Ctrl),
        ]
    }

    /// A character that is not how another key is shown.
    fn named_char(press: Press) -> bool {
        NAMED
            .iter()
            .all(|(_, shown, _)| *shown != press.to_string())
    }

    proptest! {
        #[test]
        fn a_key_is_read_as_it_is_shown(press in any_press()) {
            prop_assert_eq!(press.to_string().parse(), Ok(press));
        }

        #[test]
        fn any_text_is_a_key_or_none(text in ".{0,9}") {
            let _ = text.parse::<Press>();
        }
    }
}
