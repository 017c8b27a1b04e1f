//! The window and the trigger of a session, now and at earlier records.

use crate::event::Meta;
use crate::history::{Coverage, MOST_COMPACTIONS, PastReset, Request, RequestIx};
use crate::state::State;
use crate::state::content::Content;
use crate::state::past::ModelFacts;
use crate::window::{
    ClientStatus, LimitInputs, Limits, Overrides, PastSize, Rules, UnreadFacts, WindowSource,
};
use crate::{LeaveReason, Source};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

impl State {
    /// Returns the window and the trigger as they were known right after this request: from what had been requested and
    /// compacted by then.
    pub fn limits_as_of(&self, request: RequestIx) -> Limits {
        let so_far = self.requests().len().min(request.saturating_add(1));
        let requests = &self.requests()[..so_far];
        let resets = self
            .resets()
            .partition_point(|r| r.request < requests.len());
        let model = requests.last().and_then(|r| r.model.clone());
        let facts = self.facts_with(model);
        let resets = &self.resets()[..resets];
        let sizes = Sizes::of(self, facts.model.as_ref(), requests, resets);
        sizes.limits_from(&facts, &self.terms(), 0)
    }

    /// Returns the window and the trigger with a model of this session, as all of the session shows them.
    pub(crate) fn limits_with(&self, model: Option<&str>) -> Limits {
        let facts = self.facts_with(model.map(Arc::from));
        let sizes = Sizes::of_model(self, facts.model.as_ref());
        sizes.limits_from(&facts, &self.terms(), 0)
    }

    fn facts_with(&self, model: Option<Arc<str>>) -> ModelFacts {
        let provider = model.as_ref().and_then(|id| self.model_at(id).provider);
        ModelFacts {
            provider: provider.map(Box::from),
            model,
            ..self.facts()
        }
    }

    /// Returns the window and the trigger as they were known when this was the context.
    pub(crate) fn limits_at(&self, content: &Content) -> Limits {
        let inputs = &content.inputs;
        let facts = self.past().facts_at(inputs);
        let requests = &self.requests()[..inputs.requests];
        let resets = &self.resets()[..inputs.resets];
        let sizes = Sizes::of(self, facts.model.as_ref(), requests, resets);
        sizes.limits(&facts, &self.terms(), || self.calibrated(content).used)
    }

    /// Returns the other terms on which the limits depend now.
    pub(super) fn terms(&self) -> LimitTerms<'_> {
        LimitTerms {
            rules: self.rules(),
            agent: self.agent,
            meta: &self.meta,
            at: self.updated_at,
            set_window: self.set_window,
            overrides: self.overrides(),
        }
    }
}

/// Returns the facts of the model that the client has changed to since the newest response, if it has. The response was of
/// `model` and came at `answered`.
pub(crate) fn facts_after_switch(
    said: Option<&ClientStatus>,
    model: Option<&str>,
    answered: Option<Timestamp>,
    left_out: u64,
) -> Option<ModelFacts> {
    let changed = said?.changed_to(model, answered)?;
    Some(ModelFacts {
        model: Some(changed.into()),
        provider: None,
        window: None,
        trigger: None,
        left_out,
    })
}

/// The most models of which a client may return to one. No conversation has as many; each costs a walk over the requests.
const MOST_MODELS: usize = 50;

/// The other terms on which the limits of a session depend.
pub(crate) struct LimitTerms<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) agent: &'a str,
    pub(crate) meta: &'a Meta,
    /// The time at which it was last at work.
    pub(crate) at: Option<Timestamp>,
    pub(crate) set_window: Option<u64>,
    pub(crate) overrides: &'a Overrides,
}

/// The sizes of past contexts, from which the limits of a model are computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    has_requests: bool,
    /// The largest prompt that was reported for the model.
    largest: u64,
    /// The first prompt after the last compaction.
    first: Option<u64>,
    /// The largest prompt since the last compaction that the agent made by itself after which it sent another.
    passed: u64,
    /// The compactions that the agent made by itself with the model.
    past: Vec<PastSize>,
    /// The facts that a report on the whole log may show otherwise.
    unread: UnreadFacts,
}

