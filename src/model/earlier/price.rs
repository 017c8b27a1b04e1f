//! What a model's tokens cost in the user's sessions, where that is not what the models table has.

use super::{Earlier, Fact, Origin};
use crate::model::session::Session;
use serde::{Deserialize, Serialize};

/// What the reports of one session have shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub(super) origin: Origin,
    /// The exact id of the model.
    pub model: Box<str>,
    /// What a token cost, as a multiple of the models table's price; 1 where the reports did not show another.
    pub scale: f64,
}

/// A price is noted when it was learned from so many settled deltas, and from twice as many each time after.
const FIRST: usize = 8;
/// The most and, as its inverse, the least that is believed.
const MOST: f64 = 2.5;

impl Fact for Price {
    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn replaces(&self, other: &Price) -> bool {
        self.origin.is_same_session(&other.origin) && self.model == other.model
    }

    fn is_like(&self, other: &Price) -> bool {
        (&self.origin.agent, &self.model) == (&other.origin.agent, &other.model)
    }
}

impl Earlier {
    /// The middle one of what a model's tokens cost in the newest sessions before one.
    pub(super) fn scale_before(&self, asked: &Origin, model: &str) -> Option<f64> {
        let known = self.known()?;
        let prices = known.facts.prices.iter();
        let of_model =
            prices.filter(|known| &*known.model == model && known.origin.is_before(asked));
        let mut scales: Vec<f64> = of_model.map(|price| price.scale).collect();
        scales.sort_by(f64::total_cmp);
        let middle = scales.get(scales.len() / 2).copied();
        middle.filter(|scale| (1.0 / MOST..=MOST).contains(scale))
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
            origin: self.origin(),
            model: (**model).into(),
            scale: calibrations.current().likely_scale(),
        };
        earlier.add(|facts| &mut facts.prices, &price);
    }

    /// What a token of a model is expected to cost, as a multiple of the models table's price.
    pub(in crate::model) fn expected_scale(&self, model: &str) -> f64 {
        let earlier = &self.rules().earlier;
        if !earlier.is_kept() {
            return 1.0;
        }
        let scale = earlier.scale_before(&self.origin(), model);
        scale.unwrap_or(1.0)
    }
}
