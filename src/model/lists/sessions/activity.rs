//! Determines the sessions that are live.

use super::entry::SessionEntry;
use super::{SessionKey, Sessions};
use jiff::Timestamp;
use serde::Serialize;

/// A session without a process in its agent's registry is live while its last activity is at most this old, in seconds. A
/// session may be at work for longer, but then nobody sees anything happen.
pub const LIVE_SECONDS: i64 = 120;
/// A session whose log says that its agent waits for the user is live for so long, in seconds: nothing says later whether
/// the agent still runs.
const WAITING_SECONDS: i64 = 1_800;
/// A log that was written up to this many seconds after its process was seen to have ended was written by that process.
const END_TOLERANCE_SECONDS: i64 = 2;

/// The activity of a live session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// Its process works, by its agent's registry.
    Working,
    /// It waits for the user, by its agent's registry or by its log.
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
        let age = (now.as_second() - active.as_second()).abs();
        let waits = || self.sessions.get(&key).is_some_and(SessionEntry::waits);
        let activity = match age {
            ..=WAITING_SECONDS if waits() => Activity::Waiting,
            ..=LIVE_SECONDS => Activity::Written,
            _ => return None,
        };
        let has_ended = self
            .ended(key)
            .is_some_and(|ended| active.as_second() <= ended.as_second() + END_TOLERANCE_SECONDS);
        (!has_ended).then_some(activity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Conversation, Event};
    use crate::lists::sessions::{FileId, Update};
    use crate::testing::{Log, file_facts, new_item};
    use crate::{Kind, Role};
    use std::sync::Arc;

    /// The activity of a session so many seconds after its newest record.
    fn after(seconds: i64, log: Log, parent: Option<&str>) -> Option<Activity> {
        let (file, conversation) = (FileId(1), Conversation::Main);
        let mut session = log.session;
        session.updated_at = Timestamp::from_second(1_000).ok();
        session.meta.parent = parent.map(Into::into);
        let mut sessions = Sessions::new(Arc::default());
        let facts = file_facts(file, "codex", "a.jsonl");
        sessions.apply(Update::Found(Box::new(facts)));
        let all = vec![(conversation, session)];
        sessions.apply(Update::Rebuilt {
            file,
            sessions: all,
        });
        let now = Timestamp::from_second(1_000 + seconds).unwrap();
        sessions.live(SessionKey { file, conversation }, now)
    }

    #[test]
    fn a_session_waits_whose_log_says_that_its_turn_is_over() {
        let said = || Log::new().item("a", Role::Assistant, Kind::Text, 9);
        let over = || said().event(Event::TurnOver);
        assert_eq!(after(60, said(), None), Some(Activity::Written));
        assert_eq!(after(600, said(), None), None);
        for seconds in [0, 60, 600, WAITING_SECONDS] {
            let activity = after(seconds, over(), None);
            assert_eq!(activity, Some(Activity::Waiting), "{seconds}");
        }
        assert_eq!(after(WAITING_SECONDS + 1, over(), None), None);
        // A sub-agent's answer is for its parent.
        assert_eq!(after(60, over(), Some("p")), Some(Activity::Written));
        let goes_on = over().node("u", vec![new_item(Role::User, Kind::Text, 9)]);
        assert_eq!(after(60, goes_on, None), Some(Activity::Written));
    }
}
