//! The menus of a session, whose rows are chosen by their keys, by Enter or with the mouse.

use super::{App, Effect, HandOut, Overlay};
use crate::keymap::{Action, KeyPress};
use model::lists::sessions::SessionKey;

impl App {
    /// Opens a menu for the current session.
    pub(super) fn open_menu(&mut self, menu: fn(SessionKey) -> Overlay) {
        if let Some(key) = self.current() {
            self.ui.overlay = Some(menu(key));
            self.ui.menu_row = 0;
        }
    }

    /// Handles a key, if a menu is open. A key that is none of its closes it.
    pub(super) fn choose(&mut self, pressed: KeyPress) -> Option<Effect> {
        let (key, mut copyables) = match self.ui.overlay {
            Some(Overlay::HandOn(key)) => (key, None),
            Some(Overlay::Copy(key)) => (key, Some(self.copyables(key))),
            _ => return None,
        };
        let keys: Vec<char> = match &copyables {
            Some(copyables) => copyables.iter().map(|row| row.key).collect(),
            None => HandOut::ALL.iter().map(|kind| kind.key()).collect(),
        };
        let last = keys.len().saturating_sub(1);
        let row = self.ui.menu_row.min(last);
        let chosen = match pressed {
            KeyPress::Enter => (row < keys.len()).then_some(row),
            _ => keys.iter().position(|key| pressed == KeyPress::Char(*key)),
        };
        let action = self.keymap.action(self.scope(), pressed);
        match (chosen, action) {
            (Some(_), _) => {
                self.close_overlay();
            }
            (None, Some(Action::Up)) => self.ui.menu_row = row.saturating_sub(1),
            (None, Some(Action::Down)) => self.ui.menu_row = (row + 1).min(last),
            _ => {
                self.close_overlay();
            }
        }
        Some(match (chosen, &mut copyables) {
            (Some(row), Some(copyables)) => self.copy(copyables.swap_remove(row).content),
            (Some(row), None) => self.hand_out(key, HandOut::ALL[row]),
            (None, _) => Effect::None,
        })
    }
}
