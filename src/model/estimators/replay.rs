//! What each estimator would have predicted before each report of a session that was read whole.

use super::{
    ESTIMATORS, Estimator, Sums, capped, has_reported_output, measure, reported_output,
    schema_framing,
};
use crate::model::context::Basis;
use crate::model::session::{Item, ItemIx, RequestIx, Session};
use crate::model::{Gone, Kind};
use std::collections::{HashMap, HashSet};

/// What each estimator expected of one request's prompt, and what was reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The request.
    pub request: RequestIx,
    /// What was reported, in tokens; never 0.
    pub prompt: u64,
    /// What was expected of it, in the order of [`Estimator::ALL`].
    pub expected: [u64; ESTIMATORS],
    /// The 90 % interval of [`Estimator::Calibrated`]: its lower and its upper end.
    pub interval: (u64, u64),
    /// How the number of [`Estimator::Delta`] is known.
    pub delta: Basis,
    /// What the prompt grew by since the report it was settled against.
    pub growth: u64,
    /// The part of that growth that no logged item explains: it went to the system role.
    pub unlogged: u64,
}

impl Prediction {
    /// What an estimator expected beyond what was reported, as a share of that: below 0, too little.
    pub fn error(&self, estimator: Estimator) -> f64 {
        let expected = self.expected[estimator as usize];
        (expected as f64 - self.prompt as f64) / self.prompt as f64
    }

    /// Whether the report fell inside the 90 % interval.
    pub fn is_covered(&self) -> bool {
        (self.interval.0..=self.interval.1).contains(&self.prompt)
    }

    /// Half the width of the 90 % interval, as a share of the prompt.
    pub fn half_width(&self) -> f64 {
        let width = self.interval.1.saturating_sub(self.interval.0);
        width as f64 / 2.0 / self.prompt as f64
    }
}

/// The predictions of a session that was read whole: of those requests that
/// [`Estimator::Calibrated`] predicted, so that all rows compare.
pub fn predictions(session: &Session) -> Vec<Prediction> {
    let held = Held::of(session);
    let mut last_of_family: HashMap<String, RequestIx> = HashMap::new();
    let mut predictions = Vec::new();
    for (ix, request) in session.requests().iter().enumerate() {
        if request.generation.is_none() {
            continue; // a late report: no request's predecessor
        }
        let family = request.model.as_deref().map(family).unwrap_or_default();
        let before = last_of_family.insert(family, ix);
        let (Some(own), Some(previous)) = (request.predicted, request.previous) else {
            continue;
        };
        if request.prompt == 0 {
            continue;
        }
        let (delta, basis) = held.delta(session, before, ix);
        let sums = &held.prompts[ix];
        let last = &session.requests()[previous];
        let expected = Estimator::ALL.map(|estimator| match estimator {
            Estimator::Outputs => capped(sums.outputs),
            Estimator::Chars4 => capped(sums.chars / 4),
            Estimator::Chars35 => capped(sums.chars * 2 / 7),
            Estimator::O200k => capped(sums.o200k),
            Estimator::O200kTools => capped(held.with_tools(ix)),
            Estimator::LastTotal => last.prompt.saturating_add(last.output_as_billed()),
            Estimator::Delta => delta,
            Estimator::Calibrated => own.tokens,
        });
        let comparable = last.generation == request.generation;
        predictions.push(Prediction {
            request: ix,
            prompt: request.prompt,
            expected,
            interval: (own.low, own.high),
            delta: basis,
            growth: request.prompt.saturating_sub(last.prompt),
            unlogged: match comparable {
                true => request.system.saturating_sub(last.system),
                false => 0,
            },
        });
    }
    predictions
}

/// The items that came between a request and the report it was settled against, the output of that one
/// included, and the items that left.
pub fn between(session: &Session, request: RequestIx) -> (Vec<ItemIx>, Vec<ItemIx>) {
    let previous = session.requests().get(request).and_then(|r| r.previous);
    let (mut came, mut went) = (Vec::new(), Vec::new());
    for (ix, item) in session.items().iter().enumerate() {
        let was_there = previous.is_some_and(|previous| item.held_by(previous));
        match (was_there, item.held_by(request)) {
            (false, true) => came.push(ix),
            (true, false) => went.push(ix),
            _ => {}
        }
    }
    (came, went)
}

/// What each prompt of a session held.
struct Held {
    prompts: Vec<Sums>,
    /// Distinct tools that were called before each request.
    called: Vec<i128>,
    /// For each request: the earliest request that held one of the items which left before it.
    losses: Vec<Option<RequestIx>>,
}

