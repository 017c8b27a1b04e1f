//! Rows of the list of sessions that read alike: their ids are shown too.

use super::columns::{self, Column};
use super::{App, ListLine};
use model::sessions::{Row, SessionKey};
use render::text;
use std::collections::{HashMap, HashSet};

/// The number of an id's characters that are shown: its last ones, since the ids of sessions that began together differ
/// there.
const ID_CHARS: usize = 6;

impl App {
    /// Finds the rows on screen that read alike.
    pub(super) fn find_alike(&mut self) {
        let screen = self.ui.size.0;
        let title = columns::fitting(screen)
            .into_iter()
            .find_map(|(column, width)| (column.name == "title").then_some(width));
        let mut by_words: HashMap<Vec<String>, Vec<SessionKey>> = HashMap::new();
        for row in self.visible_lines().filter_map(ListLine::session) {
            let words = self.words(row, title);
            by_words.entry(words).or_default().push(row.key);
        }
        let alike = by_words.into_values().filter(|keys| keys.len() > 1);
        self.shown.alike = alike.flatten().collect::<HashSet<_>>();
    }

    /// Returns the words of a row; `title` are the columns of the title, if it is shown.
    fn words(&self, row: &Row, title: Option<u16>) -> Vec<String> {
        let facts = self.sessions.facts(row.key);
        let label = facts.map_or("", |facts| facts.label);
        let mut words = vec![label.to_owned(), self.sessions.name(row.key)];
        if Column::named("model").is_some_and(|model| model.width(self.ui.size.0) > 0) {
            let model = self.sessions.gauge(row.key).and_then(|gauge| gauge.model());
            words.push(model.unwrap_or_default().to_owned());
        }
        if let Some(columns) = title {
            let title = self.sessions.title(row.key).unwrap_or_default();
            words.push(text::cut(&title, usize::from(columns)));
        }
        words
    }

    /// Returns the end of a session's id, if its row reads like another one on screen.
    pub(super) fn distinguishing_id(&self, key: SessionKey) -> Option<String> {
        if !self.shown.alike.contains(&key) {
            return None;
        }
        let id = self.sessions.gauge(key)?.meta.id.as_deref();
        let path = self
            .sessions
            .facts(key)
            .and_then(|facts| facts.path.file_stem());
        let id = id.or_else(|| path?.to_str()).filter(|id| !id.is_empty())?;
        let from = id.char_indices().rev().nth(ID_CHARS - 1);
        Some(id[from.map_or(0, |(at, _)| at)..].to_owned())
    }
}