impl Sizes {
    /// Returns the window and the trigger that follow from these sizes. A window that is not known for sure is not
    /// smaller than the context: as it is estimated, if nothing was reported. `used` is that size, which is asked for
    /// only for such sessions: lists need the limits of every session that they show.
    pub(crate) fn limits(
        &self,
        facts: &ModelFacts,
        terms: &LimitTerms<'_>,
        used: impl FnOnce() -> u64,
    ) -> Limits {
        let limits = |least| self.limits_from(facts, terms, least);
        let usual = limits(0);
        let unsure = [WindowSource::Guessed, WindowSource::SmallerOfTwo];
        if !unsure.contains(&usual.window_source) || self.has_requests {
            return usual;
        }
        match used() {
            used if used > usual.window => limits(used),
            _ => usual,
        }
    }

    /// Returns the limits by these facts. `least` is a lower bound of the context, in tokens, if it exceeds what was
    /// reported.
    fn limits_from(&self, facts: &ModelFacts, terms: &LimitTerms<'_>, least: u64) -> Limits {
        terms.rules.limits(&LimitInputs {
            agent: terms.agent,
            version: terms.meta.version.as_deref(),
            model: facts.model.as_deref(),
            provider: facts.provider.as_deref(),
            session: terms.meta.id.as_deref(),
            at: terms.at,
            logged_window: facts.window,
            says_window: terms.meta.says_window == Some(true),
            logged_trigger: facts.trigger,
            largest: self.largest.max(least),
            first: self.first,
            passed: self.passed,
            left_out: facts.left_out,
            past: &self.past,
            unread: self.unread,
            set_window: terms.set_window,
            overrides: terms.overrides,
        })
    }

    /// Returns the sizes of a model of which nothing was requested yet.
    pub(crate) fn of_new_model(&self) -> Sizes {
        let is_part = self.unread.prompts;
        Sizes {
            largest: 0,
            passed: 0,
            past: Vec::new(),
            unread: UnreadFacts {
                compaction: self.unread.compaction || is_part,
                ..self.unread
            },
            ..self.clone()
        }
    }

    /// Returns the present sizes of each model of the session but the one in use.
    pub(crate) fn of_earlier_models(state: &State) -> Vec<(Box<str>, Sizes)> {
        let now = state.model_shared();
        let models = state.attribution().models().into_iter();
        let earlier = models.filter(|model| !is_same(Some(model), now));
        let earlier = earlier.take(MOST_MODELS);
        let sizes = |model: &Arc<str>| (Box::from(&**model), Sizes::of_model(state, Some(model)));
        earlier.map(sizes).collect()
    }

    /// Returns the present sizes of a model.
    pub(crate) fn of_model(state: &State, model: Option<&Arc<str>>) -> Sizes {
        let largest = state.attribution().largest_prompt(model);
        Sizes::new(state, model, largest, state.requests(), state.resets())
    }

    fn of(
        state: &State,
        model: Option<&Arc<str>>,
        requests: &[Request],
        resets: &[PastReset],
    ) -> Sizes {
        let of_model = requests.iter().filter(|r| is_same(r.model.as_ref(), model));
        let largest = of_model.map(|r| r.prompt).max().unwrap_or(0);
        Sizes::new(state, model, largest, requests, resets)
    }

