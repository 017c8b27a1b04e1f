//! Logs that are read whole while nobody waits for them: what is to be read, and what was.

use crate::bytes::source::Stamp;
use crate::index::{LogKey, value};
use crate::log::conversations::{LogSessions, LogSummaries, main_of, summaries_of};
use crate::log::{LogFile, Reading};
use crate::worker::state::{State, SummarisedLog};
use model::event::{Measure, Meta};
use model::lists::sessions::{FileId, Update};
use model::session::Coverage;
use model::window::Overrides;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A log to be read whole.
pub(crate) struct Job {
    pub(crate) log: LogFile,
    /// Its stamp when it was last looked at.
    pub(crate) stamp: Stamp,
    /// True if it is read with exact counts rather than estimates by length.
    pub(crate) exact: bool,
    /// True if only the data that a list shows is wanted, since nobody writes to it.
    pub(crate) summarise: bool,
    /// The settings of its agent.
    pub(crate) overrides: Arc<Overrides>,
    /// The key under which it is kept, if it is.
    pub(crate) key: Option<LogKey>,
    /// Is set when it is cancelled. No other job has the same one.
    pub(super) is_cancelled: Arc<AtomicBool>,
}

/// The result of a job.
pub(crate) struct JobResult {
    pub(crate) job: Job,
    pub(crate) read: io::Result<Option<ReadResult>>,
}

/// The result of reading a log: all of it, or enough of its end for a gauge.
pub(crate) struct ReadResult {
    pub(crate) shown: LogContent,
    pub(crate) state: State,
    /// The summaries that the index keeps of it, with their key.
    pub(crate) stored: Option<(LogKey, Vec<u8>)>,
    /// The reason for which its end could not be read.
    pub(crate) end: io::Result<()>,
}

/// The sessions of a log, as they are shown.
pub(crate) enum LogContent {
    /// The data that a list shows of them.
    Summaries(LogSummaries),
    /// All of it.
    Sessions(LogSessions),
}

impl ReadResult {
    /// Returns the result of a reading that is at its end, with these settings of the agent. Its sessions are
    /// summarised, or a value for the cache is made of it under a key, or both. Only a log that was read to its end
    /// from its beginning is kept.
    pub(crate) fn of(
        mut reading: Reading,
        log: &LogFile,
        measure: &dyn Measure,
        summarise: bool,
        key: Option<LogKey>,
        overrides: &Arc<Overrides>,
    ) -> ReadResult {
        let end = reading.settle(log, measure);
        let is_whole =
            reading.conversations.coverage == Coverage::Whole && log.store.is_stamped_whole();
        let (mut sessions, cursor) = reading.finish();
        let key = key.filter(|_| is_whole && end.is_ok() && !cursor.is_incomplete());
        let summaries = (key.is_some() || summarise).then(|| {
            for (_, session) in &mut sessions {
                session.set_overrides(Arc::clone(overrides));
            }
            summaries_of(&sessions)
        });
        let stored = key.and_then(|key| Some((key, value(summaries.as_deref()?))));
        let (shown, state) = match summaries.filter(|_| summarise) {
            Some(summaries) => {
                let quiet = SummarisedLog::instead_of(&*cursor, log, overrides.summary_hash());
                (LogContent::Summaries(summaries), State::Summarised(quiet))
            }
            None => (LogContent::Sessions(sessions), State::Followed(cursor)),
        };
        ReadResult {
            shown,
            state,
            stored,
            end,
        }
    }
}

impl LogContent {
    /// Returns the facts that the log names of its main session, and how much of it was read.
    pub(crate) fn main(&self) -> Option<(&Meta, Coverage)> {
        match self {
            LogContent::Summaries(all) => main_of(all).map(|main| (&main.meta, main.coverage)),
            LogContent::Sessions(all) => main_of(all).map(|main| (&main.meta, main.coverage)),
        }
    }

    /// Returns true if a session of the log has no usage report.
    pub(crate) fn is_unreported(&self) -> bool {
        match self {
            LogContent::Summaries(all) => all.iter().any(|(_, summary)| summary.is_unreported),
            LogContent::Sessions(all) => all.iter().any(|(_, session)| session.is_unreported()),
        }
    }

    /// Returns the update that shows it.
    pub(crate) fn update(self, file: FileId) -> Update {
        match self {
            LogContent::Summaries(summaries) => Update::Summaries { file, summaries },
            LogContent::Sessions(sessions) => Update::Rebuilt { file, sessions },
        }
    }
}
