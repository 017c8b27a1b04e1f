//! Determines the sessions that are live.

use super::{SessionKey, Sessions};
use jiff::Timestamp;
use serde::Serialize;

/// A session without a process in its agent's registry is live while its last activity is at most this old, in seconds. A
/// session may be at work for longer, but then nobody sees anything happen.
pub const LIVE_SECONDS: i64 = 120;
/// A log that was written up to this many seconds after its process was seen to have ended was written by that process.
const END_TOLERANCE_SECONDS: i64 = 2;

/// The activity of a live session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// Its process works, by its agent's registry.
    Working,
    /// Its process waits for the user, by its agent's registry.
    Waiting,
    /// Its log was just written.
    Written,
}

impl Sessions {
    /// Returns the present activity of a session; `None`: it is not live.
    pub fn live(&self, key: SessionKey, now: Timestamp) -> Option<Activity> {
        self.live_since(key, self.activity_of(key), now)
    }

    /// Returns the present activity of a session with this last activity; `None`: it is not live.
    pub fn live_since(
        &self,
        key: SessionKey,
        active: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<Activity> {
        // Nobody knows what it does now.
        if self.away(key).is_some() {
            return None;
        }
        match self.running(key) {
            Some(running) if running.is_quiet() => return Some(Activity::Waiting),
            Some(_) => return Some(Activity::Working),
            None => {}
        }
        let active = active?;
        let is_written = (now.as_second() - active.as_second()).abs() <= LIVE_SECONDS;
        let has_ended = self
            .ended(key)
            .is_some_and(|ended| active.as_second() <= ended.as_second() + END_TOLERANCE_SECONDS);
        (is_written && !has_ended).then_some(Activity::Written)
    }
}
