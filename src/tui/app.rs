//! What the screens know, and what a message does to it. No terminal, no clock: the time comes with
//! each message.

mod brief;
mod cursor;
mod facts;
mod input;
pub mod layout;
mod ui;
mod window;

pub use brief::{Brief, Compacted, GROWTH_BARS, Nearness, Since, name, seconds_since};
pub use cursor::{Cursor, Top};
pub use facts::{Fact, FactId};
pub use ui::{ItemId, Listed, Mode, Overlay, Panel, Screen, Ui};
pub use window::{WindowInput, parse_tokens};

use crate::model::compaction::SizedItem;
use crate::model::fleet::{FileId, Fleet, Row, SessionKey, Sort, Update};
use crate::model::session::{ItemIx, Session};
use crate::tui::keymap::{Keymap, Press, Scope};
use facts::Facts;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

/// A session is live while its last sign of life is at most this old, in seconds.
pub const LIVE: i64 = 120;

/// What happens to the screens.
#[derive(Debug)]
pub enum Msg {
    /// A key.
    Press(Press),
    /// A click on this column and row.
    Click(u16, u16),
    /// The wheel, down for positive notches.
    Wheel(isize),
    /// The screen has this many columns and rows.
    Resize(u16, u16),
    /// The logs tell something.
    Update(Update),
}

/// What the runtime is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but to draw.
    None,
    /// A session of this file is being looked at: read it first, and further back.
    LookAt(FileId),
    /// To the shell.
    Suspend,
    /// The end.
    Quit,
}

/// All that is shown.
#[derive(Debug)]
pub struct App {
    /// The sessions.
    pub fleet: Fleet,
    /// What the user has set.
    pub ui: Ui,
    /// The keys in force.
    pub keymap: Keymap,
    /// The time of the last [`App::prepare`].
    pub now: Timestamp,
    /// A line above all else, such as "this is a demo"; empty: none.
    pub banner: String,
    /// Where logs were looked for, to tell where there are none.
    pub looked_in: Vec<String>,
    shown: Shown,
    stale: Stale,
}

/// What is worked out for the screen.
#[derive(Debug, Default)]
struct Shown {
    rows: Vec<Row>,
    keys: Vec<SessionKey>,
    live: usize,
    /// Seconds since the newest sign of life.
    youngest: Option<i64>,
    briefs: HashMap<SessionKey, Brief>,
    items: Vec<ItemIx>,
    item_ids: Vec<ItemId>,
    facts: Facts,
    largest: Option<(SessionKey, Option<SizedItem>)>,
}

/// What no longer fits the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    Nothing,
    /// The lists.
    Lists,
}

impl App {
    /// The screens of a fleet.
    pub fn new(fleet: Fleet, now: Timestamp) -> App {
        App {
            fleet,
            ui: Ui::default(),
            keymap: Keymap::default(),
            now,
            banner: String::new(),
            looked_in: Vec::new(),
            shown: Shown::default(),
            stale: Stale::Lists,
        }
    }

    /// Takes in what has happened.
    pub fn update(&mut self, msg: Msg) -> Effect {
        match msg {
            Msg::Press(press) => self.press(press),
            Msg::Click(_, row) => self.click(row),
            Msg::Wheel(notches) => self.wheel(notches),
            Msg::Resize(columns, rows) => {
                self.ui.size = (columns, rows);
                Effect::None
            }
            Msg::Update(Update::Banner(text)) => {
                self.banner = text;
                Effect::None
            }
            Msg::Update(update) => {
                self.forget(&update);
                if self.fleet.apply(update) {
                    self.stale = Stale::Lists;
                }
                Effect::None
            }
        }
    }

