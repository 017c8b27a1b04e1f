//! The state of the screens, and how messages change it. No terminal, no clock: [`App::prepare`] gets
//! the time.

mod actions;
mod alerts;
mod alike;
pub mod columns;
mod copy;
mod cursor;
pub mod filter;
mod findings;
mod hand_out;
mod help;
mod hints;
mod hosts;
mod input;
mod items;
pub mod layout;
mod legend;
pub mod listed;
mod meetings;
pub mod menu;
mod mouse;
mod needs;
mod notices;
mod order;
mod order_menu;
mod page;
pub mod pager;
mod prompt;
mod replay;
mod resting_log;
mod resume;
mod saved_screens;
pub mod search;
mod sessions;
mod stage;
mod sums;
pub mod tabs;
mod text;
pub mod timeline;
mod ui;
mod why;

pub use alerts::{Alert, Cause};
pub use columns::{Column, Sort};
pub use cursor::{Cursor, Top};
pub use findings::{FindingId, FindingsRequest, FindingsResult};
pub use hand_out::{HandOut, HandOutRequest, HandOutResult};
pub use help::wrapped;
pub use hosts::AWAY_SIGN;
pub use items::{ItemId, ItemSort, ShownItems};
pub use listed::{Nearness, seconds_since};
pub use meetings::Meeting;
pub use needs::Need;
pub use notices::{NOTICE_ROWS, Notice, Notices, Severity};
pub use order::{Direction, Grouping};
pub use page::{Pace, Page, Steps};
pub use prompt::{Prompt, Purpose, Reach};
pub use replay::{Position, Replay, Speed};
pub use saved_screens::{LastSession, SavedItems, SavedScreens, SavedSessions};
pub use search::{FoundItem, Search, SearchRequest, SearchUpdate, Syntax};
pub use sessions::{Group, LineId, ListLine};
pub use stage::Stage;
pub use sums::Totals;

pub use tabs::Tab;
pub use text::FRAME_ROWS;
pub use ui::{Overlay, Screen, Ui};

use crate::keymap::{KeyPress, Keymap, Scope};
use crate::paint::{Area, Hit, HitMap};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::lists::sessions::{FileId, SessionKey, Sessions, Update};
use model::lists::text::{TextPage, TextRequest};
use model::values::threshold::{OVERSIZED, Threshold};
use pager::{Pager, Program};
use render::clock::Clock;
use sessions::ListFreshness;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A message to the screens.
#[derive(Debug)]
pub enum Msg {
    /// A key.
    Key(KeyPress),
    /// A click on this column and row.
    Click(u16, u16),
    /// A click with the right button on this column and row.
    Menu(u16, u16),
    /// The mouse was moved to this column with its button held.
    Drag(u16),
    /// The mouse's button was released.
    Release,
    /// The wheel at this column and row, down for positive notches.
    Wheel(u16, u16, isize),
    /// The screen has this many columns and rows.
    Resize(u16, u16),
    /// New data from the logs.
    Update(Update),
    /// A page of an item's text that was asked for.
    Text(Box<TextPage>),
    /// Something is wrong with what is at a path.
    Problem {
        /// The path.
        path: PathBuf,
        /// The problem, and what to do about it.
        what: String,
    },
    /// A line to show at the top from now on; empty: none.
    Banner(String),
    /// News of a search over sessions.
    Search(SearchUpdate),
    /// The findings that were asked for.
    Findings(FindingsResult),
}

