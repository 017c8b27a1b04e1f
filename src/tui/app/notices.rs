//! Notices to the user, the newest last: results of actions, alerts, what could not be read.

use super::{App, seconds_since};
use jiff::Timestamp;
use std::time::Duration;

/// How long the result of an action stays on screen, in seconds.
const INFO_SECONDS: i64 = 6;
/// How long an alert stays on screen, in seconds.
const ALERT_SECONDS: i64 = 60;
/// The most notices that are kept.
const MOST_NOTICES: usize = 200;

/// How much a notice matters.
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
    /// When it was raised.
    pub at: Timestamp,
    /// How much it matters.
    pub severity: Severity,
    /// Where: a path, a session; may be empty.
    pub about: String,
    /// What, and what to do about it.
    pub text: String,
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
    all: Vec<Notice>,
    /// How many the user has seen.
    seen: usize,
}

impl Notices {
    /// All that are kept, the newest last.
    pub fn all(&self) -> &[Notice] {
        &self.all
    }

    fn unseen(&self) -> &[Notice] {
        self.all.get(self.seen..).unwrap_or_default()
    }

    /// The newest that was not seen and has not expired.
    pub fn newest(&self, now: Timestamp) -> Option<&Notice> {
        let mut newest = self.unseen().iter().rev();
        newest.find(|notice| notice.left(now).is_none_or(|left| left > 0))
    }

    /// How many problems were not seen.
    pub fn unseen_problems(&self) -> usize {
        let problems = self.unseen().iter();
        problems.filter(|n| n.severity == Severity::Problem).count()
    }

    pub(super) fn add(&mut self, notice: Notice) {
        // A repeated notice takes the place of the earlier one.
        let same = self.all.iter().position(|other| {
            (other.severity, &other.about, &other.text)
                == (notice.severity, &notice.about, &notice.text)
        });
        let oldest = (self.all.len() >= MOST_NOTICES).then_some(0);
        if let Some(at) = same.or(oldest) {
            self.all.remove(at);
            self.seen -= usize::from(at < self.seen);
        }
        self.all.push(notice);
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
        });
    }

    /// How long until the notice on screen goes away.
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
        assert_eq!(newest(&notices, 20), None);
        assert_eq!(notices.all().len(), 2);
    }

    #[test]
    fn repeated_notices_are_kept_once_and_old_ones_dropped() {
        let mut notices = Notices::default();
        for n in 0..3 {
            notices.add(notice(Severity::Info, n, "again"));
        }
        assert_eq!(notices.all().len(), 1);
        for n in 0..500 {
            notices.add(notice(Severity::Info, n, &n.to_string()));
        }
        assert_eq!(notices.all().len(), MOST_NOTICES);
        notices.mark_seen();
        notices.add(notice(Severity::Problem, 0, "new"));
        assert_eq!(notices.unseen_problems(), 1);
    }
}
