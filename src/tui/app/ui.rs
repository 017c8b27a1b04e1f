//! What the user has set, by key and mouse.

use super::{Cursor, FactId, Top, WindowInput};
use crate::model::Kind;
use crate::model::fleet::{SessionKey, Sort};

/// What is on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// All sessions.
    Overview,
    /// One of them.
    Session(SessionKey),
}

/// What lies over the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// The keys.
    Help,
    /// What could not be read.
    Problems,
}

/// Where typed characters go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// To the key bindings.
    #[default]
    Browse,
    /// Into the filter.
    Filter,
}

/// Which items a session's screen lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listed {
    /// Those in the context now.
    #[default]
    InContext,
    /// All, those that have left too.
    All,
}

/// What the lower part of a session's screen lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Panel {
    /// The items.
    #[default]
    Items,
    /// What compactions did.
    Compactions,
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
    /// What lies over it.
    pub overlay: Option<Overlay>,
    /// Where typed characters go.
    pub mode: Mode,
    /// The window of a session, while it is typed: all keys go there.
    pub window: Option<WindowInput>,
    /// The order of the sessions.
    pub sort: Sort,
    /// The filter of the sessions.
    pub filter: String,
    /// The list of sessions.
    pub sessions: Cursor<SessionKey>,
    /// What a session's screen lists.
    pub panel: Panel,
    /// Which items are listed.
    pub listed: Listed,
    /// The list of items.
    pub items: Cursor<ItemId>,
    /// The list of what compactions did.
    pub facts: Cursor<FactId>,
}

impl Default for Ui {
    fn default() -> Ui {
        Ui {
            size: (80, 24),
            screen: Screen::Overview,
            overlay: None,
            mode: Mode::default(),
            window: None,
            sort: Sort::default(),
            filter: String::new(),
            sessions: Cursor::new(Top::Stays),
            panel: Panel::default(),
            listed: Listed::default(),
            items: Cursor::new(Top::Follows),
            facts: Cursor::new(Top::Follows),
        }
    }
}
