//! The sessions, which the threads that read logs change, and of which others take a snapshot.

use crate::labels::Naming;
use crate::own::{OwnNumbers, latencies, observe};
use crate::snapshot::{MOST_SESSIONS, Snapshot, listed, numbers};
use anyhow::Result;
use ingest::sync::lock;
use ingest::{Handle, IngestEvent};
use jiff::Timestamp;
use model::event::Conversation;
use model::session::Coverage;
use model::sessions::{SessionKey, Sessions, Update};
use model::window::Rules;
use prometheus_client::metrics::histogram::Histogram;
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
    latency: Histogram,
    changed: Condvar,
    /// Wakes the server when there is a problem to print, or the end.
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
            latency: latencies(),
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
                    observe(&self.latency, written, (self.now)());
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

    /// Waits for a problem to print, or for the end.
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

    /// Returns the numbers of this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_of(MOST_SESSIONS)
    }

    /// Returns the numbers of this moment, of at most so many sessions.
    pub(crate) fn snapshot_of(&self, most: usize) -> Snapshot {
        let now = (self.now)();
        let (keys, omitted, own) = {
            let State { sessions, .. } = &*self.lock();
            let (keys, omitted) = listed(sessions, now, most);
            (keys, omitted, self.own(sessions))
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
        Snapshot {
            sessions: all,
            omitted,
            own,
        }
    }

    fn own(&self, sessions: &Sessions) -> OwnNumbers {
        OwnNumbers {
            version: env!("CARGO_PKG_VERSION"),
            sessions: sessions.len(),
            files: sessions.files(),
            is_scanned: sessions.initial_scan_done,
            read: files::bytes_read(),
            memory: files::memory_in_use(),
            latency: self.latency.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::value;
    use crate::salt::Salt;
    use crate::testing::{IDS, add, followed, now, samples, session, take};
    use crate::text::{Format, text};
    use model::sessions::FileId;
    use std::collections::BTreeMap;

    fn names(snapshot: &Snapshot) -> Vec<String> {
        let written = text_of(snapshot);
        let of = samples(&written).into_iter();
        let of = of.filter(|sample| sample.name == "ctxgauge_context_tokens");
        of.map(|sample| sample.labels["session"].clone()).collect()
    }

    fn text_of(snapshot: &Snapshot) -> String {
        let again = Snapshot {
            sessions: snapshot.sessions.clone(),
            omitted: snapshot.omitted,
            own: crate::testing::own(),
        };
        text(again, Format::Prometheus).unwrap()
    }

    /// The session, as if this many seconds had passed since its records.
    fn aged(id: &str, seconds: i64) -> model::session::Session {
        let mut session = session(id, "m");
        session.updated_at = Some(now() - jiff::SignedDuration::from_secs(seconds));
        session
    }

    #[test]
    fn a_sessions_series_leave_ten_minutes_after_its_last_record() {
        let of = vec![
            aged("old", 601),
            aged("last", 600),
            aged("new", 1),
            aged("early", -3_600),
        ];
        let snapshot = followed(of, IDS).snapshot();
        assert_eq!(names(&snapshot), ["early", "new", "last"]);
        assert_eq!(snapshot.omitted, 0);
        let ages: Vec<u64> = snapshot
            .sessions
            .iter()
            .map(|of| of.age.as_secs())
            .collect();
        assert_eq!(ages, [0, 1, 600]);
    }

    #[test]
    fn the_newest_have_series_and_the_others_are_counted() {
        let of = (0..5).map(|n| aged(&n.to_string(), 10 - n)).collect();
        let snapshot = followed(of, IDS).snapshot_of(2);
        assert_eq!(names(&snapshot), ["4", "3"]);
        assert_eq!((snapshot.omitted, snapshot.own.sessions), (3, 5));
    }

    #[test]
    fn no_two_sessions_have_the_same_name() {
        let long = "x".repeat(1_000);
        for naming in [
            IDS,
            Naming {
                salt: Some(Salt::random()),
                ..IDS
            },
        ] {
            let of = ["a", "a", "", "", "a\u{7}", &long, &long]
                .map(|id| aged(id, 1))
                .into();
            let mut all = names(&followed(of, naming).snapshot());
            all.sort();
            let count = all.len();
            all.dedup();
            assert_eq!((all.len(), count), (7, 7), "{all:?}");
        }
    }

    #[test]
    fn hashed_names_show_nothing_and_stay_the_same() {
        let salt = Salt::random();
        let naming = || Naming {
            salt: Some(salt.clone()),
            ..IDS
        };
        let of = |naming| followed(vec![session("5e55", "m")], naming).snapshot();
        let (one, again) = (of(naming()), of(naming()));
        assert_eq!(names(&one), names(&again));
        let text = text_of(&one);
        for secret in ["5e55", "mend", "shop", "/logs"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        assert_ne!(
            names(&of(Naming {
                salt: Some(Salt::random()),
                ..IDS
            })),
            names(&one)
        );
    }

    #[test]
    fn counts_are_there_once_the_log_was_read_whole() {
        let mut tail = session("5e55", "m");
        tail.coverage = Coverage::Tail;
        let followed = followed(vec![tail], IDS);
        let has = |name: &str| {
            let text = text_of(&followed.snapshot());
            samples(&text).iter().any(|sample| sample.name == name)
        };
        let counts = [
            "ctxgauge_requests_total",
            "ctxgauge_compactions_total",
            "ctxgauge_dropped_tokens_total",
            "ctxgauge_usage_tokens_total",
            "ctxgauge_unreadable_records_total",
            "ctxgauge_lost_fields_total",
        ];
        assert!(has("ctxgauge_context_tokens"));
        assert!(counts.iter().all(|name| !has(name)));
        add(&followed, 0, session("5e55", "m"));
        assert!(counts.iter().all(|name| has(name)));
    }

    #[test]
    fn roles_sum_to_the_context_and_causes_to_the_compactions() {
        let text = text_of(&followed(vec![session("5e55", "m")], IDS).snapshot());
        let mut sums = BTreeMap::<String, f64>::new();
        for sample in samples(&text) {
            *sums.entry(sample.name).or_default() += sample.value;
        }
        let of = |name: &str| sums[&format!("ctxgauge_{name}")];
        assert_eq!(of("role_tokens"), of("context_tokens"));
        assert_eq!(
            of("context_known_tokens") + of("context_estimated_tokens"),
            of("context_tokens")
        );
        assert_eq!(
            of("headroom_tokens"),
            of("trigger_tokens") - of("own_count_tokens")
        );
        assert_eq!(of("compactions_total"), 1.0);
        assert_eq!(of("requests_total"), 3.0);
    }

    #[test]
    fn what_waits_is_woken_by_the_end() {
        let followed = Arc::new(followed(Vec::new(), IDS));
        let waits = Arc::clone(&followed);
        let waiting = thread::spawn(move || {
            waits.wait_until_read(Duration::from_secs(600));
            waits.wait(Duration::from_secs(600));
        });
        followed.end();
        waiting.join().unwrap();
        let update = IngestEvent::Update(Update::CaughtUp);
        assert!(followed.take(update).is_break());
    }

    #[test]
    fn a_log_that_is_gone_has_no_series() {
        let followed = followed(vec![session("5e55", "m")], IDS);
        take(&followed, Update::Vanished(FileId(0)));
        assert_eq!(names(&followed.snapshot()), [""; 0]);
        assert_eq!(value(""), "");
    }
}
