//! Judges what the deltas of a session show beyond the price of a token: how the model's thinking is treated, and
//! whether the tokenizer is the one that the models table has.

use super::verdict::{Fit, Point, share_nearer};
use super::{AttributedDelta, Calibration};
use crate::sizes::thinking::Thinking;

impl Calibration {
    /// Notes that the log shows no thinking where some was reported: the client cannot send it back. Returns whether
    /// what was attributed before is to be attributed again.
    pub(crate) fn note_hidden_thinking(&mut self) -> bool {
        self.hidden = true;
        let is_other = self.judge(0.0);
        if is_other {
            self.fit();
        }
        is_other
    }

    /// Finds the most likely hypothesis about the deltas. Another rule for thinking must be more likely by `margin`.
    /// Returns whether the hypothesis has changed.
    pub(super) fn judge(&mut self, margin: f64) -> bool {
        let thinking = self.thinking;
        let mut newest = self.seen.iter().rev().take(JUDGED_DELTAS);
        // Where no delta depends on thinking, hypotheses differ by less than what is decisive.
        if margin < DECISIVE_MARGIN || newest.any(AttributedDelta::depends_on_thinking) {
            let fits = Thinking::ALL.map(|thinking| self.best_fit(thinking));
            let likelihood = |of: Thinking| fits[of.index()].likelihood;
            for other in Thinking::ALL {
                if likelihood(other) > likelihood(self.thinking) + margin {
                    self.thinking = other;
                }
            }
        }
        if self.seen.len() > JUDGED_DELTAS {
            // The cost of a token is learned by now.
            self.doubt = 0.0;
            return self.thinking != thinking;
        }
        let (usual, free) = self.fits(self.thinking);
        let gain = free.likelihood - usual.likelihood;
        let is_far = (free.scale / self.usual).ln().abs() > SCALE_DISTANCE * self.prior.spread;
        let needed = if self.scale == self.usual {
            DECISIVE_SCALE_MARGIN
        } else {
            -DECISIVE_SCALE_MARGIN
        };
        self.scale = if is_far && gain > needed {
            free.scale
        } else {
            self.usual
        };
        self.doubt = if is_far && gain > DOUBT_MARGIN {
            (free.scale - self.scale).abs()
        } else {
            0.0
        };
        let is_other_scale = (self.scale / self.attributed_scale).ln().abs() > SCALE_CHANGE;
        if is_other_scale {
            self.attributed_scale = self.scale;
        }
        self.thinking != thinking || is_other_scale
    }

    /// Returns the cost of a token of text by the newest deltas, as a multiple of the models table's price. It is the
    /// table's own, 1, unless another is far more likely and nearly all deltas are nearer to that one. `None`: there
    /// are too few deltas to decide.
    pub(crate) fn shown_scale(&self) -> Option<f64> {
        let points = self.points(self.thinking);
        let table = Fit::with(1.0, &points);
        let free = Fit::free(&points, self.prior.spread, 1.0).unwrap_or(table);
        let gain = free.likelihood - table.likelihood;
        if gain > DECISIVE_SCALE_MARGIN && share_nearer(&points, free.scale) >= NEARER {
            Some(free.scale)
        } else {
            let fits = gain <= 0.0 || self.seen.len() >= DECIDING_DELTAS;
            fits.then_some(1.0)
        }
    }

    /// Returns the fit of the expected price to the newest deltas under this treatment of thinking, and the best fit of
    /// any price.
    fn fits(&self, thinking: Thinking) -> (Fit, Fit) {
        let points = self.points(thinking);
        let usual = Fit::with(self.usual, &points);
        let free = Fit::free(&points, self.prior.spread, self.usual).unwrap_or(usual);
        (usual, free)
    }

    /// Returns the best fit of the hypotheses with this rule for thinking.
    fn best_fit(&self, thinking: Thinking) -> Fit {
        let (usual, free) = self.fits(thinking);
        let best = if free.likelihood > usual.likelihood {
            free
        } else {
            usual
        };
        // The table's word is worth some deltas; where it has none, what the log shows.
        let against = match (self.prior.thinking, self.hidden) {
            (Thinking::Stays, true) if thinking != Thinking::Never => HIDDEN_PENALTY,
            (Thinking::Stays, true) => 0.0,
            (Thinking::Stays, false) if thinking != Thinking::Stays => UNLISTED_PENALTY,
            (table, _) if thinking != table => TABLE_PENALTY,
            _ => 0.0,
        };
        Fit {
            likelihood: best.likelihood - against,
            ..best
        }
    }

    /// Returns the newest deltas, with what is left for their items if this becomes of thinking.
    fn points(&self, thinking: Thinking) -> Vec<Point> {
        let point = |d: &AttributedDelta| Point {
            expected: d.expected,
            reported: d.reported[thinking.index()],
            floor: self.prior.spread_floor / 2.0 * (d.items.max(1) as f64).sqrt(),
        };
        let newest = self.seen.iter().rev().take(JUDGED_DELTAS);
        newest.map(point).collect()
    }
}

/// The number of the newest deltas from which the most likely hypothesis is found.
const JUDGED_DELTAS: usize = 40;
/// The margin of likelihood, as a logarithm, with which a hypothesis replaces another.
pub(super) const DECISIVE_MARGIN: f64 = 3.0;
const DECISIVE_SCALE_MARGIN: f64 = 4.0;
/// The margin of likelihood with which a free scale widens the interval of expected sizes.
const DOUBT_MARGIN: f64 = 1.0;
/// The penalties of a hypothesis, as logarithms: if it contradicts the models table; if the table says nothing of it;
/// if it sends back thinking that the log does not show.
const TABLE_PENALTY: f64 = 2.5;
const UNLISTED_PENALTY: f64 = 1.5;
const HIDDEN_PENALTY: f64 = 1.0;
/// The least share of deltas that are nearer to a price than to that of the table.
const NEARER: f64 = 0.8;
/// So many deltas that do not show another price show that the table is right.
const DECIDING_DELTAS: usize = 8;
/// A scale this far from its prior, as a share of the prior's 90 % error, shows another tokenizer.
const SCALE_DISTANCE: f64 = 0.5;
/// The change of the scale, as a logarithm, above which deltas are attributed again.
const SCALE_CHANGE: f64 = 0.05;
