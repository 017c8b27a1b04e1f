//! Reads the user's typing: filters, sizes, texts to search for.

use super::filter::{self, Vocabulary};
use super::tabs::ITEMS;
use super::{App, Effect, LineId, Screen, Syntax};
use crate::keymap::KeyPress;
use model::lists::sessions::SessionKey;
use model::values::threshold::{Threshold, parse_tokens};
use model::window::set::WindowScope;

/// The most characters that can be typed.
const MOST_CHARS: usize = 200;

/// The purpose of the typed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Filters the sessions, as it is typed.
    Filter,
    /// Filters the items, as it is typed.
    ItemFilter,
    /// The window of this session, even if the selection moves, or of all sessions with its model.
    Window(SessionKey, Reach),
    /// The size from which an item is oversized.
    Oversized,
    /// A request or a time to go to in a session.
    GoTo,
    /// A text to find in an item's text.
    Search,
    /// A pattern, which is written so, to find in the texts of all listed sessions.
    Pattern(Syntax),
}

/// The sessions that get the window that is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The one for which it was asked.
    Session,
    /// All with its model.
    Model,
}

/// Something that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The purpose of the text.
    pub purpose: Purpose,
    /// The text that was typed so far.
    pub typed: String,
    /// The reason for which the text was refused; empty: it was not refused, or no reason is shown.
    pub wrong: String,
}

impl App {
    /// Opens a prompt.
    pub(super) fn ask(&mut self, purpose: Purpose) {
        self.ui.prompt = Some(Prompt {
            purpose,
            typed: String::new(),
            wrong: String::new(),
        });
        self.typed_so_far();
    }

    /// Opens the prompt for the window of the current session. It stays selected, wherever its row goes.
    pub(super) fn ask_window(&mut self) {
        let Some(key) = self.current() else {
            return;
        };
        if self.ui.screen == Screen::Overview {
            self.ui.sessions.pin(LineId::Session(key));
        }
        let is_set = |reach| self.window_set(key, reach).is_some();
        let reach = if is_set(Reach::Model) && !is_set(Reach::Session) {
            Reach::Model
        } else {
            Reach::Session
        };
        self.ask(Purpose::Window(key, reach));
    }

    /// Returns true if a window is being typed: the rows keep their order meanwhile.
    pub(super) fn is_typing_window(&self) -> bool {
        let prompt = self.ui.prompt.as_ref();
        prompt.is_some_and(|prompt| matches!(prompt.purpose, Purpose::Window(..)))
    }

    /// Returns the sessions that are within reach; `None`: the session's model is not known, or it is gone.
    fn within(&self, key: SessionKey, reach: Reach) -> Option<WindowScope> {
        match reach {
            Reach::Session => self.sessions.set_for(key),
            Reach::Model => {
                let model = self.sessions.gauge(key)?.model()?;
                Some(WindowScope::Model(model.to_owned()))
            }
        }
    }

    /// Returns the window that the user has set for what is within reach.
    pub fn window_set(&self, key: SessionKey, reach: Reach) -> Option<u64> {
        let sessions = self.within(key, reach)?;
        self.sessions.set_windows().of(&sessions)
    }

    /// Goes from this session to all of its model, or from a regular expression to a text, and back.
    fn change(&mut self) {
        let Some(prompt) = &mut self.ui.prompt else {
            return;
        };
        let has_model = |key| {
            let gauge = self.sessions.gauge(key);
            gauge.is_some_and(|gauge| gauge.model().is_some())
        };
        prompt.purpose = match prompt.purpose {
            Purpose::Pattern(Syntax::Regex) => Purpose::Pattern(Syntax::Text),
            Purpose::Pattern(_) => Purpose::Pattern(Syntax::Regex),
            Purpose::Window(key, Reach::Session) if has_model(key) => {
                Purpose::Window(key, Reach::Model)
            }
            Purpose::Window(key, _) => Purpose::Window(key, Reach::Session),
            other => other,
        };
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
                let is_filter = prompt.purpose == Purpose::Filter;
                prompt.typed.clear();
                self.typed_so_far();
                self.ui.prompt = None;
                if is_filter {
                    self.ui.sessions.settle(&self.shown.line_ids);
                }
                return Some(Effect::None);
            }
            KeyPress::Ctrl(_) => return None,
            KeyPress::Tab | KeyPress::BackTab => match prompt.purpose {
                Purpose::Filter | Purpose::ItemFilter => self.complete(),
                _ => self.change(),
            },
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

