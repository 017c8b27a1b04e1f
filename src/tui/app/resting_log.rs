//! The log of the session that the user stays on in the list is read whole, and counted, before it is opened. One at a
//! time: another selection ends it.

use super::{App, Stage};
use jiff::{SignedDuration, Timestamp};
use model::lists::sessions::{FileId, SessionKey};
use std::time::Duration;

/// The time for which a session must stay the current one before its log is read: moving through the list reads
/// nothing.
const REST_TIME: SignedDuration = SignedDuration::from_millis(200);

/// The log that the user stays on.
#[derive(Debug, Default)]
pub(super) struct RestingLog {
    /// The log of the current session, and since when it is that.
    on: Option<(FileId, Timestamp)>,
    /// The log that is read first.
    pub(super) asked: Option<FileId>,
}

impl App {
    /// Notes which log is the current one.
    pub(super) fn note_current(&mut self) {
        // A log on another machine is not read.
        let here = |key: &SessionKey| self.sessions.host(*key).is_none();
        let current = self.current().filter(here).map(|key| key.file);
        if self.rest.on.map(|(file, _)| file) != current {
            self.rest.on = current.map(|file| (file, self.now));
        }
    }

    /// Returns the log that is to be read first from now on, instead of the one before; `None`: no change.
    pub fn take_rested(&mut self) -> Option<FileId> {
        let left = self.rest_left()?;
        let (file, _) = self.rest.on.filter(|_| left.is_zero())?;
        self.rest.asked = Some(file);
        Some(file)
    }

    /// Returns the time until the log of the current session is to be read; `None`: it is read.
    pub(super) fn rest_left(&self) -> Option<Duration> {
        let (file, since) = self.rest.on?;
        if !self.sessions.initial_scan_done || self.rest.asked == Some(file) {
            return None;
        }
        let rested = self.now.duration_since(since);
        // A clock that was set back must not keep it unread.
        if rested < SignedDuration::ZERO || rested >= REST_TIME {
            return Some(Duration::ZERO);
        }
        Some((REST_TIME - rested).unsigned_abs())
    }

    /// Returns true if a session's texts are being counted, so that its numbers may change in a moment.
    pub fn is_counting(&self, key: SessionKey) -> bool {
        let gauge = self.sessions.gauge(key);
        let is_provisional =
            gauge.is_some_and(|s| Stage::settled_if(s.is_settled()) == Stage::Provisional);
        is_provisional && self.rest.asked == Some(key.file)
    }
}

#[cfg(test)]
mod tests {
    use crate::app::{App, Msg};
    use crate::keymap::KeyPress;
    use crate::tests::testing::{app, logs, now};
    use jiff::{SignedDuration, Timestamp};

    fn after(milliseconds: i64) -> Timestamp {
        now() + SignedDuration::from_millis(milliseconds)
    }

    fn press(app: &mut App, key: KeyPress, at: Timestamp) {
        app.catch_up(at);
        app.update(Msg::Key(key));
        app.prepare(at);
    }

    #[test]
    fn the_first_row_is_read_without_a_key() {
        let mut app = app(logs(), 80, 24);
        assert_eq!(app.take_rested(), None, "not long enough");
        app.prepare(after(200));
        assert_eq!(app.take_rested(), app.current().map(|key| key.file));
    }

    #[test]
    fn nothing_is_read_before_all_logs_were_found() {
        let mut app = app(logs(), 80, 24);
        app.sessions.initial_scan_done = false;
        app.prepare(after(60_000));
        assert_eq!(app.take_rested(), None);
    }

    #[test]
    fn a_log_is_read_once_the_selection_rests_on_it() {
        let mut app = app(logs(), 80, 24);
        press(&mut app, KeyPress::Down, after(0));
        press(&mut app, KeyPress::Down, after(150));
        app.prepare(after(300));
        assert_eq!(app.take_rested(), None, "not long enough on the second");
        assert!(app.next_change().unwrap().as_millis() <= 50);
        app.prepare(after(350));
        let here = app.current().unwrap();
        assert_eq!(app.take_rested(), Some(here.file));
        assert_eq!(app.take_rested(), None, "asked for already");
        // Back on the first, the second is no longer read.
        press(&mut app, KeyPress::Up, after(400));
        assert_eq!(app.take_rested(), None);
        app.prepare(after(600));
        assert_ne!(app.current(), Some(here));
        assert_eq!(app.take_rested(), app.current().map(|key| key.file));
    }

    #[test]
    fn an_opened_log_is_read_at_once() {
        let mut app = app(logs(), 80, 24);
        press(&mut app, KeyPress::Enter, after(0));
        app.prepare(after(1_000));
        assert_eq!(app.take_rested(), None);
        let key = app.current().unwrap();
        assert!(!app.is_counting(key), "it was counted");
        app.sessions.get_mut(key).unwrap().is_counted = false;
        assert!(app.is_counting(key));
    }
}
