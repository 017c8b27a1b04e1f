//! A search for a pattern in the texts of all listed sessions: what was found so far, and what its keys do. The runtime
//! searches.

use super::pager::{Pager, Pattern};
use super::tabs::{ITEMS, row_id};
use super::{App, Effect, Purpose, Screen};
use model::event::Place;
use model::lists::sessions::SessionKey;
use model::lists::text::TextRequest;
use model::{Kind, Role, Source};
use render::number;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The most items that are kept.
pub const MOST_FOUND: usize = 1_000;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// A regular expression.
    Regex,
    /// The text itself.
    Text,
    /// None: every item is found, and the largest are listed first.
    Any,
}

/// The pattern of a search and the sessions that are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The pattern.
    pub pattern: String,
    /// The syntax of the pattern.
    pub syntax: Syntax,
    /// The sessions.
    pub sessions: Arc<HashSet<SessionKey>>,
    /// The filter of the list that selects the sessions; empty: all of them.
    pub filter: String,
}

/// An item that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundItem {
    /// Its session.
    pub key: SessionKey,
    /// Its record.
    pub place: Place,
    /// Its number in the record.
    pub nth: u32,
    /// The kind of the item.
    pub kind: Kind,
    /// Tells it from others of its record.
    pub hash: u64,
    /// The role that filled the context with it.
    pub role: Role,
    /// Its tool or kind. Not safe to print.
    pub label: String,
    /// Its size.
    pub tokens: u64,
    /// The way in which the size is known.
    pub source: Source,
    /// The request that it entered the context with, as screens number it.
    pub request: String,
    /// True if it is in the context.
    pub in_context: bool,
    /// The first line that matches, or the part of it around the match. Not safe to print.
    pub text: String,
    /// Its matches, in bytes.
    pub matches: Vec<Range<usize>>,
    /// The number of this line in the text, from 1.
    pub line: u64,
    /// The number of further lines that match.
    pub more: u64,
}

/// News of a running search.
#[derive(Debug)]
pub enum SearchUpdate {
    /// It has begun; the pattern finds matches in a text.
    Begun(SearchRequest, Arc<dyn Pattern>),
    /// The pattern is wrong, and why.
    Refused(String),
    /// An item matches.
    Found(Box<FoundItem>),
    /// So many sessions more were searched.
    Searched(usize),
    /// So many sessions could not be searched, and why.
    Unread(usize, String),
    /// Nothing follows.
    End,
}

/// The progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchState {
    /// It goes on.
    Running,
    /// All was searched.
    Done,
    /// The user left it before its end.
    Left,
    /// As many items were found as are kept, and there are more.
    Full,
}

/// A search.
#[derive(Debug)]
pub struct Search {
    /// The pattern, and the sessions that are searched.
    pub request: SearchRequest,
    /// The progress of the search.
    pub state: SearchState,
    /// The number of sessions that were searched.
    pub searched: usize,
    /// The number of sessions that could not be searched, and the reason for the first of them.
    pub unread: (usize, String),
    /// The items that were found, in the order of the search.
    pub found: Vec<FoundItem>,
    /// The session from which it was begun, which alone is searched; `None`: the list.
    from: Option<SessionKey>,
    pattern: Arc<dyn Pattern>,
    /// The rows.
    rows: Vec<usize>,
}

impl Search {
    /// Returns the number of sessions that the items are in.
    pub fn sessions(&self) -> usize {
        let keys = self.found.iter().map(|found| found.key);
        keys.collect::<HashSet<SessionKey>>().len()
    }

    /// Returns the number of sessions that are searched, now or later.
    pub fn all(&self) -> usize {
        self.request.sessions.len()
    }

    /// Returns what is searched for, in words.
    pub fn title(&self) -> &str {
        match self.request.syntax {
            Syntax::Regex | Syntax::Text => &self.request.pattern,
            Syntax::Any => "largest items",
        }
    }

