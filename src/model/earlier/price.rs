//! What a model's tokens cost in the user's sessions, compared with the local count.

use super::{Earlier, Fact};
use crate::model::calibration::Tokenizer;
use crate::model::session::Session;
use serde::{Deserialize, Serialize};

/// What the reports of one session have shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The agent's id.
    pub agent: Box<str>,
    /// A hash of the session's id.
    pub session: u64,
    /// The exact id of the model.
    pub model: Box<str>,
    /// When the session began, in seconds since 1970.
    pub at: i64,
    /// Settled deltas that it was learned from.
    pub deltas: usize,
    /// As [`Tokenizer`] has them: tokens a local token, for framing an item and a call, and what a digit and a mark
    /// cost beyond their part.
    pub prices: [f64; 5],
}

/// A price is noted when it was learned from so many deltas, and from twice as many each time after.
const FIRST: usize = 8;
/// The most that a price of tokens may differ from the models table's to be believed, as a factor.
const MOST_FACTOR: f64 = 2.0;

impl Fact for Price {
    fn at(&self) -> i64 {
        self.at
    }

    fn replaces(&self, other: &Price) -> bool {
        self.session == other.session && self.is_like(other)
    }

    fn is_like(&self, other: &Price) -> bool {
        (&self.agent, &self.model) == (&other.agent, &other.model)
    }
}

impl Earlier {
    /// The middle one of what a model's tokens cost in the newest sessions of an agent, without this session.
    pub(super) fn price_of(&self, agent: &str, model: &str, session: u64) -> Option<Price> {
        let known = self.known()?;
        let of_model = known.facts.prices.iter().filter(|known| {
            &*known.agent == agent && &*known.model == model && known.session != session
        });
        let mut prices: Vec<&Price> = of_model.collect();
        prices.sort_by(|a, b| a.prices[0].total_cmp(&b.prices[0]));
        prices.get(prices.len() / 2).map(|price| (*price).clone())
    }
}

impl Session {
    /// Notes what the model's tokens cost, when more reports have shown it.
    pub(in crate::model) fn note_price(&self) {
        let earlier = &self.rules().earlier;
        let calibrations = self.ledger().items().calibrations();
        let deltas = calibrations.current().deltas();
        let Some(model) = calibrations.model().filter(|_| earlier.is_kept()) else {
            return;
        };
        if deltas < FIRST || !deltas.is_power_of_two() {
            return;
        }
        let price = Price {
            agent: self.agent.into(),
            session: self.hash_of_id(),
            model: (**model).into(),
            at: self.started_at.map_or(0, |at| at.as_second()),
            deltas,
            prices: calibrations.current().prices(),
        };
        earlier.add(|facts| &mut facts.prices, &price);
    }

    /// The tokenizer of a model: the models table's, with the prices that the user's earlier sessions have shown.
    pub(in crate::model) fn expected_tokenizer(&self, model: &str) -> Tokenizer {
        let table = self.rules().tokenizer(self.agent, Some(model));
        let earlier = &self.rules().earlier;
        match earlier.price_of(self.agent, model, self.hash_of_id()) {
            Some(Price { prices, .. }) if is_possible(&table, prices) => {
                let [per_token, per_item, per_call, per_digit, per_mark] = prices;
                Tokenizer {
                    per_token,
                    per_item,
                    per_call,
                    per_digit,
                    per_mark,
                    ..table
                }
            }
            _ => table,
        }
    }
}

fn is_possible(table: &Tokenizer, prices: [f64; 5]) -> bool {
    let factor = prices[0] / table.per_token;
    prices.iter().all(|price| price.is_finite())
        && (1.0 / MOST_FACTOR..=MOST_FACTOR).contains(&factor)
}
