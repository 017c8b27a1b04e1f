//! The sessions of a log as a cache keeps them.

use super::key::{Beside, stamps_beside};
use crate::lanes::Sessions;
use crate::log::{Cursor, End, LogFile, News};
use model::event::{Lane, Measure};
use model::session::Session;
use model::window::Rules;
use std::io;
use std::sync::Arc;

/// Items in the context of a log's sessions beyond which they would take most of a cache.
const MOST_ITEMS: usize = 1 << 18;

/// Trims the sessions of a log, but for those that a text names, which may go; the bytes that a cache keeps of them.
/// `None`: they are too large for it.
pub fn store(sessions: &mut Sessions) -> Option<Vec<u8>> {
    if !fit(sessions) {
        return None;
    }
    let stored = sessions.iter_mut().map(|(lane, session)| {
        let bytes = if session.is_named_by_text(*lane) {
            session.clone().to_stored(*lane)
        } else {
            session.to_stored(*lane)
        };
        (*lane, bytes)
    });
    let stored: Vec<(Lane, Vec<u8>)> = stored.collect();
    Some(written(&stored))
}

/// Puts the sessions of a log away; what [`store`] would return, if they are to be stored.
pub fn put_away(sessions: &mut Sessions, store: bool) -> Option<Vec<u8>> {
    let store = store && fit(sessions);
    let put_away = sessions.iter_mut();
    let stored: Vec<(Lane, Vec<u8>)> = put_away
        .filter_map(|(lane, session)| Some((*lane, session.put_away(*lane, store)?)))
        .collect();
    store.then(|| written(&stored))
}

/// The bytes of stored sessions, which wait until those of all logs are written.
fn written(stored: &[(Lane, Vec<u8>)]) -> Vec<u8> {
    // No type in it can fail to be written.
    let mut bytes = postcard::to_stdvec(stored).unwrap_or_default();
    bytes.shrink_to_fit();
    bytes
}

/// Whether they are small enough for a cache.
fn fit(sessions: &Sessions) -> bool {
    let items = sessions.iter().flat_map(|(_, session)| session.items());
    items.filter(|item| item.in_context()).count() <= MOST_ITEMS
}

/// The sessions of a log from the bytes that [`store`] returned. `None`: the bytes are not those of sessions.
pub fn restore(bytes: &[u8], log: &LogFile, rules: &Arc<Rules>) -> Option<Sessions> {
    let stored: Vec<(Lane, &[u8])> = postcard::from_bytes(bytes).ok()?;
    let sessions = stored.into_iter().map(|(lane, bytes)| {
        let session = Session::from_stored(bytes, log.format.id, rules)?;
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