/// A request of the screens to the runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but drawing.
    None,
    /// Read this file first, and from its start: one of its sessions is on screen.
    LookAt(FileId),
    /// Read a page of an item's text and return it as a [`Msg::Text`].
    ReadText(TextRequest),
    /// Do both for this item.
    LookAndRead(TextRequest),
    /// Search the texts of sessions, instead of what was searched for before, and return what is said of it as
    /// [`Msg::Search`].
    Search(SearchRequest),
    /// End the search.
    EndSearch,
    /// Copy to the clipboard. Control characters are visible in it.
    Copy(String),
    /// Open a log or a folder in the editor.
    OpenPath(Arc<PathBuf>),
    /// Run a command of a shell, which takes over the terminal.
    Run {
        /// The command.
        command: String,
        /// The folder that it changes to.
        folder: Option<PathBuf>,
    },
    /// Show a log in another pane of tmux; with an id, that session of several.
    OpenPane {
        /// The log.
        log: Arc<PathBuf>,
        /// The session's id, if the log has several.
        id: Option<String>,
    },
    /// Open an item's whole text in a program that takes over the terminal.
    Open(TextRequest, Program),
    /// Show the log of another machine on the screens of that machine, which take over the terminal.
    OpenThere {
        /// The machine.
        host: Arc<str>,
        /// The log there.
        log: Arc<PathBuf>,
        /// The session's id, if the log has several.
        id: Option<String>,
    },
    /// Write a file in the working directory, and say its name; or copy to the clipboard.
    HandOn(HandOutRequest),
    /// Go on to the next theme.
    Theme,
    /// Suspend the program.
    Suspend,
    /// End the program.
    Quit,
}

/// The state of the screens.
#[derive(Debug)]
pub struct App {
    /// The sessions.
    pub sessions: Sessions,
    /// The settings of the user.
    pub ui: Ui,
    /// The keys.
    pub keymap: Keymap,
    /// The text on screen.
    pub pager: Option<Pager>,
    /// The item whose text is read to be copied.
    copying: Option<TextRequest>,
    /// The last search over sessions.
    pub search: Option<Search>,
    /// The notices to the user.
    pub notices: Notices,
    /// The time of the last [`App::prepare`].
    pub now: Timestamp,
    /// The zone of the user's clock.
    pub zone: TimeZone,
    /// A line above everything, such as "this is a demo"; may be empty.
    pub banner: String,
    /// The folders that are searched for logs, for the empty list.
    pub looked_in: Vec<String>,
    /// True if nothing is saved of an earlier run and no key or click came yet. Then the footer begins with the help.
    pub is_first_start: bool,
    /// True in tmux. Then copies also go to its buffer.
    pub is_in_tmux: bool,
    /// The areas of the last drawn screen that react to the mouse.
    pub hits: HitMap,
    /// The size from which an item is oversized, until the user sets another on screen.
    pub usual_oversized: Threshold,
    /// The session to open once it is found; without an id, that of its log.
    awaited: Option<LastSession>,
    /// The session that was open last.
    last: LastSession,
    /// The item to select as soon as it is listed.
    sought: Option<tabs::RowId>,
    pub(crate) findings: findings::KnownFindings,
    watch: alerts::AlertMonitor,
    rest: resting_log::RestingLog,
    pub(crate) shown: ScreenData,
    stale: StaleData,
    /// True until the list of a session that was just opened has been made.
    is_opening: bool,
}

/// The data that was computed for the screen.
#[derive(Debug, Default)]
pub(crate) struct ScreenData {
    lines: Vec<ListLine>,
    line_ids: Vec<LineId>,
    /// The sessions that match the filter.
    pub(crate) matching: Arc<HashSet<SessionKey>>,
    /// The number of sub-agents below each of the listed sessions that has any, folded ones included.
    pub(crate) families: HashMap<SessionKey, usize>,
    /// The number of sessions when the list was made.
    pub(crate) listed_of: usize,
    /// The number of sub-agents among them.
    pub(crate) sub_agents: usize,
    /// The number of those that are listed below the session that started them, in its fold or not.
    pub(crate) sub_agents_below: usize,
    /// Another session than the one on screen whose agent waits for the user, and the number of these sessions.
    pub(crate) other_waiting: Option<(SessionKey, usize)>,
    /// The sessions that have changed the same file as another one at work in their folder.
    pub(crate) meetings: BTreeMap<SessionKey, Meeting>,
    /// The time at which these were looked for.
    met_at: Option<Timestamp>,
    /// The time at which it was made.
    listed_at: Option<Timestamp>,
    /// The time at which the sums below the list were made.
    summed_at: Option<Timestamp>,
    /// The sums of the listed sessions.
    pub(crate) totals: Totals,
    /// A group, and its sums.
    group_totals: Option<(u64, Totals)>,
    /// The number of live sessions among those that match the filter.
    pub(crate) live: usize,
    /// The sessions that may be live, with their last activity.
    active: Vec<(SessionKey, Option<Timestamp>)>,
    /// The newest activity.
    newest: Option<Timestamp>,
    /// The sessions that match the filter.
    matched: sessions::MatchedSessions,
    /// The texts that name the rows on screen.
    names: HashMap<SessionKey, listed::RowNames>,
    page: Option<Page>,
    /// The area that is dragged with the mouse, and its effect.
    dragged: Option<(Area, Hit)>,
}

