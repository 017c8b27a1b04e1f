//! What the screens know, and what a message does to it. No terminal, no clock: the time comes with
//! each message.

mod alerts;
mod brief;
pub mod course;
mod cursor;
mod facts;
mod help;
mod input;
mod items;
pub mod layout;
mod mouse;
mod notices;
mod order;
mod page;
mod prompt;
pub mod reader;
mod remembered;
mod replay;
mod sessions;
mod text;
mod ui;
mod zones;

pub use alerts::{Alert, Cause};
pub use brief::{Brief, Compacted, GROWTH_BARS, Nearness, Since, nearness, seconds_since};
pub use cursor::{Cursor, Top};
pub use facts::{Fact, FactId, Facts};
pub use help::{HelpLine, Sign};
pub use items::{ItemSort, ListedItem, ShownItems};
pub use notices::{Notice, Notices, Weight};
pub use order::{Column, Direction, Grouping, Idle};
pub use page::{Pace, Page};
pub use prompt::{Prompt, Purpose};
pub use remembered::{LastSession, Remembered, RememberedItems, RememberedSessions};
pub use replay::{Replay, Speed, Spot};
pub use sessions::{Group, LineId, Listed, Totals};
pub use text::AROUND;
pub use ui::{ItemId, Overlay, Panel, Screen, Ui};
pub use zones::{Hit, Zones};

use crate::model::fleet::{FileId, Fleet, SessionKey, Update};
use crate::model::session::SizedItem;
use crate::model::text::TextRequest;
use crate::model::threshold::Threshold;
use crate::tui::keymap::{Keymap, Press, Scope};
use jiff::Timestamp;
use reader::Program;
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
    /// The mouse was moved here, its button held.
    Drag(u16, u16),
    /// The mouse's button was let go.
    Release,
    /// The wheel at this column and row, down for positive notches.
    Wheel(u16, u16, isize),
    /// The screen has this many columns and rows.
    Resize(u16, u16),
    /// The logs tell something.
    Update(Update),
    /// Something that was asked for was done, or could not be.
    Told(String),
}

/// What the runtime is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but to draw.
    None,
    /// A session of this file is being looked at: read it first, and further back.
    LookAt(FileId),
    /// A page of an item's text is to be read; an [`Update::Text`] brings it.
    ReadText(TextRequest),
    /// To the clipboard.
    Copy(String),
    /// An item's text, all of its pages, is to be opened in a program that takes the terminal.
    Open(TextRequest, Program),
    /// The next theme.
    Theme,
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
    /// The text that is read.
    pub reader: Option<reader::Reader>,
    /// What was told to the user.
    pub notices: Notices,
    /// The time of the last [`App::prepare`].
    pub now: Timestamp,
    /// A line above all else, such as "this is a demo"; empty: none.
    pub banner: String,
    /// Where logs were looked for, to tell where there are none.
    pub looked_in: Vec<String>,
    /// What lies where on the screen that was drawn last.
    pub zones: Zones,
    /// From which size on an item is oversized, unless the user sets another on screen.
    usual_oversized: Threshold,
    /// The session to open once it is found.
    awaited: Option<LastSession>,
    watch: alerts::Watch,
    shown: Shown,
    stale: Stale,
}

/// What is worked out for the screen.
#[derive(Debug, Default)]
struct Shown {
    lines: Vec<Listed>,
    line_ids: Vec<LineId>,
    matching: usize,
    totals: Totals,
    live: usize,
    /// Seconds since the newest sign of life.
    youngest: Option<i64>,
    briefs: HashMap<SessionKey, Brief>,
    largest: Option<(SessionKey, Option<SizedItem>)>,
    page: Option<Page>,
    /// What the mouse drags.
    dragged: Option<(ratatui::layout::Rect, Hit)>,
}

/// What no longer fits the model or what the user has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stale {
    sessions: bool,
    page: bool,
}

impl App {
    /// The screens of a fleet.
    pub fn new(fleet: Fleet, now: Timestamp) -> App {
        App {
            fleet,
            ui: Ui::default(),
            keymap: Keymap::default(),
            reader: None,
            notices: Notices::default(),
            now,
            banner: String::new(),
            looked_in: Vec::new(),
            zones: Zones::default(),
            usual_oversized: Ui::default().oversized,
            awaited: None,
            watch: alerts::Watch::default(),
            shown: Shown::default(),
            stale: Stale {
                sessions: true,
                page: true,
            },
        }
    }

    /// Takes in what has happened.
    pub fn update(&mut self, msg: Msg) -> Effect {
        if matches!(msg, Msg::Press(_) | Msg::Click(..) | Msg::Wheel(..)) {
            self.awaited = None;
        }
        match msg {
            Msg::Press(press) => return self.press(press),
            Msg::Click(column, row) => return self.click(column, row),
            Msg::Drag(column, row) => self.drag(column, row),
            Msg::Release => self.shown.dragged = None,
            Msg::Wheel(column, row, notches) => return self.wheel((column, row), notches),
            Msg::Resize(columns, rows) => self.ui.size = (columns, rows),
            Msg::Told(text) => self.tell(text),
            Msg::Update(Update::Text(page)) => return self.take_text(*page),
            Msg::Update(Update::Banner(text)) => self.banner = text,
            Msg::Update(Update::Problem { path, what }) => self.notices.add(Notice {
                at: self.now,
                weight: Weight::Problem,
                about: path.display().to_string(),
                text: what,
            }),
            Msg::Update(update) => {
                self.forget(&update);
                let all_found = matches!(update, Update::InitialScanDone | Update::CaughtUp);
                self.fleet.apply(update);
                self.stale.sessions = true;
                if all_found {
                    return self.open_awaited();
                }
            }
        }
        Effect::None
    }