    /// Works out what the screen shows, and no more. Call it before drawing.
    pub fn prepare(&mut self, now: Timestamp) {
        self.now = now;
        if self.stale == Stale::Lists {
            self.shown.rows = self.ordered();
            self.shown.keys = self.shown.rows.iter().map(|row| row.key).collect();
        }
        if let Screen::Session(key) = self.ui.screen {
            match self.fleet.get(key) {
                None => self.ui.screen = Screen::Overview,
                Some(_) if self.stale == Stale::Lists => match self.ui.panel {
                    Panel::Items => self.list_items(key),
                    Panel::Compactions => self.list_facts(key),
                },
                Some(_) => {}
            }
        }
        self.stale = Stale::Nothing;
        self.count_live();

        let rows = usize::from(self.overview_layout().list.count);
        self.ui.sessions.fit(&self.shown.keys, rows);
        let rows = usize::from(self.session_layout().list.count);
        self.ui.items.fit(&self.shown.item_ids, rows);
        self.ui.facts.fit(&self.shown.facts.ids, rows);
        let typed_for = self.ui.window.as_ref().map(|input| input.key);
        if typed_for.is_some_and(|key| self.fleet.get(key).is_none()) {
            self.ui.window = None;
        }

        let mut wanted: Vec<SessionKey> = self.visible_rows().map(|row| row.key).collect();
        wanted.extend(self.current());
        for key in wanted {
            if let (false, Some(session)) =
                (self.shown.briefs.contains_key(&key), self.fleet.get(key))
            {
                self.shown.briefs.insert(key, Brief::of(session));
            }
        }
        self.find_largest();
    }

    /// The rows in the order that is set, made for a screen on which things move.
    fn ordered(&mut self) -> Vec<Row> {
        match self.ui.sort {
            Sort::Recent => self.live_first(),
            Sort::Headroom | Sort::Used => self.by_size(),
            sort => self.fleet.rows(sort, &self.ui.filter),
        }
    }

    /// The live ones first, the last begun at the top, so that they do not change places with every
    /// line they write; then the others, the newest first.
    fn live_first(&self) -> Vec<Row> {
        self.fleet.rows_ranked(&self.ui.filter, |key, session| {
            let active = self.fleet.activity_of(key, session);
            let live = active.is_some_and(|at| seconds_since(at, self.now) <= LIVE);
            let since = if live { session.started_at } else { active };
            (Reverse(live), Reverse(since), key)
        })
    }

    /// By what was worked out before, so that one session's growth does not cost a look at all others.
    fn by_size(&mut self) -> Vec<Row> {
        for (key, session) in self.fleet.sessions() {
            let briefs = &mut self.shown.briefs;
            briefs.entry(key).or_insert_with(|| Brief::of(session));
        }
        self.fleet.rows_ranked(&self.ui.filter, |key, session| {
            let brief = self.shown.briefs.get(&key);
            let size = brief.map(|brief| match self.ui.sort {
                Sort::Used => u64::MAX - brief.context.used,
                _ => brief.left(),
            });
            (size, Reverse(self.fleet.activity_of(key, session)), key)
        })
    }

    /// How long until an age on screen reads differently; `None`: for hours.
    pub fn next_change(&self) -> Option<Duration> {
        match self.shown.youngest? {
            0..=59 => Some(Duration::from_secs(1)),
            60..=3599 => Some(Duration::from_secs(60)),
            _ => None,
        }
    }

    /// The session that keys go to: the one on screen, or the selected one.
    pub fn current(&self) -> Option<SessionKey> {
        match self.ui.screen {
            Screen::Session(key) => Some(key),
            Screen::Overview => self.shown.keys.get(self.ui.sessions.index()).copied(),
        }
    }

    /// The rows of the list of sessions that are on screen, from the top.
    pub fn visible_rows(&self) -> impl Iterator<Item = &Row> {
        let count = usize::from(self.overview_layout().list.count);
        let from = self.ui.sessions.offset();
        self.shown.rows.iter().skip(from).take(count)
    }

    /// The number of sessions that match the filter.
    pub fn matching(&self) -> usize {
        self.shown.rows.len()
    }

