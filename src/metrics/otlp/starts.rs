//! The times since which counters count, which a receiver needs to tell a new count from one that goes on.
//!
//! The counters of a session begin with its log, not with this program: it was read whole. So do their times, but never later
//! than the first time at which they were sent, since the log may be of a machine whose clock is before the one here.

use crate::catalogue::{FAMILIES, Kind, Number};
use crate::snapshot::SessionNumbers;
use jiff::Timestamp;
use std::collections::HashMap;

/// The beginnings of the counters of all sessions that were sent last.
#[derive(Debug, Default)]
pub struct Starts {
    last: Option<Timestamp>,
    known: HashMap<String, Start>,
}

#[derive(Debug)]
struct Start {
    at: Timestamp,
    /// The counters, in the order of their table.
    counters: Vec<u64>,
}

impl Starts {
    /// Returns the beginning of each session's counters. It stays the same as long as they do not shrink, which they do only
    /// if a log is written anew.
    pub fn of(&mut self, sessions: &[SessionNumbers], now: Timestamp) -> Vec<Timestamp> {
        let mut before = std::mem::take(&mut self.known);
        let mut starts = Vec::with_capacity(sessions.len());
        for session in sessions {
            let name = session.labels.session().to_owned();
            let counters = counters(session);
            let at = match before.remove(&name) {
                Some(Start {
                    counters: earlier, ..
                }) if shrinks(&earlier, &counters) => self.last.unwrap_or(now),
                Some(Start { at, .. }) => at,
                None => session.started.map_or(now, |started| started.min(now)),
            };
            starts.push(at);
            self.known.insert(name, Start { at, counters });
        }
        self.last = Some(now);
        starts
    }
}

fn counters(session: &SessionNumbers) -> Vec<u64> {
    let families = FAMILIES.iter();
    let counters = families.filter(|family| family.kind == Kind::Counter);
    let samples = counters.flat_map(|family| (family.samples)(session));
    samples
        .map(|(_, number)| match number {
            Number::Whole(value) => value,
            Number::Real(value) => value as u64,
        })
        .collect()
}

fn shrinks(earlier: &[u64], now: &[u64]) -> bool {
    // While a log is read anew there are none.
    earlier.len() == now.len() && earlier.iter().zip(now).any(|(earlier, now)| now < earlier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{IDS, followed, now, session};

    #[test]
    fn counters_begin_with_their_log_and_anew_when_they_shrink() {
        let of = |change: fn(&mut SessionNumbers)| {
            let mut sessions = followed(vec![session("5e55", "m")], IDS)
                .snapshot()
                .sessions;
            change(&mut sessions[0]);
            sessions
        };
        let later = |seconds| now() + jiff::SignedDuration::from_secs(seconds);
        let mut starts = Starts::default();
        let begun = of(|_| ())[0].started.unwrap();
        assert!(begun < now());
        assert_eq!(starts.of(&of(|_| ()), now()), [begun]);
        assert_eq!(starts.of(&of(|of| of.requests += 1), later(1)), [begun]);
        // A log that was written anew has fewer.
        assert_eq!(starts.of(&of(|of| of.requests = 0), later(2)), [later(1)]);
        assert_eq!(starts.of(&of(|_| ()), later(3)), [later(1)]);
        // It leaves, and comes back.
        assert_eq!(starts.of(&[], later(4)), []);
        assert_eq!(starts.of(&of(|_| ()), later(5)), [begun]);
    }

    #[test]
    fn a_log_of_the_future_begins_when_it_was_sent_first() {
        let mut sessions = followed(vec![session("5e55", "m")], IDS)
            .snapshot()
            .sessions;
        sessions[0].started = Some(now() + jiff::SignedDuration::from_hours(1));
        let mut starts = Starts::default();
        assert_eq!(starts.of(&sessions, now()), [now()]);
        let later = now() + jiff::SignedDuration::from_secs(60);
        assert_eq!(starts.of(&sessions, later), [now()]);
    }
}