    /// Completes the last word of a filter.
    fn complete(&mut self) {
        let (Some(Prompt { purpose, typed, .. }), Some(words)) =
            (&self.ui.prompt, self.words_of_filter())
        else {
            return;
        };
        let values = match (words.last_value(typed), purpose) {
            (Some((name, _)), Purpose::Filter) => self.values_of_sessions(name),
            (Some((name, _)), _) => self.values_of_items(name),
            (None, _) => Vec::new(),
        };
        let completed = words.complete(typed, &values);
        if let (Some(prompt), Some(completed)) = (&mut self.ui.prompt, completed) {
            prompt.typed = completed;
        }
    }

    /// Returns the words of the language that a filter is typed in; `None`: none is typed.
    pub fn words_of_filter(&self) -> Option<&'static Vocabulary> {
        match self.ui.prompt.as_ref()?.purpose {
            Purpose::Filter => Some(&filter::SESSIONS),
            Purpose::ItemFilter => Some(&filter::ITEMS),
            _ => None,
        }
    }

    /// A filter applies while it is typed.
    fn typed_so_far(&mut self) {
        let Some(prompt) = &mut self.ui.prompt else {
            return;
        };
        prompt.wrong.clear();
        match prompt.purpose {
            Purpose::Filter if self.ui.filter != prompt.typed => {
                self.ui.filter.clone_from(&prompt.typed);
                self.ui.sessions.hold(&self.shown.line_ids);
            }
            Purpose::ItemFilter if self.ui.item_filter != prompt.typed => {
                self.ui.item_filter.clone_from(&prompt.typed);
                self.ui.cursors.remove(ITEMS.name);
            }
            Purpose::Filter | Purpose::ItemFilter => {}
            _ => return,
        }
        self.stale();
    }

    fn done_typing(&mut self) -> Effect {
        let Some(prompt) = self.ui.prompt.take() else {
            return Effect::None;
        };
        let (purpose, typed) = (prompt.purpose, prompt.typed.clone());
        let text = typed.trim();
        match purpose {
            Purpose::Filter => self.ui.sessions.settle(&self.shown.line_ids),
            Purpose::ItemFilter => {}
            Purpose::Window(key, reach) => match parse_tokens(text) {
                None if !text.is_empty() => self.ui.prompt = Some(prompt),
                window => self.set_window(key, reach, window),
            },
            Purpose::Oversized => match text.parse::<Threshold>() {
                Ok(threshold) => {
                    self.ui.oversized = Some(threshold);
                    self.stale();
                }
                Err(_) if text.is_empty() => {}
                Err(_) => self.ui.prompt = Some(prompt),
            },
            Purpose::GoTo if text.is_empty() => {}
            Purpose::GoTo => {
                if let Err(wrong) = self.go_to_typed(text) {
                    self.ui.prompt = Some(Prompt { wrong, ..prompt });
                }
            }
            Purpose::Search => return self.search_text(text),
            Purpose::Pattern(syntax) => {
                // It stays until the pattern was understood.
                self.ui.prompt = Some(prompt);
                return self.search_for(&typed, syntax);
            }
        }
        Effect::None
    }

    fn set_window(&mut self, key: SessionKey, reach: Reach, window: Option<u64>) {
        if let Some(sessions) = self.within(key, reach) {
            self.sessions.set_window(sessions, window);
            self.shown.page = None;
            self.stale();
        }
    }
}
