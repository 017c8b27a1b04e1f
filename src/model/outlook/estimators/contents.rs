//! Computes what each prompt of a session held, and the size that each estimator would have expected of it.

use super::estimator::{ESTIMATORS, Estimator};
use super::measure::{PromptMeasures, schema_framing};
use super::prediction::Prediction;
use crate::history::{Item, RequestIx};
use crate::session::Session;
use crate::session::context::Basis;
use crate::{Kind, LeaveReason};
use std::collections::{HashMap, HashSet};

/// The content of each prompt of a session.
pub(super) struct PromptContents {
    prompts: Vec<PromptMeasures>,
    /// The content of the context before each reset.
    before_resets: Vec<PromptMeasures>,
    /// Distinct tools that were called before each request.
    called: Vec<i128>,
    /// For each request: the earliest request that held one of the items which left before it.
    losses: Vec<Option<RequestIx>>,
    /// For each request: the one before it by a model of the same family.
    of_family: Vec<Option<RequestIx>>,
}

/// A prompt: of a request, or the one that a compaction came before.
#[derive(Clone, Copy)]
pub(super) enum PromptAt {
    Request(RequestIx),
    Reset(usize),
}

impl PromptContents {
    pub(super) fn of(session: &Session) -> PromptContents {
        let n = session.requests().len();
        let mut held = PromptContents {
            // One more than there are: what has not been sent.
            prompts: vec![PromptMeasures::default(); n + 1],
            before_resets: vec![PromptMeasures::default(); session.resets().len() + 1],
            called: vec![0; n + 1],
            losses: vec![None; n + 1],
            of_family: of_family(session),
        };
        let outputs = representative_outputs(session);
        let mut called: HashSet<&str> = HashSet::new();
        for (ix, item) in session.items().iter().enumerate() {
            let entered = item.entered.unwrap_or(n).min(n);
            let mut sums = PromptMeasures::of(item);
            if outputs.contains_key(&ix) || reported_output(session, item).is_some() {
                sums = sums.reported(outputs.get(&ix).copied().unwrap_or(0));
            }
            if item.kind == Kind::ToolCall
                && let Some(tool) = item.tool.as_deref()
                && called.insert(tool)
            {
                held.called[entered] += 1;
            }
            held.add_before_resets(session, item, sums);
            if entered < n {
                held.add(item, entered, sums);
            }
        }
        for ix in 1..=n {
            let before = held.prompts[ix - 1];
            held.prompts[ix] += before;
            held.called[ix] += held.called[ix - 1];
        }
        for ix in 1..held.before_resets.len() {
            let before = held.before_resets[ix - 1];
            held.before_resets[ix] += before;
        }
        held
    }

    /// Returns the predictions of the requests that [`Estimator::Calibrated`] predicted.
    pub(super) fn predictions(&self, session: &Session) -> Vec<Prediction> {
        let mut predictions = Vec::new();
        for (ix, request) in session.requests().iter().enumerate() {
            if request.generation.is_none() {
                continue; // a late report: no request's predecessor
            }
            let (Some(own), Some(previous)) = (request.predicted, request.previous) else {
                continue;
            };
            if request.prompt == 0 {
                continue;
            }
            let last = &session.requests()[previous];
            let (expected, delta) =
                self.expected(session, PromptAt::Request(ix), previous, own.tokens);
            let comparable = last.generation == request.generation;
            predictions.push(Prediction {
                request: ix,
                prompt: request.prompt,
                expected,
                interval: (own.low, own.high),
                delta,
                growth: request.prompt.saturating_sub(last.prompt),
                unlogged: if comparable {
                    request.system.saturating_sub(last.system)
                } else {
                    0
                },
            });
        }
        predictions
    }

    /// Returns the size that each estimator expects of a prompt after the request `previous`, and how the number of
    /// [`Estimator::Delta`] is known. `own` is the size that the session expected.
    pub(super) fn expected(
        &self,
        session: &Session,
        at: PromptAt,
        previous: RequestIx,
        own: u64,
    ) -> ([u64; ESTIMATORS], Basis) {
        let (sums, end) = match at {
            PromptAt::Request(ix) => (&self.prompts[ix], ix),
            PromptAt::Reset(ix) => (&self.before_resets[ix], session.resets()[ix].request),
        };
        let until = match at {
            PromptAt::Request(ix) => ix + 1,
            // The items that the reset itself took away were there until then.
            PromptAt::Reset(_) => end,
        };
        let goes_on = |last: &RequestIx| {
            let mut lost = self.losses[last + 1..until].iter().flatten();
            !lost.any(|entered| entered <= last)
        };
        let last = self.of_family[end].filter(goes_on);
        let known = last.map(|last| {
            let prompt = i128::from(session.requests()[last].prompt);
            (prompt, &self.prompts[last])
        });
        let with_tools = sums.with_schemas() + schema_framing(sums.tools, self.called[end]);
        let (delta, basis) = match known {
            Some((prompt, held)) => {
                let fresh = sums.fresh - held.fresh;
                (prompt + fresh, Basis::of(last, u64::from(fresh != 0)))
            }
            None => (with_tools, Basis::Estimated),
        };
        let expected = Estimator::ALL.map(|estimator| match estimator {
            Estimator::Outputs => capped(sums.outputs),
            Estimator::Chars4 => capped(sums.chars / 4),
            Estimator::Chars35 => capped(sums.chars * 2 / 7),
            Estimator::O200k => capped(sums.o200k),
            Estimator::O200kTools => capped(with_tools),
            Estimator::LastTotal => session.requests()[previous].total(),
            Estimator::Delta => capped(delta),
            Estimator::Calibrated => own,
        });
        (expected, basis)
    }

