//! The menus of a session, whose rows are chosen by their keys, by Enter or with the mouse.

use super::{App, Effect, HandOut, Overlay};
use crate::keymap::{Action, KeyPress};
use model::lists::sessions::SessionKey;
use model::lists::text::TextRequest;

/// A row of a menu.
#[derive(Debug)]
pub struct MenuRow {
    /// The key that chooses it; empty: the user has bound none.
    pub key: String,
    /// Its description.
    pub about: &'static str,
    /// The effect of the row.
    pub choice: Choice,
}

/// The effect of a row.
#[derive(Debug)]
pub enum Choice {
    /// Does what this action does without the menu.
    Act(Action),
    /// Shows what would follow from a compaction now.
    WhatIf,
    /// Raises no alerts of the session, or raises them again.
    Mute,
    /// Copies this text.
    Copy(String),
    /// Copies the text of an item, which is read first.
    CopyItem(TextRequest),
    /// Makes a report or a table.
    HandOut(HandOut),
}

impl MenuRow {
    pub(super) fn new(key: impl Into<String>, about: &'static str, choice: Choice) -> MenuRow {
        MenuRow {
            key: key.into(),
            about,
            choice,
        }
    }
}

impl App {
    /// Opens a menu for the current session.
    pub(super) fn open_menu(&mut self, menu: fn(SessionKey) -> Overlay) {
        if let Some(key) = self.current() {
            self.ui.overlay = Some(menu(key));
            self.ui.menu_row = 0;
        }
    }

    /// Moves the selection of a menu of so many rows, or closes the menu. Any other key does nothing: the user may go on to
    /// type, and the list below must not act on that.
    pub(super) fn move_or_close(&mut self, action: Option<Action>, key: KeyPress, rows: usize) {
        let last = rows.saturating_sub(1);
        let page = isize::try_from(rows / 2).unwrap_or(1).max(1);
        match action.and_then(|action| super::input::rows(action, page)) {
            Some(by) => {
                let row = self.ui.menu_row.min(last).saturating_add_signed(by);
                self.ui.menu_row = row.min(last);
            }
            None if key == KeyPress::Esc || matches!(action, Some(Action::Back | Action::Quit)) => {
                self.close_overlay();
            }
            None => {}
        }
    }

    /// Returns the session of the open menu, and its rows; `None`: no menu of a session is open.
    pub fn menu_rows(&self) -> Option<(SessionKey, Vec<MenuRow>)> {
        Some(match self.ui.overlay? {
            Overlay::HandOn(key) => (key, App::hand_out_rows()),
            Overlay::Copy(key) => (key, self.copyables(key)),
            Overlay::Actions(key) => (key, self.action_rows(key)),
            _ => return None,
        })
    }

    /// Handles a key, if a menu is open.
    pub(super) fn choose(&mut self, pressed: KeyPress) -> Option<Effect> {
        let Some((key, mut rows)) = self.menu_rows() else {
            return self.choose_order(pressed);
        };
        let row = match pressed {
            KeyPress::Enter => rows
                .len()
                .checked_sub(1)
                .map(|last| self.ui.menu_row.min(last)),
            _ => rows.iter().position(|row| row.key == pressed.to_string()),
        };
        let Some(row) = row else {
            let action = self.keymap.action(self.scope(), pressed);
            self.move_or_close(action, pressed, rows.len());
            return Some(Effect::None);
        };
        self.close_overlay();
        Some(match rows.swap_remove(row).choice {
            Choice::Act(action) => self.act(action),
            Choice::WhatIf => self.compact_now(key),
            Choice::Mute => self.mute(key),
            Choice::Copy(text) => Effect::Copy(text),
            Choice::CopyItem(request) => self.copy_item(request),
            Choice::HandOut(kind) => self.hand_out(key, kind),
        })
    }
}
