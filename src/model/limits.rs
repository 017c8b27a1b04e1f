//! The window and the trigger of a session: now, and as they were known before.

use super::history::{PastReset, Request, RequestIx};
use super::past::{Facts, Standing};
use super::session::Session;
use super::window::{Limits, Seen};
use std::sync::Arc;

impl Session {
    /// The window and the trigger, and how both are known.
    pub fn limits(&self) -> Limits {
        self.limits_from(&self.facts(), &self.requests, &self.resets)
    }

    /// The window and the trigger as they were known right after this request: from what had been
    /// requested and compacted by then.
    pub fn limits_as_of(&self, request: RequestIx) -> Limits {
        let requests = &self.requests[..self.requests.len().min(request.saturating_add(1))];
        let resets = self.resets.partition_point(|r| r.request < requests.len());
        let facts = Facts {
            model: requests.last().and_then(|r| r.model.clone()),
            ..self.facts()
        };
        self.limits_from(&facts, requests, &self.resets[..resets])
    }

    /// The window and the trigger as they were known when the session stood so.
    pub(super) fn limits_at(&self, standing: &Standing) -> Limits {
        self.limits_from(
            &self.facts_at(standing),
            &self.requests[..standing.requests as usize],
            &self.resets[..standing.resets as usize],
        )
    }

    fn limits_from(&self, facts: &Facts, requests: &[Request], resets: &[PastReset]) -> Limits {
        let model = facts.model.as_deref();
        let same_model = |other: &Option<Arc<str>>| other.as_deref() == model;
        let largest = requests
            .iter()
            .filter(|r| same_model(&r.model))
            .map(|r| r.prompt)
            .max();
        let past: Vec<u64> = resets
            .iter()
            .filter(|r| &*r.cause == "auto" && same_model(&r.model))
            .map(|r| r.before)
            .collect();
        self.rules.limits(&Seen {
            agent: self.agent,
            version: self.meta.version.as_deref(),
            model,
            session: self.meta.id.as_deref(),
            at: self.updated_at,
            logged_window: facts.window,
            logged_trigger: facts.trigger,
            largest: largest.unwrap_or(0),
            past: &past,
            set_window: self.set_window,
            overrides: &self.overrides,
        })
    }
}
