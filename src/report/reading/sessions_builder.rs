//! The sessions of logs that were read whole, as all reports show them.

use crate::ReportContext;
use ingest::discover::settings::{SettingsOwner, SettingsReader};
use ingest::log::LogFile;
use ingest::log::conversations::{LogSessions, main_of};
use model::lists::sessions::{SessionKey, Sessions, Update};
use std::sync::Arc;

/// Makes sets of sessions of what was read.
pub(crate) struct SessionsBuilder<'c> {
    context: &'c ReportContext,
    settings: SettingsReader,
}

impl<'c> SessionsBuilder<'c> {
    pub(crate) fn new(context: &'c ReportContext) -> SessionsBuilder<'c> {
        SessionsBuilder {
            context,
            settings: SettingsReader::new(context.user.clone()),
        }
    }

    /// Makes a set of the sessions of one log, with the settings of their agent, and without their texts if that is
    /// asked for.
    pub(crate) fn sessions(&mut self, log: &LogFile, sessions: LogSessions) -> Sessions {
        let mut all = self.named(log, sessions);
        self.redact(log, &mut all);
        all
    }

    /// Makes a set of sessions with ids and paths, from which a session can be selected.
    pub(crate) fn named(&mut self, log: &LogFile, mut sessions: LogSessions) -> Sessions {
        let mut overrides = self.settings.of(
            log,
            &SettingsOwner::of(main_of(&sessions).map(|session| &session.meta)),
        );
        if let Some(redactor) = self.context.redaction.redactor() {
            redactor.overrides(&mut overrides);
        }
        self.context.retain_wanted(&mut sessions);
        let (file, facts) = (log.facts.file, log.facts.clone());
        let mut all = Sessions::new(Arc::clone(&self.context.rules));
        all.apply(Update::Found(Box::new(facts)));
        all.apply(Update::Settings { file, overrides });
        all.apply(Update::Rebuilt { file, sessions });
        all
    }

    /// Leaves texts out of such a set of sessions, if that is asked for.
    pub(crate) fn redact(&self, log: &LogFile, sessions: &mut Sessions) {
        let Some(redactor) = self.context.redaction.redactor() else {
            return;
        };
        let keys: Vec<SessionKey> = sessions.of_file(log.facts.file).collect();
        for key in keys {
            if let Some(session) = sessions.get_mut(key) {
                redactor.meta(&mut session.meta);
            }
        }
        let mut facts = log.facts.clone();
        redactor.facts(&mut facts);
        sessions.apply(Update::Found(Box::new(facts)));
    }
}
