//! What each estimator would have predicted before a report.

use super::estimator::{ESTIMATORS, Estimator};
use crate::context::Basis;
use crate::history::RequestIx;

/// What each estimator expected of one request's prompt, and what was reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The request.
    pub request: RequestIx,
    /// What was reported, in tokens; never 0.
    pub prompt: u64,
    /// What was expected of it, in the order of [`Estimator::ALL`].
    pub expected: [u64; ESTIMATORS],
    /// The 90 % interval of [`Estimator::Calibrated`]: its lower and its upper end.
    pub interval: (u64, u64),
    /// How the number of [`Estimator::Delta`] is known.
    pub delta: Basis,
    /// What the prompt grew by since the report it was settled against.
    pub growth: u64,
    /// The part of that growth that no logged item explains: it went to the system role.
    pub unlogged: u64,
}

impl Prediction {
    /// What an estimator expected beyond what was reported, as a share of that: below 0, too little.
    pub fn error(&self, estimator: Estimator) -> f64 {
        let expected = self.expected[estimator as usize];
        (expected as f64 - self.prompt as f64) / self.prompt as f64
    }

    /// Whether the report fell inside the 90 % interval.
    pub fn is_covered(&self) -> bool {
        (self.interval.0..=self.interval.1).contains(&self.prompt)
    }

    /// Half the width of the 90 % interval, as a share of the prompt.
    pub fn half_width(&self) -> f64 {
        let width = self.interval.1.saturating_sub(self.interval.0);
        width as f64 / 2.0 / self.prompt as f64
    }
}
