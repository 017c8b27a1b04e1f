//! Holds the settings that the user has made by key and mouse.

use super::tabs::{ITEMS, RowId, Tab};
use super::{
    Column, Cursor, Direction, FindingId, Grouping, ItemId, ItemSort, LineId, Prompt, Replay,
    ShownItems,
};
use model::event::Place;
use model::lists::sessions::SessionKey;
use model::values::threshold::Threshold;
use std::collections::{HashMap, HashSet};

/// The content of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Screen {
    /// All sessions.
    #[default]
    Overview,
    /// One of them.
    Session(SessionKey),
    /// The text of one of its items.
    Text(SessionKey),
    /// The results of a search over sessions.
    Results,
}

/// A box over the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// The signs of the screen.
    Signs,
    /// The keys.
    Help,
    /// The notices so far.
    Notices,
    /// The files that can be written of a session.
    HandOn(SessionKey),
    /// The menu of the columns to sort by.
    Sort,
    /// The menu of what to group by.
    Group,
    /// The menu of copies of a session.
    Copy(SessionKey),
    /// The menu of what can be done with a session.
    Actions(SessionKey),
}

/// The settings that the user has made by key and mouse.
#[derive(Debug, Default)]
pub struct Ui {
    /// Columns and rows.
    pub size: (u16, u16),
    /// The screen.
    pub screen: Screen,
    /// The screen from which sessions were opened: the list of sessions, or the results of a search.
    pub home: Screen,
    /// The session from which the sub-agent on screen was opened.
    pub came_from: Option<SessionKey>,
    /// The box over the screen.
    pub overlay: Option<Overlay>,
    /// The lines that the help is scrolled by.
    pub overlay_top: usize,
    /// The text that the listed keys contain; `None`: all are listed.
    pub help_filter: Option<String>,
    /// The selected row of the menu.
    pub menu_row: usize,
    /// The selected notice, by its number.
    pub notices: Cursor<u64>,
    /// The prompt in which the user types: all keys go there.
    pub prompt: Option<Prompt>,

    /// The sort of the sessions.
    pub sort: &'static Column,
    /// Its direction.
    pub direction: Direction,
    /// The property by which they are grouped.
    pub grouping: Grouping,
    /// The groups whose sessions are not listed.
    pub folded: HashSet<u64>,
    /// The sessions whose sub-agents are listed below them.
    pub unfolded: HashSet<SessionKey>,
    /// True if only live sessions are listed, and those with live sub-agents.
    pub is_live_only: bool,
    /// The filter of the sessions.
    pub filter: String,
    /// The selected session.
    pub sessions: Cursor<LineId>,
    /// The selected item among those that a search has found.
    pub results: Cursor<usize>,

    /// The active tab of a session's screen.
    pub tab: &'static Tab,
    /// The moment it shows.
    pub replay: Replay,
    /// The items that are listed.
    pub listed: ShownItems,
    /// Those that are listed in other sessions, where an item that has left the context was opened in this one.
    pub(super) listed_before: Option<ShownItems>,
    /// Their sort.
    pub item_sort: ItemSort,
    /// Its direction.
    pub item_direction: Direction,
    /// Their filter, as typed.
    pub item_filter: String,
    /// The size from which an item is oversized, as it was set on screen.
    pub oversized: Option<Threshold>,
    /// The compaction whose items are listed, by the place of its record.
    pub opened_reset: Option<Place>,
    /// The finding that is unfolded; `None`: the first.
    pub opened_finding: Option<FindingId>,
    /// The place of it that Enter goes to next.
    pub next_place: usize,
    /// The tab that Escape goes back to, from a place that was opened there.
    pub back_to: Option<&'static Tab>,
    /// True if the what-if tab lists the policies instead of what the user can do.
    pub lists_policies: bool,
    /// The marked items, with their session.
    pub marked: HashSet<(SessionKey, ItemId)>,
    /// The sessions whose alerts are not raised.
    pub muted: HashSet<SessionKey>,
    /// The selected row of each tab, by the tab's name.
    pub cursors: HashMap<&'static str, Cursor<RowId>>,
}

impl Ui {
    /// Returns the selected row of the active tab.
    pub fn cursor(&self) -> Cursor<RowId> {
        let cursor = self.cursors.get(self.tab.name).copied();
        cursor.unwrap_or_default()
    }

    /// Lists the items that have left the context too, until the session is left.
    pub(super) fn list_all_here(&mut self) {
        let before = std::mem::replace(&mut self.listed, ShownItems::All);
        self.listed_before.get_or_insert(before);
    }

    /// Selects a row of the active tab.
    pub(super) fn set_cursor(&mut self, cursor: Cursor<RowId>) {
        self.cursors.insert(self.tab.name, cursor);
    }
}

impl Default for &'static Column {
    fn default() -> &'static Column {
        Column::first()
    }
}

impl Default for &'static Tab {
    fn default() -> &'static Tab {
        ITEMS
    }
}
