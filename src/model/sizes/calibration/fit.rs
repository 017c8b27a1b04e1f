//! Fits the prices of a model's tokens and framing to the attributed deltas.
//!
//! Its inner loops are most of what a long report costs, so they are inlined across the units of a build, and written
//! without `zip`, whose length is otherwise a call.

use super::classes::ClassIx;
use super::{AttributedDelta, Calibration, OUTLIER_RESIDUALS, PARTS, Parts, dot};

impl Calibration {
    /// Fits the prices. Each report is a fit over all deltas in memory: it is most of what reading with an exact count
    /// costs beside counting itself.
    pub(super) fn fit(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        let thinking = self.thinking.index();
        let mut points = Vec::with_capacity(seen.len());
        for attributed in &seen {
            let reported = attributed.reported[thinking];
            if attributed.items > 0 && reported > 0.0 {
                points.push(Point {
                    attributed,
                    reported,
                    extras: self.classes.extras(&attributed.classes),
                    per_yard: attributed.yard.recip(),
                    per_item: (attributed.classes.len().max(1) as f64).recip(),
                });
            }
        }
        for _ in 0..FIT_ROUNDS {
            self.fit_prices(&points);
            self.fit_classes(&points);
            for point in &mut points {
                point.extras = self.classes.extras(&point.attributed.classes);
            }
        }
        self.fit_errors(&points);
        self.seen = seen;
    }

