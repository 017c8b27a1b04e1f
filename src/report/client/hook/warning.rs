//! Warnings of a context that fills up.

use super::Duties;
use crate::client::line::LineSession;
use crate::client::line::values::Values;
use crate::client::line::words;
use integrations::hook::HookMessage;
use model::due::alerts::grows_past;
use model::values::threshold::{OVERSIZED, Threshold};

/// The template of a warning.
const WARNING: &str =
    "context {percent}[; largest: {largest}][; {requests:short} left][; compacts {next}]";

impl Duties {
    /// Returns the warning for a session. `warned` has the shares that were warned of, and gets the new ones.
    pub(super) fn warning(
        &self,
        shown: &LineSession,
        warned: &mut Vec<f64>,
    ) -> Option<HookMessage> {
        let mut values = Values::of(shown, OVERSIZED);
        if !values.has_begun {
            return None;
        }
        let (filled, end) = values.filled();
        let share = filled as f64 / end.max(1) as f64;
        let is_new = grows_past(&self.shares, share, warned);
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
}
