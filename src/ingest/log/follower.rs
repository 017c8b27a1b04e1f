//! A log that is asked about again and again: each time only what came since is read.

use crate::bytes::patience::WaitTime;
use crate::bytes::source::SETTLED;
use crate::bytes::text;
use crate::log::{Cursor, LogEnd, LogFile, NewEntries, Reading, batch};
use model::event::Measure;
use model::lists::sessions::{SessionKey, Sessions, Update};
use model::lists::text::{Text, TextRequest};
use model::session::Session;
use model::window::Rules;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use tokens::Counter;

/// A log, what was read of it, and where reading continues.
pub struct Follower {
    /// The log.
    pub log: LogFile,
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    /// The sessions of the log, as of the last [`Follower::read`].
    pub sessions: Sessions,
    /// `None`: the log must be read from its beginning.
    cursor: Option<Box<dyn Cursor>>,
}

impl Follower {
    /// Returns a follower that has read nothing of the log yet.
    pub fn new(log: LogFile, rules: Arc<Rules>, counter: Arc<Counter>) -> Follower {
        let sessions = Sessions::new(Arc::clone(&rules));
        Follower {
            log,
            rules,
            counter,
            sessions,
            cursor: None,
        }
    }

    /// Returns one of them.
    pub fn session(&self, key: SessionKey) -> Option<&Session> {
        self.sessions.get(key)
    }

    /// Reads what came since. A log that was truncated, replaced or rewritten is read again.
    ///
    /// # Errors
    ///
    /// The log cannot be read; [`busy`](crate::bytes::patience::busy) if its agent wrote to it all the time. The next call tries again.
    pub fn read(&mut self) -> io::Result<()> {
        let mut waiting = WaitTime::default();
        loop {
            let read = self.read_on();
            if read.is_err() {
                self.cursor = None;
            }
            match read {
                // It is being rewritten.
                Err(e) if e.kind() == ErrorKind::WouldBlock => waiting.pause()?,
                read => return read,
            }
        }
    }

    fn read_on(&mut self) -> io::Result<()> {
        let Some(cursor) = self.cursor.as_mut() else {
            return self.read_whole();
        };
        let measure: &dyn Measure = &*self.counter;
        let file = self.log.facts.file;
        let mut end = LogEnd::Open;
        loop {
            let (entries, is_all) = match cursor.read_with_retries(measure, end, &mut batch())? {
                NewEntries::Batch(entries) => (entries, false),
                NewEntries::Entries(entries) => (entries, true),
                NewEntries::Rewritten(conversations) => {
                    let sessions = conversations.into_sessions();
                    self.sessions.apply(Update::Rebuilt { file, sessions });
                    return Ok(());
                }
                NewEntries::Restart => return self.read_whole(),
            };
            if !entries.is_empty() {
                self.sessions.apply(Update::Appended { file, entries });
            }
            if !is_all {
                continue;
            }
            let is_last = end == LogEnd::Complete || !cursor.is_incomplete();
            if is_last || self.log.store.stamp()?.age() < SETTLED {
                return Ok(());
            }
            end = LogEnd::Complete;
        }
    }

    /// Reads the log from its beginning.
    fn read_whole(&mut self) -> io::Result<()> {
        let reading = Reading::whole(&self.log, &self.rules);
        let measure: &dyn Measure = &*self.counter;
        let mut reading = reading.to_end(measure)?;
        reading.settle(&self.log, measure)?;
        let (sessions, cursor) = reading.finish();
        let file = self.log.facts.file;
        self.sessions = Sessions::new(Arc::clone(&self.rules));
        let facts = Box::new(self.log.facts.clone());
        self.sessions.apply(Update::Found(facts));
        self.sessions.apply(Update::Rebuilt { file, sessions });
        self.cursor = Some(cursor);
        Ok(())
    }

    /// Returns a page of an item's text, as [`model::lists::text`] has them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidData`] if the item is no longer at its place.
    pub fn text(&self, wanted: TextRequest) -> io::Result<Text> {
        let whole = self.log.store.text(&self.log, wanted)?;
        Ok(text::page(&whole, wanted.page))
    }
}

/// Returns true if an error means that there is no log at its path any more.
pub fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::reader::read_whole;
    use crate::testing::made::MadeLog;
    use model::event::Conversation;
    use proptest::prelude::*;

    fn follower(made: &MadeLog) -> Follower {
        let counter = Counter::new();
        Follower::new(made.log(), Arc::default(), Arc::new(counter))
    }

    /// The prompt of the newest request.
    fn prompt(follower: &Follower) -> u64 {
        let (file, conversation) = (follower.log.facts.file, Conversation::Main);
        let session = follower.session(SessionKey { file, conversation }).unwrap();
        session
            .requests()
            .last()
            .map_or(0, |request| request.prompt)
    }

    #[test]
    fn only_what_came_since_is_read() {
        let made = MadeLog::new("{\"toy\":7}\n");
        made.append_many("{\"say\":\"some words of no interest\"}\n", 20_000);
        let mut follower = follower(&made);
        follower.read().unwrap();
        let before = made.read();
        assert!(before > 500_000, "{before}");
        made.append("{\"toy\":90}\n");
        follower.read().unwrap();
        assert_eq!(prompt(&follower), 90);
        let read = made.read() - before;
        assert!(read < 100_000, "{read}");
    }

    #[test]
    fn a_log_that_was_rewritten_is_read_again() {
        let made = MadeLog::new("{\"toy\":7}\n");
        made.append("{\"toy\":90}\n");
        let mut follower = follower(&made);
        follower.read().unwrap();
        assert_eq!(prompt(&follower), 90);
        made.take_back("{\"toy\":90}\n");
        follower.read().unwrap();
        assert_eq!(prompt(&follower), 7);
        made.rewrite("7", "8");
        follower.read().unwrap();
        assert_eq!(prompt(&follower), 8);
    }

    #[test]
    fn what_cannot_be_read_is_read_when_it_can() {
        let made = MadeLog::new("{\"toy\":7}\n");
        let mut follower = follower(&made);
        made.shut(Some(|| ErrorKind::NotFound.into()));
        assert!(is_gone(&follower.read().unwrap_err()));
        made.shut(None);
        follower.read().unwrap();
        assert_eq!(prompt(&follower), 7);
    }

    proptest! {
        #[test]
        fn in_any_pieces_it_is_as_if_read_at_once(
            sizes in proptest::collection::vec(1_u64..5_000, 1..6),
            cuts in proptest::collection::vec(0_usize..200, 0..6),
        ) {
            let lines: String = sizes
                .iter()
                .map(|n| format!("{{\"say\":\"{n} words\"}}\n{{\"toy\":{n}}}\n"))
                .collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(lines.len())).collect();
            cuts.sort_unstable();
            let made = MadeLog::new(&lines[..cuts.first().copied().unwrap_or_default()]);
            let mut follower = follower(&made);
            for (n, from) in cuts.iter().enumerate() {
                follower.read().unwrap();
                made.append(&lines[*from..cuts.get(n + 1).copied().unwrap_or(lines.len())]);
            }
            if cuts.is_empty() {
                made.append(&lines);
            }
            follower.read().unwrap();
            let whole = read_whole(&made.log(), &*follower.counter, &Arc::default()).unwrap();
            let (file, conversation) = (follower.log.facts.file, Conversation::Main);
            let followed = follower.session(SessionKey { file, conversation }).unwrap();
            prop_assert_eq!(followed.context(), whole[0].1.context());
            prop_assert_eq!(followed.items().len(), whole[0].1.items().len());
        }
    }
}
