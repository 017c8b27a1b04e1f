//! The summaries of a log's sessions as a cache keeps them.

use super::Value;
use super::key::{Beside, stamps_beside};
use crate::lanes::Summaries;
use crate::log::{Cursor, End, LogFile, News};
use model::event::{Lane, Measure};
use model::summary::Summary;
use std::io;

/// What a cache keeps of these summaries; it waits until that of all logs is written.
pub fn value(summaries: &[(Lane, Summary)]) -> Value {
    // No type in it can fail to be written.
    let mut shown = postcard::to_stdvec(summaries).unwrap_or_default();
    shown.shrink_to_fit();
    Value {
        shown,
        ..Value::default()
    }
}

/// The summaries of the sessions of an agent's log from what [`value`] returned. `None`: it is not that of any.
pub fn restore(kept: &[u8], agent: &'static str) -> Option<Summaries> {
    let mut summaries: Summaries = postcard::from_bytes(kept).ok()?;
    for (_, summary) in &mut summaries {
        summary.agent = agent;
    }
    Some(summaries)
}

/// The cursor of a log that was not read: whatever comes, it is read from its beginning.
pub struct UnreadCursor {
    beside: Vec<Beside>,
}

impl UnreadCursor {
    /// A cursor for a log as it is now.
    pub fn new(log: &LogFile) -> UnreadCursor {
        UnreadCursor {
            beside: stamps_beside(log),
        }
    }
}

impl Cursor for UnreadCursor {
    fn read(
        &mut self,
        _: &dyn Measure,
        _: End,
        _: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<News> {
        Ok(News::Restart)
    }

    fn has_news_beside(&self) -> bool {
        self.beside.iter().any(Beside::has_changed)
    }
}
