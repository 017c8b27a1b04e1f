//! What hooks noted of a session: kept in the folder `hooks` of the state folder.

use super::store::Entry;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The most compactions that are kept of a session; beyond, the oldest go.
pub const MOST_COMPACTIONS: usize = 64;

/// What hooks noted of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    /// The agent's id.
    pub agent: String,
    /// The session's id.
    pub session: String,
    /// Where the log of the session was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The thresholds that the user was warned of, as shares of the trigger, until the context is smaller again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warned: Vec<f64>,
    /// The same for the model, where it is told at another moment than the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<f64>,
    /// The compactions that hooks were run for, oldest first: at most [`MOST_COMPACTIONS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compactions: Vec<NotedCompaction>,
    /// How many events were missed since the last one at which that could be said, since the hook took too long.
    #[serde(default, skip_serializing_if = "is_none")]
    pub missed: u64,
}

fn is_none(missed: &u64) -> bool {
    *missed == 0
}

/// A compaction that hooks were run for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedCompaction {
    /// When the hook before it ran.
    pub at: Timestamp,
    /// What caused it, in the agent's word: `auto` or `manual`.
    pub cause: String,
    /// The context before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<NotedSize>,
    /// When the hook after it ran; `None`: the agent has no such hook, or it did not compact after all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The context after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NotedSize>,
}

/// The size of a context when a hook ran, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedSize {
    /// All of it.
    pub used: u64,
    /// The part of it that was reported.
    pub known: u64,
    /// What the agent compares with its trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_count: Option<u64>,
    /// Whether the agent passed it to the hook; otherwise it was computed from the log.
    #[serde(default)]
    pub is_agents: bool,
}

impl Entry for Noted {
    fn agent(&self) -> &str {
        &self.agent
    }

    fn session(&self) -> &str {
        &self.session
    }
}

impl Noted {
    /// Nothing is noted of this session yet.
    pub fn new(agent: &str, session: &str) -> Noted {
        Noted {
            agent: agent.to_owned(),
            session: session.to_owned(),
            ..Noted::default()
        }
    }

    /// The agent is about to compact.
    pub fn begin(&mut self, compaction: NotedCompaction) {
        self.compactions.push(compaction);
        let over = self.compactions.len().saturating_sub(MOST_COMPACTIONS);
        self.compactions.drain(..over);
    }

    /// Drops the one before the last if it did not take place: Gemini CLI runs its hook before every request that might
    /// compact, so that most of them do not.
    pub fn drop_undone(&mut self, is_done: impl Fn(&NotedCompaction) -> bool) {
        if let Some(before) = self.compactions.len().checked_sub(2) {
            let it = &self.compactions[before];
            if it.ended.is_none() && !is_done(it) {
                self.compactions.remove(before);
            }
        }
    }

    /// The agent has compacted.
    pub fn end(&mut self, at: Timestamp, cause: &str, after: Option<NotedSize>) {
        let open = self.compactions.last_mut();
        match open.filter(|last| last.ended.is_none()) {
            Some(last) => (last.ended, last.after) = (Some(at), after),
            // The hook before it was not run.
            None => {
                let compaction = NotedCompaction {
                    at,
                    cause: cause.to_owned(),
                    before: None,
                    ended: Some(at),
                    after,
                };
                self.begin(compaction);
            }
        }
    }
}

/// The folder of what is noted, in the program's own state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("hooks")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn compaction(second: i64) -> NotedCompaction {
        NotedCompaction {
            at: at(second),
            cause: "auto".to_owned(),
            before: None,
            ended: None,
            after: None,
        }
    }

    #[test]
    fn a_compaction_that_did_not_take_place_is_dropped() {
        let mut noted = Noted::new("gemini-cli", "s");
        for second in 0..10 {
            noted.begin(compaction(second));
            noted.drop_undone(|_| false);
        }
        assert_eq!(noted.compactions, [compaction(9)]);
        noted.begin(compaction(10));
        noted.drop_undone(|before| before.at == at(9));
        assert_eq!(noted.compactions.len(), 2);
        noted.end(at(11), "auto", None);
        noted.begin(compaction(12));
        noted.drop_undone(|_| false);
        assert_eq!(noted.compactions.len(), 3);
        assert_eq!(noted.compactions[1].ended, Some(at(11)));
    }

    #[test]
    fn an_end_without_a_beginning_is_a_compaction() {
        let mut noted = Noted::new("codex", "s");
        noted.end(at(5), "manual", None);
        let all: Vec<_> = noted
            .compactions
            .iter()
            .map(|it| (&*it.cause, it.at))
            .collect();
        assert_eq!(all, [("manual", at(5))]);
    }

    #[test]
    fn the_oldest_go() {
        let mut noted = Noted::new("codex", "s");
        for second in 0..200 {
            noted.begin(compaction(second));
        }
        assert_eq!(noted.compactions.len(), MOST_COMPACTIONS);
        assert_eq!(noted.compactions[MOST_COMPACTIONS - 1].at, at(199));
        let text = serde_json::to_string(&noted).unwrap();
        assert!(text.len() < 16 << 10, "{}", text.len());
    }
}
