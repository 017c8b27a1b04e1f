//! The compactions of sessions since the program began, each once, until a receiver has taken them.
//!
//! A compaction that a log had when it was seen first is not new. That is judged by the log's own times: the clock of the machine that
//! wrote it may be an hour before or behind the one here.

use crate::labels::{Labels, Naming};
use jiff::Timestamp;
use model::compaction::compactions;
use model::counts::cause_name;
use model::event::Key;
use model::session::PastReset;
use model::session::{Coverage, Session};
use model::sessions::{FileId, SessionKey, Sessions};
use model::{LeaveReason, Source};
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

/// The most compactions that wait for a receiver.
pub const MOST_WAITING: usize = 2_048;
/// The most that are sent at once.
pub const MOST_AT_ONCE: usize = 512;
/// The time for which the size after a compaction is waited for: the next request reports it.
const SETTLES_AFTER: Duration = Duration::from_secs(30);
/// The number of compactions that are known again, whichever log they are in.
const MOST_SEEN: usize = 20_000;

/// A compaction, as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// A name that no other compaction has, and that it has again where it is sent again.
    pub id: String,
    /// The labels of its session.
    pub labels: Labels,
    /// The time at which it took place, by the log.
    pub at: Option<Timestamp>,
    /// The time at which it was seen, by the clock here.
    pub seen: Timestamp,
    /// Its cause.
    pub cause: &'static str,
    /// The size before, and how it is known.
    pub before: (u64, Source),
    /// The size after.
    pub after: Option<(u64, Source)>,
    /// The tokens that left.
    pub dropped: u64,
    /// The model's window.
    pub window: u64,
}

/// The compactions of all sessions.
#[derive(Debug)]
pub struct Compactions {
    naming: Naming,
    begun: Timestamp,
    sessions: HashMap<SessionKey, KnownSession>,
    /// Those that were taken, by what two logs have in common of the same one.
    seen: HashSet<u64>,
    oldest: VecDeque<u64>,
    /// Those whose size after is not reported yet, until then.
    open: Vec<(SessionKey, Duration, Compacted)>,
    waiting: VecDeque<Compacted>,
    dropped: u64,
}

/// A session that was seen.
#[derive(Debug)]
struct KnownSession {
    /// The time up to which nothing is new.
    since: Timestamp,
    /// The number of compactions and clears that were looked at.
    resets: usize,
    /// The newest of those in a log that was read whole; `None`: it was not.
    newest: Option<u64>,
}

impl Compactions {
    /// Returns none yet.
    pub fn new(naming: Naming, begun: Timestamp) -> Compactions {
        Compactions {
            naming,
            begun,
            sessions: HashMap::new(),
            seen: HashSet::new(),
            oldest: VecDeque::new(),
            open: Vec::new(),
            waiting: VecDeque::new(),
            dropped: 0,
        }
    }

    /// Looks for new compactions in the sessions of a file. Returns true if there is one. `clock` is the time that the
    /// program runs.
    pub fn look(
        &mut self,
        sessions: &Sessions,
        file: FileId,
        now: Timestamp,
        clock: Duration,
    ) -> bool {
        let mut has_new = false;
        for key in sessions.of_file(file) {
            let Some(gauge) = sessions.gauge(key) else {
                continue;
            };
            if gauge.coverage == Coverage::Unread {
                continue;
            }
            let begun = self.begun;
            let known = self.sessions.entry(key).or_insert_with(|| KnownSession {
                since: match gauge.updated_at {
                    // Its clock is before the one here.
                    Some(newest) if newest > now => newest,
                    Some(newest) => newest.min(begun),
                    None => begun,
                },
                resets: 0,
                newest: None,
            });
            let Some(session) = sessions.get(key) else {
                continue;
            };
            let is_open = self.open.iter().any(|(open, ..)| *open == key);
            if known.resets == session.resets().len() && !is_open {
                note_newest(known, session);
                continue;
            }
            has_new |= self.look_at(sessions, key, session, now, clock);
        }
        has_new
    }

