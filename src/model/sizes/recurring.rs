//! Unlogged text that comes and goes: the tools of an MCP server that connects and disconnects, for one.
//!
//! No log has a record of it. A prompt is larger than its items explain, a later one smaller by as much, and so on:
//! such a part has a size, and the next prompt may have it or not.

use crate::event::Key;
use crate::sizes::calibration::Expectation;

/// The smallest change that is followed, in tokens: much else is as large as smaller ones.
const LEAST_CHANGE: f64 = 2_000.0;
/// The least size of a change, as a multiple of the error of the expected size.
const CLEAR_FACTOR: f64 = 2.0;
/// The largest difference between two sizes of one part, as a share of them.
const SIZE_TOLERANCE: f64 = 0.05;
/// Parts that have come and gone together this often are expected to do so again.
const RECURRING_TIMES: u32 = 3;
/// The most parts that are followed; the oldest is forgotten for a new one.
const MOST_PARTS: usize = 8;
/// A change that is more likely than this at the next request belongs to its 90 % interval.
const LIKELY_CHANCE: f64 = 0.05;
/// A change that is more likely than this is expected, if it was seen at least this many times.
const EXPECTED_CHANCE: f64 = 0.6;
const EXPECTED_TIMES: u32 = 4;

/// A part of the prompt that no log shows, and that was not always there.
#[derive(Debug, Clone, PartialEq)]
pub struct RecurringPart {
    /// Its mean size in tokens.
    pub tokens: u64,
    /// The number of times that it came.
    pub came: u32,
    /// The number of times that it went.
    pub went: u32,
    /// True if the last reported prompt had it; `None`: not known since a compaction.
    pub is_in: Option<bool>,
    /// Prompts since it was first seen that followed one without it, and one with it.
    followed: [u32; 2],
}

impl RecurringPart {
    fn changes(&self) -> u32 {
        self.came + self.went
    }

    fn recurs(&self) -> bool {
        self.changes() >= RECURRING_TIMES
    }

    /// Returns the probability that the next prompt differs: the share of earlier prompts after one of this kind that
    /// did.
    fn likelihood(&self, is_in: bool) -> f64 {
        f64::from(self.changed(is_in)) / f64::from(self.followed[usize::from(is_in)] + 1)
    }

    /// Returns the number of times that a prompt differed from one of this kind.
    fn changed(&self, is_in: bool) -> u32 {
        if is_in { self.went } else { self.came }
    }

    fn changes_often(&self, is_in: bool) -> bool {
        self.changed(is_in) >= EXPECTED_TIMES && self.likelihood(is_in) > EXPECTED_CHANCE
    }

    fn is_like(&self, size: f64, tolerance: f64) -> bool {
        let mean = self.tokens as f64;
        (mean - size).abs() <= tolerance.max(mean * SIZE_TOLERANCE)
    }

    fn change(&mut self, size: f64, came: bool) {
        let n = f64::from(self.changes());
        self.tokens = ((self.tokens as f64 * n + size) / (n + 1.0)).round() as u64;
        self.came += u32::from(came);
        self.went += u32::from(!came);
        self.is_in = Some(came);
    }
}

/// The parts of a session that come and go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recurring {
    parts: Vec<RecurringPart>,
    /// The last request that was noted.
    last: Option<Key>,
}

