//! The texts that name the rows of the list of sessions: cut so that they differ, with ids where they still read alike.

use super::columns::{self, Column};
use super::listed::RowNames;
use super::{App, ListLine};
use model::event::Conversation;
use model::sessions::{Row, SessionKey};
use render::{NONE, text};
use std::collections::{HashMap, HashSet};

/// The number of an id's characters that are shown: its last ones, since the ids of sessions that began together differ
/// there.
const ID_CHARS: usize = 6;

impl App {
    /// Computes the texts that name the rows on screen.
    pub(super) fn name_rows(&mut self) {
        let fitting = columns::fitting(self.ui.size.0);
        let columns = |name: &str| {
            let mut all = fitting.iter();
            let found = all.find(|(column, _)| column.name == name);
            found.map_or(0, |(_, width)| usize::from(*width))
        };
        let (project, title) = (columns("project"), columns("title"));
        let rows: Vec<&Row> = self.visible_lines().filter_map(ListLine::session).collect();
        let projects = rows.iter().map(|row| match title {
            0 => self.sessions.name(row.key),
            _ => self.place_of(row.key),
        });
        let titles = rows.iter().map(|row| self.shown_title(row.key));
        let projects = told_apart(&projects.collect::<Vec<_>>(), project);
        let titles = told_apart(&titles.collect::<Vec<_>>(), title);
        let names = projects.into_iter().zip(titles);
        let mut names: Vec<RowNames> = names
            .map(|(project, title)| RowNames { project, title })
            .collect();
        for group in alike(&self.other_words(&rows), &names) {
            let ids: HashMap<usize, String> = group
                .iter()
                .filter_map(|at| Some((*at, self.distinguishing_id(rows[*at].key)?)))
                .collect();
            // Several sessions of one log may have one id, which says nothing.
            if ids.values().collect::<HashSet<_>>().len() < 2 {
                continue;
            }
            for (at, id) in ids {
                let names = &mut names[at];
                let (text, columns) = match title {
                    0 => (&mut names.project, project),
                    _ => (&mut names.title, title),
                };
                *text = with_id(text, &id, columns);
            }
        }
        let keys: Vec<SessionKey> = rows.iter().map(|row| row.key).collect();
        self.shown.names = keys.into_iter().zip(names).collect();
    }

    /// Returns the texts that name a row on screen.
    pub(super) fn row_names(&self, key: SessionKey) -> RowNames {
        self.shown.names.get(&key).cloned().unwrap_or_default()
    }

    /// Returns the words of each row besides the texts that name it.
    fn other_words(&self, rows: &[&Row]) -> Vec<(String, u8, String)> {
        let has_model = Column::named("model").is_some_and(|model| model.width(self.ui.size.0) > 0);
        let words = rows.iter().map(|row| {
            let facts = self.sessions.facts(row.key);
            let label = facts.map_or("", |facts| facts.label);
            let model = self.sessions.gauge(row.key).and_then(|gauge| gauge.model());
            let model = model.filter(|_| has_model);
            (
                label.to_owned(),
                row.depth,
                model.unwrap_or_default().to_owned(),
            )
        });
        words.collect()
    }

    /// Returns the type of a sub-agent or the project of a session, where the title has a column of its own.
    fn place_of(&self, key: SessionKey) -> String {
        let Some(gauge) = self.sessions.gauge(key) else {
            return String::new();
        };
        let is_child = key.conversation != Conversation::Main || gauge.meta.parent.is_some();
        let kind = gauge.meta.title.as_deref().filter(|_| is_child);
        let texts = [kind, Some(self.sessions.project_of(gauge))];
        let mut shown = texts
            .into_iter()
            .flatten()
            .filter(|text| !text.trim().is_empty());
        shown.next().unwrap_or(NONE).to_owned()
    }

    /// Returns the title of a session or, if it has none and no project either, whatever names it.
    fn shown_title(&self, key: SessionKey) -> String {
        let place = self.place_of(key);
        let title = self.sessions.title(key);
        let title = title.filter(|title| **title != *place);
        let title = title.map(|title| text::one_line(&title).into_owned());
        match title {
            None if place == NONE => self.sessions.name(key),
            title => title.unwrap_or_default(),
        }
    }

    /// Returns the end of a session's id.
    fn distinguishing_id(&self, key: SessionKey) -> Option<String> {
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

/// Returns texts cut to so many columns: at their end, or in the middle if they would read alike, or are paths, of which
/// the beginning and the end say which one it is.
fn told_apart(texts: &[String], columns: usize) -> Vec<String> {
    let mut by_cut: HashMap<String, HashSet<&str>> = HashMap::new();
    for text in texts {
        by_cut
            .entry(text::cut(text, columns))
            .or_default()
            .insert(text);
    }
    let one = |text: &String| {
        let cut = text::cut(text, columns);
        let is_alike = by_cut.get(&cut).is_some_and(|texts| texts.len() > 1);
        let is_path = text.contains(['/', '\\']) && !text.contains(' ');
        if is_alike || is_path {
            text::middle(text, columns)
        } else {
            cut
        }
    };
    texts.iter().map(one).collect()
}

/// Returns the rows that read alike, in groups.
fn alike(words: &[(String, u8, String)], names: &[RowNames]) -> Vec<Vec<usize>> {
    let mut by_words: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, row) in words.iter().zip(names).enumerate() {
        by_words
            .entry((row.0, &row.1.project, &row.1.title))
            .or_default()
            .push(at);
    }
    by_words
        .into_values()
        .filter(|rows| rows.len() > 1)
        .collect()
}

/// Returns the text with an id after it.
fn with_id(text: &str, id: &str, columns: usize) -> String {
    let room = columns.saturating_sub(text::width(id) + 1);
    match text::cut(text, room) {
        text if text.is_empty() => id.to_owned(),
        text => format!("{text} {id}"),
    }
}
