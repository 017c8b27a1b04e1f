//! Keeps the notes of hooks about a session, in the folder `hooks` of the state folder.

use super::store::Entry;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The most compactions that are kept of a session; beyond, the oldest go.
pub const MOST_COMPACTIONS: usize = 64;
/// The largest difference between the clocks of a log and of this program.
pub const CLOCKS: SignedDuration = SignedDuration::from_secs(1);

/// The notes of hooks about a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookNotes {
    /// The agent's id.
    pub agent: String,
    /// The session's id.
    pub session: String,
    /// The path at which the log of the session was found.
    pub log: Option<PathBuf>,
    /// The thresholds that the user was warned of, as shares of the trigger, until the context is smaller again.
    pub warned: Vec<f64>,
    /// The thresholds of which the model was warned, where it is warned at another moment than the user.
    pub told: Vec<f64>,
    /// The compactions that hooks were run for, oldest first: at most [`MOST_COMPACTIONS`].
    pub compactions: Vec<HookCompaction>,
    /// The number of events that were missed because the hook took too long, since the last one at which that could be
    /// reported.
    pub missed: u64,
}

/// A compaction that hooks were run for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookCompaction {
    /// The time at which the hook before it ran.
    pub at: Timestamp,
    /// The cause of the compaction, in the agent's word: `auto` or `manual`.
    pub cause: String,
    /// The context before it.
    pub before: Option<HookSize>,
    /// The time at which the hook after it ran; `None`: the agent has no such hook, or it did not compact after all.
    pub ended: Option<Timestamp>,
    /// The context after it.
    pub after: Option<HookSize>,
}

/// The size of a context when a hook ran, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookSize {
    /// All of it.
    pub used: u64,
    /// The part of it that was reported.
    pub known: u64,
    /// The size that the agent compares with its trigger, in tokens.
    pub own_count: Option<u64>,
    /// True if the agent passed it to the hook; otherwise it was computed from the log.
    pub is_agents: bool,
}

impl Entry for HookNotes {
    fn whose(&self) -> (&str, &str) {
        (&self.agent, &self.session)
    }
}

impl HookNotes {
    /// Returns empty notes: nothing is noted of this session yet.
    pub fn new(agent: &str, session: &str) -> HookNotes {
        HookNotes {
            agent: agent.to_owned(),
            session: session.to_owned(),
            ..HookNotes::default()
        }
    }

    /// Notes that the agent is about to compact.
    pub fn begin(&mut self, compaction: HookCompaction) {
        self.compactions.push(compaction);
        let over = self.compactions.len().saturating_sub(MOST_COMPACTIONS);
        self.compactions.drain(..over);
    }

    /// Finds the one that the newest compaction of the log, at this time, was noted before, and drops the others that
    /// have not ended: they did not take place. Gemini CLI runs its hook before every request that might compact. The
    /// last one is left alone if it has just begun.
    pub fn settle(&mut self, newest: Option<Timestamp>, has_just_begun: bool) {
        let last = usize::from(has_just_begun);
        let end = self.compactions.len().saturating_sub(last);
        let is_new = |at: &Timestamp| self.compactions.iter().all(|it| it.ended < Some(*at));
        let newest = newest.filter(is_new);
        let open = self.compactions[..end].iter_mut();
        let mut open: Vec<_> = open.filter(|it| it.ended.is_none()).collect();
        if let Some(at) = newest {
            let owner = open.iter().rposition(|it| it.at <= at);
            // The clocks may differ.
            let first = || open.iter().position(|it| it.at - CLOCKS <= at);
            if let Some(owner) = owner.or_else(first) {
                open[owner].ended = Some(at);
            }
        }
        let mut ix = 0;
        self.compactions.retain(|it| {
            ix += 1;
            it.ended.is_some() || ix > end
        });
    }

    /// Notes that the agent has compacted.
    pub fn end(&mut self, at: Timestamp, cause: &str) {
        let open = self.compactions.last_mut();
        match open.filter(|last| last.ended.is_none()) {
            Some(last) => last.ended = Some(at),
            // The hook before it was not run.
            None => self.begin(HookCompaction {
                at,
                cause: cause.to_owned(),
                before: None,
                ended: Some(at),
                after: None,
            }),
        }
    }
}

/// Returns the folder of the notes, in the program's own state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("hooks")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn compaction(second: i64) -> HookCompaction {
        HookCompaction {
            at: at(second),
            cause: "auto".to_owned(),
            before: None,
            ended: None,
            after: None,
        }
    }

    #[test]
    fn a_compaction_that_did_not_take_place_is_dropped() {
        let mut noted = HookNotes::new("gemini-cli", "s");
        for second in 0..10 {
            noted.begin(compaction(second));
            noted.settle(None, true);
        }
        assert_eq!(noted.compactions, [compaction(9)]);
        noted.settle(None, false);
        assert_eq!(noted.compactions, []);
        noted.settle(Some(at(1)), true);
    }

    #[test]
    fn a_compaction_is_that_of_the_last_hook_before_it() {
        let mut noted = HookNotes::new("gemini-cli", "s");
        noted.begin(compaction(10));
        // It compacts at 20, and its hook runs before four more requests.
        for second in [20, 21, 22, 23, 24] {
            noted.begin(compaction(second));
            noted.settle((second > 20).then(|| at(20)), true);
        }
        let ends: Vec<_> = noted
            .compactions
            .iter()
            .map(|it| (it.at, it.ended))
            .collect();
        assert_eq!(ends, [(at(20), Some(at(20))), (at(24), None)]);
        noted.settle(Some(at(20)), false);
        assert_eq!(noted.compactions.len(), 1, "it is the same one");
        noted.begin(compaction(30));
        noted.settle(Some(at(29)), false);
        assert_eq!(noted.compactions[1].ended, Some(at(29)), "clocks differ");
    }

    #[test]
    fn an_end_without_a_beginning_is_a_compaction() {
        let mut noted = HookNotes::new("codex", "s");
        noted.end(at(5), "manual");
        let all: Vec<_> = noted
            .compactions
            .iter()
            .map(|it| (&*it.cause, it.at))
            .collect();
        assert_eq!(all, [("manual", at(5))]);
    }

    #[test]
    fn the_oldest_go() {
        let mut noted = HookNotes::new("codex", "s");
        for second in 0..200 {
            noted.begin(compaction(second));
        }
        assert_eq!(noted.compactions.len(), MOST_COMPACTIONS);
        assert_eq!(noted.compactions[MOST_COMPACTIONS - 1].at, at(199));
        let text = serde_json::to_string(&noted).unwrap();
        assert!(text.len() < 16 << 10, "{}", text.len());
    }
}
