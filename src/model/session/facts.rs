//! What a log says of its session, and what follows from another model.

use super::Session;
use crate::calibration::Calibration;
use crate::event::Meta;
use crate::past::Facts;
use crate::pictures::Media;
use std::sync::Arc;

impl Session {
    /// The model and its limits, as the log names them now.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            model: self.model_shared().cloned(),
            window: self.meta.window,
            trigger: self.meta.trigger,
        }
    }

    pub(super) fn set_meta(&mut self, new: Meta) {
        let model = new.model.clone();
        let old = std::mem::take(&mut self.meta);
        self.meta = Meta {
            // A session keeps the id it began with: forks and resumed files repeat others'.
            id: old.id.or(new.id),
            parent: old.parent.or(new.parent),
            title: new.title.or(old.title),
            cwd: new.cwd.or(old.cwd),
            model: new.model.or(old.model),
            version: new.version.or(old.version),
            window: new.window.or(old.window),
            trigger: new.trigger.or(old.trigger),
            says_window: new.says_window.or(old.says_window),
        };
        // What a model's tokens cost is asked of other sessions than this one, which its id tells apart.
        if let Some(model) = model {
            self.use_model(&model);
        }
        self.note_facts();
    }

    /// The log names the model of the next or of this response. Where the new one counts differently,
    /// the old anchor no longer holds.
    pub(super) fn use_model(&mut self, id: &str) {
        if self.model() == Some(id) {
            return;
        }
        let count_alike = self
            .model()
            .is_none_or(|old| self.rules.count_alike(self.agent, old, id));
        let (rules, agent) = (Arc::clone(&self.rules), self.agent);
        let scale = self.expected_scale(id);
        let new = || Calibration::scaled(rules.tokenizer(agent, Some(id)), scale);
        self.ledger
            .items_mut()
            .use_model(|calibrations| calibrations.switch(id, new));
        if !count_alike {
            self.ledger.forget_settled(&self.chain);
        }
        self.note_settings();
        self.note_facts();
    }

    /// What the agent's settings say of the model's pictures.
    pub(super) fn note_settings(&mut self) {
        let pictures = self.overrides.of_model(self.model()).pictures;
        if pictures != Media::default() && self.stored.is_none() {
            self.ledger.set_pictures(pictures, &self.chain);
        }
    }

    pub(super) fn note_facts(&mut self) {
        let facts = self.facts();
        self.past.note_facts(facts);
    }
}
