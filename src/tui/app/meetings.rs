//! Finds agents that change the same file in one checkout.

use super::App;
use jiff::{SignedDuration, Timestamp};
use model::cost::calls::edited_since;
use model::lists::sessions::SessionKey;
use std::collections::{BTreeMap, BTreeSet};

/// Changes of a file by two agents are that close if both were within this time.
const CLOSE: SignedDuration = SignedDuration::from_mins(10);
/// The least time between two looks at the files of live sessions.
const LOOK_INTERVAL: SignedDuration = SignedDuration::from_secs(2);

/// A session that has changed the same file as another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    /// The other session.
    pub with: SessionKey,
    /// The file; text of a log.
    pub file: String,
}

impl App {
    /// Finds the live sessions in one folder that have changed the same file lately.
    pub(super) fn note_meetings(&mut self) {
        let age = self.shown.met_at.map(|then| self.now.duration_since(then));
        if age.is_some_and(|age| age >= SignedDuration::ZERO && age < LOOK_INTERVAL) {
            return;
        }
        self.shown.met_at = Some(self.now);
        let mut folders: BTreeMap<&str, Vec<SessionKey>> = BTreeMap::new();
        for (key, active) in &self.shown.active {
            let gauge = self.sessions.gauge(*key);
            let own = gauge.filter(|gauge| gauge.meta.parent.is_none() && gauge.host().is_none());
            let folder = own.and_then(|gauge| gauge.meta.cwd.as_deref());
            if let Some(folder) = folder.filter(|_| self.is_live_since(*key, *active)) {
                folders.entry(folder).or_default().push(*key);
            }
        }
        let since = self.now.checked_sub(CLOSE).unwrap_or(Timestamp::MIN);
        let files = |key: &SessionKey| {
            let session = self.sessions.get(*key)?;
            Some((*key, edited_since(session, since)))
        };
        let mut meetings = BTreeMap::new();
        for keys in folders.into_values().filter(|keys| keys.len() > 1) {
            let edits: Vec<(SessionKey, BTreeSet<String>)> =
                keys.iter().filter_map(files).collect();
            for (key, own) in &edits {
                let others = edits.iter().filter(|(other, _)| other != key);
                let mut shared = others.filter_map(|(with, of)| {
                    let file = own.intersection(of).next()?.clone();
                    Some(Meeting { with: *with, file })
                });
                meetings.extend(shared.next().map(|meeting| (*key, meeting)));
            }
        }
        self.shown.meetings = meetings;
    }
}
