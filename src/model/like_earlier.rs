//! What a session notes for later ones, and expects by earlier ones.

use super::earlier::{Beginning, Origin, Price, hash};
use super::state::State;

/// The number of settled deltas from which a price is first noted; each next time it takes twice as many.
const FIRST_NOTED_DELTAS: usize = 8;

impl State {
    /// The origin of the facts that this session notes or asks for.
    fn origin(&self) -> Origin {
        Origin {
            agent: self.agent.into(),
            session: self.meta.id.as_deref().map_or(0, hash),
            at: self.started_at.map_or(0, |at| at.as_second()),
        }
    }

    /// Notes what it began with, if its only request so far shows that: its log was read from its beginning, and
    /// nothing was said before.
    pub(super) fn note_beginning(&self) {
        let (earlier, items) = (&self.rules().earlier, self.items());
        let Some(first) = self
            .requests()
            .first()
            .filter(|_| self.requests().len() == 1)
        else {
            return;
        };
        if !earlier.is_kept() || !self.is_read_from_its_beginning() {
            return;
        }
        let held = items
            .iter()
            .enumerate()
            .filter(|(_, item)| self.ledger().in_prompt(item, 0));
        let (mut said, mut is_first) = (0_u64, true);
        for (ix, item) in held {
            is_first &= item.output_of().is_none();
            if !item.is_prefix() {
                said = said.saturating_add(self.tokens(ix).0);
            }
        }
        if let Some(tokens) = first.prompt().checked_sub(said).filter(|_| is_first) {
            let beginning = self.like_its_beginning();
            let beginning = Beginning {
                tokens,
                model: first.model().map(|model| (**model).into()),
                ..beginning
            };
            earlier.note_beginning(&beginning);
        }
    }

    /// What it is expected to begin with, in tokens, as the user's sessions before it.
    pub(super) fn expected_beginning(&self) -> Option<u64> {
        let earlier = &self.rules().earlier;
        if !earlier.is_kept() {
            return None;
        }
        earlier.beginning_like(&self.like_its_beginning())
    }

    fn like_its_beginning(&self) -> Beginning {
        Beginning {
            origin: self.origin(),
            is_child: self.meta.parent.is_some(),
            cwd: self.meta.cwd.as_deref().map(hash),
            version: self.meta.version.as_deref().map(Into::into),
            model: self.model().map(Into::into),
            tokens: 0,
        }
    }

    /// Notes what the model's tokens cost, when more reports have shown it.
    pub(super) fn note_price(&self) {
        let earlier = &self.rules().earlier;
        let calibrations = self.ledger().items().calibrations();
        let deltas = calibrations.current().deltas();
        let Some(model) = calibrations.model().filter(|_| earlier.is_kept()) else {
            return;
        };
        if deltas < FIRST_NOTED_DELTAS || !deltas.is_power_of_two() {
            return;
        }
        let price = Price {
            origin: self.origin(),
            model: (**model).into(),
            scale: calibrations.current().likely_scale(),
        };
        earlier.note_price(&price);
    }

    /// What a token of a model is expected to cost, as a multiple of the models table's price.
    pub(super) fn expected_scale(&self, model: &str) -> f64 {
        let earlier = &self.rules().earlier;
        if !earlier.is_kept() {
            return 1.0;
        }
        let scale = earlier.scale_before(&self.origin(), model);
        scale.unwrap_or(1.0)
    }
}
