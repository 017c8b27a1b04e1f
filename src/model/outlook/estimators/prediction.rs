//! The prediction that each estimator would have made before a report.

use super::estimator::{ESTIMATORS, Estimator};
use crate::history::RequestIx;
use crate::session::context::Basis;

/// The size that each estimator expected of one request's prompt, and the size that was reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The request.
    pub request: RequestIx,
    /// The reported size, in tokens; never 0.
    pub prompt: u64,
    /// The expected sizes, in the order of [`Estimator::ALL`].
    pub expected: [u64; ESTIMATORS],
    /// The 90 % interval of [`Estimator::Calibrated`]: its lower and its upper end.
    pub interval: (u64, u64),
    /// The way in which the number of [`Estimator::Delta`] is known.
    pub delta: Basis,
    /// The growth of the prompt since the report that it was attributed against.
    pub growth: u64,
    /// The part of that growth that no logged item explains: it went to the system role.
    pub unlogged: u64,
}

impl Prediction {
    /// Returns the error of an estimator as a share of the reported size: below 0, it expected too little.
    pub fn error(&self, estimator: Estimator) -> f64 {
        let expected = self.expected[estimator as usize];
        (expected as f64 - self.prompt as f64) / self.prompt as f64
    }

    /// Returns true if the report fell inside the 90 % interval.
    pub fn is_covered(&self) -> bool {
        (self.interval.0..=self.interval.1).contains(&self.prompt)
    }

    /// Returns half the width of the 90 % interval, as a share of the prompt.
    pub fn half_width(&self) -> f64 {
        let width = self.interval.1.saturating_sub(self.interval.0);
        width as f64 / 2.0 / self.prompt as f64
    }
}
