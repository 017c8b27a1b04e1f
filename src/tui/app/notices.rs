//! Notices to the user, the newest last: results of actions, alerts, what could not be read.

use super::{App, Effect, Overlay, seconds_since};
use jiff::Timestamp;
use model::lists::sessions::SessionKey;
use std::time::Duration;

/// The time for which the result of an action stays on screen, in seconds.
const INFO_SECONDS: i64 = 6;
/// The time for which an alert stays on screen, in seconds.
const ALERT_SECONDS: i64 = 60;
/// The rows of a notice in the box.
pub const NOTICE_ROWS: usize = 2;
/// The most notices that are kept.
const MOST_NOTICES: usize = 200;

/// The importance of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The result of an action.
    Info,
    /// Something could not be read.
    Problem,
    /// An alert that the user has configured.
    Alert,
}

/// A notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The time at which it was raised.
    pub at: Timestamp,
    /// Its importance.
    pub severity: Severity,
    /// Where: a path, a session; may be empty.
    pub about: String,
    /// What, and what to do about it.
    pub text: String,
    /// The session of an alert.
    pub session: Option<SessionKey>,
}

impl Notice {
    /// Seconds that it stays on screen; `None`: until it was seen.
    fn left(&self, now: Timestamp) -> Option<i64> {
        let age = seconds_since(self.at, now);
        match self.severity {
            Severity::Info => Some(INFO_SECONDS - age),
            Severity::Alert => Some(ALERT_SECONDS - age),
            Severity::Problem => None,
        }
    }
}

/// All notices.
#[derive(Debug, Default)]
pub struct Notices {
    /// All that are kept, the newest last.
    pub all: Vec<Notice>,
    /// The number of each, in the order in which they were added.
    numbers: Vec<u64>,
    /// The number of notices that were ever added.
    added: u64,
    /// The number of them that were added before the last frame.
    drawn: u64,
    /// The number of notices that the user has seen.
    seen: usize,
}

impl Notices {
    fn unseen(&self) -> &[Notice] {
        self.all.get(self.seen..).unwrap_or_default()
    }

    /// Returns the newest that was not seen and has not expired.
    pub fn newest(&self, now: Timestamp) -> Option<&Notice> {
        let mut newest = self.unseen().iter().rev();
        newest.find(|notice| notice.left(now).is_none_or(|left| left > 0))
    }

    /// Returns the number of unseen notices of a severity.
    pub fn unseen_of(&self, severity: Severity) -> usize {
        let all = self.unseen().iter();
        all.filter(|notice| notice.severity == severity).count()
    }

    /// Returns the numbers of all that are kept, the newest first.
    pub(super) fn newest_first(&self) -> Vec<u64> {
        self.numbers.iter().rev().copied().collect()
    }

    /// Removes the alerts of a session.
    pub(super) fn remove_alerts(&mut self, key: SessionKey) {
        self.remove_all(|notice| notice.severity == Severity::Alert && notice.session == Some(key));
    }

    /// Removes the problem with another machine that was this: it is over, or another one has come.
    pub(super) fn remove_away(&mut self, host: &str, why: &str) {
        self.remove_all(|notice| {
            let is_of_host = notice.about.strip_suffix(host) == Some("ssh://");
            notice.severity == Severity::Problem && is_of_host && notice.text == why
        });
    }

    /// Removes the result of the last action: it is of no use later.
    pub(super) fn remove_info(&mut self) {
        self.remove_all(|notice| notice.severity == Severity::Info);
    }

    fn remove_all(&mut self, is_it: impl Fn(&Notice) -> bool) {
        while let Some(at) = self.all.iter().position(&is_it) {
            self.remove(at);
        }
    }

    fn remove(&mut self, at: usize) {
        self.all.remove(at);
        self.numbers.remove(at);
        self.seen -= usize::from(at < self.seen);
    }

    pub(super) fn add(&mut self, notice: Notice) {
        // A repeated notice replaces the earlier one, and the result of an action that of the action before.
        let same = self.all.iter().position(|other| {
            other.severity == notice.severity
                && (other.severity == Severity::Info
                    || (&other.about, &other.text) == (&notice.about, &notice.text))
        });
        let oldest = (self.all.len() >= MOST_NOTICES).then_some(0);
        if let Some(at) = same.or(oldest) {
            self.remove(at);
        }
        self.all.push(notice);
        self.numbers.push(self.added);
        self.added += 1;
    }

    /// Restarts the time of new results of actions: they stay on screen from their first frame on. An action may have
    /// taken minutes, in which no clock was read.
    pub(super) fn begin_frame(&mut self, now: Timestamp) {
        for (notice, number) in self.all.iter_mut().zip(&self.numbers) {
            if *number >= self.drawn && notice.severity == Severity::Info {
                notice.at = now;
            }
        }
        self.drawn = self.added;
    }

