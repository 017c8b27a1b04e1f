//! Restricts the commands on many sessions to one.

use crate::ReportContext;
use crate::session::SessionRequest;
use crate::session::find::find;
use anyhow::Result;
use ingest::log::conversations::LogSessions;
use model::event::Conversation;
use model::lists::sessions::FileId;

/// The only session that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnlySession {
    /// Its log.
    file: FileId,
    /// Its id, where its log has several sessions; `None`: it is the main session of its log.
    id: Option<String>,
}

impl OnlySession {
    /// Returns true if it is in this file.
    pub(crate) fn is_of(&self, file: FileId) -> bool {
        file == self.file
    }

    /// Returns true if it is this session of its log.
    pub(crate) fn is(&self, conversation: Conversation, id: Option<&str>) -> bool {
        match &self.id {
            Some(own) => id == Some(own),
            None => conversation == Conversation::Main,
        }
    }
}

impl ReportContext {
    /// Restricts all that is read in this context to the session with this id, name or title.
    ///
    /// # Errors
    ///
    /// If there is no such session, or more than one.
    pub fn select_only(&mut self, wanted: &str) -> Result<()> {
        let (log, id) = find(self, &SessionRequest::named(wanted))?;
        if !log.is_one_of_several() && log.system.has(&log.facts.path) {
            // The other logs need not be looked for.
            self.roots = vec![self.given(log.facts.path.to_path_buf())];
        }
        self.only = Some(OnlySession {
            file: log.facts.file,
            id,
        });
        Ok(())
    }

    /// Leaves out the sessions of a log that are not wanted.
    pub(crate) fn retain_wanted(&self, sessions: &mut LogSessions) {
        if let Some(only) = &self.only {
            sessions.retain(|(conversation, session)| {
                only.is(*conversation, session.meta.id.as_deref())
            });
        }
    }
}