/// The computed data that must be computed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StaleData {
    list: ListFreshness,
    page: bool,
    /// True if the sessions that may be live must be found again.
    active: bool,
    /// The sums below the list.
    totals: bool,
}

impl StaleData {
    const ALL: StaleData = StaleData {
        list: ListFreshness::Wrong,
        page: true,
        active: true,
        totals: true,
    };
}

impl App {
    /// Returns the screens of a set of sessions.
    pub fn new(sessions: Sessions, now: Timestamp) -> App {
        App {
            sessions,
            ui: Ui {
                size: (80, 24),
                sessions: Cursor::new(Top::Stays),
                results: Cursor::new(Top::Stays),
                ..Ui::default()
            },
            keymap: Keymap::default(),
            pager: None,
            copying: None,
            search: None,
            notices: Notices::default(),
            now,
            zone: TimeZone::UTC,
            banner: String::new(),
            looked_in: Vec::new(),
            is_first_start: false,
            is_in_tmux: false,
            hits: HitMap::default(),
            usual_oversized: OVERSIZED,
            awaited: None,
            last: LastSession::default(),
            sought: None,
            findings: findings::KnownFindings::default(),
            watch: alerts::AlertMonitor::default(),
            rest: resting_log::RestingLog::default(),
            shown: ScreenData::default(),
            stale: StaleData::ALL,
            is_opening: false,
        }
    }

    /// Returns the user's clock.
    pub fn clock(&self) -> Clock {
        Clock {
            now: self.now,
            zone: self.zone.clone(),
        }
    }

    /// Handles a message.
    pub fn update(&mut self, msg: Msg) -> Effect {
        if matches!(
            msg,
            Msg::Key(_) | Msg::Click(..) | Msg::Menu(..) | Msg::Wheel(..)
        ) {
            self.is_first_start = false;
            self.awaited = None;
        }
        match msg {
            Msg::Key(key) => return self.key(key),
            Msg::Click(column, row) => return self.click(column, row),
            Msg::Menu(column, row) => return self.right_click(column, row),
            Msg::Drag(column) => self.drag(column),
            Msg::Release => self.shown.dragged = None,
            Msg::Wheel(column, row, notches) => return self.wheel((column, row), notches),
            Msg::Resize(columns, rows) => {
                self.ui.size = (columns, rows);
                // The lines of a finding are wrapped.
                self.stale.page |= self.ui.tab == tabs::WHY;
            }
            Msg::Search(news) => return self.receive_update(news),
            Msg::Findings(result) => self.take_findings(result),
            Msg::Text(page) => return self.take_text(*page),
            Msg::Banner(text) => self.banner = text,
            Msg::Problem { path, what } => self.notices.add(Notice {
                at: self.now,
                severity: Severity::Problem,
                about: path.display().to_string(),
                text: what,
                session: None,
            }),
            Msg::Update(update) => {
                self.forget(&update);
                if let Update::Host { host, .. } = &update
                    && let Some(away) = self.sessions.host_away(host)
                {
                    self.notices.remove_away(host, &away.why);
                }
                let all_found = matches!(update, Update::InitialScanDone | Update::CaughtUp);
                let sessions = self.sessions.len();
                self.sessions.apply(update);
                // A session that is gone leaves the list at once.
                let gone = self.sessions.len() < sessions;
                if gone || all_found {
                    self.stale.list = ListFreshness::Wrong;
                } else if self.stale.list == ListFreshness::Right {
                    self.stale.list = ListFreshness::Late;
                }
                self.stale.active = true;
                self.stale.totals = true;
                if all_found {
                    return self.open_awaited();
                }
            }
        }
        Effect::None
    }

