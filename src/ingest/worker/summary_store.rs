//! Keeps the worker's data from run to run.

use super::state::{State, SummarisedLog};
use super::whole::LogContent;
use super::{Worker, is_live};
use crate::bytes::source::Stamp;
use crate::index::{Index, IndexEntries, LogKey, Part, earlier, restore};
use model::lists::sessions::{FileId, Update};
use model::session::Coverage;
use model::window::Rules;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The least time between two writes of the index while the program runs.
const WRITE_INTERVAL: Duration = Duration::from_secs(30);
/// The number of waiting bytes at which they are written.
const WAITING_BYTES: usize = 8 << 20;

/// The summaries of logs that were read whole, from run to run.
pub(super) struct SummaryStore {
    index: Index,
    folder: PathBuf,
    /// Those of earlier runs, until all logs were looked up.
    found: IndexEntries,
    /// The summaries that are to be written.
    fresh: Vec<(LogKey, Vec<u8>)>,
    waiting: usize,
}

impl SummaryStore {
    pub(super) fn open(folder: &Path, rules: &Rules) -> SummaryStore {
        let index = Index::new(folder, rules);
        SummaryStore {
            found: index.all(Part::Summaries),
            folder: folder.to_owned(),
            index,
            fresh: Vec::new(),
            waiting: 0,
        }
    }

    /// Forgets the entries of earlier runs: all logs that were there have been looked up.
    pub(super) fn forget_found(&mut self) {
        self.found = IndexEntries::default();
    }

    /// Keeps this of a log. The key must be older than the reading.
    pub(super) fn put(&mut self, key: LogKey, value: Vec<u8>) {
        self.waiting += value.len();
        self.fresh.push((key, value));
    }

    fn is_full(&self) -> bool {
        self.waiting > WAITING_BYTES
    }

    /// Writes what is new. What is not written because another program holds the file is written later, unless it is much.
    fn save(&mut self, rules: &Rules) -> io::Result<()> {
        if self.index.put(Part::Summaries, &self.fresh)? || self.is_full() {
            self.fresh.clear();
            self.waiting = 0;
        }
        earlier::save(&self.folder, &rules.earlier)
    }
}

impl Worker {
    /// Shows the sessions of a file that has not changed since they were kept. Returns whether there are any.
    pub(super) fn restore(&mut self, file: FileId, stamp: Stamp) -> ControlFlow<(), bool> {
        let (Some(kept), Some(known)) = (&self.kept, self.tracked.get_mut(&file)) else {
            return ControlFlow::Continue(false);
        };
        let key = LogKey::of(&known.log, stamp);
        let stored = key.and_then(|key| kept.found.take(&key));
        let agent = known.log.format.id;
        let Some(summaries) = stored.and_then(|stored| restore(&stored, agent)) else {
            return ControlFlow::Continue(false);
        };
        let by = summaries.first().map_or(0, |(_, first)| first.settings);
        let shown = LogContent::Summaries(summaries);
        known.note(&shown);
        known.state = State::Summarised(SummarisedLog::of(&known.log, by));
        self.send_settings(file)?;
        // Other settings give another summary.
        let known = self.tracked.get(&file);
        let is_right = known.is_some_and(|known| known.overrides.summary_hash() == by);
        if is_right {
            self.reporter.send(shown.update(file))?;
        }
        ControlFlow::Continue(is_right)
    }

    /// Lets go of all but the summaries of logs that nobody writes to or looks at any more.
    pub(super) fn evict(&mut self) -> ControlFlow<()> {
        for (file, known) in &mut self.tracked {
            let State::Followed(cursor) = &known.state else {
                continue;
            };
            let is_wanted = self.viewed == Some(*file) || self.pool.reads(*file);
            if known.read != Coverage::Whole || is_wanted || is_live(known) {
                continue;
            }
            let by = known.overrides.summary_hash();
            let quiet = SummarisedLog::instead_of(&**cursor, &known.log, by);
            known.state = State::Summarised(quiet);
            known.counted = Coverage::Unread;
            self.reporter.send(Update::PutAway(*file))?;
        }
        ControlFlow::Continue(())
    }

    /// Writes what is to be kept, if there is enough to write.
    pub(super) fn save_kept(&mut self, now: Instant) -> ControlFlow<()> {
        let is_due = self.caught_up && self.pool.is_idle() && self.next_save <= now;
        let kept = self.kept.as_mut();
        let Some(kept) = kept.filter(|kept| is_due || kept.is_full()) else {
            return ControlFlow::Continue(());
        };
        self.next_save = now + WRITE_INTERVAL;
        let Err(e) = kept.save(&self.rules) else {
            return ControlFlow::Continue(());
        };
        let path = kept.index.path.clone();
        let what =
            format!("could not write the index ({e}): all logs are read again at the next start");
        self.report(path, what)
    }

    /// Writes what was not written yet; the program ends.
    pub(crate) fn end(&mut self) {
        if let Some(kept) = &mut self.kept {
            // Nobody listens any more.
            let _ = kept.save(&self.rules);
        }
    }
}
