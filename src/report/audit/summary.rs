//! Summaries of many predictions.

use derive_more::AddAssign;
use model::outlook::estimators::{Decision, ESTIMATORS, Estimator, Prediction};
use serde::Serialize;
use std::collections::BTreeMap;

/// Predictions, reduced to the 56 bytes that a summary needs of each, and decisions.
#[derive(Debug, Default)]
pub struct Tally {
    errors: [Vec<f32>; ESTIMATORS],
    half_widths: Vec<f32>,
    covered: usize,
    growth: u64,
    unlogged: u64,
    decisions: Decisions,
    wrong: [WrongDecisions; ESTIMATORS],
}

impl Tally {
    /// Returns the number of predictions.
    pub fn requests(&self) -> usize {
        self.half_widths.len()
    }

    /// Adds a decision.
    pub fn decide(&mut self, decision: &Decision) {
        let Decisions { due, not_due } = &mut self.decisions;
        *if decision.is_due { due } else { not_due } += 1;
        for (wrong, compacts) in self.wrong.iter_mut().zip(decision.compacts) {
            match (compacts, decision.is_due) {
                (true, false) => wrong.false_alarms += 1,
                (false, true) => wrong.missed += 1,
                _ => {}
            }
        }
    }

    /// Adds a prediction.
    pub fn add(&mut self, prediction: &Prediction) {
        for (errors, estimator) in self.errors.iter_mut().zip(Estimator::ALL) {
            errors.push(prediction.error(estimator) as f32);
        }
        self.half_widths.push(prediction.half_width() as f32);
        self.covered += usize::from(prediction.is_covered());
        self.growth = self.growth.saturating_add(prediction.growth);
        self.unlogged = self.unlogged.saturating_add(prediction.unlogged);
    }
}

/// The errors of each estimator. Numbers are shares unless noted otherwise, and NaN without any request.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The number of requests that were predicted.
    pub requests: usize,
    /// Each estimator's errors, by its name.
    pub estimators: BTreeMap<&'static str, Errors>,
    /// The decisions that there were to make.
    pub decisions: Decisions,
    /// The share of reports inside the 90 % interval of `calibrated`.
    pub covered: f64,
    /// Half the width of that interval, as a share of the prompt.
    pub width: Width,
    /// The share of all growth of prompts that no logged item explains: the growth of the system role between
    /// consecutive reports, divided by that of the prompts.
    pub unexplained: f64,
}

/// The number of decisions on whether to compact: see [`model::outlook::estimators::Decision`].
#[derive(Debug, Clone, Copy, Default, Serialize, AddAssign)]
pub struct Decisions {
    /// The decisions where the trigger was reached.
    pub due: usize,
    /// The decisions where it was not reached.
    pub not_due: usize,
}

/// The number of decisions that an estimator would have taken otherwise.
#[derive(Debug, Clone, Copy, Default, AddAssign)]
struct WrongDecisions {
    false_alarms: usize,
    missed: usize,
}

/// Errors as shares of the reported prompt, and wrong decisions.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Errors {
    /// Percentiles of the errors' sizes.
    pub p50: f64,
    #[allow(missing_docs)]
    pub p90: f64,
    #[allow(missing_docs)]
    pub p95: f64,
    #[allow(missing_docs)]
    pub p99: f64,
    /// The mean error; negative: the predictions were too small.
    pub bias: f64,
    /// The largest error's size.
    pub worst: f64,
    /// The number of times it would have compacted below the trigger.
    pub false_alarms: usize,
    /// The false alarms as a share of the decisions that were not due; NaN if there were none.
    pub false_alarm_rate: f64,
    /// The number of times it would not have compacted although the trigger was reached.
    pub missed: usize,
    /// The missed ones as a share of the decisions that were due; NaN if there were none.
    pub missed_rate: f64,
}

/// Percentiles of half the width of intervals.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Width {
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
}