    /// Computes what the screen shows, and no more. Call it before drawing.
    pub fn prepare(&mut self, now: Timestamp) {
        self.notices.begin_frame(now);
        self.catch_up(now);
        self.count_live();
        self.note_current();
        if self.ui.screen == Screen::Overview {
            self.name_rows();
            self.add_up();
        }
    }

    /// Computes what keys act on: the list of sessions, or the page. Call it before a key is handled.
    pub fn catch_up(&mut self, now: Timestamp) {
        self.now = now;
        self.raise_alerts();
        let open = self.open_session();
        if open.is_some_and(|key| !self.sessions.contains(key)) {
            self.ui.screen = self.ui.home;
            self.pager = None;
        }
        self.close_menu_of_gone();
        self.prepare_text();
        self.prepare_notices();
        if let Some(Prompt {
            purpose: Purpose::Window(key, _),
            ..
        }) = self.ui.prompt
            && !self.sessions.contains(key)
        {
            self.ui.prompt = None;
        }
        match self.open_session() {
            Some(key) => self.prepare_page(key),
            None => self.prepare_overview(),
        }
    }

    fn prepare_overview(&mut self) {
        self.shown.page = None;
        self.list_when_due();
        let rows = usize::from(self.overview_layout().list.height);
        self.ui.sessions.fit(&self.shown.line_ids, rows);
        self.prepare_results();
    }

    /// Marks everything to be computed again.
    fn stale(&mut self) {
        self.stale = StaleData::ALL;
    }

    /// Returns the time until the screen changes without a message; `None`: it does not change for hours.
    pub fn next_change(&self) -> Option<Duration> {
        let newest = self.shown.newest;
        let age = match newest.map(|at| seconds_since(at, self.now)) {
            Some(0..=59) => Some(Duration::from_secs(1)),
            Some(60..=3599) => Some(Duration::from_secs(60)),
            _ => None,
        };
        // The sums below the list, or what it is sorted by, are not complete yet.
        let missing = self.stale.totals
            || (self.stale.list != ListFreshness::Right && !self.is_typing_window());
        let sums =
            (self.ui.screen == Screen::Overview && missing).then_some(Duration::from_millis(40));
        let (step, notice, rest) = (self.next_step(), self.next_notice(), self.rest_left());
        let filter = self.filter_wait();
        let filter = filter.filter(|_| self.ui.screen == Screen::Overview);
        let all = [age, sums, step, notice, rest, filter];
        all.into_iter().flatten().min()
    }

    /// Returns the session whose screen, or whose item's text, is shown.
    pub fn open_session(&self) -> Option<SessionKey> {
        match self.ui.screen {
            Screen::Session(key) | Screen::Text(key) => Some(key),
            Screen::Overview | Screen::Results => None,
        }
    }

    /// Returns the session that keys go to: the one on screen, or the selected one.
    pub fn current(&self) -> Option<SessionKey> {
        match self.ui.screen {
            Screen::Session(key) | Screen::Text(key) => Some(key),
            Screen::Overview => Some(self.selected_line()?.session()?.key),
            Screen::Results => Some(self.found_item()?.key),
        }
    }

    /// Returns the line that is selected in the list of sessions.
    pub(crate) fn selected_line(&self) -> Option<&ListLine> {
        self.shown.lines.get(self.ui.sessions.index())
    }

