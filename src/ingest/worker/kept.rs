//! What the worker keeps from run to run.

use super::Worker;
use super::whole::Shown;
use crate::cache::{self, LogKey, UnreadCursor};
use crate::source::Stamp;
use model::fleet::FileId;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The least time between two writes of the cache while the program runs.
const WRITE_INTERVAL: Duration = Duration::from_secs(30);

impl Worker {
    /// Shows the sessions of a file that has not changed since they were kept. Returns whether there are any.
    pub(super) fn restore(&mut self, file: FileId, stamp: Stamp) -> ControlFlow<(), bool> {
        let (Some(cache), Some(known)) = (&mut self.cache, self.known.get_mut(&file)) else {
            return ControlFlow::Continue(false);
        };
        let key = LogKey::of(&known.log, stamp);
        let stored = key.as_ref().and_then(|key| cache.get(key));
        let agent = known.log.format.id;
        let summaries = stored.and_then(|kept| cache::restore(kept.shown, agent));
        if let Some(key) = &key {
            cache.forget(key);
        }
        let Some(summaries) = summaries else {
            return ControlFlow::Continue(false);
        };
        let shown = Shown::Summaries(summaries);
        known.note(&shown);
        known.cursor = Some(Box::new(UnreadCursor::new(&known.log)));
        self.send_settings(file)?;
        // Other settings give another summary.
        let is_right = self.known.get(&file).is_some_and(|known| {
            let by = known.overrides.fold_hash();
            known.summarised == Some(by)
        });
        if is_right {
            self.reporter.send(shown.update(file))?;
        }
        ControlFlow::Continue(is_right)
    }

    /// Writes the cache, if there is enough to write.
    pub(super) fn save_cache(&mut self, now: Instant) -> ControlFlow<()> {
        let is_due = self.caught_up && self.pool.is_idle() && self.next_save <= now;
        match self
            .cache
            .as_mut()
            .filter(|cache| is_due || cache.is_full())
        {
            None => ControlFlow::Continue(()),
            Some(cache) => {
                self.next_save = now + WRITE_INTERVAL;
                let saved = cache.save();
                match saved.and_then(|()| cache.save_earlier(&self.rules)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(e) => {
                        let what = format!(
                            "could not write the cache ({e}): all logs are read again at the next start"
                        );
                        let path = cache.path().to_path_buf();
                        self.report(path, what)
                    }
                }
            }
        }
    }

    /// Writes what was not written yet; the program ends.
    pub(crate) fn end(&mut self) {
        if let Some(cache) = &mut self.cache {
            // Nobody listens any more.
            let _ = cache.save();
            let _ = cache.save_earlier(&self.rules);
        }
    }
}
