//! Keeps the prices of a model's tokens in the user's sessions, where they are not those of the models table.

use super::{EarlierSessions, FACTS_PER_KIND, Fact, Origin};
use serde::{Deserialize, Serialize};

/// The price that the reports of one session have shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub(crate) origin: Origin,
    /// The exact id of the model.
    pub model: Box<str>,
    /// The cost of a token, as a multiple of the models table's price; 1 where the reports did not show another.
    pub scale: f64,
    /// The number of reports that have shown it.
    #[serde(default)]
    pub reports: u32,
}

/// The largest believed price, as a factor; its inverse is the smallest.
const MOST_PRICE_FACTOR: f64 = 2.5;

impl Fact for Price {
    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn replaces(&self, other: &Price) -> bool {
        self.origin.is_same_session(&other.origin) && self.model == other.model
    }

    fn is_of_more_than(&self, other: &Price) -> bool {
        self.reports > other.reports
    }

    fn is_like(&self, other: &Price) -> bool {
        (&self.origin.agent, &self.model) == (&other.origin.agent, &other.model)
    }
}

impl EarlierSessions {
    /// Notes what a session has shown.
    pub(crate) fn note_price(&self, price: &Price) {
        self.add(|facts| &mut facts.prices, price);
    }

    /// Returns the middle one of what a model's tokens cost in the newest sessions before one.
    pub(crate) fn scale_before(&self, asked: &Origin, model: &str) -> Option<f64> {
        let known = self.known()?;
        let prices = known.facts.prices.iter();
        let of_model =
            prices.filter(|known| &*known.model == model && known.origin.is_before(asked));
        let newest = of_model.rev().take(FACTS_PER_KIND);
        let mut scales: Vec<f64> = newest.map(|price| price.scale).collect();
        scales.sort_by(f64::total_cmp);
        let middle = scales.get(scales.len() / 2).copied();
        middle.filter(|scale| (1.0 / MOST_PRICE_FACTOR..=MOST_PRICE_FACTOR).contains(scale))
    }
}
