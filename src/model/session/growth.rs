//! Computes the growth of a context from request to request, by the agent's own count.

use crate::history::{Request, RequestIx};
use crate::session::own_count::Counts;
use crate::state::State;
use jiff::Timestamp;
use std::ops::Range;

/// The growth from one request to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthStep {
    /// Tokens the prompt grew by; below 0 where something left it.
    pub tokens: f64,
    /// User turns that began.
    pub turns: f64,
    /// Seconds that passed; `None`: the log has no times.
    pub seconds: Option<f64>,
}

/// The growth of a context so far: all the data of a forecast, except the distance to the trigger.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Growth {
    /// The steps of this epoch, oldest first.
    pub steps: Vec<GrowthStep>,
    /// The steps of the session's earlier epochs.
    pub earlier: Vec<GrowthStep>,
    /// Tokens by which the agent's own count jumps when the user's next turn begins.
    pub jump: f64,
}

impl Growth {
    /// Returns the growth of the session's context up to a report of a request.
    pub(crate) fn until(state: &State, request: RequestIx) -> Growth {
        let epoch = epoch_of(state, request);
        let counts = Counts::until(state, request.saturating_add(1));
        Growth {
            steps: counts.steps(epoch.start..request.saturating_add(1)),
            earlier: counts.steps(0..epoch.start),
            jump: counts.running as f64,
        }
    }
}

/// Returns the requests of the epoch that a request belongs to.
pub(crate) fn epoch_of(state: &State, request: RequestIx) -> Range<RequestIx> {
    let mut starts = state.resets().iter().map(|reset| reset.request);
    let end = starts.clone().find(|start| *start > request);
    Range {
        start: starts.rfind(|start| *start <= request).unwrap_or(0),
        end: end.unwrap_or(state.requests().len()),
    }
}

impl Counts<'_> {
    /// Returns the steps that led to these requests, each from the report it was attributed against. The first of an epoch
    /// has none, nor one that another model counted.
    pub(crate) fn steps(&self, requests: Range<RequestIx>) -> Vec<GrowthStep> {
        let all = self.state.requests();
        let steps = requests.filter_map(|ix| step(all, &self.prompts, ix));
        steps.collect()
    }
}

/// Returns the step that led to a request, whose agent counted these prompts.
fn step(all: &[Request], prompts: &[u64], ix: RequestIx) -> Option<GrowthStep> {
    let request = all.get(ix)?;
    let previous = request.previous?;
    let before = all.get(previous)?;
    let tokens = |ix: usize| prompts.get(ix).map(|tokens| *tokens as f64);
    let seconds = |at: Timestamp| at.as_millisecond() as f64 / 1e3;
    Some(GrowthStep {
        tokens: tokens(ix)? - tokens(previous)?,
        turns: f64::from(request.turn.saturating_sub(before.turn)),
        seconds: Option::zip(request.at, before.at)
            .map(|(at, before)| seconds(at) - seconds(before)),
    })
}
