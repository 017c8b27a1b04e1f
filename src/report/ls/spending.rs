//! Computes what sessions, days, projects or models have used, and its cost by list prices.

use super::cost::Cost;
use formats::Format;
use hashbrown::HashMap;
use model::event::Surcharges;
use model::token_usage::TokenUsage;
use model::window::{PriceRow, Rules};

/// The usage and the cost of some responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// The tokens.
    pub spent: TokenUsage,
    /// The number of responses.
    pub responses: u64,
    /// Their price. It is an integer so that no order of adding changes the sum.
    nanodollars: u64,
    /// The number of responses without a price: the model that answered is not known, or its price.
    pub unpriced: u64,
    /// The surcharges that the price does not contain.
    pub lacking: Surcharges,
    /// The agent's own count for a whole session, in billionths of a US dollar; `None`: its log has none.
    pub(crate) own: Option<u64>,
}

impl Spending {
    /// Returns the cost of the responses that have a price, in US dollars.
    pub fn usd(&self) -> f64 {
        self.nanodollars as f64 / 1e9
    }

    /// Returns the agent's own count for a whole session, in US dollars; `None`: its log has none.
    pub fn own_usd(&self) -> Option<f64> {
        Some(self.own? as f64 / 1e9)
    }

    /// Returns true if they cost more than [`usd`](Spending::usd), or may.
    pub fn is_least(&self) -> bool {
        self.unpriced > 0 || !self.lacking.is_empty()
    }

    /// Adds what other responses used. What the agent itself counts is of a session, and stays.
    pub(crate) fn add(&mut self, other: Spending) {
        self.spent = self.spent.plus(other.spent);
        self.responses += other.responses;
        self.nanodollars = self.nanodollars.saturating_add(other.nanodollars);
        self.unpriced += other.unpriced;
        self.lacking = self.lacking.and(other.lacking);
    }
}

/// The prices of models, each looked up once.
pub(crate) struct PriceList<'r> {
    rules: &'r Rules,
    rows: HashMap<Box<str>, Option<&'r PriceRow>>,
}

impl<'r> PriceList<'r> {
    pub(crate) fn new(rules: &'r Rules) -> PriceList<'r> {
        PriceList {
            rules,
            rows: HashMap::default(),
        }
    }

    /// Returns the usage and the cost of a response.
    pub(crate) fn spending(
        &mut self,
        cost: &Cost,
        format: &Format,
        model: Option<&str>,
    ) -> Spending {
        let beside = if format.reasoning_beside_output {
            cost.billed.reasoning
        } else {
            0
        };
        let spent = TokenUsage::of(cost.billed, cost.cached, beside);
        let row = model.and_then(|model| match self.rows.get(model) {
            Some(row) => *row,
            None => {
                let row = self.rules.price_of(model);
                self.rows.insert(model.into(), row);
                row
            }
        });
        // The log does not have which of several requests had a long prompt.
        let surcharges = cost.billed.surcharges;
        let usd = row.and_then(|row| row.usd(&spent, surcharges));
        Spending {
            spent,
            responses: 1,
            nanodollars: usd.map_or(0, |usd| (usd * 1e9).round() as u64),
            unpriced: u64::from(usd.is_none()),
            lacking: row.map_or(Surcharges::NONE, |row| row.lacking(surcharges)),
            own: None,
        }
    }
}
