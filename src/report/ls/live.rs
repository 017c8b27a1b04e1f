//! Which sessions are live.

use jiff::{SignedDuration, Timestamp};
use model::fleet::{Fleet, SessionKey};
use serde::Serialize;

/// A session counts as live for so long after its newest record.
const WRITTEN: SignedDuration = SignedDuration::from_mins(2);

/// What a live session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Live {
    /// Its process works, by its agent's registry.
    Working,
    /// Its process waits for the user, by its agent's registry.
    Waiting,
    /// Its log was just written.
    Written,
}

impl Live {
    /// Its mark in lists, as on the screens.
    pub fn sign(self) -> &'static str {
        match self {
            Live::Working => "●",
            Live::Waiting => "○",
            Live::Written => "·",
        }
    }
}

/// What a session does now; `None`: it is not live.
pub fn live(fleet: &Fleet, key: SessionKey, now: Timestamp) -> Option<Live> {
    match fleet.running(key) {
        Some(running) if running.is_quiet() => Some(Live::Waiting),
        Some(_) => Some(Live::Working),
        None => {
            let age = now.duration_since(fleet.newest_record(key)?).abs();
            (age <= WRITTEN).then_some(Live::Written)
        }
    }
}
