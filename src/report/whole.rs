//! The sessions of logs that were read whole, as all reports show them.

use super::ReportContext;
use ingest::discover::settings::{SettingsReader, Whose};
use ingest::lanes::{LogSessions, main_of};
use ingest::log::LogFile;
use model::fleet::{Fleet, SessionKey, Update};
use std::sync::Arc;

/// Makes fleets of what was read.
pub(crate) struct Whole<'c> {
    context: &'c ReportContext,
    settings: SettingsReader,
}

impl<'c> Whole<'c> {
    pub(crate) fn new(context: &'c ReportContext) -> Whole<'c> {
        Whole {
            context,
            settings: SettingsReader::new(context.user.clone()),
        }
    }

    /// Makes a fleet of the sessions of one log, with the settings of their agent, and without their texts if that is
    /// asked for.
    pub(crate) fn fleet(&mut self, log: &LogFile, sessions: LogSessions) -> Fleet {
        let mut fleet = self.named(log, sessions);
        self.redact(log, &mut fleet);
        fleet
    }

    /// Makes a fleet with ids and paths, from which a session can be selected.
    pub(crate) fn named(&mut self, log: &LogFile, sessions: LogSessions) -> Fleet {
        let mut overrides = self.settings.of(
            log,
            &Whose::of(main_of(&sessions).map(|session| &session.meta)),
        );
        if let Some(redactor) = &self.context.redactor {
            redactor.overrides(&mut overrides);
        }
        let (file, facts) = (log.facts.file, log.facts.clone());
        let mut fleet = Fleet::new(Arc::clone(&self.context.rules));
        fleet.apply(Update::Found(Box::new(facts)));
        fleet.apply(Update::Settings { file, overrides });
        fleet.apply(Update::Rebuilt { file, sessions });
        fleet
    }

    /// Leaves texts out of such a fleet, if that is asked for.
    pub(crate) fn redact(&self, log: &LogFile, fleet: &mut Fleet) {
        let Some(redactor) = &self.context.redactor else {
            return;
        };
        let keys: Vec<SessionKey> = fleet.of_file(log.facts.file).collect();
        for key in keys {
            if let Some(session) = fleet.get_mut(key) {
                redactor.meta(&mut session.meta);
            }
        }
        let mut facts = log.facts.clone();
        redactor.facts(&mut facts);
        fleet.apply(Update::Found(Box::new(facts)));
    }
}
