//! Computes the decisions that each estimator would have made: to compact or not.
//!
//! A decision is due wherever a request was predicted, and where the agent compacted by itself. The log
//! goes on unchanged: an estimator that would have compacted decides again at the next request.

use super::contents::{PromptAt, PromptContents};
use super::estimator::{ESTIMATORS, Estimator};
use super::prediction::Prediction;
use crate::history::{PastReset, RequestIx};
use crate::session::Session;
use crate::session::own_count::Counts;
use crate::window::{Limits, TriggerSource, WindowSource};
use std::collections::HashMap;

/// One decision: to compact, or to send a request as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The request that was sent; the last one before the compaction, if it is about one.
    pub request: RequestIx,
    /// True if the agent compacted here by itself.
    pub is_compaction: bool,
    /// True if the trigger was reached.
    pub is_due: bool,
    /// For each estimator, true if it would have compacted; in the order of [`Estimator::ALL`].
    pub compacts: [bool; ESTIMATORS],
}

impl Decision {
    /// Returns the decision at a request. `real` is the size that the agent compares with its trigger, in tokens.
    fn new(request: RequestIx, real: u64, trigger: u64, expected: [u64; ESTIMATORS]) -> Decision {
        Decision {
            request,
            is_compaction: false,
            is_due: real >= trigger,
            compacts: expected.map(|tokens| tokens >= trigger),
        }
    }
}

/// Returns the decisions of a session, at these predictions and at its compactions. Where the agent is not known to
/// compact, or its trigger is a share of a guessed window, there are none.
///
/// In a session with automatic compactions the agent's own count is compared with its trigger; else the
/// reported prompt. [`Estimator::Calibrated`] compares the agent's count too, as the gauge does.
pub(super) fn decisions(
    session: &Session,
    held: &PromptContents,
    predictions: &[Prediction],
) -> Vec<Decision> {
    let automatic = session.resets().iter().enumerate();
    let mut automatic = automatic
        .filter(|(_, reset)| reset.is_automatic())
        .peekable();
    let counts = automatic
        .peek()
        .map(|_| Counts::until(session, session.requests().len()));
    // By all of the session, with each model.
    let mut known: HashMap<Option<&str>, Option<u64>> = HashMap::new();
    let mut trigger_with = |model| {
        let find = || trusted(&session.limits_with(model));
        *known.entry(model).or_insert_with(find)
    };
    let at_requests = predictions.iter().filter_map(|prediction| {
        let ix = prediction.request;
        let trigger = trigger_with(session.requests()[ix].model.as_deref())?;
        let counted = counts.as_ref().and_then(|counts| counts.prompts.get(ix));
        let real = counted.map_or(prediction.prompt, |counted| *counted);
        let mut expected = prediction.expected;
        let own = &mut expected[Estimator::Calibrated as usize];
        *own = own.saturating_add(real.saturating_sub(prediction.prompt));
        Some(Decision::new(ix, real, trigger, expected))
    });
    let mut decisions: Vec<Decision> = at_requests.collect();
    decisions.extend(automatic.filter_map(|(ix, reset)| {
        let trigger = trigger_with(reset.model.as_deref())?;
        at_compaction(session, held, predictions, (ix, reset), trigger)
    }));
    decisions
}

/// Returns the decision at a compaction, which is due whatever is known of the trigger.
fn at_compaction(
    session: &Session,
    held: &PromptContents,
    predictions: &[Prediction],
    (ix, reset): (usize, &PastReset),
    trigger: u64,
) -> Option<Decision> {
    let last = reset.request.checked_sub(1)?;
    let before = ix
        .checked_sub(1)
        .map_or(0, |ix| session.resets()[ix].request);
    // As with requests: where there was something to predict from.
    let predicted = predictions.binary_search_by_key(&last, |prediction| prediction.request);
    let is_predicted = last >= before && predicted.is_ok();
    let real = reset.counted.map_or(reset.before, |counted| counted.at);
    let own = reset
        .counted
        .and_then(|counted| counted.ours)
        .unwrap_or(reset.ours);
    is_predicted.then(|| {
        let (expected, _) = held.expected(session, PromptAt::Reset(ix), last, own);
        Decision {
            is_compaction: true,
            ..Decision::new(last, real, trigger.min(real), expected)
        }
    })
}

/// Returns the trigger, unless it follows from nothing but a guessed window.
fn trusted(limits: &Limits) -> Option<u64> {
    let is_guessed = limits.window_source == WindowSource::Guessed
        && matches!(
            limits.trigger_source,
            TriggerSource::Policy | TriggerSource::None
        );
    limits.trigger.filter(|trigger| *trigger > 0 && !is_guessed)
}
