//! The menus of the order of the sessions: the columns to sort by, and what to group by.

use super::columns::COLUMNS;
use super::menu::{Choice, MenuRow};
use super::{App, Column, Effect, Grouping, Overlay};
use strum::IntoEnumIterator;

impl App {
    /// Returns a row for each column, in the order of the menu.
    pub(super) fn sort_rows() -> Vec<MenuRow> {
        let mut all: Vec<&Column> = COLUMNS.iter().collect();
        all.sort_by_key(|column| column.step);
        let row = |column: &'static Column| MenuRow::new("", column.name, Choice::Sort(column));
        all.into_iter().map(row).collect()
    }

    /// Returns a row for each way to group the sessions.
    pub(super) fn group_rows() -> Vec<MenuRow> {
        let name = |grouping: Grouping| match grouping {
            Grouping::None => "not at all",
            grouping => grouping.name(),
        };
        let row = |grouping| MenuRow::new("", name(grouping), Choice::Group(grouping));
        Grouping::iter().map(row).collect()
    }

    /// Returns true if a row of a menu is the order that the list has.
    pub fn is_current(&self, row: &MenuRow) -> bool {
        match row.choice {
            Choice::Sort(column) => column == self.ui.sort,
            Choice::Group(grouping) => grouping == self.ui.grouping,
            _ => false,
        }
    }

    /// Opens a menu of the order, with the current row selected.
    pub(super) fn open_order(&mut self, menu: Overlay) -> Effect {
        self.ui.overlay = Some(menu);
        let rows = self.menu_rows().unwrap_or_default();
        let current = rows.iter().position(|row| self.is_current(row));
        self.ui.menu_row = current.unwrap_or_default();
        Effect::None
    }
}
