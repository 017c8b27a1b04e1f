//! The texts that name the rows of the list of sessions: cut to their columns, with ids where they read alike.
//! All listed rows count, not only those on screen, so that no name changes while the list is scrolled or sorted.

use super::columns;
use super::listed::RowNames;
use super::tabs::row_id;
use super::{App, ListLine};
use model::event::Conversation;
use model::lists::sessions::SessionKey;
use render::{NONE, text};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The number of an id's characters that are shown: its last ones, since the ids of sessions that began together differ
/// there.
const ID_CHARS: usize = 6;
/// The columns from which on a name has its title after it.
const ROOMY_COLUMNS: usize = 30;
/// The words of a row besides the texts that name it: its agent, depth and model.
type OtherWords<'a> = (&'a str, u8, &'a str);

impl App {
    /// Computes the texts that name the listed rows, if the list or the width has changed.
    pub(super) fn name_rows(&mut self) {
        let columns = self.named_columns();
        if !std::mem::take(&mut self.stale.names) && self.shown.named_at == columns {
            return;
        }
        let texts = self.fingerprint();
        if self.shown.named_texts != texts || self.shown.named_at != columns {
            self.shown.names = self.names_of_rows(columns);
            self.shown.named_texts = texts;
            self.shown.named_at = columns;
        }
    }

    /// Returns a number that is another one where the names of the listed rows may be. It does not depend on their
    /// order: to sort ten thousand rows names none of them again, which takes twice as long as the rest.
    fn fingerprint(&self) -> u64 {
        let rows = self.lines().iter().filter_map(ListLine::session);
        let texts = rows.map(|row| {
            let gauge = self.sessions.gauge(row.key);
            row_id((
                (row.key, row.depth, self.place_of(row.key)),
                self.sessions.title(row.key),
                gauge.map(|gauge| (gauge.said.as_deref(), gauge.model())),
            ))
        });
        texts.fold(0, u64::wrapping_add)
    }

    /// Returns the columns of the project, the title and the model.
    fn named_columns(&self) -> [usize; 3] {
        let fitting = columns::fitting(self.ui.size.0, self.ui.sort);
        ["project", "title", "model"].map(|name| {
            let mut all = fitting.iter();
            let found = all.find(|(column, _)| column.name == name);
            found.map_or(0, |(_, width)| usize::from(*width))
        })
    }

    fn names_of_rows(&self, [project, title, model]: [usize; 3]) -> HashMap<SessionKey, RowNames> {
        let rows = self.lines().iter().filter_map(ListLine::session);
        let rows: Vec<(SessionKey, u8)> = rows.map(|row| (row.key, row.depth)).collect();
        let projects = rows.iter().map(|(key, _)| match title {
            0 => self.sessions.name(*key).into(),
            _ => Cow::Borrowed(self.place_of(*key)),
        });
        let projects = shortened(projects, project);
        let titles = match title {
            0 => vec![String::new(); rows.len()],
            _ => shortened(rows.iter().map(|(key, _)| self.shown_title(*key)), title),
        };
        let names = projects.into_iter().zip(titles);
        let mut names: Vec<RowNames> = names
            .map(|(project, title)| RowNames { project, title })
            .collect();
        for group in alike(&self.other_words(&rows, model), &names) {
            let ids: HashMap<usize, String> = group
                .iter()
                .filter_map(|at| Some((*at, self.distinguishing_id(rows[*at].0)?)))
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
        rows.into_iter().map(|(key, _)| key).zip(names).collect()
    }

    /// Returns the name of each of these sessions, with the title where there is room, and with the end of the id where
    /// names are alike.
    pub(crate) fn names_apart(
        &self,
        keys: impl Iterator<Item = SessionKey>,
        columns: usize,
    ) -> HashMap<SessionKey, String> {
        let keys: Vec<SessionKey> = keys.collect::<HashSet<_>>().into_iter().collect();
        let names = keys.iter().map(|key| {
            let (name, title) = (self.sessions.name(*key), self.shown_title(*key));
            match title {
                title if columns < ROOMY_COLUMNS || title.is_empty() => name,
                title => format!("{name} · {title}"),
            }
        });
        let mut names = shortened(names.map(Cow::Owned), columns);
        for at in groups(names.clone().iter(), |at| keys[at]).concat() {
            if let Some(id) = self.distinguishing_id(keys[at]) {
                names[at] = with_id(&names[at], &id, columns);
            }
        }
        keys.into_iter().zip(names).collect()
    }

    /// Returns the texts that name a listed row.
    pub(super) fn row_names(&self, key: SessionKey) -> RowNames {
        self.shown.names.get(&key).cloned().unwrap_or_default()
    }

    fn other_words(&self, rows: &[(SessionKey, u8)], model: usize) -> Vec<OtherWords<'_>> {
        let words = rows.iter().map(|(key, depth)| {
            let facts = self.sessions.facts(*key);
            let label = facts.map_or("", |facts| facts.label);
            let model = self.sessions.gauge(*key).filter(|_| model > 0);
            let model = model.and_then(|gauge| gauge.model());
            (label, *depth, model.unwrap_or_default())
        });
        words.collect()
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
    fn shown_title(&self, key: SessionKey) -> Cow<'_, str> {
        let place = self.place_of(key);
        let title = self.sessions.title(key).filter(|title| **title != *place);
        let kind = self.kind_of(key);
        match (kind.filter(|kind| title.as_deref() != Some(*kind)), title) {
            (Some(kind), Some(title)) => text::one_line(&format!("{kind}: {title}"))
                .into_owned()
                .into(),
            (None, None) if place == NONE => self.sessions.name(key).into(),
            (None, None) => "".into(),
            (None, Some(Cow::Borrowed(title))) | (Some(title), None) => text::one_line(title),
            (None, Some(Cow::Owned(title))) => text::one_line(&title).into_owned().into(),
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

/// Returns texts cut to so many columns: paths in the middle, since their beginning and their end say which one it is;
/// others at their end, since their beginning says what they are about.
fn shortened<'t>(texts: impl Iterator<Item = Cow<'t, str>>, columns: usize) -> Vec<String> {
    let is_path = |text: &str| text.contains(['/', '\\']) && !text.contains(' ');
    let shown = texts.map(|text| match inert(text) {
        text if is_path(&text) => text::middle(&text, columns),
        text => text::cut(&text, columns),
    });
    shown.collect()
}

fn inert(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => text::inert(text),
        Cow::Owned(text) => text::inert(&text).into_owned().into(),
    }
}

/// Returns the places of equal values that stand for different things, in groups.
fn groups<'v, V: Eq + Hash + 'v, T: PartialEq>(
    values: impl Iterator<Item = V> + Clone,
    of: impl Fn(usize) -> T,
) -> Vec<Vec<usize>> {
    let mut first: HashMap<V, (usize, bool)> = HashMap::new();
    for (at, value) in values.clone().enumerate() {
        let (first, differ) = first.entry(value).or_insert((at, false));
        *differ = *differ || of(*first) != of(at);
    }
    first.retain(|_, (_, differ)| *differ);
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    if !first.is_empty() {
        for (at, value) in values.enumerate() {
            if let Some((first, _)) = first.get(&value) {
                groups.entry(*first).or_default().push(at);
            }
        }
    }
    groups.into_values().collect()
}

/// Returns the rows that read alike, in groups.
fn alike(words: &[OtherWords<'_>], names: &[RowNames]) -> Vec<Vec<usize>> {
    let rows = words.iter().zip(names);
    groups(
        rows.map(|(words, names)| (words, &names.project, &names.title)),
        |at| at,
    )
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
