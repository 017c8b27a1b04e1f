//! The pager of an item's text: one page of it, wrapped to the screen, and a search.
//!
//! Methods that need another page return a [`TextRequest`] for it; [`Pager::take`] takes the page once it
//! was read.

pub(crate) mod find;
mod indent;
mod search;
mod wrap;

pub use find::in_text;
pub use search::{Pattern, SearchDirection, SearchStatus};
pub use wrap::{Row, columns, shown, wrap};

use crate::paint::Tone;
use model::lists::sessions::SessionKey;
use model::lists::text::{PAGE_BYTES, Text, TextPage, TextRequest};
use search::{Search, TypedText};
use std::ops::Range;
use std::sync::Arc;

/// The pager of an item's text. Dropped with its text when the screen closes.
#[derive(Debug, Clone)]
pub struct Pager {
    /// The session whose item it is.
    pub key: SessionKey,
    /// True if it was opened from the results of a search.
    pub is_found: bool,
    /// The item's file, place and hash, and the page that was requested last.
    pub wanted: TextRequest,
    /// The part of the requested page that is to be shown; `None`: none is awaited.
    awaited: Option<PageArrival>,
    /// The current page, without its text; `None`: none was read yet.
    pub page: Option<Text>,
    /// The reason for which the text cannot be read, and what to do about it.
    pub failed: Option<String>,
    /// The page's text and, if it is JSON, the same indented.
    pub(super) text: String,
    indented: Option<String>,
    form: Form,
    /// The text, wrapped to `columns`.
    rows: Vec<Row>,
    columns: usize,
    /// The largest line number.
    lines: u64,
    /// Rows on screen.
    height: usize,
    /// The first row on screen.
    top: usize,
    search: Search,
}

/// A program that can open a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `$PAGER`, or `less`.
    Pager,
    /// `$VISUAL`, or `$EDITOR`, or `vi`.
    Editor,
}

/// The form in which JSON is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Indented.
    #[default]
    Indented,
    /// As it is.
    Exact,
}

/// The part of a requested page that is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageArrival {
    Top,
    End,
    /// The first match of a search that began before the page was read.
    Search,
    /// A match of this page or, if it has none, of the pages after or before it, up to the page where the search began.
    Match(SearchDirection, u32),
}

impl Pager {
    /// Returns the pager of an item whose first page was requested.
    pub fn open(key: SessionKey, wanted: TextRequest) -> Pager {
        Pager {
            key,
            is_found: false,
            wanted,
            awaited: Some(PageArrival::Top),
            page: None,
            failed: None,
            text: String::new(),
            indented: None,
            form: Form::default(),
            rows: Vec::new(),
            columns: 0,
            lines: 0,
            height: 1,
            top: 0,
            search: Search::default(),
        }
    }

    /// Opens the text of an item that a search over sessions has found, at its first match if there is a pattern.
    pub fn open_at(
        key: SessionKey,
        wanted: TextRequest,
        pattern: Option<Arc<dyn Pattern>>,
    ) -> Pager {
        let mut opened = Pager::open(key, wanted);
        opened.is_found = true;
        if pattern.is_some() {
            opened.awaited = Some(PageArrival::Search);
        }
        opened.search.pattern = pattern;
        opened
    }

    /// Returns true if a requested page was not read yet.
    pub fn is_waiting(&self) -> bool {
        self.awaited.is_some()
    }

    /// Returns the number of the current page, from 0.
    pub fn page_number(&self) -> u32 {
        match (&self.page, self.awaited) {
            (Some(page), None) => self.wanted.page.min(page.pages - 1),
            _ => self.wanted.page,
        }
    }

    /// Returns the form in which JSON is shown; `None`: the text is not JSON.
    pub fn form(&self) -> Option<Form> {
        self.indented.as_ref().map(|_| self.form)
    }

    /// Returns the page's text as shown.
    pub fn text(&self) -> &str {
        match (&self.indented, self.form) {
            (Some(indented), Form::Indented) => indented,
            _ => &self.text,
        }
    }

    /// Returns the rows on screen. Their lines are counted from the page's first.
    pub fn visible(&self) -> &[Row] {
        let end = (self.top + self.height).min(self.rows.len());
        self.rows.get(self.top..end).unwrap_or_default()
    }

    /// Returns the first row on screen, and the number of rows of the page.
    pub fn position(&self) -> (usize, usize) {
        (self.top, self.rows.len())
    }

    /// Returns the matches in a row, as ranges of the text, and how each is shown.
    pub fn matches_in(&self, row: Row) -> impl Iterator<Item = (Range<usize>, Tone)> {
        let Row { from, to, .. } = row;
        let Search { matches, at, .. } = &self.search;
        // A match may begin in the row above.
        let first = matches.partition_point(|found| found.end <= from);
        let here = matches.iter().enumerate().skip(first);
        let here = here.take_while(move |(_, found)| found.start < to);
        here.map(move |(n, found)| {
            let part = found.start.max(from) as usize..found.end.min(to) as usize;
            let is_current = *at == Some(n);
            let tone = if is_current {
                Tone::MatchHere
            } else {
                Tone::Match
            };
            (part, tone)
        })
    }