    fn new(
        state: &State,
        model: Option<&Arc<str>>,
        largest: u64,
        requests: &[Request],
        resets: &[PastReset],
    ) -> Sizes {
        let count = resets.len();
        let resets = &resets[count.saturating_sub(MOST_COMPACTIONS)..];
        let automatic = |r: &&PastReset| {
            let is_shown = r.cause_shown_by <= count;
            r.cause.is_by_size() && is_shown && is_same(r.model.as_ref(), model)
        };
        let first = requests.get(resets.last().map_or(0, |reset| reset.request));
        let is_part = state.coverage != Coverage::Whole;
        let is_guessed = |reset: &PastReset| {
            reset.counted.is_none()
                && reset.before_source == Source::Estimated
                && state.has_guessed()
        };
        // A count at which the agent did not compact refutes its rule too.
        let lacks_count =
            |reset: &PastReset| is_part && reset.counted.is_some_and(|c| c.not_at == 0);
        let mut compactions = resets.iter().filter(|r| r.gone == LeaveReason::Compaction);
        let is_open = compactions.any(|r| !r.is_whole || lacks_count(r) || is_guessed(r));
        Sizes {
            has_requests: !requests.is_empty(),
            largest,
            first: first.map(|request| request.prompt),
            passed: passed(model, requests, resets),
            unread: UnreadFacts {
                prompts: is_part,
                compaction: is_open || (is_part && !resets.iter().any(|r| automatic(&r))),
                ..state.unread_facts()
            },
            past: resets
                .iter()
                .filter(automatic)
                .filter(|reset| reset.is_whole)
                .map(|r| match r.counted {
                    Some(counted) => PastSize::Counted(counted.with(r.left_out)),
                    None => PastSize::Context(r.before.saturating_add(r.left_out)),
                })
                .filter(|past| past.at() > 0)
                .collect(),
        }
    }
}

/// Returns the largest prompt since the last compaction that the agent made by itself after which it sent another, no
/// smaller one, with the same model.
fn passed(model: Option<&Arc<str>>, requests: &[Request], resets: &[PastReset]) -> u64 {
    let last = resets.iter().rev().find(|reset| reset.cause.is_by_size());
    let since = last.map_or(0, |reset| reset.request).min(requests.len());
    let pairs = requests[since..].windows(2);
    let passed = pairs.filter(|pair| {
        let is_its = pair.iter().all(|one| is_same(one.model.as_ref(), model));
        is_its && pair[0].prompt <= pair[1].prompt
    });
    passed.map(|pair| pair[0].prompt).max().unwrap_or(0)
}

/// Returns true if both are the same model. Nearly always both are one string.
fn is_same(a: Option<&Arc<str>>, b: Option<&Arc<str>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
        (a, b) => a.is_none() && b.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::replay::Timeline;
    use crate::testing::Log;
    use crate::{Kind, Role};

    #[test]
    fn a_prompt_after_which_another_was_sent_did_not_compact() {
        let trigger = |log: &Log| log.session.limits().trigger;
        let log = Log::of("tested").model("any").report(49_000).report(56_000);
        assert_eq!(trigger(&log), Some(50_000), "it may be about to compact");
        let log = log.report(57_000);
        assert_eq!(trigger(&log), None);
        // A compaction by itself is newer.
        let log = log.compact(57_000).report(20_000).report(21_000);
        assert_eq!(trigger(&log), Some(57_000));
    }

    #[test]
    fn of_many_models_few_have_limits_of_their_own() {
        let with_another = |log: Log, n: u64| log.model(&format!("m{n}")).report(1_000 + n);
        let log = (0..60).fold(Log::new(), with_another);
        let earlier = Sizes::of_earlier_models(&log.session);
        assert_eq!(earlier.len(), MOST_MODELS);
    }

    fn limits(log: &Log) -> (u64, WindowSource) {
        let limits = log.session.limits();
        assert_eq!(log.session.snapshot().limits, limits);
        (limits.window, limits.window_source)
    }

    #[test]
    fn a_guessed_window_holds_what_is_estimated() {
        let log = Log::new();
        let log = log.item("1", Role::User, Kind::Text, 1_000);
        assert_eq!(limits(&log), (200_000, WindowSource::Guessed));
        let log = log.item("2", Role::Tool, Kind::ToolResult, 250_000);
        let (window, source) = limits(&log);
        let context = log.session.context();
        assert!(context.low < 200_000, "it is not sure");
        assert!(window >= context.used && window > 200_000);
        assert_eq!(source, WindowSource::Guessed);

        // At the first item it was still the usual one.
        let timeline = Timeline::of(&log.session);
        let before = timeline.end().checked_sub(1);
        let before = before.and_then(|ix| timeline.moment(ix));
        let then = before.map(|moment| log.session.snapshot_at(moment).limits.window);
        assert_eq!(then, Some(200_000));
    }
}
