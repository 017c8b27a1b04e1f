//! Computes the names of sessions.

use super::{SessionKey, Sessions};
use crate::event::{Conversation, Meta};
use crate::values::names::{at_most, is_chosen_id, random_part};
use crate::values::prompt::shows;
use std::path::Path;

/// The longest name, in characters; a longer one is cut.
const LONGEST_NAME: usize = 40;

impl Sessions {
    /// Returns a session's name: [its project](Sessions::project), else its title, else an id that somebody may have
    /// chosen, else the beginning of its first user message, else its id or its file's name. For a sub-agent its title,
    /// which is its type, comes first. It is text from a log: make it inert before showing it.
    pub fn name(&self, key: SessionKey) -> String {
        let Some(gauge) = self.gauge(key) else {
            return String::new();
        };
        let path = self.facts(key).map(|facts| facts.path.as_path());
        let (project, said) = (self.project_of(gauge), gauge.said.as_deref());
        named(key, project, &gauge.meta, path, said)
    }
}

/// Returns the name of a session by these facts alone, and by no text of its log unless they have its title.
pub fn name_of(key: SessionKey, project: &str, meta: &Meta, path: &Path) -> String {
    named(key, project, meta, Some(path), None)
}

fn named(
    key: SessionKey,
    project: &str,
    meta: &Meta,
    path: Option<&Path>,
    said: Option<&str>,
) -> String {
    let title = meta.title.as_deref().unwrap_or_default();
    let is_child = key.conversation != Conversation::Main || meta.parent.is_some();
    let project = Some(project).filter(|_| !is_child || title.is_empty());
    let shows = |text: &&str| shows(text);
    let id = meta.id.as_deref().unwrap_or_default();
    let random = random_part(id);
    let id = random.unwrap_or(id);
    let chosen = Some(id).filter(|id| is_chosen_id(id));
    let facts = [project, Some(title), chosen, said];
    if let Some(name) = facts.into_iter().flatten().find(shows) {
        return at_most(name, LONGEST_NAME);
    }
    if !id.is_empty() {
        return match random {
            Some(random) => random.chars().take(8).collect(),
            None => at_most(id, LONGEST_NAME),
        };
    }
    let stem = path.and_then(Path::file_stem);
    stem.map_or_else(
        || "unnamed".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}
