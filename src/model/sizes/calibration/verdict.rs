//! Finds the most likely hypothesis about a session's deltas: whether thinking is sent back, and whether the
//! model's tokenizer is the one that the models table has.
//!
//! Each hypothesis expects a delta to be `scale` times its prior estimate, with an error in proportion to it.
//! How large that error is, is part of the hypothesis: a few deltas that fit to a token weigh more than many
//! that fit roughly. Single deltas that no hypothesis explains decide nothing (Cauchy).

/// One delta under one hypothesis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// The tokens that the prior expects.
    pub(super) expected: f64,
    /// The tokens that are left for its items.
    pub(super) reported: f64,
    /// The error that even the smallest delta has, in tokens.
    pub(super) floor: f64,
}

/// The best fit of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// The reported tokens, as a multiple of those that the prior expects.
    pub(super) scale: f64,
    /// The likelihood of the deltas, as a logarithm.
    pub(super) likelihood: f64,
}

impl Fit {
    /// Returns the fit with this scale.
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

    /// Returns the best fit with a scale of its own; `spread` is the prior's 90 % error, `usual` the scale that is
    /// expected. `None`: no delta shows a scale.
    pub(super) fn free(points: &[Point], spread: f64, usual: f64) -> Option<Fit> {
        let mut ratios: Vec<(f64, f64)> = points.iter().filter_map(Point::ratio).collect();
        let scale = median(&mut ratios)?;
        let off = ratios
            .iter()
            .map(|(ratio, weight)| ((ratio / scale).ln().abs(), *weight));
        let is_one = median(&mut off.collect::<Vec<_>>())? <= MOST_SCATTER;
        let is_a_tokenizer = (1.0 / MOST_SCALE..=MOST_SCALE).contains(&scale);
        if !is_one || !is_a_tokenizer {
            return None;
        }
        let fit = Fit::with(scale, points);
        Some(Fit {
            likelihood: fit.likelihood - (scale / usual).ln().abs() / spread.max(LEAST_SPREAD),
            ..fit
        })
    }
}

/// Returns the weighted median of values with their weights; `None`: there is none.
fn median(values: &mut [(f64, f64)]) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let median = values.iter().find(|(_, weight)| {
        below += weight;
        below >= half
    });
    median.map(|(value, _)| *value)
}

/// Returns the share of deltas, by weight, that are nearer to this scale than to 1.
pub(super) fn share_nearer(points: &[Point], scale: f64) -> f64 {
    let ratios: Vec<(f64, f64)> = points.iter().filter_map(Point::ratio).collect();
    let is_nearer = |ratio: f64| (ratio / scale).ln().abs() < ratio.ln().abs();
    let nearer = ratios.iter().filter(|(ratio, _)| is_nearer(*ratio));
    let all: f64 = ratios.iter().map(|(_, weight)| weight).sum();
    nearer.map(|(_, weight)| weight).sum::<f64>() / all.max(f64::MIN_POSITIVE)
}

impl Point {
    /// Returns the scale that it shows, and how well.
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
/// The most by which half of the deltas may be off a scale, as a logarithm: those of a tokenizer agree. Where text comes
/// that is not logged, each has another ratio.
const MOST_SCATTER: f64 = 0.4;
/// The least spread of a prior: none is believed to be more exact.
const LEAST_SPREAD: f64 = 0.05;
/// The most that a single delta makes a hypothesis less likely.
const MOST_SURPRISE: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// The scale that these deltas show, each `(expected, reported)`.
    fn scale(deltas: &[(f64, f64)]) -> Option<f64> {
        let points = deltas.iter().map(|(expected, reported)| Point {
            expected: *expected,
            reported: *reported,
            floor: 10.0,
        });
        let points: Vec<Point> = points.collect();
        Fit::free(&points, 0.2, 1.0).map(|fit| fit.scale)
    }

    #[test]
    fn deltas_that_agree_show_a_scale() {
        let deltas = [
            (400.0, 600.0),
            (900.0, 1_300.0),
            (300.0, 460.0),
            (500.0, 4_000.0),
        ];
        assert_eq!(scale(&deltas), Some(1.5));
    }

    #[test]
    fn deltas_with_unlogged_text_show_none() {
        let each_another = [
            (400.0, 420.0),
            (400.0, 700.0),
            (400.0, 1_300.0),
            (400.0, 3_000.0),
        ];
        assert_eq!(scale(&each_another), None);
        let beyond_any_tokenizer = [(400.0, 1_600.0), (300.0, 1_250.0), (900.0, 3_600.0)];
        assert_eq!(scale(&beyond_any_tokenizer), None);
    }
}