    /// Fits the prices by weighted least squares, each price pulled towards the prior's as by [`PRIOR_WEIGHT`] deltas
    /// of a typical size.
    fn fit_prices(&mut self, points: &[Point<'_>]) {
        let prior = self.prior.price_times(self.scale);
        let yard = self.yard(TYPICAL_DELTA[0] * prior[0], 1);
        let mut left = [[0.0; PARTS]; PARTS];
        let mut right = [0.0; PARTS];
        for (i, typical) in TYPICAL_DELTA.into_iter().enumerate() {
            left[i][i] = PRIOR_WEIGHT * (typical / yard).powi(2);
            right[i] = left[i][i] * prior[i];
        }
        for point in points {
            let parts = point.attributed.parts;
            let weight = huber(point.residual(self.price)) * point.per_yard * point.per_yard;
            let reported = point.reported - point.extras;
            for (i, row) in left.iter_mut().enumerate() {
                // Most deltas have no part of some kind.
                if parts[i] == 0.0 {
                    continue;
                }
                let weight = weight * parts[i];
                for (j, cell) in row[..=i].iter_mut().enumerate() {
                    *cell += weight * parts[j];
                }
                right[i] += weight * reported;
            }
        }
        // The equations are symmetric: half of the sums are enough.
        for i in 1..PARTS {
            let (above, row) = left.split_at_mut(i);
            for (upper, lower) in above.iter_mut().zip(row[0]) {
                upper[i] = lower;
            }
        }
        let Some([token, item, call, digit, wide, mark]) = solve(left, right) else {
            return;
        };
        self.price = [
            token.clamp(0.3 * prior[0], 3.0 * prior[0]),
            item.clamp(0.0, MOST_FRAMING),
            call.clamp(0.0, MOST_FRAMING),
            digit.clamp(-MOST_SKEW, MOST_SKEW),
            wide.clamp(-MOST_SKEW, MOST_SKEW),
            mark.clamp(-MOST_MARK_SKEW, MOST_MARK_SKEW),
        ];
    }

    /// Fits the cost of each class to the rest that the prices leave, pulled towards the prior's.
    fn fit_classes(&mut self, points: &[Point<'_>]) {
        let usual = self.yard(TYPICAL_DELTA[0] * self.prior.per_token, 1);
        let pull = CLASS_PRIOR_WEIGHT / (usual * usual);
        let mut sums: Vec<(ClassIx, f64, f64)> = Vec::new();
        for point in points {
            let AttributedDelta { classes, yard, .. } = point.attributed;
            let off = point.residual(self.price);
            let weight = huber(off) * point.per_yard * point.per_yard;
            // The error of the delta belongs to its items in equal parts.
            let share = off * yard * point.per_item;
            for class in classes {
                let slot = self.classes.slot(*class, sums.len());
                if slot == sums.len() {
                    sums.push((*class, 0.0, 0.0));
                }
                let (_, sum, n) = &mut sums[slot];
                *sum += weight * (share + self.classes.learned(*class));
                *n += weight;
            }
        }
        for (class, sum, n) in sums {
            let expected = self.classes.prior(class);
            let extra = (sum + pull * expected) / (n + pull);
            self.classes
                .learn(class, extra.clamp(-MOST_FRAMING, MOST_FRAMING));
        }
    }

    /// Computes the distances of the attributed deltas from their estimates.
    fn fit_errors(&mut self, points: &[Point<'_>]) {
        let residuals = points.iter().map(|point| point.residual(self.price).abs());
        let mut residuals: Vec<f64> = residuals.collect();
        if residuals.is_empty() {
            (self.p90, self.median) = (1.0, 1.0 / OUTLIER_RESIDUALS);
            return;
        }
        // The prior's own quantiles count as some residuals do.
        let n = residuals.len() as f64;
        let trust = n / (n + 2.0 * PRIOR_WEIGHT);
        let mut quantile = |q: f64| {
            let at = ((n * q) as usize).min(residuals.len() - 1);
            *residuals.select_nth_unstable_by(at, f64::total_cmp).1
        };
        self.p90 = trust * quantile(0.9) + (1.0 - trust);
        self.median = trust * quantile(0.5) + (1.0 - trust) / OUTLIER_RESIDUALS;
    }
}

/// An attributed delta, as a fit uses it.
struct Point<'s> {
    attributed: &'s AttributedDelta,
    /// The tokens that were reported for it, under the present hypothesis about thinking.
    reported: f64,
    /// The cost of its classes, as far as it was learned.
    extras: f64,
    /// 1 by its yard, and by the number of its items: a division takes as long as all else that a point needs.
    per_yard: f64,
    per_item: f64,
}

impl Point<'_> {
    /// Returns the distance from its estimate, in yards.
    #[inline]
    fn residual(&self, price: Parts) -> f64 {
        (self.reported - dot(self.attributed.parts, price) - self.extras) * self.per_yard
    }
}

/// Returns the weight of a residual, which is in yards: large residuals weigh less.
#[inline]
fn huber(residual: f64) -> f64 {
    if residual.abs() > HUBER_YARDS {
        HUBER_YARDS / residual.abs()
    } else {
        1.0
    }
}

/// Solves linear equations by elimination; `None` where they do not determine the unknowns.
fn solve(mut left: [Parts; PARTS], mut right: Parts) -> Option<Parts> {
    for i in 0..PARTS {
        // The prior's share of the diagonal keeps it away from 0; no pivoting is needed.
        let pivot = left[i][i];
        if !pivot.is_finite() || pivot.abs() < f64::MIN_POSITIVE {
            return None;
        }
        for row in i + 1..PARTS {
            let factor = left[row][i] / pivot;
            let upper = left[i];
            for (cell, above) in left[row].iter_mut().zip(upper).skip(i) {
                *cell -= factor * above;
            }
            right[row] -= factor * right[i];
        }
    }
    let mut x = [0.0; PARTS];
    for i in (0..PARTS).rev() {
        let known: f64 = (i + 1..PARTS).map(|j| left[i][j] * x[j]).sum();
        x[i] = (right[i] - known) / left[i][i];
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// The weight of the models table's prices, in attributed deltas.
const PRIOR_WEIGHT: f64 = 5.0;
/// The weight of the models table's price of a class, in attributed deltas.
const CLASS_PRIOR_WEIGHT: f64 = 6.0;
/// Residuals beyond this many yards weigh less (Huber).
const HUBER_YARDS: f64 = 0.35;
/// Rounds of re-weighting: the weights attribute within three.
const FIT_ROUNDS: usize = 3;
/// A typical delta, which represents the prior.
const TYPICAL_DELTA: Parts = [400.0, 1.0, 1.0, 200.0, 200.0, 50.0];
/// The most that a mark costs more or less than its local count.
const MOST_MARK_SKEW: f64 = 3.0;
/// The most that a digit or letter costs more or less than its local count.
const MOST_SKEW: f64 = 1.0;
/// The largest framing, in tokens.
const MOST_FRAMING: f64 = 200.0;
