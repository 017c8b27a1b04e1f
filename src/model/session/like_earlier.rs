//! Notes facts about a session for later ones, and derives its expectations from earlier ones.

use crate::event::count;
use crate::history::Coverage;
use crate::state::State;
use crate::values::earlier::{Beginning, Origin, Price, hash};

/// The number of attributed deltas from which a price is first noted; each next time it takes twice as many.
const FIRST_NOTED_DELTAS: usize = 4;

impl State {
    /// Returns the origin of the facts that this session notes or asks for.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            agent: self.agent.into(),
            session: self.meta.id.as_deref().map_or(0, hash),
            at: self.started_at.map_or(0, |at| at.as_second()),
        }
    }

    /// Notes what it began with, if its only request so far shows that.
    pub(crate) fn note_beginning(&self) {
        let earlier = &self.rules().earlier;
        if earlier.is_kept()
            && let Some(tokens) = self.beginning()
        {
            let beginning = Beginning {
                tokens,
                ..self.like_its_beginning()
            };
            earlier.note_beginning(&beginning);
        }
    }

    /// Returns the tokens of the first prompt that are not part of the conversation, if its only request so far shows
    /// that: its log was read from its beginning, and nothing was said before.
    pub fn beginning(&self) -> Option<u64> {
        let only = self.requests().first();
        let first = only.filter(|_| self.requests().len() == 1)?;
        if !self.is_read_from_its_beginning() {
            return None;
        }
        let items = self.items().iter().enumerate();
        let held = items.filter(|(_, item)| self.attribution().in_prompt(item, 0));
        let (mut said, mut is_first) = (0_u64, true);
        for (ix, item) in held {
            is_first &= item.output_of.is_none();
            if !item.is_prefix() {
                said = said.saturating_add(self.tokens(ix).0);
            }
        }
        first.prompt.checked_sub(said).filter(|_| is_first)
    }

    /// Returns the size at which it is expected to begin, in tokens: the size at which it began, where only its end was
    /// read; else the size of the user's sessions before it.
    pub(crate) fn expected_beginning(&self) -> Option<u64> {
        let earlier = &self.rules().earlier;
        if self.began_with.is_some() || !earlier.is_kept() {
            return self.began_with;
        }
        let like = self.like_its_beginning();
        let is_partly_read = self.coverage != Coverage::Whole;
        let own = is_partly_read.then(|| earlier.beginning_of(&like.origin));
        own.flatten().or_else(|| earlier.beginning_like(&like))
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
    pub(crate) fn note_price(&self) {
        let earlier = &self.rules().earlier;
        let calibrations = self.attribution().items().calibrations();
        let deltas = calibrations.current().deltas();
        let Some(model) = calibrations.model().filter(|_| earlier.is_kept()) else {
            return;
        };
        if deltas < FIRST_NOTED_DELTAS || !deltas.is_power_of_two() {
            return;
        }
        if let Some(scale) = calibrations.current().shown_scale() {
            let price = Price {
                origin: self.origin(),
                model: (**model).into(),
                scale,
                reports: count(deltas as u64),
            };
            earlier.note_price(&price);
        }
    }

    /// Returns the expected cost of a token of a model, as a multiple of the models table's price.
    pub(crate) fn expected_scale(&self, model: &str) -> f64 {
        let earlier = &self.rules().earlier;
        if !earlier.is_kept() {
            return 1.0;
        }
        let scale = earlier.scale_before(&self.origin(), model);
        scale.unwrap_or(1.0)
    }
}