    /// Returns the size from which an item is oversized.
    pub fn oversized(&self) -> Threshold {
        self.ui.oversized.unwrap_or(self.usual_oversized)
    }

    /// Returns the data of the session on screen.
    pub fn page(&self) -> Option<&Page> {
        self.shown.page.as_ref()
    }

    /// Returns whole seconds since a session was last active.
    pub fn age(&self, key: SessionKey) -> Option<i64> {
        let at = self.sessions.activity_of(key)?;
        Some(seconds_since(at, self.now))
    }

    /// Returns true if a session is live: by its agent's registry, or its last activity.
    pub fn is_live(&self, key: SessionKey) -> bool {
        self.is_live_since(key, self.sessions.activity_of(key))
    }

    /// Returns true if a session with this last activity is live.
    fn is_live_since(&self, key: SessionKey, active: Option<Timestamp>) -> bool {
        self.sessions.live_since(key, active, self.now).is_some()
    }

    /// Returns the layout of the list of sessions.
    pub fn overview_layout(&self) -> layout::Overview {
        let banner = u16::from(!self.banner.is_empty());
        let (lines, sums) = match self.ui.screen {
            Screen::Overview => (self.lines().len(), 1),
            _ => (usize::MAX, 0), // Results have no gauge.
        };
        layout::Overview::of(self.ui.size, lines, [banner, sums, self.notice_rows()])
    }

    /// Returns the layout of a session's screen.
    pub fn session_layout(&self) -> layout::Session {
        let transport = u16::from(self.ui.replay.is_on());
        let is_news = !self.ui.replay.is_on() && self.ui.tab != tabs::WHY;
        let finding = u16::from(is_news && self.dearest_finding().is_some());
        layout::Session::of(self.ui.size, [transport, finding, self.notice_rows()])
    }

    fn notice_rows(&self) -> u16 {
        u16::from(self.notices.newest(self.now).is_some())
    }

    /// Returns the scope of the keys.
    pub fn scope(&self) -> Scope {
        match self.ui.screen {
            Screen::Overview => Scope::Overview,
            Screen::Session(_) => Scope::Session,
            Screen::Text(_) => Scope::Text,
            Screen::Results => Scope::Results,
        }
    }

    /// Drops what was computed for the sessions that an update changes.
    fn forget(&mut self, update: &Update) {
        let file = match update {
            Update::Found(facts) => facts.file,
            Update::Summaries { file, .. }
            | Update::PutAway(file)
            | Update::Rebuilt { file, .. }
            | Update::Appended { file, .. }
            | Update::Settings { file, .. }
            | Update::Vanished(file) => *file,
            Update::Running { .. }
            | Update::Host { .. }
            | Update::InitialScanDone
            | Update::CaughtUp => return,
        };
        self.watch.note(file);
        if matches!(update, Update::Rebuilt { .. }) {
            self.findings.note_reread(file);
        }
        for key in self.sessions.of_file(file) {
            self.shown.matched.remove(key);
        }
        let page = self.shown.page.take();
        self.shown.page = page.filter(|page| page.key.file != file);
    }

    /// Counts the live sessions, and finds the newest activity.
    fn count_live(&mut self) {
        if std::mem::take(&mut self.stale.active) {
            let (mut active, mut newest) = (Vec::new(), None);
            for (key, at) in self.sessions.activities() {
                newest = newest.max(at);
                if self.is_live_since(key, at) {
                    active.push((key, at));
                }
            }
            self.shown.active = active;
            self.shown.newest = newest;
        }
        let active = self.shown.active.iter();
        let live = active.filter(|(key, at)| self.is_live_since(*key, *at));
        let all = self.shown.matching.len() == self.shown.listed_of;
        let listed = live.filter(|(key, _)| all || self.shown.matching.contains(key));
        self.shown.live = listed.count();
        self.shown.other_waiting = self
            .open_session()
            .and_then(|open| self.other_waiting(open));
        self.note_meetings();
    }
}
