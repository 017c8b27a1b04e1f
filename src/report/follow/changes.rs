//! Keeps the sessions that have changed, and the time from which each may be sent again. The time is passed in.

use super::json::SessionGone;
use model::lists::sessions::SessionKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// The changes that the reader has not been sent yet: at most one state of each session, however often it has changed.
pub(super) struct Changes {
    /// The least time between two lines of a session.
    every: Duration,
    /// The sessions that have changed, and when they may be sent.
    waiting: HashMap<SessionKey, Instant>,
    /// The sessions of `waiting`, in the order of their times.
    due: BTreeSet<(Instant, SessionKey)>,
    /// The last line that the reader was sent of each session.
    sent: HashMap<SessionKey, SentLine>,
    /// The sessions that the reader has and that are no longer there.
    gone: BTreeMap<SessionKey, SessionGone>,
}

/// The line that was sent last of a session.
pub(super) struct SentLine {
    pub(super) at: Instant,
    /// A hash of what it says.
    pub(super) hash: u64,
    /// True if it shows the session as live. A session stops being live without a change of its log.
    pub(super) is_live: bool,
}

impl Changes {
    pub(super) fn new(every: Duration) -> Changes {
        Changes {
            every,
            waiting: HashMap::new(),
            due: BTreeSet::new(),
            sent: HashMap::new(),
            gone: BTreeMap::new(),
        }
    }

    /// Marks a session as changed. Returns true if it was not marked before.
    pub(super) fn mark(&mut self, key: SessionKey, now: Instant) -> bool {
        if self.waiting.contains_key(&key) {
            return false;
        }
        let at = self
            .sent
            .get(&key)
            .map_or(now, |sent| now.max(sent.at + self.every));
        self.waiting.insert(key, at);
        self.due.insert((at, key))
    }

    /// Removes a session that no longer exists.
    pub(super) fn remove(&mut self, key: SessionKey, gone: impl FnOnce() -> Option<SessionGone>) {
        if let Some(at) = self.waiting.remove(&key) {
            self.due.remove(&(at, key));
        }
        if self.sent.remove(&key).is_some()
            && let Some(gone) = gone()
        {
            self.gone.insert(key, gone);
        }
    }

    /// Marks only these sessions as changed.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(SessionKey) -> bool) {
        self.waiting.retain(|key, _| is_wanted(*key));
        self.due.retain(|(_, key)| is_wanted(*key));
    }

    /// Marks the sessions that were live when they were sent: they may no longer be.
    pub(super) fn mark_live(&mut self, now: Instant) {
        let live = self.sent.iter().filter(|(_, sent)| sent.is_live);
        let live: Vec<SessionKey> = live.map(|(key, _)| *key).collect();
        for key in live {
            self.mark(key, now);
        }
    }

    /// Takes a session that is gone.
    pub(super) fn take_gone(&mut self) -> Option<SessionGone> {
        self.gone.pop_first().map(|(_, gone)| gone)
    }

    /// Takes a session that has changed and may be sent now.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<SessionKey> {
        let (at, key) = *self.due.first().filter(|(at, _)| *at <= now)?;
        self.due.remove(&(at, key));
        self.waiting.remove(&key);
        Some(key)
    }

    /// Notes what is sent of a session.
    pub(super) fn note(&mut self, key: SessionKey, sent: SentLine) {
        self.sent.insert(key, sent);
    }

    /// Notes a line of a session, unless it is the one that was sent last. Returns true if it is another one.
    pub(super) fn note_new(&mut self, key: SessionKey, sent: SentLine) -> bool {
        let before = self.sent.get(&key);
        let is_new = before.is_none_or(|before| before.hash != sent.hash);
        if is_new {
            self.note(key, sent);
        }
        is_new
    }

    /// Returns the number of sessions that the reader has.
    pub(super) fn len(&self) -> usize {
        self.sent.len()
    }

    /// Returns the time from which something may be sent; `None`: nothing has changed.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        if self.gone.is_empty() {
            self.due.first().map(|(at, _)| *at)
        } else {
            Some(now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::some_time;
    use super::*;
    use model::event::Conversation;
    use model::lists::sessions::FileId;

    const EVERY: Duration = Duration::from_secs(1);

    fn key(file: u64) -> SessionKey {
        SessionKey {
            file: FileId(file),
            conversation: Conversation::Main,
        }
    }

    /// Sends what is due.
    fn send(changes: &mut Changes, now: Instant) -> Vec<u64> {
        let due = std::iter::from_fn(|| changes.take_due(now)).collect::<Vec<_>>();
        for key in &due {
            let sent = SentLine {
                at: now,
                hash: 0,
                is_live: key.file == FileId(2),
            };
            changes.note(*key, sent);
        }
        due.iter().map(|key| key.file.0).collect()
    }

    #[test]
    fn a_session_is_sent_at_once_and_then_at_most_once_in_a_time() {
        let mut changes = Changes::new(EVERY);
        let start = some_time();
        assert!(changes.mark(key(1), start) && !changes.mark(key(1), start));
        assert_eq!(send(&mut changes, start), [1]);
        assert_eq!(changes.next(start), None);
        // Of many changes within that time one is left, which waits for its end; another session does not wait.
        let soon = start + EVERY / 10;
        for _ in 0..1_000 {
            changes.mark(key(1), soon);
        }
        changes.mark(key(2), soon);
        assert_eq!(send(&mut changes, soon), [2]);
        assert_eq!(changes.next(soon), Some(start + EVERY));
        assert_eq!(send(&mut changes, start + EVERY), [1]);
        assert_eq!(changes.len(), 2);
        // A session that was live is looked at again.
        changes.mark_live(start + EVERY * 3);
        assert_eq!(send(&mut changes, start + EVERY * 3), [2]);
    }

    #[test]
    fn only_what_the_reader_has_is_said_to_be_gone() {
        let mut changes = Changes::new(EVERY);
        let now = some_time();
        changes.mark(key(1), now);
        send(&mut changes, now);
        changes.mark(key(1), now);
        changes.mark(key(2), now);
        for of in [1, 2, 3] {
            changes.remove(key(of), || Some(SessionGone::default()));
        }
        assert_eq!(changes.next(now), Some(now));
        assert!(changes.take_gone().is_some() && changes.take_gone().is_none());
        assert_eq!((changes.next(now), changes.len()), (None, 0));
        // A session that comes back is new.
        changes.mark(key(1), now);
        assert_eq!(send(&mut changes, now), [1]);
    }
}