impl Recurring {
    /// Returns the parts that have shown that they recur, in the order in which they were first seen.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &RecurringPart> {
        self.parts.iter().filter(|part| part.recurs())
    }

    /// Takes in by how much the prompt of a request was larger than expected, in tokens, and what the error of that is.
    /// Nothing if it is the same request again, of which another line came.
    pub(crate) fn note(&mut self, request: Key, change: f64, tolerance: f64) {
        if self.last.replace(request) == Some(request) {
            return;
        }
        for part in &mut self.parts {
            if let Some(is_in) = part.is_in {
                let followed = &mut part.followed[usize::from(is_in)];
                *followed = followed.saturating_add(1);
            }
        }
        let (size, came) = (change.abs(), change > 0.0);
        if size < LEAST_CHANGE.max(CLEAR_FACTOR * tolerance) {
            return;
        }
        let alike =
            |part: &&mut RecurringPart| part.is_in != Some(came) && part.is_like(size, tolerance);
        if let Some(part) = self.parts.iter_mut().find(alike) {
            return part.change(size, came);
        }
        if self.parts.len() == MOST_PARTS {
            let oldest = self.parts.iter().position(|part| !part.recurs());
            self.parts.remove(oldest.unwrap_or(0));
        }
        self.parts.push(RecurringPart {
            tokens: size.round() as u64,
            came: u32::from(came),
            went: u32::from(!came),
            is_in: Some(came),
            followed: [0, 0],
        });
    }

    /// Notes that the context was compacted or cleared: the parts that came or went with that do not show.
    pub(crate) fn forget_presence(&mut self) {
        self.parts.iter_mut().for_each(|part| part.is_in = None);
    }

    /// Returns the expected size of the next prompt, with the parts that will have come or gone, and with room for
    /// those that may.
    pub(crate) fn adjust(&self, expected: Expectation) -> Expectation {
        let Expectation {
            mut tokens,
            mut low,
            mut high,
        } = expected;
        for part in self.parts() {
            if part.is_in != Some(false) && part.likelihood(true) > LIKELY_CHANCE {
                low = low.saturating_sub(part.tokens);
            }
            if part.is_in != Some(true) && part.likelihood(false) > LIKELY_CHANCE {
                high = high.saturating_add(part.tokens);
            }
            match part.is_in.filter(|is_in| part.changes_often(*is_in)) {
                Some(true) => tokens = tokens.saturating_sub(part.tokens),
                Some(false) => tokens = tokens.saturating_add(part.tokens),
                None => {}
            }
        }
        Expectation { tokens, low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts after these changes, one at each request.
    fn after(changes: &[f64]) -> Recurring {
        let mut recurring = Recurring::default();
        for (nth, change) in changes.iter().enumerate() {
            recurring.note(Key::new(nth as u64), *change, 100.0);
        }
        recurring
    }

    #[test]
    fn what_comes_and_goes_has_a_size() {
        let recurring = after(&[11_600.0, 300.0, -11_700.0, 11_500.0]);
        let parts: Vec<_> = recurring.parts().collect();
        assert_eq!(parts.len(), 1);
        let RecurringPart {
            tokens,
            came,
            went,
            is_in,
            ..
        } = *parts[0];
        assert_eq!((tokens, came, went, is_in), (11_600, 2, 1, Some(true)));
    }

    #[test]
    fn what_only_comes_or_only_goes_does_not_recur() {
        assert_eq!(after(&[5_000.0; 9]).parts().count(), 0);
        assert_eq!(after(&[-5_000.0; 9]).parts().count(), 0);
        assert_eq!(after(&[5_000.0, -9_000.0, 5_000.0]).parts().count(), 0);
    }

    #[test]
    fn another_line_of_a_request_changes_nothing() {
        let mut recurring = after(&[9_000.0, -9_000.0]);
        recurring.note(Key::new(1), -9_000.0, 100.0);
        assert_eq!(recurring.parts().count(), 0);
    }

    #[test]
    fn two_parts_are_told_apart_by_their_sizes() {
        let recurring = after(&[
            4_000.0, 11_000.0, -4_000.0, -11_000.0, 4_000.0, 11_000.0, -4_000.0,
        ]);
        let parts = recurring.parts().map(|part| (part.tokens, part.is_in));
        assert_eq!(
            parts.collect::<Vec<_>>(),
            [(4_000, Some(false)), (11_000, Some(true))]
        );
    }

    const USUAL: Expectation = Expectation {
        tokens: 50_000,
        low: 49_000,
        high: 51_000,
    };

    /// Returns the tokens that are expected after these changes, and their range, where nothing else would be
    /// [`USUAL`].
    fn foreseen(changes: &[f64]) -> (u64, u64, u64) {
        let Expectation { tokens, low, high } = after(changes).adjust(USUAL);
        (tokens, low, high)
    }

    #[test]
    fn the_range_has_room_for_what_is_likely() {
        let mut changes = vec![10_000.0, 0.0, 0.0, 0.0, -10_000.0, 0.0, 0.0, 10_000.0];
        assert_eq!(foreseen(&changes), (50_000, 39_000, 51_000));
        changes.extend([0.0, 0.0, -10_000.0]);
        assert_eq!(foreseen(&changes), (50_000, 49_000, 61_000));
        changes.extend([0.0; 100]);
        assert_eq!(after(&changes).adjust(USUAL), USUAL);
    }

    #[test]
    fn what_nearly_always_follows_is_expected() {
        let mut changes = Vec::new();
        for _ in 0..4 {
            changes.extend([0.0, 0.0, 0.0, 0.0, 10_000.0, -10_000.0]);
        }
        changes.extend([0.0, 0.0, 10_000.0]);
        assert_eq!(foreseen(&changes), (40_000, 39_000, 51_000));
    }

    #[test]
    fn after_a_compaction_a_part_may_be_there_or_not() {
        let mut recurring = after(&[10_000.0, -10_000.0, 10_000.0, -10_000.0]);
        recurring.forget_presence();
        let Expectation { tokens, low, high } = recurring.adjust(USUAL);
        assert_eq!((tokens, low, high), (50_000, 39_000, 61_000));
        recurring.note(Key::new(9), -10_000.0, 100.0);
        let is_in: Vec<_> = recurring.parts().map(|part| part.is_in).collect();
        assert_eq!(is_in, [Some(false)]);
    }
}
