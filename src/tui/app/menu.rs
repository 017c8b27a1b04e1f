//! The menus of a session, whose rows are chosen by their keys, by Enter or with the mouse.

use super::copy::Copyable;
use super::{ActionRow, App, Effect, HandOut, Overlay};
use crate::keymap::{Action, KeyPress};
use model::lists::sessions::SessionKey;

/// The rows of an open menu.
enum MenuRows {
    HandOut,
    Copy(Vec<Copyable>),
    Actions(Vec<ActionRow>),
}

impl MenuRows {
    /// Returns the key of each row.
    fn keys(&self) -> Vec<String> {
        match self {
            MenuRows::HandOut => HandOut::ALL.iter().map(|it| it.key().to_string()).collect(),
            MenuRows::Copy(rows) => rows.iter().map(|row| row.key.to_string()).collect(),
            MenuRows::Actions(rows) => rows.iter().map(|row| row.key.clone()).collect(),
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

    /// Handles a key, if a menu is open.
    pub(super) fn choose(&mut self, pressed: KeyPress) -> Option<Effect> {
        let (key, mut rows) = match self.ui.overlay? {
            Overlay::HandOn(key) => (key, MenuRows::HandOut),
            Overlay::Copy(key) => (key, MenuRows::Copy(self.copyables(key))),
            Overlay::Actions(key) => (key, MenuRows::Actions(self.action_rows(key))),
            Overlay::Signs | Overlay::Help | Overlay::Notices => return None,
            Overlay::Sort | Overlay::Group => return self.choose_order(pressed),
        };
        let keys = rows.keys();
        let last = keys.len().saturating_sub(1);
        let row = self.ui.menu_row.min(last);
        let chosen = match pressed {
            KeyPress::Enter => (row < keys.len()).then_some(row),
            _ => keys.iter().position(|key| *key == pressed.to_string()),
        };
        let action = self.keymap.action(self.scope(), pressed);
        if chosen.is_some() {
            self.close_overlay();
        } else {
            self.move_or_close(action, pressed, keys.len());
        }
        Some(match (chosen, &mut rows) {
            (Some(row), MenuRows::Copy(all)) => self.copy(all.swap_remove(row).content),
            (Some(row), MenuRows::HandOut) => self.hand_out(key, HandOut::ALL[row]),
            (Some(row), MenuRows::Actions(all)) => self.do_action(key, all.swap_remove(row)),
            (None, _) => Effect::None,
        })
    }
}
