//! Finds the most likely hypothesis about a session's deltas: whether thinking is sent back, and whether the
//! model's tokenizer is the one that the models table has.
//!
//! Each hypothesis expects a delta to be `scale` times its prior estimate, with an error in proportion to it.
//! How large that error is, is part of the hypothesis: a few deltas that fit to a token weigh more than many
//! that fit roughly. Single deltas that no hypothesis explains decide nothing (Cauchy).

/// One delta under one hypothesis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// What the prior expects, in tokens.
    pub(super) expected: f64,
    /// What is left for its items, in tokens.
    pub(super) reported: f64,
    /// The error that even the smallest delta has, in tokens.
    pub(super) floor: f64,
}

/// The best fit of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// What was reported, as a multiple of what the prior expects.
    pub(super) scale: f64,
    /// How likely the deltas are, as a logarithm.
    pub(super) likelihood: f64,
}

impl Fit {
    /// The fit with this scale.
    pub(super) fn with(scale: f64, points: &[Point]) -> Fit {
        let of = |error: &f64| points.iter().map(|p| p.likelihood(scale, *error)).sum();
        Fit {
            scale,
            likelihood: ERROR_SHARES
                .iter()
                .map(of)
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The best fit with a scale of its own; `spread` is the prior's 90 % error, `usual` the scale that is expected.
    /// `None`: no delta shows a scale.
    pub(super) fn free(points: &[Point], spread: f64, usual: f64) -> Option<Fit> {
        let mut ratios: Vec<(f64, f64)> = points.iter().filter_map(Point::ratio).collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = ratios.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
        let mut below = 0.0;
        let median = ratios.iter().find(|(_, weight)| {
            below += weight;
            below >= half
        });
        let scale = median?.0.clamp(1.0 / MOST_SCALE, MOST_SCALE);
        let fit = Fit::with(scale, points);
        Some(Fit {
            likelihood: fit.likelihood - (scale / usual).ln().abs() / spread.max(LEAST_SPREAD),
            ..fit
        })
    }
}

impl Point {
    /// The scale that it shows, and how well.
    fn ratio(&self) -> Option<(f64, f64)> {
        let shows = self.expected > self.floor && self.reported > 0.0;
        let weight = self.expected / (self.expected + 10.0 * self.floor);
        shows.then(|| (self.reported / self.expected, weight))
    }

    fn likelihood(&self, scale: f64, error: f64) -> f64 {
        let width = error * self.expected * scale + self.floor;
        let off = (self.reported - scale * self.expected) / width;
        -(off * off).ln_1p().min(MOST_SURPRISE) - width.ln()
    }
}

/// Errors of a hypothesis that are considered, as shares of an estimate.
const ERROR_SHARES: [f64; 4] = [0.01, 0.03, 0.1, 0.3];
/// The largest scale of a tokenizer, relative to its prior.
const MOST_SCALE: f64 = 2.5;
/// The least spread of a prior: none is believed to be more exact.
const LEAST_SPREAD: f64 = 0.05;
/// The most that a single delta makes a hypothesis less likely.
const MOST_SURPRISE: f64 = 8.0;
