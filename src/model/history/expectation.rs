//! Numbers that are expected, with their error.

/// An expected number of tokens with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expectation {
    /// The best guess.
    pub tokens: u64,
    /// One in twenty is below.
    pub low: u64,
    /// One in twenty is above.
    pub high: u64,
}

impl Expectation {
    /// Returns a known base with an estimate on top of it, and the errors of that below and above it.
    pub fn between(base: u64, estimate: f64, [below, above]: [f64; 2]) -> Expectation {
        let at = |x: f64| base + x.max(0.0).round() as u64;
        Expectation {
            tokens: at(estimate),
            low: at(estimate - below),
            high: at(estimate + above),
        }
    }
}
