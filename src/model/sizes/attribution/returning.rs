//! Unlogged text that a reset takes out of the prompt and that the agent adds again a request later: the reminders of Qwen
//! Code are not in the first prompt after a compression, and in the next one they are.

use super::Attribution;
use crate::event::Key;
use crate::history::RequestIx;
use crate::sizes::calibration::Expectation;

/// The smallest return that counts, in tokens: less is lost in the error of the unlogged part.
const LEAST_RETURN: u64 = 500;

/// The number of resets after which such text came again, and after which it stayed away.
#[derive(Debug, Clone, Default)]
pub(super) struct ReturnHistory {
    came: u32,
    stayed_away: u32,
    /// The last request that was noted.
    last: Option<Key>,
}

impl ReturnHistory {
    /// Notes that a request's prompt was larger than expected by `excess` tokens, after `lost` were lost with a reset.
    pub(super) fn note(&mut self, request: Key, lost: u64, excess: f64) {
        if lost < LEAST_RETURN || self.last.replace(request) == Some(request) {
            return;
        }
        let lost = lost as f64;
        if (lost / 2.0..lost * 2.0).contains(&excess) {
            self.came += 1
        } else {
            self.stayed_away += 1
        }
    }
}

impl Attribution {
    /// Returns the tokens by which the unlogged part of the first prompt after a reset is smaller than that of the last
    /// one before it: text that the agent may add again. Returns 0 for any other request.
    pub(super) fn lost_with_reset(&self, first: RequestIx) -> u64 {
        let last = self.resets.last();
        let is_first = last.is_some_and(|reset| reset.request == first);
        let before = self.unlogged_before.filter(|_| is_first).unwrap_or(0);
        before.saturating_sub(self.requests[first].system)
    }

    /// Returns the tokens of unlogged text that the next prompt will have again, as after earlier resets.
    pub(crate) fn returning(&self) -> u64 {
        let is_usual = self.returning.came > self.returning.stayed_away;
        let anchor = self.anchor.filter(|_| is_usual);
        let lost = anchor.map_or(0, |anchor| self.lost_with_reset(anchor));
        if lost < LEAST_RETURN { 0 } else { lost }
    }

    /// Returns an expected prompt with it; without it is possible.
    pub(super) fn with_returning(&self, expected: Expectation) -> Expectation {
        let again = self.returning();
        Expectation {
            tokens: expected.tokens + again,
            high: expected.high + again,
            ..expected
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::session::Session;
    use crate::testing::Log;
    use crate::{Kind, Role};

    const SYSTEM: u64 = 6_000;
    const REMINDERS: u64 = 2_000;

    /// A log whose reports have shown what a token costs, and whose prompt held the reminders.
    fn begun() -> Log {
        let begin = Log::new().model("m").report(SYSTEM + REMINDERS);
        (1..=4).fold(begin, |log, n| {
            let log = log.result(&format!("first {n}"), "Bash", 1_000 + n);
            log.report(SYSTEM + REMINDERS + (1..=n).map(|n| 1_000 + n).sum::<u64>())
        })
    }

    /// A compaction, a prompt without the reminders, and one that has them again or not.
    fn epoch(log: Log, n: u64, again: u64) -> Log {
        let log = log.compact(12_000);
        let log = log.item(&format!("summary {n}"), Role::Container, Kind::Summary, 400);
        let log = log.report(SYSTEM + 400);
        let log = log.result(&format!("result {n}"), "Bash", 3_000 + n);
        log.report(SYSTEM + 400 + 3_000 + n + again)
    }

    fn predicted(session: &Session) -> Vec<u64> {
        let all = session.requests().iter();
        all.filter_map(|request| Some(request.predicted?.tokens))
            .collect()
    }

    #[test]
    fn what_came_again_after_a_reset_is_expected_after_the_next() {
        let log = epoch(epoch(begun(), 1, REMINDERS), 2, REMINDERS);
        let predicted = predicted(&log.session);
        assert_eq!(predicted[predicted.len() - 2..], [9_401, 11_402]);

        let log = log.compact(12_000);
        let log = log.item("summary", Role::Container, Kind::Summary, 400);
        let context = log.report(SYSTEM + 400).session.context();
        assert_eq!(context.used, SYSTEM + REMINDERS + 400);
        assert_eq!(context.known, SYSTEM + 400);
        assert!(context.low <= SYSTEM + 400, "it may stay away: {context:?}");
    }

    #[test]
    fn what_stayed_away_is_not_expected() {
        let log = epoch(epoch(begun(), 1, 0), 2, 0);
        let predicted = predicted(&log.session);
        assert_eq!(predicted[predicted.len() - 2..], [9_401, 9_402]);
    }
}