    /// Returns the place of an item among those that were found; `None`: all that are kept are larger.
    fn place_of(&self, item: &FoundItem) -> Option<usize> {
        let at = match self.request.syntax {
            Syntax::Regex | Syntax::Text => self.found.len(),
            Syntax::Any => self
                .found
                .partition_point(|kept| kept.tokens >= item.tokens),
        };
        (at < MOST_FOUND).then_some(at)
    }

    /// Returns these sessions in words.
    pub fn place(&self) -> String {
        match self.from {
            Some(_) => THIS_SESSION.to_owned(),
            None => place(self.all(), &self.request.filter),
        }
    }
}

/// A session that alone is searched, in words.
const THIS_SESSION: &str = "this session";

/// Describes so many sessions that a filter selects, in words.
fn place(sessions: usize, filter: &str) -> String {
    let counted = number::counted(sessions as u64, "session");
    match (filter, sessions) {
        ("", 1) => counted,
        ("", _) => format!("all {counted}"),
        (filter, _) => format!("{counted} of the list: {filter}"),
    }
}

impl App {
    /// Asks for a pattern.
    pub(super) fn ask_pattern(&mut self) {
        let syntax = self.search.as_ref().map(|search| search.request.syntax);
        let syntax = syntax.filter(|syntax| *syntax != Syntax::Any);
        self.ask(Purpose::Pattern(syntax.unwrap_or(Syntax::Regex)));
    }

    /// Returns the session that a search would look into alone; `None`: those of the list.
    fn searchable_session(&self) -> Option<SessionKey> {
        match self.ui.screen {
            Screen::Session(key) => Some(key),
            Screen::Results => self.search.as_ref()?.from,
            Screen::Overview | Screen::Text(_) => None,
        }
    }

    /// Returns the sessions that a search would look into, and the filter that selects them.
    pub fn searchable(&self) -> (Arc<HashSet<SessionKey>>, String) {
        if let Some(key) = self.searchable_session() {
            return (Arc::new(HashSet::from([key])), THIS_SESSION.to_owned());
        }
        let mut parts = Vec::new();
        if self.ui.is_live_only {
            parts.push("live only");
        }
        if !self.ui.filter.trim().is_empty() {
            parts.push(self.ui.filter.trim());
        }
        (Arc::clone(&self.shown.matching), parts.join(", "))
    }

    /// Returns the sessions that a search would look into, in words.
    pub fn searchable_place(&self) -> String {
        if self.searchable_session().is_some() {
            return THIS_SESSION.to_owned();
        }
        let (sessions, filter) = self.searchable();
        place(sessions.len(), &filter)
    }

    /// Searches for what was typed. An empty pattern shows what was found before.
    pub(super) fn search_for(&mut self, pattern: &str, syntax: Syntax) -> Effect {
        if pattern.trim().is_empty() {
            self.ui.prompt = None;
            if self.search.is_some() {
                self.ui.screen = Screen::Results;
            }
            return Effect::None;
        }
        self.begin_to_search(pattern.to_owned(), syntax)
    }

    /// Searches for a pattern or, without one, for the largest items.
    pub(super) fn begin_to_search(&mut self, pattern: String, syntax: Syntax) -> Effect {
        let (sessions, filter) = self.searchable();
        let request = SearchRequest {
            pattern,
            syntax,
            sessions,
            filter,
        };
        Effect::Search(self.search_here(request))
    }

