//! Keeps the facts that a log names of its session, and applies a change of the model.

use super::State;
use crate::event::{Meta, NewItem, Place};
use crate::history::Coverage;
use crate::sizes::calibration::Calibration;
use crate::sizes::pictures::Media;
use crate::state::past::ModelFacts;
use crate::values::prompt::first_prompt;
use crate::window::{ModelAt, UnreadFacts};
use std::sync::Arc;

/// Facts that were named since the part of the log that was not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NamedFacts {
    model: bool,
    window: bool,
    trigger: bool,
}

impl State {
    /// Skips to the end of the log: records from here on are its end, and those between it and the ones that were read
    /// so far are not read.
    pub fn skip_to_end(&mut self) {
        self.named = NamedFacts::default();
    }

    /// Sets what it [began](State::beginning) with: its log is read from a later record on.
    pub fn set_beginning(&mut self, tokens: u64) {
        self.began_with = Some(tokens);
    }

    /// Notes that the log names a model, which its newest provider serves.
    pub(crate) fn name_model(&mut self, id: &str) {
        self.named.model = true;
        if let Some(provider) = &self.meta.provider
            && self.providers.get(id) != Some(provider)
        {
            self.providers.insert(id.into(), provider.clone());
        }
    }

    /// Returns a model of the session, with the provider that served it last.
    pub fn model_at<'a>(&'a self, model: &'a str) -> ModelAt<'a> {
        let provider = self.providers.get(model).or(self.meta.provider.as_ref());
        ModelAt {
            model,
            provider: provider.map(|name| &**name),
        }
    }

    /// Returns true if the model is the one that a report on the whole log would name.
    pub fn is_model_final(&self) -> bool {
        self.coverage == Coverage::Whole || self.named.model
    }

    /// Returns the facts that may be different further back.
    pub(crate) fn unread_facts(&self) -> UnreadFacts {
        let is_unread = |is_named: bool| self.coverage != Coverage::Whole && !is_named;
        UnreadFacts {
            model: is_unread(self.named.model),
            window: is_unread(self.named.window),
            trigger: is_unread(self.named.trigger),
            ..UnreadFacts::default()
        }
    }

    /// Returns the model and its limits, as the log names them now.
    pub(crate) fn facts(&self) -> ModelFacts {
        ModelFacts {
            model: self.model_shared().cloned(),
            provider: self.meta.provider.clone(),
            window: self.meta.window.filter(|window| *window > 0),
            trigger: self.meta.trigger.filter(|trigger| *trigger > 0),
            left_out: self.left_out,
        }
    }

    /// Returns true if it is the session of a sub-agent.
    pub(crate) fn is_sub_agent(&self) -> bool {
        self.meta.parent.is_some() && !self.is_branch
    }

    /// Notes that the provider leaves so many tokens out of each prompt from here on.
    pub(crate) fn leave_out(&mut self, tokens: u64) {
        self.left_out = tokens;
        self.note_facts();
    }

    /// Takes in what the log says of its session. Another model is to be used, and the facts noted, afterwards.
    pub(crate) fn set_meta(&mut self, new: Meta, place: Place) {
        // The file beside a log says more than its path.
        if place == Place::default() && new.parent.is_some() {
            self.meta.parent = None;
        }
        self.named.window |= new.window.is_some();
        self.named.trigger |= new.trigger.is_some();
        self.is_branch |= new.parent.is_some() && !self.items().is_empty();
        let old = std::mem::take(&mut self.meta);
        self.meta = Meta {
            // A session keeps the id it began with: forks and resumed files repeat others'.
            id: old.id.or(new.id),
            parent: old.parent.or(new.parent),
            title: new.title.or(old.title),
            prompt: old.prompt.or(new.prompt),
            cwd: new.cwd.or(old.cwd),
            model: new.model.or(old.model),
            provider: new.provider.or(old.provider),
            version: new.version.or(old.version),
            window: new.window.or(old.window),
            trigger: new.trigger.or(old.trigger),
            says_window: new.says_window.or(old.says_window),
            attended: new.attended.or(old.attended),
            model_hash: new.model_hash.or(old.model_hash),
        };
    }

    /// Notes that the log names the model of the next or of this response, another one than before. Where the new one
    /// counts differently, the old anchor no longer holds. `scale` is what a token of it is expected to cost, as a
    /// multiple of the models table's price.
    pub(crate) fn use_model(&mut self, id: &str, scale: f64) {
        let old = self.model_shared().cloned();
        let (rules, agent) = (Arc::clone(&self.rules), self.agent);
        let is_its = |old: &str| rules.count_alike(agent, old, id);
        let count_alike = old.as_deref().is_none_or(is_its);
        let new = || Calibration::scaled(rules.tokenizer(agent, Some(id)), scale);
        self.attribution
            .items_mut()
            .use_model(|calibrations| calibrations.switch(id, new));
        if !count_alike && !self.attribution.recall_attributed(is_its) {
            self.attribution
                .forget_attributed(old.as_deref(), &self.tree);
        }
        self.cache_clock.forget_prompt();
        self.note_settings();
        self.note_facts();
    }

    /// Notes the first prompt of a log that is read from its beginning.
    pub(crate) fn note_prompt(&mut self, items: &[NewItem]) {
        if self.coverage == Coverage::Whole {
            first_prompt(&mut self.meta.prompt, items);
        }
    }

    /// Sets the window by hand, or takes that back.
    pub fn set_window(&mut self, window: Option<u64>) {
        self.set_window = window;
    }

    /// Applies the agent's settings about the model's pictures.
    pub(crate) fn note_settings(&mut self) {
        let set = self
            .overrides
            .of_model(self.model(), self.meta.provider.as_deref());
        let pictures = set.pictures;
        if pictures != Media::default() {
            self.attribution.set_pictures(pictures, &self.tree);
        }
    }

    pub(crate) fn note_facts(&mut self) {
        let facts = self.facts();
        self.past.note_facts(facts);
    }
}
