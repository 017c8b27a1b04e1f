//! An item's text that is being read: one page of it, wrapped to the screen, and what was looked for.
//!
//! What cannot be shown without another page gives a [`TextRequest`] for it; [`Reader::take`] takes the
//! page when it is there.

mod find;
mod indent;
mod wrap;

pub use wrap::{Row, columns, shown, visible, wrap};

use crate::model::fleet::SessionKey;
use crate::model::text::{PAGE_BYTES, Text, TextPage, TextRequest};
use std::ops::Range;

/// An item's text that is being read. Dropped with all it holds when the screen closes.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The session whose item it is.
    pub key: SessionKey,
    /// The page that was asked for last.
    wanted: TextRequest,
    /// What is to be seen once it is there; `None`: nothing is awaited.
    awaited: Option<Arrival>,
    /// The page at hand, without its text.
    page: Option<Text>,
    /// What stands where the text would: why it cannot be read.
    failed: Option<String>,
    /// The page's text, and, where it is JSON, the same indented.
    text: String,
    indented: Option<String>,
    form: Form,
    /// The text in rows, for a screen of so many columns.
    rows: Vec<Row>,
    columns: usize,
    /// The number of the last line that may come.
    lines: u64,
    /// Rows on screen.
    height: usize,
    /// The first row on screen.
    top: usize,
    search: Search,
}

/// What a text can be opened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `$PAGER`, or `less`.
    Pager,
    /// `$VISUAL`, or `$EDITOR`, or `vi`.
    Editor,
}

/// How JSON is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Indented.
    #[default]
    Indented,
    /// As it is.
    Exact,
}

/// What was looked for.
#[derive(Debug, Clone, Default)]
struct Search {
    needle: String,
    /// Where it stands in the text that is shown.
    hits: Vec<u32>,
    /// The one that was gone to.
    at: Option<usize>,
}

/// What to show of a page that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Top,
    End,
    /// The first hit: the search was begun before the page was there.
    Search,
    /// A hit; if there is none, the page behind or before it is next, back to where the search began.
    Hit(Way, u32),
}

/// Which way it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the end.
    On,
    /// To the beginning.
    Back,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'r> {
    /// What was looked for.
    pub needle: &'r str,
    /// Which of the page's hits is gone to, counted from 1; 0: none.
    pub at: usize,
    /// The hits on this page.
    pub hits: usize,
}

