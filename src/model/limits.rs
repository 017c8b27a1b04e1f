//! The window and the trigger of a session: now, and as they were known before.

use super::context::Content;
use super::event::Cause;
use super::past::Facts;
use super::session::{PastReset, Request, RequestIx, Session};
use super::window::{Limits, PastSize, Seen, WindowSource};
use std::sync::Arc;

impl Session {
    /// The window and the trigger, and how both are known.
    pub fn limits(&self) -> Limits {
        let facts = self.facts();
        raised(
            self.requests(),
            |least| self.limits_from(&facts, self.requests(), self.resets(), least),
            || self.calibrated_context().low,
        )
    }

    /// The window and the trigger as they were known right after this request: from what had been
    /// requested and compacted by then.
    pub fn limits_as_of(&self, request: RequestIx) -> Limits {
        let requests = &self.requests()[..self.requests().len().min(request.saturating_add(1))];
        let resets = self
            .resets()
            .partition_point(|r| r.request < requests.len());
        let facts = Facts {
            model: requests.last().and_then(|r| r.model.clone()),
            ..self.facts()
        };
        self.limits_from(&facts, requests, &self.resets()[..resets], 0)
    }

    /// The window and the trigger with a model of this session, as all of the session shows them.
    pub(super) fn limits_with(&self, model: Option<&str>) -> Limits {
        let model = model.map(Arc::from);
        let facts = Facts {
            model,
            ..self.facts()
        };
        self.limits_from(&facts, self.requests(), self.resets(), 0)
    }

    /// The window and the trigger as they were known when this was the context.
    pub(super) fn limits_at(&self, content: &Content) -> Limits {
        let inputs = &content.inputs;
        let facts = self.past().facts_at(inputs);
        let requests = &self.requests()[..inputs.requests as usize];
        let resets = &self.resets()[..inputs.resets as usize];
        raised(
            requests,
            |least| self.limits_from(&facts, requests, resets, least),
            || self.calibrated(content).low,
        )
    }

    /// `least` is a lower bound of the context, in tokens, if it exceeds what was reported.
    fn limits_from(
        &self,
        facts: &Facts,
        requests: &[Request],
        resets: &[PastReset],
        least: u64,
    ) -> Limits {
        let model = facts.model.as_deref();
        let same_model = |other: &Option<Arc<str>>| other.as_deref() == model;
        let largest = requests
            .iter()
            .filter(|r| same_model(&r.model))
            .map(|r| r.prompt)
            .max();
        let past: Vec<PastSize> = resets
            .iter()
            .filter(|r| r.cause == Cause::Automatic && same_model(&r.model))
            .map(|r| match r.counted {
                Some(counted) => PastSize::Counted(counted),
                None => PastSize::Context(r.before),
            })
            .collect();
        self.rules().limits(&Seen {
            agent: self.agent,
            version: self.meta.version.as_deref(),
            model,
            session: self.meta.id.as_deref(),
            at: self.updated_at,
            logged_window: facts.window,
            logged_trigger: facts.trigger,
            largest: largest.unwrap_or(0).max(least),
            first: requests
                .get(resets.last().map_or(0, |reset| reset.request))
                .map(|request| request.prompt),
            past: &past,
            set_window: self.set_window_tokens(),
            overrides: self.overrides(),
        })
    }
}

/// A guessed window is not smaller than the context: its low end, if nothing was reported. That is
/// computed only for such sessions, since lists need the limits of every session that they show.
fn raised(
    requests: &[Request],
    limits: impl Fn(u64) -> Limits,
    low: impl FnOnce() -> u64,
) -> Limits {
    let usual = limits(0);
    if usual.window_source != WindowSource::Guessed || !requests.is_empty() {
        return usual;
    }
    match low() {
        low if low > usual.window => limits(low),
        _ => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::replay::Timeline;
    use crate::model::testing::Log;
    use crate::model::{Kind, Role};

    fn limits(log: &Log) -> (u64, WindowSource) {
        let limits = log.session.limits();
        assert_eq!(log.session.state().limits, limits);
        (limits.window, limits.window_source)
    }

    #[test]
    fn a_guessed_window_holds_what_is_estimated_for_sure() {
        let log = Log::new();
        let log = log.item("1", Role::User, Kind::Text, 1_000);
        assert_eq!(limits(&log), (200_000, WindowSource::Guessed));
        let log = log.item("2", Role::Tool, Kind::ToolResult, 600_000);
        let (window, source) = limits(&log);
        assert!(window >= log.session.context().low && window > 200_000);
        assert_eq!(source, WindowSource::Guessed);

        // At the first item it was still the usual one.
        let timeline = Timeline::of(&log.session);
        let before = timeline.end().checked_sub(1);
        let before = before.and_then(|ix| timeline.moment(ix));
        let then = before.map(|moment| log.session.state_at(moment).limits.window);
        assert_eq!(then, Some(200_000));
    }
}
