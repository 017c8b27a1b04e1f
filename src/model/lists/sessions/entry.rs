//! Holds a session in a set of sessions: all of it, or the data that a list shows.

use crate::event::Meta;
use crate::lists::gauge::SessionGauge;
use crate::session::{Coverage, Session};
use crate::window::Overrides;
use jiff::Timestamp;
use std::cell::OnceCell;
use std::sync::Arc;

/// A session and what is computed of it with each of its updates: lists of ten thousand sessions are made many
/// times a second.
#[derive(Debug)]
pub(super) struct SessionEntry {
    held: EntryContent,
    /// See [`super::Sessions::activity_of`].
    pub(super) active: Option<Timestamp>,
    /// The folder that the projects have of it.
    pub(super) folder: Box<str>,
    /// The id by which it is found; `None`: by none.
    pub(super) id: Option<Box<str>>,
}

/// The part of a session that is held. All is boxed: a list of all sessions reads little of most.
#[derive(Debug)]
pub(super) enum EntryContent {
    /// The data that a list shows of it: nobody writes to it or looks at it.
    Summary(Box<SessionGauge>),
    /// All of it, and what lists show of it once that is asked for.
    Session(Box<Session>, OnceCell<Box<SessionGauge>>),
}

impl EntryContent {
    pub(super) fn whole(session: Session) -> EntryContent {
        EntryContent::Session(Box::new(session), OnceCell::new())
    }
}

impl SessionEntry {
    pub(super) fn of(held: EntryContent) -> SessionEntry {
        SessionEntry {
            held,
            active: None,
            folder: Box::default(),
            id: None,
        }
    }

    /// Returns the data that a list shows of it.
    pub(super) fn gauge(&self) -> &SessionGauge {
        match &self.held {
            EntryContent::Summary(gauge) => gauge,
            EntryContent::Session(session, gauge) => {
                gauge.get_or_init(|| Box::new(session.gauge()))
            }
        }
    }

    /// Holds no more than what lists show.
    pub(super) fn evict(&mut self) {
        if let EntryContent::Session(session, gauge) = &mut self.held {
            let gauge = gauge.take().unwrap_or_else(|| Box::new(session.gauge()));
            self.held = EntryContent::Summary(gauge);
        }
    }

    pub(super) fn session(&self) -> Option<&Session> {
        match &self.held {
            EntryContent::Summary(_) => None,
            EntryContent::Session(session, _) => Some(session),
        }
    }

    /// Returns the session, to be changed.
    pub(super) fn session_mut(&mut self) -> Option<&mut Session> {
        match &mut self.held {
            EntryContent::Summary(_) => None,
            EntryContent::Session(session, gauge) => {
                gauge.take();
                Some(session)
            }
        }
    }

    /// Returns true if nothing was read of its log yet.
    pub(super) fn is_unread(&self) -> bool {
        match &self.held {
            EntryContent::Summary(gauge) => {
                gauge.coverage == Coverage::Unread && gauge.records == 0
            }
            EntryContent::Session(..) => false,
        }
    }

    /// Returns its names, without computing what lists show besides.
    pub(super) fn meta(&self) -> &Meta {
        match &self.held {
            EntryContent::Summary(gauge) => &gauge.meta,
            EntryContent::Session(session, _) => &session.meta,
        }
    }

    /// Returns true if its agent waits for the user, as its log says. A sub-agent's waits for another agent.
    pub(super) fn waits(&self) -> bool {
        let is_over = match &self.held {
            EntryContent::Summary(gauge) => gauge.is_turn_over,
            EntryContent::Session(session, _) => session.turn_over,
        };
        is_over && self.meta().parent.is_none()
    }

    pub(super) fn updated_at(&self) -> Option<Timestamp> {
        match &self.held {
            EntryContent::Summary(gauge) => gauge.updated_at,
            EntryContent::Session(session, _) => session.updated_at,
        }
    }

    pub(super) fn folder(&self) -> &str {
        match &self.held {
            EntryContent::Summary(gauge) => gauge.folder(),
            EntryContent::Session(session, _) => session.folder(),
        }
    }

    pub(super) fn model(&self) -> Option<&str> {
        match &self.held {
            EntryContent::Summary(gauge) => gauge.model(),
            EntryContent::Session(session, _) => session.model(),
        }
    }

    pub(super) fn set_overrides(&mut self, overrides: &Arc<Overrides>) {
        let overrides = Arc::clone(overrides);
        match &mut self.held {
            EntryContent::Summary(gauge) => gauge.set_overrides(overrides),
            EntryContent::Session(session, gauge) => {
                gauge.take();
                session.set_overrides(overrides);
            }
        }
    }

    pub(super) fn set_window(&mut self, window: Option<u64>) {
        match &mut self.held {
            EntryContent::Summary(gauge) => gauge.set_window(window),
            EntryContent::Session(session, gauge) => {
                if session.set_window != window {
                    gauge.take();
                    session.set_window(window);
                }
            }
        }
    }
}