    fn look_at(
        &mut self,
        sessions: &Sessions,
        key: SessionKey,
        session: &Session,
        now: Timestamp,
        clock: Duration,
    ) -> bool {
        let Some(known) = self.sessions.get_mut(&key) else {
            return false;
        };
        let (since, newest) = (known.since, known.newest);
        known.resets = session.resets().len();
        note_newest(known, session);
        let is_new = |reset: &PastReset| match reset.at {
            Some(at) => at > since,
            None => newest.is_some_and(|newest| reset.place.id() > newest),
        };
        let resets = session.resets().iter().enumerate();
        let new =
            resets.filter(|(_, reset)| reset.gone == LeaveReason::Compaction && is_new(reset));
        let new: Vec<usize> = new.map(|(ix, _)| ix).collect();
        if new.is_empty() || sessions.is_remnant(key) {
            return false;
        }
        let Some(labels) = self.naming.labels(sessions, key, &mut HashSet::new()) else {
            return false;
        };
        let (mut effects, mut has_new) = (None, false);
        for ix in new {
            let reset = &session.resets()[ix];
            let id = id(session, ix, &labels);
            let open = self.open.iter().position(|(_, _, open)| open.id == id);
            if open.is_none() && !self.is_first(session, reset, &id) {
                continue;
            }
            let effects = effects.get_or_insert_with(|| compactions(session));
            let compacted = Compacted {
                id,
                labels: labels.clone(),
                at: reset.at,
                seen: open.map_or(now, |open| self.open[open].2.seen),
                cause: cause_name(&reset.cause),
                before: (reset.before, reset.before_source),
                after: effects[ix].after,
                dropped: reset.dropped.iter().copied().fold(0, u64::saturating_add),
                window: session.limits().window,
            };
            let until = match open {
                Some(open) => self.open.swap_remove(open).1,
                None => clock + SETTLES_AFTER,
            };
            if reset.after.is_some() {
                self.wait(compacted);
            } else {
                self.open.push((key, until, compacted));
            }
            has_new = true;
        }
        has_new
    }

    /// Notes a compaction. Returns false if it was taken before: from this log, or from one of which this is a copy.
    fn is_first(&mut self, session: &Session, reset: &PastReset, id: &str) -> bool {
        let of_copies = reset.at.map(|at| {
            let (at, before) = (at.as_nanosecond().to_string(), reset.before.to_string());
            Key::of_parts(&[session.agent, &at, &before]).get()
        });
        let keys = [Some(Key::of(id).get()), of_copies];
        let mut is_first = true;
        for key in keys.into_iter().flatten() {
            if self.seen.insert(key) {
                self.oldest.push_back(key);
            } else {
                is_first = false;
            }
        }
        while self.oldest.len() > MOST_SEEN {
            if let Some(oldest) = self.oldest.pop_front() {
                self.seen.remove(&oldest);
            }
        }
        is_first
    }

    fn wait(&mut self, compacted: Compacted) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(compacted);
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Has those wait for the receiver whose size after is not waited for any more; with `None`, all.
    pub fn settle(&mut self, clock: Option<Duration>) {
        let is_due = |until: Duration| clock.is_none_or(|clock| until <= clock);
        let all = std::mem::take(&mut self.open);
        let (due, open) = all.into_iter().partition(|(_, until, _)| is_due(*until));
        self.open = open;
        let due: Vec<_> = due;
        for (_, _, compacted) in due {
            self.wait(compacted);
        }
    }

    /// Returns the time at which the next one is to be [settled](Compactions::settle).
    pub fn settles_at(&self) -> Option<Duration> {
        self.open.iter().map(|(_, until, _)| *until).min()
    }

    /// Returns those that are sent next.
    pub fn next(&self) -> Vec<Compacted> {
        let next = self.waiting.iter().take(MOST_AT_ONCE);
        next.cloned().collect()
    }

    /// Removes so many of those that are sent next: a receiver has taken them, or will not.
    pub fn remove(&mut self, count: usize) {
        self.waiting.drain(..count.min(self.waiting.len()));
    }

    /// Returns the number of those that wait, and takes the number of those for which there was no room.
    pub fn counts(&mut self) -> (u64, u64) {
        let waiting = self.waiting.len() + self.open.len();
        (waiting as u64, std::mem::take(&mut self.dropped))
    }
}

fn note_newest(known: &mut KnownSession, session: &Session) {
    if session.coverage == Coverage::Whole {
        let ids = session.resets().iter().map(|reset| reset.place.id());
        known.newest = Some(ids.max().unwrap_or(0));
    }
}

/// Returns a name for a compaction that stays the same however much of its log was read.
fn id(session: &Session, ix: usize, labels: &Labels) -> String {
    let reset = &session.resets()[ix];
    let (when, nth) = match reset.at {
        Some(at) => {
            let earlier = session.resets()[..ix].iter();
            let same = earlier.rev().take_while(|earlier| earlier.at == Some(at));
            (at.as_nanosecond().to_string(), same.count())
        }
        None => (
            String::new(),
            usize::try_from(reset.place.id()).unwrap_or(usize::MAX),
        ),
    };
    let nth = nth.to_string();
    let parts = ["compaction", session.agent, labels.session(), &when, &nth];
    format!("{:016x}", Key::of_parts(&parts).get())
}

#[cfg(test)]
mod tests;
