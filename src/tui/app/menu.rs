//! The menus, whose rows are chosen by their keys, by Enter or with the mouse.

use super::{App, Column, Direction, Effect, Grouping, HandOut, Overlay};
use crate::keymap::{Action, KeyPress};
use model::lists::sessions::SessionKey;
use model::lists::text::TextRequest;

/// A row of a menu.
#[derive(Debug)]
pub struct MenuRow {
    /// The key that chooses it; empty: the user has bound none, or it has none.
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
    WhatIf(SessionKey),
    /// Raises no alerts of the session, or raises them again.
    Mute(SessionKey),
    /// Copies this text.
    Copy(String),
    /// Copies the text of an item, which is read first.
    CopyItem(TextRequest),
    /// Makes a report or a table.
    HandOut(SessionKey, HandOut),
    /// Sorts the sessions by this column.
    Sort(&'static Column),
    /// Groups the sessions by this.
    Group(Grouping),
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
    /// type, and the list below must not act on that. In a menu of the order the selection goes around the ends, and the
    /// menu's own key selects the next row.
    fn move_or_close(&mut self, pressed: KeyPress, rows: usize) {
        let action = self.keymap.action(self.scope(), pressed);
        let last = rows.saturating_sub(1);
        let row = self.ui.menu_row.min(last);
        let page = isize::try_from(rows / 2).unwrap_or(1).max(1);
        match (self.ui.overlay, action) {
            (Some(Overlay::Sort | Overlay::Group), Some(Action::Up)) => {
                self.ui.menu_row = (row + last) % rows;
            }
            (Some(Overlay::Sort), Some(Action::Down | Action::Sort))
            | (Some(Overlay::Group), Some(Action::Down | Action::Group)) => {
                self.ui.menu_row = (row + 1) % rows;
            }
            (Some(Overlay::Sort), Some(Action::Reverse)) => self.reverse(),
            _ => match action.and_then(|action| super::input::rows(action, page)) {
                Some(by) => self.ui.menu_row = row.saturating_add_signed(by).min(last),
                None if pressed == KeyPress::Esc
                    || matches!(action, Some(Action::Back | Action::Quit)) =>
                {
                    self.close_overlay();
                }
                None => {}
            },
        }
    }

    /// Returns the rows of the open menu; `None`: no menu is open.
    pub fn menu_rows(&self) -> Option<Vec<MenuRow>> {
        Some(match self.ui.overlay? {
            Overlay::HandOn(key) => App::hand_out_rows(key),
            Overlay::Copy(key) => self.copyables(key),
            Overlay::Actions(key) => self.action_rows(key),
            Overlay::Sort => App::sort_rows(),
            Overlay::Group => App::group_rows(),
            Overlay::Signs | Overlay::Help | Overlay::Notices => return None,
        })
    }

    /// Returns the first row of the menu that is on screen. Only the menu of the columns may have more than fit.
    pub fn menu_top(&self) -> usize {
        let room = usize::from(self.ui.size.1).saturating_sub(MENU_FRAME);
        (self.ui.menu_row + 1).saturating_sub(room.max(1))
    }

    /// Handles a key, if a menu is open.
    pub(super) fn choose(&mut self, pressed: KeyPress) -> Option<Effect> {
        let mut rows = self.menu_rows()?;
        let row = match pressed {
            KeyPress::Enter => rows
                .len()
                .checked_sub(1)
                .map(|last| self.ui.menu_row.min(last)),
            _ => rows.iter().position(|row| row.key == pressed.to_string()),
        };
        let Some(row) = row else {
            self.move_or_close(pressed, rows.len());
            return Some(Effect::None);
        };
        self.close_overlay();
        Some(match rows.swap_remove(row).choice {
            Choice::Act(action) => self.act(action),
            Choice::WhatIf(key) => self.compact_now(key),
            Choice::Mute(key) => self.mute(key),
            Choice::Copy(text) => Effect::Copy(text),
            Choice::CopyItem(request) => self.copy_item(request),
            Choice::HandOut(key, kind) => self.hand_out(key, kind),
            Choice::Sort(column) => {
                if column != self.ui.sort {
                    (self.ui.sort, self.ui.direction) = (column, Direction::default());
                }
                self.select_first();
                Effect::None
            }
            Choice::Group(grouping) => {
                self.ui.grouping = grouping;
                self.select_first();
                Effect::None
            }
        })
    }
}

/// The rows of a menu's frame, and of its note.
const MENU_FRAME: usize = 3;
