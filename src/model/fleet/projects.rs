//! The projects of all sessions.

use super::{FileId, Fleet, SessionKey, lanes};
use crate::project::Projects;
use crate::session::Session;

impl Fleet {
    /// The projects of all sessions.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// What a session's project is called among those of all sessions; empty: it is not known.
    pub fn project(&self, key: SessionKey) -> &str {
        self.get(key).map_or("", |session| self.project_of(session))
    }

    /// The same for a session of the fleet.
    pub fn project_of<'s>(&self, session: &'s Session) -> &'s str {
        self.projects.name(session.folder())
    }

    /// Notes the folders of a file's sessions, after it has changed.
    pub(super) fn note_projects(&mut self, file: FileId) {
        for (_, kept) in self.sessions.range_mut(lanes(file)) {
            let folder = kept.session.folder();
            if *kept.folder != *folder {
                self.projects.remove(&kept.folder);
                self.projects.add(folder);
                kept.folder = folder.into();
            }
        }
    }
}
