//! The texts that name sessions in a list: cut to their columns, with ids where rows on screen have the same.

use super::columns;
use super::listed::RowNames;
use super::{App, ListLine};
use model::event::Conversation;
use model::lists::sessions::SessionKey;
use render::{NONE, text};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The columns of an id: its end, since the ids of sessions that began together differ there.
const ID_COLUMNS: usize = 6;
/// The columns from which on a name has its title after it.
const ROOMY_COLUMNS: usize = 30;

impl App {
    /// Computes the texts that name the rows on screen.
    pub(super) fn name_rows(&mut self) {
        let fitting = columns::fitting(self.ui.size.0, self.ui.sort);
        let [project, title] = ["project", "title"].map(|name| {
            let mut all = fitting.iter();
            let found = all.find(|(column, _)| column.name == name);
            found.map_or(0, |(_, width)| usize::from(*width))
        });
        let rows = self.visible_lines().filter_map(ListLine::session);
        let names = |key| match title {
            0 => RowNames {
                project: text::shortened(&self.sessions.name(key), project),
                title: String::new(),
            },
            _ => RowNames {
                project: text::shortened(self.place_of(key), project),
                title: text::cut(&self.shown_title(key), title),
            },
        };
        let add_id = |names: &mut RowNames, id: &str| match title {
            0 => names.project = with_id(&names.project, id, project),
            _ => names.title = with_id(&names.title, id, title),
        };
        self.shown.names = self.apart(rows.map(|row| row.key), names, add_id);
    }

    /// Returns the name of each of these sessions, with the title where there is room.
    pub(crate) fn names_apart(
        &self,
        keys: impl Iterator<Item = SessionKey>,
        columns: usize,
    ) -> HashMap<SessionKey, String> {
        let name = |key| match (self.sessions.name(key), self.shown_title(key)) {
            (name, title) if columns < ROOMY_COLUMNS || title.is_empty() => {
                text::shortened(&name, columns)
            }
            (name, title) => text::shortened(&format!("{name} · {title}"), columns),
        };
        self.apart(keys, name, |name, id| *name = with_id(name, id, columns))
    }

    /// Returns the names of sessions. Those that are equal get the ends of the sessions' ids, unless these are equal too.
    fn apart<N: Clone + Eq + Hash>(
        &self,
        keys: impl Iterator<Item = SessionKey>,
        name: impl Fn(SessionKey) -> N,
        add_id: impl Fn(&mut N, &str),
    ) -> HashMap<SessionKey, N> {
        let mut names: HashMap<SessionKey, N> = keys.map(|key| (key, name(key))).collect();
        let mut ids: HashMap<N, HashSet<String>> = HashMap::new();
        for (key, name) in &names {
            let ids = ids.entry(name.clone()).or_default();
            ids.extend(self.distinguishing_id(*key));
        }
        for (key, name) in &mut names {
            let are_several = ids.get(name).is_some_and(|ids| ids.len() > 1);
            if let Some(id) = self.distinguishing_id(*key).filter(|_| are_several) {
                add_id(name, &id);
            }
        }
        names
    }

    /// Returns the texts that name a row on screen.
    pub(super) fn row_names(&self, key: SessionKey) -> RowNames {
        self.shown.names.get(&key).cloned().unwrap_or_default()
    }

    /// Returns the project of a session, where the title has a column of its own.
    fn place_of(&self, key: SessionKey) -> &str {
        match self.sessions.project(key) {
            project if project.trim().is_empty() => NONE,
            project => project,
        }
    }

    /// Returns the type of a sub-agent, which is its title in the log.
    fn kind_of(&self, key: SessionKey) -> Option<&str> {
        let gauge = self.sessions.gauge(key)?;
        let is_child = key.conversation != Conversation::Main || gauge.meta.parent.is_some();
        let kind = gauge.meta.title.as_deref().filter(|_| is_child);
        kind.filter(|kind| !kind.trim().is_empty())
    }

    /// Returns the title of a session, for a sub-agent after its type; or, if it has none and no project either, whatever
    /// names it.
    fn shown_title(&self, key: SessionKey) -> String {
        let place = self.place_of(key);
        let title = self.sessions.title(key).filter(|title| **title != *place);
        let kind = self.kind_of(key);
        let kind = kind.filter(|kind| title.as_deref() != Some(*kind));
        let shown = match (kind, title) {
            (Some(kind), Some(title)) => format!("{kind}: {title}").into(),
            (None, Some(title)) => title,
            (None, None) if place == NONE => self.sessions.name(key).into(),
            (kind, None) => Cow::Borrowed(kind.unwrap_or_default()),
        };
        text::one_line(&shown).into_owned()
    }

    /// Returns the end of a session's id.
    fn distinguishing_id(&self, key: SessionKey) -> Option<String> {
        let id = self.sessions.gauge(key)?.meta.id.as_deref();
        let path = self
            .sessions
            .facts(key)
            .and_then(|facts| facts.path.file_stem());
        let id = id.or_else(|| path?.to_str()).filter(|id| !id.is_empty())?;
        Some(text::tail(&text::inert(id), ID_COLUMNS).to_owned())
    }
}

/// Returns the text with an id after it.
fn with_id(text: &str, id: &str, columns: usize) -> String {
    let room = columns.saturating_sub(text::width(id) + 1);
    match text::cut(text, room) {
        text if text.is_empty() => id.to_owned(),
        text => format!("{text} {id}"),
    }
}

#[cfg(test)]
mod tests;