    /// Returns the state of the search; `None`: there is none.
    pub fn found(&self) -> Option<SearchStatus<'_>> {
        let needle = self.search.typed();
        (!needle.is_empty()).then_some(SearchStatus {
            needle,
            at: self.search.at.map_or(0, |at| at + 1),
            count: self.search.matches.len(),
        })
    }

    /// Returns the columns of the line numbers.
    pub fn gutter(&self) -> usize {
        // At least three digits, so that the text seldom moves as it grows.
        self.lines.max(100).ilog10() as usize + 3
    }

    /// Returns the number of the line that begins in a row, from 1.
    pub fn line_number(&self, row: Row) -> Option<u64> {
        let first = match (&self.page, self.form()) {
            (Some(page), None | Some(Form::Exact)) => page.line,
            _ => 1,
        };
        row.line.map(|line| first + u64::from(line))
    }

    /// Returns the position of the first row on screen in the whole text, in percent; 100 if its end is on screen.
    pub fn percent(&self) -> u64 {
        let Some(page) = &self.page else {
            return 0;
        };
        let last = self.wanted.page + 1 >= page.pages && self.top >= self.last_top();
        if last || self.text().is_empty() {
            return 100;
        }
        let shown = self.rows.get(self.top).map_or(0, |row| u64::from(row.from));
        // Indented text is larger than the original.
        let from = shown * self.text.len() as u64 / self.text().len() as u64;
        let before = u64::from(self.wanted.page) * PAGE_BYTES;
        ((before + from) * 100 / page.bytes.max(1)).min(99)
    }

    /// Wraps the text to these columns and rows; the top row stays.
    pub fn fit(&mut self, columns: usize, height: usize) {
        self.height = height.max(1);
        if self.columns != columns {
            self.columns = columns;
            self.wrap();
        }
        self.top = self.top.min(self.last_top());
    }

    /// Takes a page that was read. Returns the request of the next, if a search continues there.
    #[must_use]
    pub fn take(&mut self, page: TextPage) -> Option<TextRequest> {
        if page.of != self.wanted {
            return None;
        }
        let arrival = self.awaited.take()?;
        match page.text {
            Ok(mut text) => {
                self.failed = None;
                self.text = std::mem::take(&mut text.text);
                // A part of a value cannot be indented.
                self.indented = (text.pages == 1)
                    .then(|| indent::indent(&self.text))
                    .flatten();
                self.wanted.page = page.of.page.min(text.pages - 1);
                self.page = Some(text);
            }
            Err(why) => {
                self.failed = Some(why);
                return None;
            }
        }
        (self.rows, self.top) = (Vec::new(), 0);
        self.wrap();
        self.search_page();
        match arrival {
            PageArrival::Top => None,
            PageArrival::Search => self.next_from(0, SearchDirection::Forward),
            PageArrival::End => {
                self.top = self.last_top();
                None
            }
            PageArrival::Match(way, begun) => {
                if self.go_to_edge(way) {
                    return None;
                }
                // The search is back where it began: there is no match.
                (self.wanted.page != begun).then(|| self.ask_beyond(way, begun))
            }
        }
    }

    /// Scrolls by rows, past a page's end to the next page. Returns its request.
    #[must_use]
    pub fn scroll(&mut self, rows: isize) -> Option<TextRequest> {
        let last = self.last_top();
        let (top, page, pages) = (self.top, self.wanted.page, self.pages());
        self.top = top.saturating_add_signed(rows).min(last);
        if self.is_waiting() {
            return None;
        }
        if rows > 0 && top == last && page + 1 < pages {
            return Some(self.ask(page + 1, PageArrival::Top));
        }
        if rows < 0 && top == 0 && page > 0 {
            return Some(self.ask(page - 1, PageArrival::End));
        }
        None
    }

    /// Goes to the start. Returns the request of its page.
    #[must_use]
    pub fn first(&mut self) -> Option<TextRequest> {
        self.top = 0;
        (self.wanted.page > 0).then(|| self.ask(0, PageArrival::Top))
    }

    /// Goes to the end. Returns the request of its page.
    #[must_use]
    pub fn last(&mut self) -> Option<TextRequest> {
        self.top = self.last_top();
        let last = self.pages().saturating_sub(1);
        (self.wanted.page < last).then(|| self.ask(last, PageArrival::End))
    }

    /// Goes to the next or previous page. Returns its request.
    #[must_use]
    pub fn turn_page(&mut self, way: SearchDirection) -> Option<TextRequest> {
        let page = match way {
            SearchDirection::Forward => self.wanted.page.checked_add(1)?,
            SearchDirection::Back => self.wanted.page.checked_sub(1)?,
        };
        (page < self.pages()).then(|| self.ask(page, PageArrival::Top))
    }

    /// Searches from the first row on screen; an empty text ends the search. Returns the request of the page
    /// where it continues.
    #[must_use]
    pub fn search(&mut self, needle: &str) -> Option<TextRequest> {
        self.search.pattern = Some(Arc::new(TypedText(needle.to_owned())));
        if self.is_waiting() && !needle.is_empty() {
            self.awaited = Some(PageArrival::Search);
            return None;
        }
        self.search_page();
        let from = self.rows.get(self.top).map_or(0, |row| row.from);
        let matches = &self.search.matches;
        let next = matches.partition_point(|found| found.start < from);
        self.next_from(next, SearchDirection::Forward)
    }

    /// Goes to the next or previous match, around the ends. Returns the request of its page.
    #[must_use]
    pub fn next_match(&mut self, way: SearchDirection) -> Option<TextRequest> {
        let matches = self.search.matches.len();
        let next = match (self.search.at, way) {
            (Some(at), SearchDirection::Forward) => at + 1,
            (Some(at), SearchDirection::Back) => at.checked_sub(1).unwrap_or(matches),
            (None, SearchDirection::Forward) => 0,
            (None, SearchDirection::Back) => matches.saturating_sub(1),
        };
        self.next_from(next, way)
    }

    /// Switches between indented and exact JSON.
    pub fn switch_form(&mut self) {
        if self.indented.is_none() {
            return;
        }
        self.form = match self.form {
            Form::Indented => Form::Exact,
            Form::Exact => Form::Indented,
        };
        (self.rows, self.top) = (Vec::new(), 0);
        self.wrap();
        self.search_page();
    }

    /// Goes to a match of this page, or of the pages after or before it.
    fn next_from(&mut self, next: usize, way: SearchDirection) -> Option<TextRequest> {
        if self.search.typed().is_empty() || self.is_waiting() {
            return None;
        }
        if next < self.search.matches.len() {
            self.go_to_match(next);
            return None;
        }
        if self.pages() > 1 {
            return Some(self.ask_beyond(way, self.wanted.page));
        }
        self.go_to_edge(way);
        None
    }

    /// Goes to the first or last match of the page. Returns whether it has one.
    fn go_to_edge(&mut self, way: SearchDirection) -> bool {
        let Some(last) = self.search.matches.len().checked_sub(1) else {
            return false;
        };
        self.go_to_match(match way {
            SearchDirection::Forward => 0,
            SearchDirection::Back => last,
        });
        true
    }

    fn ask_beyond(&mut self, way: SearchDirection, begun: u32) -> TextRequest {
        let (page, pages) = (self.wanted.page, self.pages().max(1));
        let page = match way {
            SearchDirection::Forward => (page + 1) % pages,
            SearchDirection::Back => page.checked_sub(1).unwrap_or(pages - 1),
        };
        self.ask(page, PageArrival::Match(way, begun))
    }

    fn ask(&mut self, page: u32, arrival: PageArrival) -> TextRequest {
        self.wanted.page = page;
        self.awaited = Some(arrival);
        self.wanted
    }

    fn pages(&self) -> u32 {
        self.page.as_ref().map_or(0, |page| page.pages)
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.height)
    }

    /// Wraps the text; the top row stays.
    fn wrap(&mut self) {
        let at = self.rows.get(self.top).map_or(0, |row| row.from);
        self.lines = match (&self.page, self.form()) {
            (Some(page), None | Some(Form::Exact)) => page.lines,
            _ => memchr::memchr_iter(b'\n', self.text().as_bytes()).count() as u64 + 1,
        };
        self.rows = match self.page {
            Some(_) => wrap(self.text(), self.columns.saturating_sub(self.gutter())),
            None => Vec::new(),
        };
        self.top = self.row_of(at);
    }

    /// Returns the row that contains a byte of the text.
    fn row_of(&self, at: u32) -> usize {
        self.rows
            .partition_point(|row| row.from <= at)
            .saturating_sub(1)
    }

    fn search_page(&mut self) {
        let pattern = self.search.pattern.as_ref();
        self.search.matches = pattern.map_or(Vec::new(), |it| it.matches(self.text()));
        self.search.at = None;
    }

    /// Goes to a match; scrolls if it is not on screen.
    fn go_to_match(&mut self, index: usize) {
        self.search.at = Some(index);
        let row = self.row_of(self.search.matches[index].start);
        if !(self.top..self.top + self.height).contains(&row) {
            self.top = row.saturating_sub(self.height / 3);
        }
        self.top = self.top.min(self.last_top());
    }
}

#[cfg(test)]
mod tests;