impl Reader {
    /// A reader of an item whose first page was asked for.
    pub fn open(key: SessionKey, wanted: TextRequest) -> Reader {
        Reader {
            key,
            wanted,
            awaited: Some(Arrival::Top),
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

    /// The item's file, place and hash, and the page that was asked for last.
    pub fn request(&self) -> TextRequest {
        self.wanted
    }

    /// Whether a page was asked for and is not there yet.
    pub fn is_waiting(&self) -> bool {
        self.awaited.is_some()
    }

    /// Why the text cannot be read, and what to do about it.
    pub fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// What is known of the whole; its own text is empty. `None`: nothing yet.
    pub fn page(&self) -> Option<&Text> {
        self.page.as_ref()
    }

    /// Which page is at hand, counted from 0.
    pub fn page_number(&self) -> u32 {
        match (&self.page, self.awaited) {
            (Some(page), None) => self.wanted.page.min(page.pages - 1),
            _ => self.wanted.page,
        }
    }

    /// The page's text exactly as the model got it, to copy.
    pub fn exact(&self) -> &str {
        &self.text
    }

    /// How JSON is shown; `None`: the text is none.
    pub fn form(&self) -> Option<Form> {
        self.indented.as_ref().map(|_| self.form)
    }

    /// The page's text as it is shown.
    pub fn text(&self) -> &str {
        match (&self.indented, self.form) {
            (Some(indented), Form::Indented) => indented,
            _ => &self.text,
        }
    }

    /// The rows on screen, from the top. Their lines are counted from the page's first line on.
    pub fn visible(&self) -> &[Row] {
        let end = (self.top + self.height).min(self.rows.len());
        self.rows.get(self.top..end).unwrap_or_default()
    }

    /// The first row on screen and all rows of the page.
    pub fn position(&self) -> (usize, usize) {
        (self.top, self.rows.len())
    }

    /// Where the hits in a row stand, and whether it is the one that was gone to.
    pub fn hits_in(&self, row: Row) -> impl Iterator<Item = (Range<usize>, Hit)> {
        let len = self.search.needle.len();
        let range = row.range();
        // A hit may begin in the row above.
        let from = self
            .search
            .hits
            .partition_point(|hit| *hit as usize + len <= range.start);
        let hits = self.search.hits[from..].iter().enumerate();
        let end = range.end;
        hits.map(move |(n, hit)| (from + n, *hit as usize))
            .take_while(move |(_, hit)| *hit < end)
            .map(move |(n, hit)| {
                let part = hit.max(range.start)..(hit + len).min(end);
                let gone_to = self.search.at == Some(n);
                (part, if gone_to { Hit::Current } else { Hit::Other })
            })
    }

    /// How far the search has come; `None`: nothing was looked for.
    pub fn found(&self) -> Option<Found<'_>> {
        (!self.search.needle.is_empty()).then_some(Found {
            needle: &self.search.needle,
            at: self.search.at.map_or(0, |at| at + 1),
            hits: self.search.hits.len(),
        })
    }

    /// The columns before the text, for the numbers of its lines.
    pub fn gutter(&self) -> usize {
        // Room for three digits at least: the text does not move to the right as it grows.
        self.lines.max(100).ilog10() as usize + 3
    }

    /// The number of the line that begins in a row, counted from 1.
    pub fn line_number(&self, row: Row) -> Option<u64> {
        let first = match (&self.page, self.form()) {
            (Some(page), None | Some(Form::Exact)) => page.line,
            _ => 1,
        };
        row.line.map(|line| first + u64::from(line))
    }

    /// How far the first row on screen is into the whole, in percent; 100 where the end is on screen.
    pub fn percent(&self) -> u64 {
        let Some(page) = &self.page else {
            return 0;
        };
        let last = self.wanted.page + 1 >= page.pages && self.top >= self.last_top();
        if last || self.text().is_empty() {
            return 100;
        }
        let from = self.rows.get(self.top).map_or(0, |row| u64::from(row.from));
        // An indented text is larger than what it stands for.
        let from = from * self.text.len() as u64 / self.text().len() as u64;
        let before = u64::from(self.wanted.page) * PAGE_BYTES;
        ((before + from) * 100 / page.bytes.max(1)).min(99)
    }

    /// Fits the text to so many columns and rows; the same text stays at the top.
    pub fn fit(&mut self, columns: usize, height: usize) {
        self.height = height.max(1);
        if self.columns != columns {
            self.columns = columns;
            self.wrap();
        }
        self.top = self.top.min(self.last_top());
    }

    /// Takes a page that was asked for. Returns the next one to ask for, where a search goes on.
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
                // Half a value cannot be indented.
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
        self.look();
        match arrival {
            Arrival::Top => None,
            Arrival::Search => self.next_from(0, Way::On),
            Arrival::End => {
                self.top = self.last_top();
                None
            }
            Arrival::Hit(way, begun) => {
                let edge = match way {
                    Way::On => 0,
                    Way::Back => self.search.hits.len().saturating_sub(1),
                };
                if edge < self.search.hits.len() {
                    self.go_to_hit(edge);
                    return None;
                }
                // All around: there is none.
                (self.wanted.page != begun).then(|| self.ask_beyond(way, begun))
            }
        }
    }

    /// Moves by rows; beyond the page's end to the next page. Returns the page to ask for.
    #[must_use]
    pub fn scroll(&mut self, rows: isize) -> Option<TextRequest> {
        let last = self.last_top();
        let (top, page, pages) = (self.top, self.wanted.page, self.pages());
        self.top = top.saturating_add_signed(rows).min(last);
        if self.is_waiting() {
            return None;
        }
        if rows > 0 && top == last && page + 1 < pages {
            return Some(self.ask(page + 1, Arrival::Top));
        }
        if rows < 0 && top == 0 && page > 0 {
            return Some(self.ask(page - 1, Arrival::End));
        }
        None
    }

    /// The rows of a screenful: one stays, to go on reading from.
    pub fn screenful(&self) -> isize {
        isize::try_from(self.height).unwrap_or(1).max(2) - 1
    }

