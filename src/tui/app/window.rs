//! Setting a session's window by hand.

use super::{App, Stale};
use crate::model::fleet::SessionKey;
use crate::tui::keymap::Press;

/// The smallest window that is taken for one, in tokens: less is a slip of the finger.
const LEAST: f64 = 1_000.0;
/// The largest.
const MOST: f64 = 1e12;
/// The most characters that can be typed.
const TYPED: usize = 16;

/// A window while it is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowInput {
    /// Whose window it is, wherever the list moves meanwhile.
    pub key: SessionKey,
    /// What was typed so far.
    pub typed: String,
}

impl App {
    /// Begins to type the window of the session that keys go to.
    pub(super) fn ask_window(&mut self) {
        self.ui.window = self.current().map(|key| WindowInput {
            key,
            typed: String::new(),
        });
    }

    /// A key while a window is typed. Returns whether it was taken.
    pub(super) fn typed_window(&mut self, press: Press) -> bool {
        let Some(input) = &mut self.ui.window else {
            return false;
        };
        match press {
            Press::Char(c) if input.typed.chars().count() < TYPED => input.typed.push(c),
            Press::Backspace => {
                input.typed.pop();
            }
            Press::Ctrl('u') => input.typed.clear(),
            Press::Enter => {
                let (key, typed) = (input.key, input.typed.trim());
                let window = parse_tokens(typed);
                if window.is_some() || typed.is_empty() {
                    self.ui.window = None;
                    self.set_window(key, window);
                }
            }
            Press::Esc => self.ui.window = None,
            Press::Ctrl(_) => return false,
            _ => {}
        }
        true
    }

    fn set_window(&mut self, key: SessionKey, window: Option<u64>) {
        if let Some(session) = self.fleet.get_mut(key) {
            session.set_window(window);
            self.shown.briefs.remove(&key);
            self.stale = Stale::Lists;
        }
    }
}

/// A number of tokens as people write it: `200k`, `1M`, `1.5m`, `272000`.
pub fn parse_tokens(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'm' | 'M') => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    // Also not: signs, exponents and the names that floats have.
    if !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let tokens = (number.parse::<f64>().ok()? * unit).round();
    (LEAST..=MOST).contains(&tokens).then_some(tokens as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let cases = [
            ("200k", Some(200_000)),
            (" 1M ", Some(1_000_000)),
            ("1.5m", Some(1_500_000)),
            ("272000", Some(272_000)),
            ("1048.576K", Some(1_048_576)),
            ("", None),
            ("k", None),
            ("200", None),
            ("-5k", None),
            ("1e9", None),
            ("inf", None),
            ("1.2.3k", None),
            ("200kk", None),
            ("1,5M", None),
            ("99999999999999999999M", None),
            ("２００k", None),
        ];
        for (text, tokens) in cases {
            assert_eq!(parse_tokens(text), tokens, "{text:?}");
        }
    }
}
