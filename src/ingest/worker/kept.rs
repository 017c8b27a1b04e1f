//! What the worker keeps from run to run.

use super::{Known, TURN_TIME, Worker};
use crate::cache::{self, LogKey, UnreadCursor};
use crate::discover::settings::Whose;
use crate::lanes::{Sessions, main_session};
use crate::source::Stamp;
use crate::sync::lock;
use model::event::{ByLength, Lane, Meta};
use model::fleet::{FileId, Update};
use model::session::Coverage;
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
        let sessions = stored.and_then(|kept| cache::restore(&kept, &known.log, &self.rules));
        if let Some(key) = &key {
            cache.forget(key);
        }
        let Some(sessions) = sessions else {
            return ControlFlow::Continue(false);
        };
        let main = main_session(&sessions);
        known.read = Coverage::Whole;
        known.cursor = Some(Box::new(UnreadCursor::new(&known.log)));
        known.whose = Whose::of(main);
        known.unreported = sessions.iter().any(|(_, session)| session.is_unreported());
        (known.trimmed, known.lacks_texts) = (true, true);
        self.send_settings(file)?;
        self.reporter.send(Update::Rebuilt { file, sessions })?;
        ControlFlow::Continue(true)
    }

    /// Has the files read whose texts are needed, if they came from the cache.
    pub(super) fn take_needs(&mut self) {
        let needs = |known: &mut Known| {
            if known.lacks_texts {
                (known.lacks_texts, known.is_urgent) = (false, true);
                known.read = Coverage::Unread;
            }
        };
        let needed = std::mem::take(&mut *lock(&self.wanted.needed));
        if !needed.is_empty() {
            // They come first.
            self.queue.clear();
        }
        for file in needed {
            self.known.get_mut(&file).into_iter().for_each(needs);
        }
    }

    /// Reads the ends of logs whose titles are needed, if they came from the cache, for one turn. Returns whether some
    /// are left.
    pub(super) fn read_titles(&mut self) -> ControlFlow<(), bool> {
        let until = Instant::now() + TURN_TIME;
        while Instant::now() < until {
            let mut untitled = lock(&self.wanted.untitled);
            let Some(file) = untitled.iter().next().copied() else {
                return ControlFlow::Continue(false);
            };
            untitled.remove(&file);
            drop(untitled);
            let known = self.known.get(&file).filter(|known| known.lacks_texts);
            let read = known.map(|known| {
                self.reporter.at(&known.log.facts.path);
                known.log.store.tail(&known.log, &ByLength, &self.rules)
            });
            // A log that cannot be read is a problem when somebody opens it.
            if let Some(Ok(reading)) = read {
                let titles = titles(reading.finish().0);
                self.reporter.send(Update::Titles { file, titles })?;
            }
        }
        ControlFlow::Continue(true)
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

/// The titles and first prompts of sessions.
fn titles(sessions: Sessions) -> Vec<(Lane, Meta)> {
    let facts = sessions.into_iter().map(|(lane, session)| {
        let meta = Meta {
            title: session.meta.title.clone(),
            prompt: session.meta.prompt.clone(),
            ..Meta::default()
        };
        (lane, meta)
    });
    facts.collect()
}
