//! Keeps the costs of responses that are no part of the conversation.

use super::State;
use crate::event::{BilledUsage, CostOf, Key};
use jiff::Timestamp;
use std::sync::Arc;

/// A response that is no part of the conversation.
#[derive(Debug, Clone)]
pub(crate) struct SideResponse {
    pub(crate) billed: BilledUsage,
    pub(crate) model: Option<Arc<str>>,
    /// The time at which it was written.
    pub(crate) at: Option<Timestamp>,
    /// True if it is the sum of several.
    pub(crate) is_sum: bool,
}

impl State {
    /// Takes in the cost of a response, or a later one of the same. `model`: the one that answered, if it is not that of
    /// the conversation.
    pub(crate) fn note_cost(
        &mut self,
        (key, of): (Key, CostOf),
        billed: BilledUsage,
        model: Option<&str>,
        at: Option<Timestamp>,
    ) {
        let model = match model {
            Some(model) => Some(model.into()),
            None => self.model_shared().cloned(),
        };
        let side = SideResponse {
            billed,
            model,
            at,
            is_sum: of.is_sum(),
        };
        let known = self.side_responses.entry(key).or_insert(side);
        known.billed = if of.is_sum() {
            known.billed.max(billed)
        } else {
            known.billed.followed_by(billed)
        };
        known.at = known.at.into_iter().chain(at).min();
    }

    /// Returns the responses that are no part of the conversation, as far as their costs are logged.
    pub(crate) fn side_responses(&self) -> impl Iterator<Item = (Key, &SideResponse)> {
        self.side_responses.iter().map(|(key, of)| (*key, of))
    }
}
