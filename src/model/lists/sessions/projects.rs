//! The projects of all sessions.

use super::{FileId, SessionKey, Sessions, conversations};
use crate::lists::gauge::SessionGauge;
use crate::values::project::Projects;

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
    pub fn project_of<'s>(&self, gauge: &'s SessionGauge) -> &'s str {
        match gauge.host() {
            Some(host) => &host.project,
            None => self.projects.name(gauge.folder()),
        }
    }

    /// Notes the folders of a file's sessions, after it has changed.
    pub(super) fn note_projects(&mut self, file: FileId) {
        for (_, listed) in self.sessions.range_mut(conversations(file)) {
            if *listed.folder != *listed.folder() {
                let folder: Box<str> = listed.folder().into();
                self.projects.remove(&listed.folder);
                self.projects.add(&folder);
                listed.folder = folder;
            }
        }
    }
}