impl Summary {
    /// One summary of all these tallies.
    pub fn of(tallies: &[&Tally]) -> Summary {
        let requests: usize = tallies.iter().map(|tally| tally.requests()).sum();
        let all = |part: &dyn Fn(&Tally) -> &[f32]| -> Vec<f32> {
            let parts: Vec<&[f32]> = tallies.iter().map(|tally| part(tally)).collect();
            parts.concat()
        };
        let mut decisions = Decisions::default();
        tallies
            .iter()
            .for_each(|tally| decisions += tally.decisions);
        let estimators = Estimator::ALL.map(|estimator| {
            let errors = all(&|tally| &tally.errors[estimator as usize]);
            let mut wrong = WrongDecisions::default();
            let each = tallies.iter();
            each.for_each(|tally| wrong += tally.wrong[estimator as usize]);
            (estimator.name(), Errors::of(errors, wrong, decisions))
        });
        let mut widths = all(&|tally| &tally.half_widths);
        widths.sort_unstable_by(f32::total_cmp);
        let covered: usize = tallies.iter().map(|tally| tally.covered).sum();
        let sum = |part: fn(&Tally) -> u64| {
            let parts = tallies.iter().map(|tally| part(tally));
            parts.fold(0, u64::saturating_add) as f64
        };
        let growth = sum(|tally| tally.growth);
        Summary {
            requests,
            estimators: estimators.into(),
            decisions,
            covered: covered as f64 / requests as f64,
            width: Width {
                p50: quantile(&widths, 0.5),
                p95: quantile(&widths, 0.95),
            },
            unexplained: if growth > 0.0 {
                sum(|tally| tally.unlogged) / growth
            } else {
                0.0
            },
        }
    }

    /// Returns the errors of one estimator.
    pub fn errors(&self, estimator: Estimator) -> Option<&Errors> {
        self.estimators.get(estimator.name())
    }
}

impl Errors {
    fn of(errors: Vec<f32>, wrong: WrongDecisions, decisions: Decisions) -> Errors {
        let sum: f64 = errors.iter().copied().map(f64::from).sum();
        let bias = sum / errors.len() as f64;
        let mut sizes: Vec<f32> = errors.into_iter().map(f32::abs).collect();
        sizes.sort_unstable_by(f32::total_cmp);
        Errors {
            p50: quantile(&sizes, 0.5),
            p90: quantile(&sizes, 0.9),
            p95: quantile(&sizes, 0.95),
            p99: quantile(&sizes, 0.99),
            bias,
            worst: quantile(&sizes, 1.0),
            false_alarms: wrong.false_alarms,
            false_alarm_rate: wrong.false_alarms as f64 / decisions.not_due as f64,
            missed: wrong.missed,
            missed_rate: wrong.missed as f64 / decisions.due as f64,
        }
    }
}

/// Returns the smallest value that at least this share of all values does not exceed; NaN (in JSON null) without
/// values.
fn quantile(sorted: &[f32], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    let value = sorted.get(rank.max(1) - 1);
    value.copied().map_or(f64::NAN, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::session::context::Basis;

    fn prediction(prompt: u64, expected: u64, half: u64) -> Prediction {
        Prediction {
            request: 0,
            prompt,
            expected: [expected; ESTIMATORS],
            interval: (expected - half, expected + half),
            delta: Basis::Delta,
            growth: 100,
            unlogged: 10,
        }
    }

    #[test]
    fn percentiles_are_of_what_was_seen() {
        let sorted: Vec<f32> = (1..=20_u8).map(f32::from).collect();
        let at = |share| quantile(&sorted, share);
        assert_eq!(
            [at(0.0), at(0.5), at(0.95), at(1.0)],
            [1.0, 10.0, 19.0, 20.0]
        );
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn a_summary_is_of_all_its_parts() {
        let mut parts = [Tally::default(), Tally::default()];
        parts[0].add(&prediction(1000, 900, 50)); // a tenth too little, outside
        parts[0].add(&prediction(1000, 1000, 50));
        parts[1].add(&prediction(1000, 1050, 50)); // a twentieth too much, inside
        parts[1].add(&prediction(1000, 1000, 100));
        let all = Summary::of(&[&parts[0], &parts[1]]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        let delta = all.errors(Estimator::Delta);
        assert!(delta.is_some_and(|e| near(e.worst, 0.1) && near(e.bias, -0.0125)));
        assert!(delta.is_some_and(|e| near(e.p50, 0.0) && near(e.p90, 0.1)));
        assert!(near(all.covered, 0.75) && near(all.unexplained, 0.1));
        assert!(near(all.width.p50, 0.05) && near(all.width.p95, 0.1));
        assert_eq!(Summary::of(&[&parts[1]]).requests, 2);
    }

    #[test]
    fn no_request_no_number() {
        let json = serde_json::to_value(Summary::of(&[])).unwrap_or_default();
        assert_eq!(json["requests"], 0);
        assert!(json["estimators"]["delta"]["p50"].is_null() && json["covered"].is_null());
    }
}
