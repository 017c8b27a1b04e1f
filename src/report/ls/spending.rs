//! Computes what a response has used, and its cost by list prices.

use super::cost::Cost;
use formats::Format;
use model::cost::spending::{self, Spending};
use model::window::{ModelAt, Rules};

/// The prices of models, each looked up once.
pub(crate) struct PriceList<'r>(spending::PriceList<'r>);

impl<'r> PriceList<'r> {
    pub(crate) fn new(rules: &'r Rules) -> PriceList<'r> {
        PriceList(spending::PriceList::new(rules))
    }

    /// Returns the usage and the cost of a response.
    pub(crate) fn spending(
        &mut self,
        cost: &Cost,
        format: &Format,
        model: Option<ModelAt<'_>>,
    ) -> Spending {
        let Cost { billed, cached, .. } = *cost;
        let of = self.0.spending(billed, cached, format.billing(), model);
        if cost.is_sum { of.of_sum() } else { of }
    }
}
