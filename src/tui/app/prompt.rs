//! What the user types: filters, sizes, texts to search for.

use super::{App, Effect};
use crate::keymap::KeyPress;
use model::fleet::SessionKey;
use model::threshold::{Threshold, parse_tokens};

/// The most characters that can be typed.
const MOST_CHARS: usize = 200;

/// What the typed text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Filters the sessions, as it is typed.
    Filter,
    /// Filters the items, as it is typed.
    ItemFilter,
    /// The window of this session, even if the selection moves.
    Window(SessionKey),
    /// The size from which an item is oversized.
    Oversized,
    /// A text to find in a replay.
    Find,
    /// A text to find in an item's text.
    Search,
}

/// Something that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What for.
    pub purpose: Purpose,
    /// What was typed so far.
    pub typed: String,
}

impl App {
    /// Opens a prompt.
    pub(super) fn ask(&mut self, purpose: Purpose) {
        let typed = match purpose {
            Purpose::Filter => self.ui.filter.clone(),
            Purpose::ItemFilter => self.ui.item_filter.clone(),
            _ => String::new(),
        };
        self.ui.prompt = Some(Prompt { purpose, typed });
    }

    /// Opens the prompt for the window of the current session.
    pub(super) fn ask_window(&mut self) {
        if let Some(key) = self.current() {
            self.ask(Purpose::Window(key));
        }
    }

    /// Handles a key while something is typed; `None`: it is for the screen.
    pub(super) fn typed(&mut self, key: KeyPress) -> Option<Effect> {
        let prompt = self.ui.prompt.as_mut()?;
        match key {
            KeyPress::Char(c) if prompt.typed.chars().count() < MOST_CHARS => prompt.typed.push(c),
            KeyPress::Backspace => {
                prompt.typed.pop();
            }
            KeyPress::Ctrl('u') => prompt.typed.clear(),
            KeyPress::Ctrl('w') => {
                let kept = prompt.typed.trim_end();
                let end = kept.rfind(' ').map_or(0, |at| at + 1);
                prompt.typed.truncate(end);
            }
            KeyPress::Enter => return Some(self.done_typing()),
            KeyPress::Esc => {
                prompt.typed.clear();
                self.typed_so_far();
                self.ui.prompt = None;
                return Some(Effect::None);
            }
            KeyPress::Ctrl(_) => return None,
            // A filter is typed above its list: the arrows move there.
            KeyPress::Up | KeyPress::Down | KeyPress::PageUp | KeyPress::PageDown
                if matches!(prompt.purpose, Purpose::Filter | Purpose::ItemFilter) =>
            {
                return None;
            }
            _ => {}
        }
        self.typed_so_far();
        Some(Effect::None)
    }

    /// A filter applies while it is typed.
    fn typed_so_far(&mut self) {
        let Some(prompt) = &self.ui.prompt else {
            return;
        };
        match prompt.purpose {
            Purpose::Filter => self.ui.filter.clone_from(&prompt.typed),
            Purpose::ItemFilter => self.ui.item_filter.clone_from(&prompt.typed),
            _ => return,
        }
        self.stale();
    }

    fn done_typing(&mut self) -> Effect {
        let Some(Prompt { purpose, typed }) = self.ui.prompt.take() else {
            return Effect::None;
        };
        let text = typed.trim();
        match purpose {
            Purpose::Filter | Purpose::ItemFilter => {}
            Purpose::Window(key) => match parse_tokens(text) {
                None if !text.is_empty() => self.ui.prompt = Some(Prompt { purpose, typed }),
                window => self.set_window(key, window),
            },
            Purpose::Oversized => match text.parse::<Threshold>() {
                Ok(threshold) => self.set_oversized(threshold),
                Err(_) if text.is_empty() => {}
                Err(_) => self.ui.prompt = Some(Prompt { purpose, typed }),
            },
            Purpose::Find => {
                if !text.is_empty() {
                    self.ui.needle = text.to_owned();
                }
                self.find_next();
            }
            Purpose::Search => return self.search_text(text),
        }
        Effect::None
    }

    /// Goes to the next record with the last text.
    pub(super) fn find_next(&mut self) {
        let needle = self.ui.needle.clone();
        if needle.is_empty() {
            self.ask(Purpose::Find);
        } else if !self.find(&needle) {
            self.notify(format!("no item of this session contains '{needle}'"));
        }
    }

    fn set_oversized(&mut self, threshold: Threshold) {
        self.ui.oversized = threshold;
        self.stale();
    }

    fn set_window(&mut self, key: SessionKey, window: Option<u64>) {
        if let Some(session) = self.fleet.get_mut(key) {
            session.set_window(window);
            self.shown.summaries.remove(&key);
            self.shown.page = None;
            self.stale();
        }
    }
}
