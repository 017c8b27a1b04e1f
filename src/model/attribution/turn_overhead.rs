//! Unlogged text that comes with each turn of the user.
//!
//! Some builds of Claude Code add the changes of files to each turn, and log none of that (2.1.42: 900 to 15,000 tokens).
//! The first prompt of a turn is larger than its items explain, by about as much as that of the turn before.

use super::Attribution;
use crate::event::Key;
use crate::expectation::Expectation;
use crate::history::RequestIx;

/// The smallest excess that is expected again, in tokens: less is lost in the error of the items.
const LEAST_EXCESS: u64 = 500;

/// By how much the first prompts of the newest two turns were larger than expected, in tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnOverhead {
    newest: u64,
    before: u64,
    /// The last request that was noted.
    last: Option<Key>,
}

impl TurnOverhead {
    /// Takes in by how much a prompt was larger than its items explain, in tokens. Nothing unless it is a turn's first one,
    /// or if it is the same request again, of which another line came.
    pub(super) fn note(&mut self, request: Key, excess: f64, begins_turn: bool) {
        if begins_turn && self.last.replace(request) != Some(request) {
            self.before = std::mem::replace(&mut self.newest, excess.max(0.0).round() as u64);
        }
    }

    /// Returns the expected size of the next prompt: a turn's first one with what both of the last two brought.
    pub(super) fn adjust(&self, expected: Expectation, begins_turn: bool) -> Expectation {
        let usual = self.newest.min(self.before);
        if !begins_turn || usual < LEAST_EXCESS {
            return expected;
        }
        let most = self.newest.max(self.before);
        Expectation {
            tokens: expected.tokens.saturating_add(usual),
            high: expected.high.saturating_add(most),
            ..expected
        }
    }
}

impl Attribution {
    /// Returns true if a request is the first of its turn since the report before it.
    pub(super) fn begins_turn(&self, ix: RequestIx, before: RequestIx) -> bool {
        self.requests[ix].turn != self.requests[before].turn
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Log;
    use crate::{Kind, Role};

    /// Returns the error of what was expected of each turn's first prompt, which grows by its text and these tokens.
    fn errors(unlogged: &[u64]) -> Vec<i64> {
        let mut size = 20_000;
        let mut log = Log::new().model("m").report(size);
        for (n, unlogged) in unlogged.iter().enumerate() {
            log = log.turn(&format!("u{n}"), 100);
            size += 130 + unlogged;
            log = log.report(size).result(&format!("r{n}"), "Read", 400);
            size += 480;
            log = log.report(size);
        }
        let requests = log.session.requests().iter();
        let of_turns = requests.skip(1).step_by(2);
        let error = |expected: u64, prompt: u64| expected as i64 - prompt as i64;
        let errors = of_turns.map(|r| error(r.predicted.unwrap().tokens, r.prompt));
        errors.collect()
    }

    #[test]
    fn what_two_turns_brought_is_expected_of_the_next() {
        let errors = errors(&[3_000, 3_000, 3_000, 3_200, 0, 3_000]);
        let is_near = |error: i64, of: i64| (error - of).abs() < 300;
        assert!(is_near(errors[0], -3_000) && is_near(errors[1], -3_000));
        assert!(is_near(errors[2], 0) && is_near(errors[3], -200));
        // One without it is a surprise; then it is no longer expected.
        assert!(is_near(errors[4], 3_000) && is_near(errors[5], -3_000));
    }

    #[test]
    fn within_a_turn_it_is_not_expected() {
        let log = Log::new().model("m").report(20_000);
        let log = log.turn("a", 100).report(23_130);
        let log = log.turn("b", 100).report(26_260);
        let log = log
            .item("r", Role::Tool, Kind::ToolResult, 400)
            .report(26_700);
        let newest = log.session.requests().last().unwrap().predicted.unwrap();
        assert!(newest.tokens < 27_000, "{newest:?}");
    }
}