    /// Takes what a search says.
    pub(super) fn receive_update(&mut self, news: SearchUpdate) -> Effect {
        match news {
            SearchUpdate::Begun(request, pattern) => {
                self.search = Some(Search {
                    request,
                    state: SearchState::Running,
                    searched: 0,
                    unread: (0, String::new()),
                    found: Vec::new(),
                    from: self.searchable_session(),
                    pattern,
                    rows: Vec::new(),
                });
                self.ui.results = super::Cursor::new(super::Top::Stays);
                self.ui.prompt = None;
                self.ui.screen = Screen::Results;
                return Effect::None;
            }
            SearchUpdate::Refused(why) => {
                if let Some(prompt) = &mut self.ui.prompt {
                    prompt.wrong = why;
                }
                return Effect::None;
            }
            _ => {}
        }
        let running = |search: &&mut Search| search.state == SearchState::Running;
        let Some(search) = self.search.as_mut().filter(running) else {
            return Effect::None;
        };
        match news {
            SearchUpdate::Found(found) => match search.place_of(&found) {
                Some(at) => {
                    search.found.insert(at, *found);
                    search.found.truncate(MOST_FOUND);
                    search.rows.extend(search.rows.len()..search.found.len());
                }
                None if search.request.syntax == Syntax::Any => {}
                None => {
                    search.state = SearchState::Full;
                    return Effect::EndSearch;
                }
            },
            SearchUpdate::Searched(sessions) => search.searched += sessions,
            SearchUpdate::Unread(sessions, why) => {
                if search.unread.0 == 0 {
                    search.unread.1 = why;
                }
                search.unread.0 += sessions;
            }
            _ => search.state = SearchState::Done,
        }
        Effect::None
    }

    /// Keeps the selected item on screen.
    pub(super) fn prepare_results(&mut self) {
        if let Some(search) = &self.search {
            let rows = usize::from(self.overview_layout().list.height);
            self.ui.results.fit(&search.rows, rows);
        }
    }

    pub(super) fn step_results(&mut self, by: isize) {
        if let Some(search) = &self.search {
            self.ui.results.step(&search.rows, by);
        }
    }

    /// Returns the item that is selected among those that were found.
    pub fn found_item(&self) -> Option<&FoundItem> {
        self.search.as_ref()?.found.get(self.ui.results.index())
    }

    /// Opens the text of the selected item at its first match, with its session behind it.
    pub(super) fn open_found(&mut self) -> Effect {
        let Some((search, found)) = self.search.as_ref().zip(self.found_item()) else {
            return Effect::None;
        };
        let (key, in_context) = (found.key, found.in_context);
        let item = row_id(Some((found.place.id(), found.nth, found.kind)));
        let wanted = TextRequest {
            file: key.file,
            place: found.place,
            hash: found.hash,
            page: 0,
        };
        let pattern = (search.request.syntax != Syntax::Any).then(|| Arc::clone(&search.pattern));
        if !self.sessions.contains(key) {
            self.notify("this session no longer exists".to_owned());
            return Effect::None;
        }
        let _ = self.open_session_page(key);
        self.ui.came_from = None;
        self.ui.item_filter.clear();
        if !in_context {
            self.ui.list_all_here();
        }
        self.show(ITEMS);
        self.sought = Some(item);
        self.pager = Some(Pager::open_at(key, wanted, pattern));
        self.ui.screen = Screen::Text(key);
        Effect::LookAndRead(wanted)
    }

    /// Selects the item that was opened from the results, as soon as it is listed.
    pub(super) fn select_sought(&mut self) {
        let (Some(sought), Some(ids)) = (self.sought, self.list_ids()) else {
            return;
        };
        if ids.contains(&sought) {
            let mut cursor = self.ui.cursor();
            cursor.pin(sought);
            self.ui.set_cursor(cursor);
            self.sought = None;
        }
    }

    /// Returns true if the session of the item that was opened from the results is still read.
    pub fn is_seeking(&self) -> bool {
        self.sought.is_some()
    }

    /// Returns true if the text on screen was opened from the results.
    pub fn is_text_found(&self) -> bool {
        let pager = self.pager.as_ref();
        pager.is_some_and(|pager| pager.is_found)
    }

    /// Goes from the results to where the search was begun. The search ends.
    pub(super) fn leave_results(&mut self) -> Effect {
        self.ui.screen = Screen::Overview;
        if let Some(search) = &mut self.search {
            self.ui.screen = search.from.map_or(Screen::Overview, Screen::Session);
            if search.state == SearchState::Running {
                search.state = SearchState::Left;
            }
        }
        self.ui.home = Screen::Overview;
        Effect::EndSearch
    }
}

#[cfg(test)]
mod tests;
