//! The menus of the order of the sessions: the columns to sort by, and what to group by.

use super::columns::COLUMNS;
use super::{App, Column, Direction, Effect, Grouping, Overlay, order};
use crate::keymap::{Action, KeyPress};
use strum::IntoEnumIterator;

impl Column {
    /// Returns all columns, in the order of the menu.
    fn in_order() -> Vec<&'static Column> {
        let mut all: Vec<&Column> = COLUMNS.iter().collect();
        all.sort_by_key(|column| column.step);
        all
    }
}

impl App {
    /// Returns the rows of the menu, each with what comes first, and the current one.
    pub fn order_rows(&self, menu: Overlay) -> (Vec<(&'static str, &'static str)>, usize) {
        let place = |found: Option<usize>| found.unwrap_or_default();
        if menu == Overlay::Sort {
            let all = Column::in_order();
            let current = all.iter().position(|column| *column == self.ui.sort);
            let names = all.into_iter().map(|column| (column.name, column.first));
            return (names.collect(), place(current));
        }
        let current = Grouping::iter().position(|grouping| grouping == self.ui.grouping);
        let name = |grouping| match grouping {
            Grouping::None => ("not at all", ""),
            grouping => (grouping.name(), ""),
        };
        (Grouping::iter().map(name).collect(), place(current))
    }

    /// Returns the first row of a menu that is on screen.
    pub fn menu_top(&self, rows: usize) -> usize {
        let room = usize::from(self.ui.size.1).saturating_sub(MENU_FRAME);
        (self.ui.menu_row + 1).saturating_sub(room.max(1)).min(rows)
    }

    /// Opens a menu of the order, with the current row selected.
    pub(super) fn open_order(&mut self, menu: Overlay) {
        self.ui.menu_row = self.order_rows(menu).1;
        self.ui.overlay = Some(menu);
    }

    /// Handles a key, if a menu of the order is open. Its own key selects the next row.
    pub(super) fn choose_order(&mut self, pressed: KeyPress) -> Option<Effect> {
        let menu = self.ui.overlay?;
        let own = match menu {
            Overlay::Sort => Action::Sort,
            Overlay::Group => Action::Group,
            _ => return None,
        };
        let rows = self.order_rows(menu).0.len();
        let action = self.keymap.action(self.scope(), pressed);
        match action {
            _ if pressed == KeyPress::Enter => self.set_order(menu),
            Some(Action::Up) => self.ui.menu_row = (self.ui.menu_row + rows - 1) % rows,
            Some(action) if action == own || action == Action::Down => {
                self.ui.menu_row = (self.ui.menu_row + 1) % rows;
            }
            Some(Action::Reverse) if menu == Overlay::Sort => {
                self.ui.direction = order::next(self.ui.direction);
                self.stale();
                self.select_first();
            }
            _ => self.move_or_close(action, pressed, rows),
        }
        Some(Effect::None)
    }

    /// Sorts or groups by the selected row of the menu.
    fn set_order(&mut self, menu: Overlay) {
        self.close_overlay();
        let row = self.ui.menu_row;
        if menu == Overlay::Sort {
            let column = Column::in_order().into_iter().nth(row);
            if let Some(column) = column.filter(|column| *column != self.ui.sort) {
                (self.ui.sort, self.ui.direction) = (column, Direction::default());
            }
        } else {
            self.ui.grouping = Grouping::iter().nth(row).unwrap_or_default();
        }
        self.stale();
        self.select_first();
    }
}

/// The rows of a menu's frame, and of its note.
const MENU_FRAME: usize = 3;
