//! Learns by how much reports were outside of the intervals that were expected of them.
//!
//! The width of an interval comes from the items that are not reported yet. What else changes a prompt has no item: a server
//! leaves out thinking, or a client adds text that no log shows. So intervals grow until they hold nine of ten reports.

use crate::event::{Key, count};
use crate::history::expectation::Expectation;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The newest reports of a model, and by how much they missed their intervals.
#[derive(Debug, Clone, Default)]
pub(super) struct Misses {
    /// The tokens by which each was below its interval, and above it.
    seen: VecDeque<[u32; 2]>,
    /// The number of those that missed at all: as a rule few, and this is asked at each report.
    missed: usize,
    /// The request of the newest.
    newest: Option<Key>,
    slack: [u32; 2],
}

impl Misses {
    /// Returns the tokens by which intervals are widened, below and above.
    pub(super) fn slack(&self) -> [u32; 2] {
        self.slack
    }

    /// Takes out the report of this request: another line of its response came.
    pub(super) fn take_back(&mut self, request: Key) {
        if self.newest == Some(request) {
            self.newest = None;
            let taken = self.seen.pop_back();
            self.missed -= missed(taken);
            self.learn();
        }
    }

    /// Notes a report, and the interval without slack that was expected of it.
    pub(super) fn note(&mut self, request: Key, expected: Expectation, prompt: u64) {
        let below = count(expected.low.saturating_sub(prompt));
        let above = count(prompt.saturating_sub(expected.high));
        if self.seen.len() == MOST_REPORTS {
            let oldest = self.seen.pop_front();
            self.missed -= missed(oldest);
        }
        self.seen.push_back([below, above]);
        self.missed += missed(Some([below, above]));
        self.newest = Some(request);
        self.learn();
    }

    fn learn(&mut self) {
        let reports = self.seen.len() + PRIOR_HITS;
        let inside = ((reports + 1) as f64 * INSIDE).ceil() as usize;
        let outside = reports.saturating_sub(inside);
        if self.missed <= outside {
            self.slack = [0, 0];
            return;
        }
        let mut sizes: Vec<u32> = self.seen.iter().map(|[a, b]| *a.max(b)).collect();
        let (_, most, _) = sizes.select_nth_unstable_by_key(outside, |size| Reverse(*size));
        self.slack = [0, 1].map(|side| {
            let largest = self.seen.iter().map(|miss| miss[side]).max();
            largest.unwrap_or(0).min(*most)
        });
    }
}

/// Returns 1 for a report that was outside of its interval.
fn missed(report: Option<[u32; 2]>) -> usize {
    usize::from(report.is_some_and(|miss| miss != [0, 0]))
}

/// Older reports belong to another phase of the work.
const MOST_REPORTS: usize = 100;
/// Reports that count as inside before there are any.
const PRIOR_HITS: usize = 5;
/// The share of earlier reports that an interval has to hold: a little more than of later ones, which may be different.
const INSIDE: f64 = 0.92;

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expectation = Expectation {
        tokens: 1_000,
        low: 900,
        high: 1_100,
    };

    /// The slack after reports of these prompts.
    fn slack(prompts: impl IntoIterator<Item = u64>) -> [u32; 2] {
        let mut misses = Misses::default();
        for (nth, prompt) in prompts.into_iter().enumerate() {
            misses.note(Key::new(nth as u64), EXPECTED, prompt);
        }
        misses.slack()
    }

    #[test]
    fn reports_inside_leave_the_interval_as_it_is() {
        assert_eq!(slack([900, 1_000, 1_100]), [0, 0]);
    }

    #[test]
    fn the_interval_grows_on_the_side_of_its_misses_until_nearly_all_are_inside() {
        assert_eq!(slack([700]), [200, 0]);
        let every_fifth = (0..100).map(|n| if n % 5 == 0 { 900 - n } else { 1_000 });
        let [below, above] = slack(every_fifth);
        assert!((40..=60).contains(&below), "{below}");
        assert_eq!(above, 0);
    }

    #[test]
    fn few_misses_among_many_reports_do_not_widen_it() {
        assert_eq!(
            slack((0..100).map(|n| if n % 20 == 0 { 5_000 } else { 1_000 })),
            [0, 0]
        );
    }

    #[test]
    fn another_line_of_a_response_replaces_its_report() {
        let mut misses = Misses::default();
        misses.note(Key::new(1), EXPECTED, 400);
        misses.take_back(Key::new(1));
        assert_eq!(misses.slack(), [0, 0]);
        misses.note(Key::new(1), EXPECTED, 1_000);
        misses.take_back(Key::new(2));
        assert_eq!(misses.seen.len(), 1);
    }
}
