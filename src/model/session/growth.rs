//! Follows the growth of a context from request to request, by the agent's own count. A long session keeps it: one more
//! request is one more step.

use crate::history::{Request, RequestIx};
use crate::session::own_count::{CountState, Counts};
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

/// The growth of a session before its newest request.
#[derive(Debug)]
pub(crate) struct RunningGrowth {
    /// The agent's own count before the newest request, and of each prompt before it.
    counting: CountState,
    prompts: Vec<u64>,
    growth: Growth,
    /// The sizes of this epoch's steps, the smallest first.
    sorted: Vec<f64>,
    /// The first request of this epoch.
    epoch: RequestIx,
    resets: usize,
    corrections: u32,
}

impl RunningGrowth {
    pub(crate) fn of(state: &State) -> RunningGrowth {
        let mut grown = RunningGrowth {
            counting: CountState::of(state),
            prompts: Vec::new(),
            growth: Growth::default(),
            sorted: Vec::new(),
            epoch: state.resets().last().map_or(0, |reset| reset.request),
            resets: state.resets().len(),
            corrections: state.attribution().corrections(),
        };
        let newest = state.requests().len().saturating_sub(1);
        let mut resets = state.resets().iter().peekable();
        for ix in 0..newest {
            while resets.next_if(|reset| reset.request <= ix).is_some() {
                grown.counting.reset();
            }
            grown.add(ix, state);
        }
        if resets.next().is_some() {
            grown.counting.reset();
        }
        grown.sorted = grown.growth.steps.iter().map(|step| step.tokens).collect();
        grown.sorted.sort_unstable_by(f64::total_cmp);
        grown
    }

    /// Takes in the requests that have come. `false`: something else has changed.
    pub(crate) fn follow(&mut self, state: &State) -> bool {
        let newest = state.requests().len().saturating_sub(1);
        let is_same = self.resets == state.resets().len()
            && self.corrections == state.attribution().corrections()
            && self.counting.adds == CountState::of(state).adds
            && self.prompts.len() <= newest;
        if is_same {
            for ix in self.prompts.len()..newest {
                let steps = self.growth.steps.len();
                self.add(ix, state);
                if let Some(step) = self.growth.steps.get(steps) {
                    let before = |other: &f64| other.total_cmp(&step.tokens).is_lt();
                    let at = self.sorted.partition_point(before);
                    self.sorted.insert(at, step.tokens);
                }
            }
        }
        is_same
    }

    /// Adds a request that will not change any more.
    fn add(&mut self, ix: RequestIx, state: &State) {
        let requests = state.requests();
        self.prompts.push(self.counting.count(&requests[ix]));
        let step = step(requests, &self.prompts, ix);
        if ix < self.epoch {
            self.growth.earlier.extend(step)
        } else {
            self.growth.steps.extend(step)
        }
    }

    /// Calls `with` with the growth up to the newest request, and the median of this epoch's steps.
    pub(crate) fn with_newest<A>(
        &mut self,
        state: &State,
        with: impl FnOnce(&Growth, f64) -> A,
    ) -> A {
        let requests = state.requests();
        let newest = requests.len().saturating_sub(1);
        let mut counting = self.counting;
        self.prompts.push(counting.count(&requests[newest]));
        let step = step(requests, &self.prompts, newest);
        self.prompts.pop();
        self.growth.steps.extend(step);
        self.growth.jump = counting.running as f64;
        let median = self.median(step.map(|step| step.tokens));
        let answer = with(&self.growth, median);
        if step.is_some() {
            self.growth.steps.pop();
        }
        answer
    }

    /// Returns true if it is worth keeping: the session is long, something was requested since its last reset, and its
    /// log was not read for a single answer.
    pub(crate) fn is_worth_it(state: &State) -> bool {
        let requests = state.requests().len();
        let epoch = state.resets().last().map_or(0, |reset| reset.request);
        let is_asked_again = !state.attribution().items().forgets_sizes();
        requests >= LONG_SESSION && epoch < requests && is_asked_again
    }

    /// Returns the median of the sizes and of this one.
    fn median(&self, newest: Option<f64>) -> f64 {
        let Some(newest) = newest else {
            let middle = self.sorted.get(self.sorted.len() / 2);
            return middle.copied().unwrap_or(0.0);
        };
        let middle = self.sorted.len().div_ceil(2);
        let at = self
            .sorted
            .partition_point(|other| other.total_cmp(&newest).is_lt());
        match middle.cmp(&at) {
            std::cmp::Ordering::Less => self.sorted[middle],
            std::cmp::Ordering::Equal => newest,
            std::cmp::Ordering::Greater => self.sorted[middle - 1],
        }
    }
}

/// The number of requests from which on sums are kept; shorter sessions are walked through.
const LONG_SESSION: usize = if cfg!(test) { 3 } else { 2_048 };
