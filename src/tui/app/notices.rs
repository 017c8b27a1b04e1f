//! What was told to the user, the newest last: what could not be read, alerts, what an action did.

use super::{App, seconds_since};
use jiff::Timestamp;
use std::time::Duration;

/// How long what an action did stays on screen, in seconds.
const BRIEF: i64 = 6;
/// How long an alert does.
const LASTING: i64 = 60;
/// The most notices that are kept.
const KEPT: usize = 200;

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// What an action did, or why it did not.
    Done,
    /// Something could not be read.
    Problem,
    /// What the user wanted to be told.
    Alert,
}

/// Something that was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// When.
    pub at: Timestamp,
    /// How much it matters.
    pub weight: Weight,
    /// Where: a path, a session; may be empty.
    pub about: String,
    /// What, and what to do.
    pub text: String,
}

impl Notice {
    /// Whether it is still on screen by itself.
    fn is_news(&self, now: Timestamp) -> bool {
        self.left(now).is_none_or(|left| left > 0)
    }

    /// Seconds that it stays on screen; `None`: until it was looked at.
    fn left(&self, now: Timestamp) -> Option<i64> {
        let age = seconds_since(self.at, now);
        match self.weight {
            Weight::Done => Some(BRIEF - age),
            Weight::Alert => Some(LASTING - age),
            Weight::Problem => None,
        }
    }
}

/// All that was told.
#[derive(Debug, Default)]
pub struct Notices {
    told: Vec<Notice>,
    /// How many were looked at.
    seen: usize,
}

impl Notices {
    /// All that are kept, the newest last.
    pub fn all(&self) -> &[Notice] {
        &self.told
    }

    /// The newest that has not been looked at, while it is news.
    pub fn newest(&self, now: Timestamp) -> Option<&Notice> {
        let unseen = self.told.get(self.seen..).unwrap_or_default();
        unseen.iter().rev().find(|notice| notice.is_news(now))
    }

    /// How many problems were not looked at.
    pub fn unseen_problems(&self) -> usize {
        let unseen = self.told.get(self.seen..).unwrap_or_default();
        let problems = unseen.iter().filter(|n| n.weight == Weight::Problem);
        problems.count()
    }

    pub(super) fn add(&mut self, notice: Notice) {
        // The same again takes the place of what was told before.
        let same = self.told.iter().position(|told| {
            (told.weight, &told.about, &told.text) == (notice.weight, &notice.about, &notice.text)
        });
        let oldest = (self.told.len() >= KEPT).then_some(0);
        if let Some(at) = same.or(oldest) {
            self.told.remove(at);
            self.seen -= usize::from(at < self.seen);
        }
        self.told.push(notice);
    }

    pub(super) fn look_at_all(&mut self) {
        self.seen = self.told.len();
    }
}

impl App {
    /// Tells what an action did, or why it did not.
    pub fn tell(&mut self, text: String) {
        self.notices.add(Notice {
            at: self.now,
            weight: Weight::Done,
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

    fn notice(weight: Weight, second: i64, text: &str) -> Notice {
        Notice {
            at: Timestamp::from_second(second).unwrap(),
            weight,
            about: String::new(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_was_done_goes_away_and_a_problem_stays_until_it_is_seen() {
        let mut notices = Notices::default();
        notices.add(notice(Weight::Problem, 0, "broken"));
        notices.add(notice(Weight::Done, 10, "copied"));
        let newest = |notices: &Notices, second| {
            let now = Timestamp::from_second(second).unwrap();
            notices.newest(now).map(|notice| notice.text.clone())
        };
        assert_eq!(newest(&notices, 11).unwrap(), "copied");
        assert_eq!(newest(&notices, 20).unwrap(), "broken");
        assert_eq!(newest(&notices, 100_000).unwrap(), "broken");
        notices.look_at_all();
        assert_eq!(newest(&notices, 20), None);
        assert_eq!(notices.all().len(), 2);
    }

    #[test]
    fn the_same_is_told_once_and_old_ones_go() {
        let mut notices = Notices::default();
        for n in 0..3 {
            notices.add(notice(Weight::Done, n, "again"));
        }
        assert_eq!(notices.all().len(), 1);
        for n in 0..500 {
            notices.add(notice(Weight::Done, n, &n.to_string()));
        }
        assert_eq!(notices.all().len(), KEPT);
        notices.look_at_all();
        notices.add(notice(Weight::Problem, 0, "new"));
        assert_eq!(notices.unseen_problems(), 1);
    }
}
