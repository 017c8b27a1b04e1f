//! The sessions, which the threads that read logs change, and of which others take a snapshot.

use crate::labels::Naming;
use crate::own::{Latencies, OwnNumbers};
use crate::snapshot::{MOST_SESSIONS, Snapshot, listed, numbers};
use anyhow::Result;
use ingest::bytes::sync::lock;
use ingest::{Handle, IngestEvent};
use jiff::Timestamp;
use model::event::Conversation;
use model::lists::sessions::{SessionKey, Sessions, Update};
use model::session::Coverage;
use model::window::Rules;
use report::ReportContext;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The number of sessions of which numbers are taken at once. Between them, the reading threads go on.
const BATCH: usize = 32;

/// All sessions, as they are followed.
pub struct Followed {
    naming: Naming,
    now: fn() -> Timestamp,
    state: Mutex<State>,
    latency: Latencies,
    changed: Condvar,
    /// Wakes the server when there is something to print, or the end.
    noted: Notify,
}

struct State {
    sessions: Sessions,
    /// Problems that were not printed yet.
    problems: BTreeMap<PathBuf, String>,
    is_ended: bool,
}

impl Followed {
    /// Returns no sessions yet.
    pub fn new(rules: Arc<Rules>, naming: Naming, now: fn() -> Timestamp) -> Followed {
        Followed {
            naming,
            now,
            state: Mutex::new(State {
                sessions: Sessions::new(rules),
                problems: BTreeMap::new(),
                is_ended: false,
            }),
            latency: Latencies::default(),
            changed: Condvar::new(),
            noted: Notify::new(),
        }
    }

    /// Starts the threads that find, read and follow all logs. They end with what is returned.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn start(self: &Arc<Followed>, context: ReportContext) -> Result<Handle> {
        let followed = Arc::clone(self);
        Ok(context.follow(move |event| followed.take(event))?)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Ends the waiting of all that wait.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_all();
        self.noted.notify_one();
    }

    /// Returns true if the program is to end.
    pub fn is_ended(&self) -> bool {
        self.lock().is_ended
    }

    /// Takes in what was read.
    pub(crate) fn take(&self, event: IngestEvent) -> ControlFlow<()> {
        let mut state = self.lock();
        if state.is_ended {
            return ControlFlow::Break(());
        }
        match event {
            IngestEvent::Update(update) => {
                let appended = match &update {
                    Update::Appended { file, .. } => Some(*file),
                    _ => None,
                };
                state.sessions.apply(update);
                let written = appended.and_then(|file| {
                    let conversation = Conversation::Main;
                    let facts = state.sessions.facts(SessionKey { file, conversation })?;
                    facts.modified
                });
                if let Some(written) = written {
                    self.latency.observe(written, (self.now)());
                }
                self.changed.notify_all();
            }
            IngestEvent::Problem { path, what } => {
                state.problems.insert(path, what);
                self.noted.notify_one();
            }
            IngestEvent::Text(_) | IngestEvent::Banner(_) => {}
        }
        ControlFlow::Continue(())
    }

    /// Waits for something to print, or for the end.
    pub(crate) async fn noted(&self) {
        self.noted.notified().await;
    }

    /// Takes the problems that were not printed yet.
    pub(crate) fn problems(&self) -> Vec<(PathBuf, String)> {
        std::mem::take(&mut self.lock().problems)
            .into_iter()
            .collect()
    }

    /// Waits for so long, or for the end.
    pub(crate) fn wait(&self, time: Duration) {
        self.wait_for(time, |_| false);
    }

    /// Waits until all sessions that have series were read whole; at most for so long.
    pub(crate) fn wait_until_read(&self, most: Duration) {
        self.wait_for(most, |sessions| {
            let is_read = |key| {
                let gauge = sessions.gauge(key);
                gauge.is_none_or(|gauge| gauge.coverage == Coverage::Whole)
            };
            let all = || listed(sessions, (self.now)(), MOST_SESSIONS).0;
            sessions.caught_up || (sessions.initial_scan_done && all().into_iter().all(is_read))
        });
    }

    fn wait_for(&self, most: Duration, is_there: impl Fn(&Sessions) -> bool) {
        let until = Instant::now() + most;
        let mut state = self.lock();
        while !state.is_ended && !is_there(&state.sessions) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns true if all logs were read once, at least their ends.
    pub fn is_scanned(&self) -> bool {
        self.lock().sessions.initial_scan_done
    }

    /// Computes something of the sessions at this moment. They do not change meanwhile.
    pub(crate) fn with_sessions<R>(&self, of: impl FnOnce(&Sessions, Timestamp) -> R) -> R {
        of(&self.lock().sessions, (self.now)())
    }

    /// Returns the numbers of this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_of(MOST_SESSIONS)
    }

    /// Returns the numbers of this moment, of at most so many sessions.
    pub(crate) fn snapshot_of(&self, most: usize) -> Snapshot {
        let now = (self.now)();
        let (keys, own) = {
            let State { sessions, .. } = &*self.lock();
            let (keys, omitted) = listed(sessions, now, most);
            let own = OwnNumbers {
                version: env!("CARGO_PKG_VERSION"),
                sessions: sessions.len(),
                omitted,
                files: sessions.files(),
                is_scanned: sessions.initial_scan_done,
                read: files::bytes_read(),
                memory: files::memory_in_use(),
                latency: self.latency.clone(),
            };
            (keys, own)
        };
        let mut taken = HashSet::new();
        let mut all = Vec::with_capacity(keys.len());
        for batch in keys.chunks(BATCH) {
            {
                let State { sessions, .. } = &*self.lock();
                let numbers = batch
                    .iter()
                    .filter_map(|key| numbers(sessions, *key, &self.naming, now, &mut taken));
                all.extend(numbers);
            }
            // Who waits for the sessions is to get them now.
            thread::yield_now();
        }
        Snapshot { sessions: all, own }
    }
}

#[cfg(test)]
mod tests;