    /// To the beginning. Returns the page to ask for.
    #[must_use]
    pub fn first(&mut self) -> Option<TextRequest> {
        self.top = 0;
        (self.wanted.page > 0).then(|| self.ask(0, Arrival::Top))
    }

    /// To the end. Returns the page to ask for.
    #[must_use]
    pub fn last(&mut self) -> Option<TextRequest> {
        self.top = self.last_top();
        let last = self.pages().saturating_sub(1);
        (self.wanted.page < last).then(|| self.ask(last, Arrival::End))
    }

    /// To the page behind this one, or the one before. Returns the page to ask for.
    #[must_use]
    pub fn turn(&mut self, way: Way) -> Option<TextRequest> {
        let page = match way {
            Way::On => self.wanted.page.checked_add(1)?,
            Way::Back => self.wanted.page.checked_sub(1)?,
        };
        (page < self.pages()).then(|| self.ask(page, Arrival::Top))
    }

    /// Looks for something from the first row on screen on; nothing: the search ends. Returns the page
    /// to ask for.
    #[must_use]
    pub fn search(&mut self, needle: &str) -> Option<TextRequest> {
        needle.clone_into(&mut self.search.needle);
        if self.is_waiting() && !needle.is_empty() {
            self.awaited = Some(Arrival::Search);
            return None;
        }
        self.look();
        let from = self.rows.get(self.top).map_or(0, |row| row.from);
        let next = self.search.hits.partition_point(|hit| *hit < from);
        self.next_from(next, Way::On)
    }

    /// To the next hit, or the one before; beyond the last it goes around. Returns the page to ask for.
    #[must_use]
    pub fn next_hit(&mut self, way: Way) -> Option<TextRequest> {
        let hits = self.search.hits.len();
        let next = match (self.search.at, way) {
            (Some(at), Way::On) => at + 1,
            (Some(at), Way::Back) => at.checked_sub(1).unwrap_or(hits),
            (None, Way::On) => 0,
            (None, Way::Back) => hits.saturating_sub(1),
        };
        self.next_from(next, way)
    }

    /// Shows JSON indented, or as it is.
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
        self.look();
    }

    /// To a hit of this page, or of the pages behind or before it.
    fn next_from(&mut self, next: usize, way: Way) -> Option<TextRequest> {
        if self.search.needle.is_empty() || self.is_waiting() {
            return None;
        }
        if next < self.search.hits.len() {
            self.go_to_hit(next);
            return None;
        }
        if self.pages() > 1 {
            return Some(self.ask_beyond(way, self.wanted.page));
        }
        let around = match way {
            Way::On => 0,
            Way::Back => self.search.hits.len().saturating_sub(1),
        };
        if around < self.search.hits.len() {
            self.go_to_hit(around);
        }
        None
    }

    fn ask_beyond(&mut self, way: Way, begun: u32) -> TextRequest {
        let (page, pages) = (self.wanted.page, self.pages().max(1));
        let page = match way {
            Way::On => (page + 1) % pages,
            Way::Back => page.checked_sub(1).unwrap_or(pages - 1),
        };
        self.ask(page, Arrival::Hit(way, begun))
    }

    fn ask(&mut self, page: u32, arrival: Arrival) -> TextRequest {
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

    /// Wraps the text anew; the text that stands at the top stays there.
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

    /// The row that holds a byte of the text.
    fn row_of(&self, at: u32) -> usize {
        self.rows
            .partition_point(|row| row.from <= at)
            .saturating_sub(1)
    }

    fn look(&mut self) {
        self.search.hits = find::find(self.text(), &self.search.needle);
        self.search.at = None;
    }

    /// Goes to a hit, with some rows before it where it is not on screen yet.
    fn go_to_hit(&mut self, hit: usize) {
        self.search.at = Some(hit);
        let row = self.row_of(self.search.hits[hit]);
        if !(self.top..self.top + self.height).contains(&row) {
            self.top = row.saturating_sub(self.height / 3);
        }
        self.top = self.top.min(self.last_top());
    }
}

/// Which hit of a search it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// The one that was gone to.
    Current,
    /// Another one.
    Other,
}

#[cfg(test)]
mod tests;