    /// Works out what the screen shows, and no more. Call it before drawing.
    pub fn prepare(&mut self, now: Timestamp) {
        self.now = now;
        self.raise_alerts();
        let open = self.open_session();
        if open.is_some_and(|key| self.fleet.get(key).is_none()) {
            self.ui.screen = Screen::Overview;
            self.reader = None;
        }
        self.prepare_text();
        if let Some(Prompt {
            purpose: Purpose::Window(key),
            ..
        }) = self.ui.prompt
            && self.fleet.get(key).is_none()
        {
            self.ui.prompt = None;
        }
        match self.open_session() {
            Some(key) => self.prepare_page(key),
            None => self.prepare_overview(),
        }
        self.count_live();
        let mut wanted: Vec<SessionKey> = self.current().into_iter().collect();
        if self.ui.screen == Screen::Overview {
            wanted.extend(self.visible_lines().filter_map(|line| match line {
                Listed::Session(row) => Some(row.key),
                Listed::Group(_) => None,
            }));
        }
        for key in wanted {
            if let (false, Some(session)) =
                (self.shown.briefs.contains_key(&key), self.fleet.get(key))
            {
                self.shown.briefs.insert(key, Brief::of(session));
            }
        }
        if self.ui.screen == Screen::Overview {
            self.add_up();
            self.find_largest();
        }
    }

    fn prepare_overview(&mut self) {
        self.shown.page = None;
        if std::mem::take(&mut self.stale.sessions) {
            self.list_sessions();
        }
        let rows = usize::from(self.overview_layout().list.count);
        self.ui.sessions.fit(&self.shown.line_ids, rows);
    }

    /// What is worked out no longer fits what the user has set.
    fn stale(&mut self) {
        self.stale = Stale {
            sessions: true,
            page: true,
        };
    }

    /// How long until the screen reads differently though nothing happens; `None`: for hours.
    pub fn next_change(&self) -> Option<Duration> {
        let age = match self.shown.youngest {
            Some(0..=59) => Some(Duration::from_secs(1)),
            Some(60..=3599) => Some(Duration::from_secs(60)),
            _ => None,
        };
        // The sums below the list are not whole yet.
        let sums = (self.ui.screen == Screen::Overview && self.shown.totals.missing > 0)
            .then_some(Duration::from_millis(40));
        let all = [age, sums, self.next_step(), self.next_notice()];
        all.into_iter().flatten().min()
    }

    /// The session whose screen, or whose item's text, is shown.
    pub fn open_session(&self) -> Option<SessionKey> {
        match self.ui.screen {
            Screen::Session(key) | Screen::Text(key) => Some(key),
            Screen::Overview => None,
        }
    }

    /// The session that keys go to: the one on screen, or the selected one.
    pub fn current(&self) -> Option<SessionKey> {
        self.open_session()
            .or_else(|| match self.shown.lines.get(self.ui.sessions.index())? {
                Listed::Session(row) => Some(row.key),
                Listed::Group(_) => None,
            })
    }

    /// The number of sessions that show signs of life.
    pub fn live(&self) -> usize {
        self.shown.live
    }

    /// A session in short; of those on screen only.
    pub fn brief(&self, key: SessionKey) -> Option<&Brief> {
        self.shown.briefs.get(&key)
    }

    /// The session on screen.
    pub fn page(&self) -> Option<&Page> {
        self.shown.page.as_ref()
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
        let banner = u16::from(!self.banner.is_empty());
        layout::Overview::of(self.ui.size.1, banner, self.notice_rows())
    }

    /// Which rows of the screen hold what, on a session's screen.
    pub fn session_layout(&self) -> layout::Session {
        let transport = u16::from(self.ui.replay.is_on());
        layout::Session::of(self.ui.size, transport, self.notice_rows())
    }

    fn notice_rows(&self) -> u16 {
        u16::from(self.notices.newest(self.now).is_some())
    }

    /// Whose keys hold.
    pub fn scope(&self) -> Scope {
        match self.ui.screen {
            Screen::Overview => Scope::Overview,
            Screen::Session(_) => Scope::Session,
            Screen::Text(_) => Scope::Text,
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
            Update::Problem { .. }
            | Update::Text(_)
            | Update::Banner(_)
            | Update::InitialScanDone
            | Update::CaughtUp => return,
        };
        self.watch.note(file);
        self.shown.briefs.retain(|key, _| key.file != file);
        self.shown.largest = self.shown.largest.filter(|(key, _)| key.file != file);
        if self
            .shown
            .page
            .as_ref()
            .is_some_and(|page| page.key.file == file)
        {
            self.shown.page = None;
        }
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