    /// Adds an item to the resets before which it was in the context.
    fn add_before_resets(&mut self, session: &Session, item: &Item, sums: PromptMeasures) {
        let resets = session.resets();
        if resets.is_empty() {
            return;
        }
        // A reset's own record is the last at which what it takes away is still there.
        let after = |record: u32| resets.partition_point(|reset| reset.record <= record);
        let mut from = after(item.record);
        let gone = item.left.map(|left| left.record);
        let away = item.away.iter();
        let away = away.map(|away| (Some(away.gone), Some(away.back)));
        for (gone, back) in away.chain([(gone, None)]) {
            let to = gone.map_or(resets.len(), after);
            if from < to {
                self.before_resets[from] += sums;
                self.before_resets[to] -= sums;
            }
            if back.is_none() && is_stripped(item) {
                self.before_resets[to].fresh += sums.fresh; // as in `add`
            }
            from = back.map_or(to, after).max(to);
        }
    }

    /// Adds an item to where it entered, takes it away where it left; the sums are run up afterwards.
    fn add(&mut self, item: &Item, entered: RequestIx, sums: PromptMeasures) {
        let n = self.prompts.len();
        let end = item.left.map_or(n, |left| left.request.min(n));
        if end <= entered {
            return;
        }
        self.prompts[entered] += sums;
        for away in item.away.iter() {
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
        if is_stripped(item) {
            lost.fresh += sums.fresh;
        } else {
            self.lose(end, entered);
        }
    }

    fn lose(&mut self, at: RequestIx, entered: RequestIx) {
        let slot = &mut self.losses[at];
        *slot = Some(slot.map_or(entered, |known| known.min(entered)));
    }
}

/// Returns the request whose reported output an item is part of.
fn reported_output(session: &Session, item: &Item) -> Option<RequestIx> {
    let request = session.attribution().request_of(item.output_of?)?;
    session.requests()[request].output.map(|_| request)
}

fn is_stripped(item: &Item) -> bool {
    item.left
        .is_some_and(|left| left.why == LeaveReason::Stripped)
}

fn capped(tokens: i128) -> u64 {
    u64::try_from(tokens.max(0)).unwrap_or(u64::MAX)
}

/// Returns for each request, and for the next one, the newest one before it by a model of the same family.
fn of_family(session: &Session) -> Vec<Option<RequestIx>> {
    let mut last: HashMap<String, RequestIx> = HashMap::new();
    let requests = session.requests().iter().enumerate();
    let mut before: Vec<Option<RequestIx>> = requests
        .map(|(ix, request)| {
            request.generation?; // a late report: no request's predecessor
            let family = request.model.as_deref().map(family).unwrap_or_default();
            last.insert(family, ix)
        })
        .collect();
    let now = session.model().map(family).unwrap_or_default();
    before.push(last.get(&now).copied());
    before
}

/// Returns for each request with a reported output the item that represents the output, and the output.
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

/// Returns a model's family: its id without numbers and dates.
fn family(id: &str) -> String {
    let words: Vec<&str> = id
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.bytes().any(|b| b.is_ascii_digit()))
        .collect();
    if words.is_empty() {
        id.to_owned()
    } else {
        words.join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Conversation, Entry, Place};
    use crate::testing::properties::{events, session};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn before_a_reset_is_what_was_in_the_context(events in events()) {
            let mut session = session();
            let mut before = Vec::new();
            for (line, event) in (1..).zip(events) {
                let here = session.in_context().map(|(ix, ..)| u64::from(session.items()[ix].size.chars));
                let chars: u64 = here.sum();
                session.apply(Entry {
                    conversation: Conversation::Main,
                    place: Place::of_line(line),
                    at: None,
                    event,
                });
                before.resize(session.resets().len(), chars);
            }
            let held = PromptContents::of(&session);
            let sums = held.before_resets.iter().map(|sums| sums.chars);
            let sums: Vec<i128> = sums.take(before.len()).collect();
            let before: Vec<i128> = before.into_iter().map(i128::from).collect();
            prop_assert_eq!(sums, before);
        }
    }
}