    /// The number of sessions that show signs of life.
    pub fn live(&self) -> usize {
        self.shown.live
    }

    /// A session in short; of those on screen only.
    pub fn brief(&self, key: SessionKey) -> Option<&Brief> {
        self.shown.briefs.get(&key)
    }

    /// The items of the session on screen, newest first.
    pub fn items(&self) -> &[ItemIx] {
        &self.shown.items
    }

    /// The largest item in the context of the current session.
    pub fn largest(&self) -> Option<SizedItem> {
        self.shown.largest.and_then(|(_, largest)| largest)
    }

    /// Whole seconds since a session's last sign of life.
    pub fn age(&self, key: SessionKey) -> Option<i64> {
        let at = self.fleet.newest_record(key)?;
        Some(seconds_since(at, self.now))
    }

    /// Whether a session shows signs of life, in its log or on its file.
    pub fn is_live(&self, key: SessionKey) -> bool {
        let session = self.fleet.get(key);
        let active = session.and_then(|session| self.fleet.activity_of(key, session));
        active.is_some_and(|at| seconds_since(at, self.now) <= LIVE)
    }

    /// Which rows of the screen hold what, on the list of sessions.
    pub fn overview_layout(&self) -> layout::Overview {
        let line = |shown: bool| u16::from(shown);
        let notice = line(!self.fleet.problems.is_empty());
        layout::Overview::of(self.ui.size.1, line(!self.banner.is_empty()), notice)
    }

    /// Which rows of the screen hold what, on a session's screen.
    pub fn session_layout(&self) -> layout::Session {
        layout::Session::of(self.ui.size.1)
    }

    /// Whose keys hold.
    pub fn scope(&self) -> Scope {
        match self.ui.screen {
            Screen::Overview => Scope::Overview,
            Screen::Session(_) => Scope::Session,
        }
    }

    /// Drops what was worked out of the sessions that an update changes.
    fn forget(&mut self, update: &Update) {
        let file = match update {
            Update::Found(facts) => facts.file,
            Update::Rebuilt { file, .. }
            | Update::Appended { file, .. }
            | Update::Settings { file, .. } => *file,
            Update::Vanished(file) => *file,
            Update::Problem { .. } | Update::Banner(_) | Update::GaugesStand | Update::CaughtUp => {
                return;
            }
        };
        self.shown.briefs.retain(|key, _| key.file != file);
        self.shown.largest = self.shown.largest.filter(|(key, _)| key.file != file);
    }

    fn list_items(&mut self, key: SessionKey) {
        let Some(session) = self.fleet.get(key) else {
            return;
        };
        self.shown.items = match self.ui.listed {
            Listed::InContext => session.alive(),
            Listed::All => (0..session.items.len()).collect(),
        };
        self.shown.items.reverse();
        self.shown.item_ids = ids(session, &self.shown.items);
    }

    fn find_largest(&mut self) {
        let Some(key) = self.current() else {
            self.shown.largest = None;
            return;
        };
        if self.shown.largest.is_none_or(|(known, _)| known != key) {
            let largest = self.fleet.get(key).and_then(brief::largest_item);
            self.shown.largest = Some((key, largest));
        }
    }

    /// How many show signs of life, and how old the newest of them is.
    fn count_live(&mut self) {
        let (mut live, mut youngest) = (0, None);
        for (key, session) in self.fleet.sessions() {
            if let Some(at) = self.fleet.activity_of(key, session) {
                let age = seconds_since(at, self.now);
                live += usize::from(age <= LIVE);
                youngest = Some(youngest.map_or(age, |y: i64| y.min(age)));
            }
        }
        self.shown.live = live;
        self.shown.youngest = youngest;
    }
}

fn ids(session: &Session, items: &[ItemIx]) -> Vec<ItemId> {
    items
        .iter()
        .filter_map(|ix| session.items.get(*ix))
        .map(|item| (item.place.offset, item.nth, item.kind))
        .collect()
}
