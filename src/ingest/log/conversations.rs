//! The sessions of one log, folded from its entries.

use crate::bytes::lines::Line;
use crate::bytes::lines::records::each_record;
use decode::damage;
use formats::Decoder;
use model::event::{Conversation, Entry, Event, EventSink, Place};
use model::lists::sessions::FileFacts;
use model::lists::summary::Summary;
use model::session::{Coverage, Session};
use model::window::Rules;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// The sessions of one log.
pub type LogSessions = Vec<(Conversation, Session)>;

/// The summaries of the sessions of one log.
pub type LogSummaries = Vec<(Conversation, Summary)>;

/// Returns the summaries of these sessions.
pub fn summaries_of(sessions: &LogSessions) -> LogSummaries {
    let sessions = sessions.iter();
    sessions
        .map(|(conversation, session)| (*conversation, session.summary()))
        .collect()
}

/// Returns the main session among these sessions or summaries.
pub fn main_of<T>(all: &[(Conversation, T)]) -> Option<&T> {
    let main = all
        .iter()
        .find(|(conversation, _)| *conversation == Conversation::Main);
    main.map(|(_, main)| main)
}

/// The sessions of one log, by conversation.
#[derive(Clone)]
pub struct Conversations {
    agent: &'static str,
    rules: Arc<Rules>,
    pub(crate) coverage: Coverage,
    /// True if nothing is read after this: neither earlier states are kept nor the place to continue at.
    pub(crate) is_final: bool,
    /// The records that were taken in, and the most that are.
    records: u64,
    most_records: u64,
    /// The id of the main session, if the log's path contains it.
    id: Option<Box<str>>,
    conversations: BTreeMap<Conversation, Session>,
}

impl Conversations {
    /// Returns the main session alone, with the facts in the log's path.
    pub fn new(log: &FileFacts, rules: &Arc<Rules>, coverage: Coverage) -> Conversations {
        let mut conversations = Conversations {
            agent: log.agent,
            rules: Arc::clone(rules),
            coverage,
            is_final: false,
            records: 0,
            most_records: MOST_RECORDS,
            id: log.id.as_deref().map(Into::into),
            conversations: BTreeMap::new(),
        };
        conversations.conversation(Conversation::Main).meta = log.names();
        conversations
    }

    /// Prepares the sessions to be read once: neither earlier states are kept nor the place to continue at.
    #[must_use]
    pub fn finally(mut self) -> Conversations {
        self.is_final = true;
        for session in self.conversations.values_mut() {
            session.forget_past();
        }
        self
    }

    /// Returns the sessions so far.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.conversations.values()
    }

    pub(crate) fn conversation(&mut self, conversation: Conversation) -> &mut Session {
        self.conversations.entry(conversation).or_insert_with(|| {
            let mut session = Session::new(self.agent, Arc::clone(&self.rules));
            session.coverage = self.coverage;
            if self.is_final {
                session.forget_past();
            }
            if conversation != Conversation::Main {
                session.meta.parent = self.id.clone();
            }
            session
        })
    }

    /// Applies entries to the sessions, up to the most records that a log may have.
    pub fn apply(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            if self.records > self.most_records {
                return;
            }
            let session = self.conversation(entry.conversation);
            let before = session.records;
            session.take_in(entry);
            self.records += session.records - before;
        }
    }

    /// Applies entries to the sessions.
    ///
    /// # Errors
    ///
    /// The log has too many records.
    pub(crate) fn take_in(&mut self, entries: Vec<Entry>) -> io::Result<()> {
        self.apply(entries);
        self.check_records()
    }

    /// Checks that all entries were applied.
    ///
    /// # Errors
    ///
    /// The log has too many records.
    pub(crate) fn check_records(&self) -> io::Result<()> {
        if self.records > self.most_records {
            let most = self.most_records;
            let why = format!(
                "it has more than {most} records; the end of a file of lines can be read by \
                 `tail -n 100000 LOG | ctxgauge report -`"
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(())
    }

    /// Returns true if there is enough for a gauge: the newest report of the main session, its own output, and the
    /// items that have left since. `size` is the number of bytes of the log's end that were read.
    pub(crate) fn suffice(&mut self, size: u64, limits: &SearchLimits) -> bool {
        let main = self.conversation(Conversation::Main);
        let has_gauge = match main.anchor() {
            // After a reset, no report holds.
            None => {
                size >= limits.before && !main.resets().is_empty() && !main.requests().is_empty()
            }
            Some(_) => {
                main.has_all_that_left()
                    && (size >= limits.output || main.has_output_of_report())
                    && (size >= limits.before
                        || (main.has_report_before() && main.shows_what_returns()))
            }
        };
        size >= limits.report || has_gauge
    }

    /// Skips to the end of the log: entries from here on are its end, and those between it and the ones that were read
    /// so far are not read.
    pub(crate) fn skip_to_end(&mut self) {
        self.conversations
            .values_mut()
            .for_each(|session| session.skip_to_end());
    }

    pub(crate) fn has_unreadable(&self) -> bool {
        self.conversations
            .values()
            .any(|session| session.unreadable > 0)
    }

    /// Returns the sessions, the main one first.
    pub fn into_sessions(mut self) -> LogSessions {
        for session in self.conversations.values_mut() {
            session.catch_up();
            if self.is_final {
                session.end();
            }
        }
        self.conversations.into_iter().collect()
    }
}

/// The most records that a log may have: their items are in memory, 740 MB for a million records.
const MOST_RECORDS: u64 = 2_000_000;

/// The largest parts of a log's end that are searched for the data of a gauge, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct SearchLimits {
    /// The bytes that are searched for the newest report.
    pub report: u64,
    /// The bytes that are searched for its output.
    pub output: u64,
    /// The bytes that are searched for the report before it, and for one before a reset.
    pub before: u64,
}

/// Decodes the records of a line, or records why that is not possible.
pub(crate) fn decode(
    decoder: &mut dyn Decoder,
    place: Place,
    line: Line<'_>,
    out: &mut EventSink<'_>,
) {
    let why = match line {
        Line::Bytes(bytes) => {
            out.begin(place);
            return each_record(bytes, out, &mut |bytes, out| {
                let (line, is_damaged) = damage::line(bytes);
                decoder.read_line(&line, out);
                if is_damaged {
                    out.emit(Event::Damaged);
                }
            });
        }
        Line::TooLarge(bytes) => format!("line too large: {bytes} bytes"),
        Line::Unfinished => "the file ends inside this line".to_owned(),
    };
    out.push(
        Conversation::Main,
        place,
        None,
        Event::Unreadable(why.into()),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made::MadeLog;
    use model::event::Key;

    #[test]
    fn a_log_with_too_many_records_is_an_error_that_says_what_to_do() {
        let log = MadeLog::new("").log();
        let mut conversations = Conversations::new(&log.facts, &Arc::default(), Coverage::Whole);
        conversations.most_records = 3;
        let entry = |line| Entry {
            conversation: Conversation::Side(Key::new(line % 2)),
            place: Place::of_line(line),
            at: None,
            event: Event::Damaged,
        };
        let three = (1..=3).flat_map(|line| [entry(line), entry(line)]);
        assert!(conversations.take_in(three.collect()).is_ok());
        let error = conversations.take_in(vec![entry(4)]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(
            error.to_string().contains("more than 3 records; the end"),
            "{error}"
        );
        let _ = conversations.take_in((5..100).map(entry).collect());
        let damaged = conversations.sessions().map(|session| session.damaged);
        assert_eq!(damaged.sum::<u64>(), 7);
    }
}
