//! What the screens were set to, in words that outlive a version: a word that is not known any more is
//! passed over.

use super::{App, Stale};
use crate::model::fleet::Sort;
use crate::model::threshold::Threshold;
use serde::{Deserialize, Serialize};

/// What the screens were set to. An empty word: as it is without.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// The list of sessions.
    pub sessions: RememberedSessions,
    /// The lists of items.
    pub items: RememberedItems,
    /// The session that was on screen last.
    pub last: LastSession,
}

/// The list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RememberedSessions {
    /// The order's name.
    pub sort: String,
    /// Which end of it comes first.
    pub direction: String,
    /// What they are grouped by.
    pub grouping: String,
    /// Whether idle ones are listed.
    pub idle: String,
    /// The filter, as typed.
    pub filter: String,
}

/// The lists of items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RememberedItems {
    /// The order's name.
    pub sort: String,
    /// Which end of it comes first.
    pub direction: String,
    /// Whether those are listed that have left the context.
    pub listed: String,
    /// The filter, as typed.
    pub filter: String,
    /// From which size on an item is oversized; none: as the configuration has it.
    pub oversized: Option<Threshold>,
}

/// The session that was on screen last; without a path: the list of sessions was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastSession {
    /// The path of its log.
    pub path: String,
    /// Its id; one log can hold several sessions.
    pub id: String,
    /// The name of the panel.
    pub panel: String,
}

impl App {
    /// What the screens are set to.
    pub fn remember(&self) -> Remembered {
        Remembered {
            sessions: RememberedSessions {
                sort: self.ui.sort.name().to_owned(),
                filter: self.ui.filter.clone(),
                ..RememberedSessions::default()
            },
            ..Remembered::default()
        }
    }

    /// Sets the screens to what was remembered.
    pub fn recall(&mut self, remembered: &Remembered) {
        let sessions = &remembered.sessions;
        let sort = Sort::ALL.iter().find(|sort| sort.name() == sessions.sort);
        self.ui.sort = sort.copied().unwrap_or_default();
        self.ui.filter.clone_from(&sessions.filter);
        self.stale = Stale::Lists;
    }
}
