//! What the user has set, by key and mouse.

use super::{
    Column, Cursor, Direction, FactId, Grouping, Idle, ItemSort, LineId, Prompt, Replay,
    ShownItems, Top,
};
use crate::model::Kind;
use crate::model::fleet::SessionKey;
use crate::model::threshold::Threshold;
use crate::tui::keymap::Action;
use std::collections::HashSet;

/// What is on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// All sessions.
    Overview,
    /// One of them.
    Session(SessionKey),
    /// The text of one of its items.
    Text(SessionKey),
}

/// What lies over the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// The keys.
    Help,
    /// What was told so far.
    Notices,
}

/// What the list of a session's screen holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Panel {
    /// The items.
    #[default]
    Items,
    /// The tools, with what their results cost.
    Tools,
    /// What compactions did.
    Compactions,
    /// What other policies would have done.
    WhatIf,
    /// The sub-agents.
    Agents,
    /// The context over time, where there is no room for it beside the roles.
    Course,
}

impl Panel {
    /// All panels, in the order of their tabs.
    pub const ALL: [Panel; 6] = [
        Panel::Items,
        Panel::Tools,
        Panel::Compactions,
        Panel::WhatIf,
        Panel::Agents,
        Panel::Course,
    ];

    /// The tab's word.
    pub const fn name(self) -> &'static str {
        match self {
            Panel::Items => "items",
            Panel::Tools => "tools",
            Panel::Compactions => "compactions",
            Panel::WhatIf => "what if",
            Panel::Agents => "agents",
            Panel::Course => "course",
        }
    }

    /// The key's action that leads to it.
    pub const fn action(self) -> Action {
        match self {
            Panel::Items => Action::Items,
            Panel::Tools => Action::Tools,
            Panel::Compactions => Action::Compactions,
            Panel::WhatIf => Action::WhatIf,
            Panel::Agents => Action::Agents,
            Panel::Course => Action::Course,
        }
    }

    /// The panel so many tabs further; it goes around.
    #[must_use]
    pub fn further(self, by: isize) -> Panel {
        let at = Panel::ALL.iter().position(|panel| *panel == self);
        let at = at.unwrap_or(0) as isize + by;
        Panel::ALL[at.rem_euclid(Panel::ALL.len() as isize) as usize]
    }
}

/// An item, across rereads of its log: offset of its line, place among the line's items, kind.
pub type ItemId = (u64, u32, Kind);

/// What the user has set, by key and mouse.
#[derive(Debug)]
pub struct Ui {
    /// Columns and rows.
    pub size: (u16, u16),
    /// The screen.
    pub screen: Screen,
    /// The session from which a sub-agent on screen was opened.
    pub came_from: Option<SessionKey>,
    /// What lies over it.
    pub overlay: Option<Overlay>,
    /// How far it is scrolled, in lines.
    pub overlay_top: usize,
    /// What is being typed: all keys go there.
    pub prompt: Option<Prompt>,

    /// The order of the sessions.
    pub sort: Column,
    /// Which end of it comes first.
    pub direction: Direction,
    /// What they are grouped by.
    pub grouping: Grouping,
    /// The groups of which the sessions are not listed.
    pub folded: HashSet<u64>,
    /// Whether idle sessions are listed.
    pub idle: Idle,
    /// The filter of the sessions.
    pub filter: String,
    /// The list of sessions.
    pub sessions: Cursor<LineId>,

    /// What a session's screen lists.
    pub panel: Panel,
    /// The moment it shows.
    pub replay: Replay,
    /// Which items are listed.
    pub listed: ShownItems,
    /// Their order.
    pub item_sort: ItemSort,
    /// Which end of it comes first.
    pub item_direction: Direction,
    /// Their filter, as typed.
    pub item_filter: String,
    /// From which size on an item is oversized.
    pub oversized: Threshold,
    /// The items that are marked, with the session they belong to.
    pub marked: HashSet<(SessionKey, ItemId)>,
    /// What was looked for last in a replay.
    pub needle: String,
    /// The list of items.
    pub items: Cursor<ItemId>,
    /// The list of tools.
    pub tools: Cursor<u64>,
    /// The list of what compactions did.
    pub facts: Cursor<FactId>,
    /// The list of policies.
    pub policies: Cursor<usize>,
    /// The list of sub-agents.
    pub agents: Cursor<SessionKey>,
}

/// From this share of the window on an item is oversized unless the user says otherwise: 8,000 of
/// 200,000 tokens.
const OVERSIZED: f64 = 0.04;

impl Default for Ui {
    fn default() -> Ui {
        Ui {
            size: (80, 24),
            screen: Screen::Overview,
            came_from: None,
            overlay: None,
            overlay_top: 0,
            prompt: None,
            sort: Column::default(),
            direction: Direction::default(),
            grouping: Grouping::default(),
            folded: HashSet::new(),
            idle: Idle::default(),
            filter: String::new(),
            sessions: Cursor::new(Top::Stays),
            panel: Panel::default(),
            replay: Replay::default(),
            listed: ShownItems::default(),
            item_sort: ItemSort::default(),
            item_direction: Direction::default(),
            item_filter: String::new(),
            oversized: Threshold::Share(OVERSIZED),
            marked: HashSet::new(),
            needle: String::new(),
            items: Cursor::new(Top::Follows),
            tools: Cursor::new(Top::Follows),
            facts: Cursor::new(Top::Follows),
            policies: Cursor::new(Top::Follows),
            agents: Cursor::new(Top::Follows),
        }
    }
}
