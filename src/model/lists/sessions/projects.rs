//! The projects of all sessions.

use super::{FileId, SessionKey, Sessions, contains, conversations};
use crate::event::Conversation;
use crate::lists::gauge::SessionGauge;
use crate::values::project::{Projects, is_named};

/// The most sessions that are followed from a sub-agent to the one that started it: some name each other as parents.
const MOST_PARENTS: usize = 8;

impl Sessions {
    /// Returns the projects of all sessions.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// Returns the name of a session's project among those of all sessions; empty: it is not known.
    pub fn project(&self, key: SessionKey) -> &str {
        self.gauge(key).map_or("", |gauge| self.project_of(gauge))
    }

    /// Returns the name of the project of this session among those of all sessions; empty: it is not known.
    pub fn project_of<'s>(&'s self, gauge: &'s SessionGauge) -> &'s str {
        match gauge.host() {
            Some(host) => &host.project,
            None => self.projects.name(self.folder_of(gauge)),
        }
    }

    /// Returns the folder of the project of this session: that of the session which started it, where that is known.
    /// Empty: not known, or on another machine.
    pub fn folder_of<'s>(&'s self, gauge: &'s SessionGauge) -> &'s str {
        let folders = self.ancestors(gauge).map(SessionGauge::folder);
        let known = folders.filter(|folder| !folder.is_empty());
        known.last().unwrap_or(gauge.folder())
    }

    /// Returns true if its project is one that the user named: see [`is_named`].
    pub fn is_in_project(&self, gauge: &SessionGauge, by: &str) -> bool {
        match gauge.host() {
            Some(host) => contains(&host.project, &by.to_lowercase()),
            None => is_named(self.folder_of(gauge), by),
        }
    }

    /// Returns true if a session is a part of the compaction of another one: its agent started it to write a summary.
    pub fn is_compaction_run(&self, gauge: &SessionGauge) -> bool {
        self.is_sub_agent(gauge) && gauge.limits().ends
    }

    /// Returns true if another session that is known has started this one.
    pub fn is_sub_agent(&self, gauge: &SessionGauge) -> bool {
        self.ancestors(gauge).next().is_some()
    }

    /// Returns the session that started this one, and so on.
    fn ancestors<'s>(
        &'s self,
        gauge: &'s SessionGauge,
    ) -> impl Iterator<Item = &'s SessionGauge> + use<'s> {
        let parent = |of: &&'s SessionGauge| {
            let id = of.meta.parent.as_deref()?;
            self.gauge(*self.by_id.get(id)?)
        };
        std::iter::successors(parent(&gauge), parent).take(MOST_PARENTS)
    }

    /// Notes the ids and the folders of a file's sessions, after it has changed.
    pub(super) fn note_projects(&mut self, file: FileId) {
        for (key, listed) in self.sessions.range_mut(conversations(file)) {
            let id = listed.meta().id.as_deref();
            let id = id.filter(|_| key.conversation == Conversation::Main);
            if listed.id.as_deref() != id {
                let id: Option<Box<str>> = id.map(Into::into);
                self.by_id.extend(id.clone().map(|id| (id, *key)));
                listed.id = id;
            }
            if *listed.folder != *listed.folder() {
                let folder: Box<str> = listed.folder().into();
                self.projects.remove(&listed.folder);
                self.projects.add(&folder);
                listed.folder = folder;
            }
        }
    }
}
