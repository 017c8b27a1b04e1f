//! The sessions of logs that were read whole, as all reports show them.

use super::ReportContext;
use ingest::discover::settings::{SettingsReader, Whose};
use ingest::lanes::{Sessions, main_session};
use ingest::log::LogFile;
use model::fleet::{Fleet, Update};
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

    /// A fleet of the sessions of one log, with the settings of their agent.
    pub(crate) fn fleet(&mut self, log: &LogFile, sessions: Sessions) -> Fleet {
        let overrides = self.settings.of(log, &Whose::of(main_session(&sessions)));
        let file = log.facts.file;
        let mut fleet = Fleet::new(Arc::clone(&self.context.rules));
        fleet.apply(Update::Found(Box::new(log.facts.clone())));
        fleet.apply(Update::Settings { file, overrides });
        fleet.apply(Update::Rebuilt { file, sessions });
        fleet
    }
}
