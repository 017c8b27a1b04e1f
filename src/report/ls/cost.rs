//! Defines the cost of a response.

use formats::Format;
use jiff::Timestamp;
use model::cost::spending::{PriceList, Spending};
use model::event::{BilledUsage, Conversation};
use model::values::token_usage::CachePlacement;
use model::window::ModelAt;
use std::cmp::Ordering;

/// The cost of a response, or of several as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) billed: BilledUsage,
    /// The way in which the provider counts cached input.
    pub(crate) cached: CachePlacement,
    /// True if it is the sum of several requests.
    pub(crate) is_sum: bool,
    /// True if the log has the output of the response, but neither its input nor a sum that includes it.
    pub(crate) lacks_input: bool,
    /// The time at which the response began.
    pub(crate) at: Option<Timestamp>,
    /// The index of the model that answered, among those of the log.
    pub(crate) model: Option<u32>,
    /// The session that it belongs to.
    pub(crate) conversation: Conversation,
}

impl Cost {
    /// Returns the usage of the response, and its cost by list prices.
    pub(crate) fn spending(
        &self,
        prices: &mut PriceList<'_>,
        format: &Format,
        model: Option<ModelAt<'_>>,
    ) -> Spending {
        let of = prices.spending(self.billed, self.cached, format.billing(), model);
        if self.is_sum { of.of_sum() } else { of }
    }

    /// Returns the facts about a response that two logs have. One of them may be a copy that ends before the last line
    /// of the response.
    pub(crate) fn merged(self, other: Cost) -> Cost {
        let both = self.at.into_iter().chain(other.at);
        let billed = match self.billed.output.cmp(&other.billed.output) {
            Ordering::Less => self.billed.followed_by(other.billed),
            Ordering::Equal => self.billed.max(other.billed),
            Ordering::Greater => other.billed.followed_by(self.billed),
        };
        Cost {
            billed,
            is_sum: self.is_sum | other.is_sum,
            lacks_input: self.lacks_input && other.lacks_input,
            at: both.min(),
            model: self.model.or(other.model),
            ..self
        }
    }
}
