//! What a model's tokens cost in the user's sessions, where that is not what the models table has.

use super::{Earlier, Fact};
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
    /// What a token cost, as a multiple of the models table's price; 1 where the reports did not show another.
    pub scale: f64,
}

/// A price is noted when it was learned from so many settled deltas, and from twice as many each time after.
const FIRST: usize = 8;
/// The most and, as its inverse, the least that is believed.
const MOST: f64 = 2.5;

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
    /// The middle one of what a model's tokens cost in the newest sessions of an agent that began before this time.
    pub(super) fn scale_of(&self, agent: &str, model: &str, before: i64) -> Option<f64> {
        let known = self.known()?;
        let of_model =
            known.facts.prices.iter().filter(|known| {
                &*known.agent == agent && &*known.model == model && known.at < before
            });
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
            agent: self.agent.into(),
            session: self.hash_of_id(),
            model: (**model).into(),
            at: self.began_at(),
            scale: calibrations.current().likely_scale(),
        };
        earlier.add(|facts| &mut facts.prices, &price);
    }

    /// What a token of a model is expected to cost, as a multiple of the models table's price.
    pub(in crate::model) fn expected_scale(&self, model: &str) -> f64 {
        let earlier = &self.rules().earlier;
        let scale = earlier.scale_of(self.agent, model, self.began_at());
        scale.unwrap_or(1.0)
    }
}
