//! What is typed: filters, sizes, something to look for.

use super::{App, Effect};
use crate::model::fleet::SessionKey;
use crate::model::threshold::{Threshold, parse_tokens};
use crate::tui::keymap::Press;

/// The most characters that can be typed.
const MOST: usize = 200;

/// What the typed text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Filters the sessions, as it is typed.
    Filter,
    /// Filters the items, as it is typed.
    ItemFilter,
    /// The window of this session, wherever the list moves meanwhile.
    Window(SessionKey),
    /// From which size on an item is oversized.
    Oversized,
    /// What to look for in a replay.
    Find,
    /// What to look for in an item's text.
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
    /// Begins to type.
    pub(super) fn ask(&mut self, purpose: Purpose) {
        let typed = match purpose {
            Purpose::Filter => self.ui.filter.clone(),
            Purpose::ItemFilter => self.ui.item_filter.clone(),
            _ => String::new(),
        };
        self.ui.prompt = Some(Prompt { purpose, typed });
    }

    /// Begins to type the window of the session that keys go to.
    pub(super) fn ask_window(&mut self) {
        if let Some(key) = self.current() {
            self.ask(Purpose::Window(key));
        }
    }

    /// A key while something is typed. Returns whether it was taken.
    pub(super) fn typed(&mut self, press: Press) -> Option<Effect> {
        let prompt = self.ui.prompt.as_mut()?;
        match press {
            Press::Char(c) if prompt.typed.chars().count() < MOST => prompt.typed.push(c),
            Press::Backspace => {
                prompt.typed.pop();
            }
            Press::Ctrl('u') => prompt.typed.clear(),
            Press::Ctrl('w') => {
                let kept = prompt.typed.trim_end();
                let end = kept.rfind(' ').map_or(0, |at| at + 1);
                prompt.typed.truncate(end);
            }
            Press::Enter => return Some(self.done_typing()),
            Press::Esc => {
                prompt.typed.clear();
                self.typed_so_far();
                self.ui.prompt = None;
                return Some(Effect::None);
            }
            Press::Ctrl(_) => return None,
            // A filter is typed above its list: the arrows go on there.
            Press::Up | Press::Down | Press::PageUp | Press::PageDown
                if matches!(prompt.purpose, Purpose::Filter | Purpose::ItemFilter) =>
            {
                return None;
            }
            _ => {}
        }
        self.typed_so_far();
        Some(Effect::None)
    }

    /// A filter holds while it is typed.
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
        let said = typed.trim();
        match purpose {
            Purpose::Filter | Purpose::ItemFilter => {}
            Purpose::Window(key) => match parse_tokens(said) {
                None if !said.is_empty() => self.ui.prompt = Some(Prompt { purpose, typed }),
                window => self.set_window(key, window),
            },
            Purpose::Oversized => match said.parse::<Threshold>() {
                Ok(threshold) => self.set_oversized(threshold),
                Err(_) if said.is_empty() => {}
                Err(_) => self.ui.prompt = Some(Prompt { purpose, typed }),
            },
            Purpose::Find => {
                if !said.is_empty() {
                    self.ui.needle = said.to_owned();
                }
                self.find_next();
            }
            Purpose::Search => return self.search_text(said),
        }
        Effect::None
    }

    /// To the next record with what was looked for last.
    pub(super) fn find_next(&mut self) {
        let needle = self.ui.needle.clone();
        if needle.is_empty() {
            self.ask(Purpose::Find);
        } else if !self.find(&needle) {
            self.tell(format!("'{needle}' stands in no item of this session"));
        }
    }

    fn set_oversized(&mut self, threshold: Threshold) {
        self.ui.oversized = threshold;
        self.stale();
    }

    fn set_window(&mut self, key: SessionKey, window: Option<u64>) {
        if let Some(session) = self.fleet.get_mut(key) {
            session.set_window(window);
            self.shown.briefs.remove(&key);
            self.shown.page = None;
            self.stale();
        }
    }
}
