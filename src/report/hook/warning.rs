//! Warnings of a context that fills up.

use crate::line::LineSession;
use crate::line::values::Values;
use crate::line::words;
use integrations::hook::HookMessage;
use model::threshold::{OVERSIZED, Threshold};

/// The share by which a context has to fall below a threshold before its next warning. Estimates move up and down.
const SLACK: f64 = 0.05;
/// The template of a warning.
const WARNING: &str =
    "context {percent}[; largest: {largest}][; {requests:short} left][; compacts {next}]";

/// The thresholds of the warnings, and their recipients.
#[derive(Debug, Clone, PartialEq)]
pub struct Warnings {
    /// Shares of the trigger, or of the window where there is none, the smallest first: once for each that is passed.
    pub shares: Vec<f64>,
    /// True if the model gets the warning too.
    pub tells_model: bool,
    /// From this size on a prompt is not sent. A share is one of the trigger.
    pub block_at: Option<Threshold>,
}

impl Warnings {
    /// Returns the warning for a session. `warned` has the thresholds that were warned of, and gets the new ones.
    pub(super) fn say(&self, shown: &LineSession, warned: &mut Vec<f64>) -> Option<HookMessage> {
        let mut values = Values::of(shown, OVERSIZED);
        if !values.has_begun {
            return None;
        }
        let (filled, end) = values.filled();
        let is_new = self.pass(filled as f64 / end.max(1) as f64, warned);
        let sentence = |values: &Values| format!("ctxgauge: {}", words(WARNING, values));
        let said = sentence(&values);
        if self.is_blocked(&values) {
            return Some(HookMessage::Block(format!(
                "{said}. The prompt was not sent, as --block-at asks; compact or clear the context first"
            )));
        }
        if !is_new {
            return None;
        }
        if !self.tells_model {
            return Some(HookMessage::ToUser(said));
        }
        // The name of a file is text that somebody else may have written.
        if let Some(largest) = &mut values.largest {
            largest.of = None;
        }
        Some(HookMessage::ToBoth(said, sentence(&values)))
    }

    /// Returns true if the prompt is not sent. A share of a guessed window never blocks.
    fn is_blocked(&self, values: &Values) -> bool {
        let (filled, end) = values.filled();
        self.block_at.is_some_and(|limit| {
            let has_source = match limit {
                Threshold::Tokens(_) => true,
                Threshold::Share(_) => !values.is_end_guessed(),
            };
            has_source && limit.is_reached(filled, end)
        })
    }

    /// Returns true if a threshold is passed that was not warned of, and adds it to `warned`.
    fn pass(&self, share: f64, warned: &mut Vec<f64>) -> bool {
        warned.retain(|threshold| share >= threshold - SLACK);
        let passed = self.shares.iter().filter(|threshold| share >= **threshold);
        let new: Vec<f64> = passed.copied().filter(|it| !warned.contains(it)).collect();
        let is_new = !new.is_empty();
        warned.extend(new);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_threshold_is_warned_of_once_until_the_context_is_smaller() {
        let warnings = Warnings {
            shares: vec![0.7, 0.9],
            tells_model: false,
            block_at: None,
        };
        let mut warned = Vec::new();
        let mut pass = |share| warnings.pass(share, &mut warned);
        let shares = [0.5, 0.7, 0.72, 0.69, 0.71, 0.95, 0.97, 0.3, 0.93];
        let passed: Vec<bool> = shares.map(&mut pass).into();
        let new = [false, true, false, false, false, true, false, false, true];
        assert_eq!(passed, new);
    }
}
