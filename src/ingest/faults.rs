//! Faults of the files that are read, one test each by its name: what is read is never wrong, nothing is lost, and
//! the work has a bound.

mod errors;
mod long;
mod rewritten;
mod texts;
mod torn;

use crate::bytes::lines::Progress;
use crate::log::conversations::{LogSessions, main_of};
use crate::log::reader::read_whole;
use crate::log::{Cursor, NewEntries, Reading};
use crate::testing::made::MadeLog;
use model::event::ByLength;
use model::session::Session;
use std::sync::Arc;

pub(super) fn follow(made: &MadeLog) -> (LogSessions, Box<dyn Cursor>) {
    let mut reading = Reading::whole(&made.log(), &Arc::default());
    while reading.step(&ByLength, &mut || false).unwrap() == Progress::More {}
    reading.finish()
}

/// Returns the number of new entries; `None`: the log is another one, and has to be read again.
fn more(sessions: &mut LogSessions, cursor: &mut Box<dyn Cursor>) -> Option<usize> {
    let mut news = 0;
    loop {
        let (entries, is_last) = match cursor.more(&ByLength).unwrap() {
            NewEntries::Batch(entries) => (entries, false),
            NewEntries::Entries(entries) => (entries, true),
            NewEntries::Rewritten(_) | NewEntries::Restart => return None,
        };
        news += entries.len();
        for entry in entries {
            let of_it = sessions
                .iter_mut()
                .find(|(conversation, _)| *conversation == entry.conversation);
            of_it.unwrap().1.apply(entry);
        }
        if is_last {
            return Some(news);
        }
    }
}

fn assert_same_as_fresh(sessions: &LogSessions, made: &MadeLog) {
    let fresh = read_whole(&made.log(), &ByLength, &Arc::default()).unwrap();
    let (a, b) = (of(sessions), of(&fresh));
    assert_eq!(a.context(), b.context());
    assert_eq!(a.items(), b.items());
    assert_eq!(a.requests(), b.requests());
    assert_eq!(a.unreadable, b.unreadable);
}

fn of(sessions: &LogSessions) -> &Session {
    main_of(sessions).unwrap()
}