impl Held {
    fn of(session: &Session) -> Held {
        let n = session.requests().len();
        let mut held = Held {
            prompts: vec![Sums::default(); n],
            called: vec![0; n],
            losses: vec![None; n],
        };
        let outputs = representative_outputs(session);
        let mut called: HashSet<&str> = HashSet::new();
        for (ix, item) in session.items().iter().enumerate() {
            let Some(entered) = item.entered.filter(|at| *at < n) else {
                continue;
            };
            let mut sums = measure(&item.size);
            if outputs.contains_key(&ix) || has_reported_output(session, item) {
                sums.outputs = outputs.get(&ix).copied().map_or(0, i128::from);
                sums.fresh = sums.outputs;
            }
            if item.kind == Kind::ToolCall
                && let Some(tool) = item.tool.as_deref()
                && called.insert(tool)
            {
                held.called[entered] += 1;
            }
            held.add(item, entered, sums);
        }
        for ix in 1..n {
            let before = held.prompts[ix - 1];
            held.prompts[ix] += before;
            held.called[ix] += held.called[ix - 1];
        }
        held
    }

    /// Adds an item to where it entered, takes it away where it left; the sums are run up afterwards.
    fn add(&mut self, item: &Item, entered: RequestIx, sums: Sums) {
        let n = self.prompts.len();
        let end = item.left.map_or(n, |left| left.request.min(n));
        if end <= entered {
            return;
        }
        self.prompts[entered] += sums;
        for away in &item.away {
            let (from, to) = (away.from.max(entered), away.to.min(end));
            if from < to {
                self.prompts[from] -= sums;
                if to < n {
                    self.prompts[to] += sums;
                }
                self.lose(from, entered);
            }
        }
        let Some(lost) = self.prompts.get_mut(end) else {
            return;
        };
        *lost -= sums;
        // For an estimator that compares messages nothing is missing: thinking was never in them.
        if item.left.is_some_and(|left| left.why == Gone::Stripped) {
            lost.fresh += sums.fresh;
        } else {
            self.lose(end, entered);
        }
    }

    fn lose(&mut self, at: RequestIx, entered: RequestIx) {
        let slot = &mut self.losses[at];
        *slot = Some(slot.map_or(entered, |known| known.min(entered)));
    }

    fn with_tools(&self, ix: RequestIx) -> i128 {
        let sums = &self.prompts[ix];
        sums.o200k + sums.fixed + sums.schemas + schema_framing(sums.tools, self.called[ix])
    }

    /// [`Estimator::Delta`]: keeps the last report of each model family; falls back to a count of
    /// everything where the conversation since then is not a mere continuation.
    fn delta(&self, session: &Session, last: Option<RequestIx>, ix: RequestIx) -> (u64, Basis) {
        let goes_on = |last: &RequestIx| {
            !self.losses[last + 1..=ix]
                .iter()
                .flatten()
                .any(|entered| entered <= last)
        };
        match last.filter(goes_on) {
            Some(last) => {
                let fresh = self.prompts[ix].fresh - self.prompts[last].fresh;
                let known = i128::from(session.requests()[last].prompt);
                let basis = Basis::of(Some(last), u64::from(fresh != 0));
                (capped(known + fresh), basis)
            }
            None => (capped(self.with_tools(ix)), Basis::Estimated),
        }
    }
}

/// For each request with a reported output: the item that represents the output, and the output.
fn representative_outputs(session: &Session) -> HashMap<usize, u64> {
    let mut of_request: HashMap<RequestIx, usize> = HashMap::new();
    for (ix, item) in session.items().iter().enumerate() {
        let Some(request) = reported_output(session, item) else {
            continue;
        };
        let chosen = of_request.entry(request).or_insert(ix);
        // Thinking may be stripped: other output stays longer.
        if session.items()[*chosen].kind == Kind::Thinking {
            *chosen = ix;
        }
    }
    let output = |request: RequestIx| session.requests()[request].output_as_billed();
    of_request
        .into_iter()
        .map(|(request, ix)| (ix, output(request)))
        .collect()
}

/// A model's family: its id without numbers and dates.
fn family(id: &str) -> String {
    let words: Vec<&str> = id
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.bytes().any(|b| b.is_ascii_digit()))
        .collect();
    match words.is_empty() {
        true => id.to_owned(),
        false => words.join("-"),
    }
}
