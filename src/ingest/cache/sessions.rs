//! The sessions of a log as a cache keeps them.

use super::key::{Beside, stamps_beside};
use super::{Value, ValueRef};
use crate::lanes::Sessions;
use crate::log::{Cursor, End, LogFile, News};
use model::event::{Lane, Measure};
use model::session::Session;
use model::window::Rules;
use std::io;
use std::sync::Arc;

/// Items in the context of a log's sessions beyond which they would take most of a cache. Tests have fewer.
pub(super) const MOST_ITEMS: usize = if cfg!(test) { 1 << 12 } else { 1 << 18 };

/// Trims the sessions of a log, but for those that a text names, which may go; what a cache keeps of them. `None`: they
/// are too large for it.
pub fn store(sessions: &mut Sessions) -> Option<Value> {
    if !fit(sessions) {
        return None;
    }
    let mut details = Vec::new();
    let stored = sessions.iter_mut().map(|(lane, session)| {
        let bytes = if session.is_named_by_text(*lane) {
            session.clone().to_stored(*lane, &mut details)
        } else {
            session.to_stored(*lane, &mut details)
        };
        (*lane, bytes)
    });
    let stored: Vec<(Lane, Vec<u8>)> = stored.collect();
    Some(value(&stored, details))
}

/// Puts the sessions of a log away; what [`store`] would return, if they are to be stored.
pub fn put_away(sessions: &mut Sessions, store: bool) -> Option<Value> {
    let mut details = (store && fit(sessions)).then(Vec::new);
    let put_away = sessions.iter_mut();
    let stored: Vec<(Lane, Vec<u8>)> = put_away
        .filter_map(|(lane, session)| Some((*lane, session.put_away(*lane, details.as_mut())?)))
        .collect();
    details.map(|details| value(&stored, details))
}

/// What is kept of stored sessions; it waits until that of all logs is written.
fn value(stored: &[(Lane, Vec<u8>)], mut details: Vec<u8>) -> Value {
    // No type in it can fail to be written.
    let mut shown = postcard::to_stdvec(stored).unwrap_or_default();
    shown.shrink_to_fit();
    details.shrink_to_fit();
    Value { shown, details }
}

/// Whether they are small enough for a cache.
fn fit(sessions: &Sessions) -> bool {
    let items = sessions.iter().flat_map(|(_, session)| session.items());
    items.filter(|item| item.in_context()).count() <= MOST_ITEMS
}

/// The sessions of a log from what [`store`] returned. `None`: it is not that of sessions.
pub fn restore(kept: &ValueRef<'_>, log: &LogFile, rules: &Arc<Rules>) -> Option<Sessions> {
    let stored: Vec<(Lane, &[u8])> = postcard::from_bytes(kept.shown).ok()?;
    let sessions = stored.into_iter().map(|(lane, bytes)| {
        let details = Arc::clone(&kept.details);
        let session = Session::from_stored(bytes, details, log.format.id, rules)?;
        Some((lane, session))
    });
    sessions.collect()
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