    pub(super) fn mark_seen(&mut self) {
        self.seen = self.all.len();
    }
}

impl App {
    /// Adds a notice of what an action did, or why it did not.
    pub fn notify(&mut self, text: String) {
        self.notices.add(Notice {
            at: self.now,
            severity: Severity::Info,
            about: String::new(),
            text,
            session: None,
        });
    }

    /// Returns the columns of the newest notice's line, without its sign and margins.
    pub fn notice_columns(&self) -> usize {
        usize::from(self.ui.size.0).saturating_sub(4)
    }

    /// Keeps the selected notice on screen, if the box with them is open.
    pub(super) fn prepare_notices(&mut self) {
        if self.ui.overlay == Some(Overlay::Notices) {
            let rows = usize::from(self.ui.size.1.saturating_sub(2)) / NOTICE_ROWS;
            self.ui.notices.fit(&self.notices.newest_first(), rows);
        }
    }

    /// Selects a row of the box with the notices; opens the session of the selected one.
    pub(super) fn click_notice(&mut self, line: usize) -> Effect {
        let row = self.ui.notices.offset() + line / NOTICE_ROWS;
        if row == self.ui.notices.index() {
            return self.open_notice();
        }
        self.ui.notices.select(&self.notices.newest_first(), row);
        Effect::None
    }

    /// Closes the box with the notices and opens the session of the selected one, if it is about one.
    pub(super) fn open_notice(&mut self) -> Effect {
        let mut newest_first = self.notices.all.iter().rev();
        let selected = newest_first.nth(self.ui.notices.index());
        let session = selected.and_then(|notice| notice.session);
        self.close_overlay();
        match session.filter(|key| self.sessions.contains(*key)) {
            Some(key) => {
                self.ui.came_from = None;
                self.pager = None;
                self.open_session_page(key)
            }
            None => Effect::None,
        }
    }

    /// Returns the time until the notice on screen goes away.
    pub(super) fn next_notice(&self) -> Option<Duration> {
        let left = self.notices.newest(self.now)?.left(self.now)?;
        Some(Duration::from_secs(u64::try_from(left).unwrap_or(0).max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(severity: Severity, second: i64, text: &str) -> Notice {
        Notice {
            at: Timestamp::from_second(second).unwrap(),
            severity,
            about: String::new(),
            text: text.to_owned(),
            session: None,
        }
    }

    #[test]
    fn an_info_expires_and_a_problem_stays_until_it_is_seen() {
        let mut notices = Notices::default();
        notices.add(notice(Severity::Problem, 0, "broken"));
        notices.add(notice(Severity::Info, 10, "copied"));
        let newest = |notices: &Notices, second| {
            let now = Timestamp::from_second(second).unwrap();
            notices.newest(now).map(|notice| notice.text.clone())
        };
        assert_eq!(newest(&notices, 11).unwrap(), "copied");
        assert_eq!(newest(&notices, 20).unwrap(), "broken");
        assert_eq!(newest(&notices, 100_000).unwrap(), "broken");
        notices.mark_seen();
        notices.remove_info();
        assert_eq!(newest(&notices, 11), None);
        let kept: Vec<&str> = notices.all.iter().map(|it| &*it.text).collect();
        assert_eq!(kept, ["broken"]);
    }

    #[test]
    fn the_result_of_long_work_is_shown_as_long_as_any_other() {
        let mut notices = Notices::default();
        let newest = |notices: &mut Notices, second| {
            let now = Timestamp::from_second(second).unwrap();
            notices.begin_frame(now);
            notices.newest(now).map(|notice| notice.text.clone())
        };
        notices.add(notice(Severity::Info, 0, "writing…"));
        assert_eq!(newest(&mut notices, 0).unwrap(), "writing…");
        assert_eq!(newest(&mut notices, 6), None);
        // Nothing was drawn in between.
        notices.add(notice(Severity::Info, 6, "wrote it"));
        assert_eq!(newest(&mut notices, 100).unwrap(), "wrote it");
        assert_eq!(newest(&mut notices, 105).unwrap(), "wrote it");
        assert_eq!(newest(&mut notices, 106), None);
    }

    #[test]
    fn repeated_notices_are_kept_once_and_old_ones_dropped() {
        let mut notices = Notices::default();
        for n in 0..3 {
            notices.add(notice(Severity::Problem, n, "again"));
            notices.add(notice(Severity::Info, n, &n.to_string()));
        }
        assert_eq!(notices.all.len(), 2);
        for n in 0..500 {
            notices.add(notice(Severity::Problem, n, &n.to_string()));
        }
        assert_eq!(notices.all.len(), MOST_NOTICES);
        notices.mark_seen();
        notices.add(notice(Severity::Problem, 0, "new"));
        assert_eq!(notices.unseen_of(Severity::Problem), 1);
        assert_eq!(notices.newest_first().len(), MOST_NOTICES);
    }
}
