//! Keeps the earlier states of a session: enough to show it as of any record.
//!
//! Items keep when they came and left, and their sizes before the present one. Besides, a [`StateMark`] is set at every
//! record that changed any other input of a context. Nothing is computed here that was not computed when the record was
//! read.

use crate::event::Place;
use crate::history::RequestIx;
use crate::sizes::attribution::Attribution;
use crate::sizes::calibration::Spread;
use crate::state::agent_estimate::AgentEstimate;
use jiff::Timestamp;
use std::sync::Arc;

/// The earlier states of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Past {
    /// The marks in the order of the log, at most one a record.
    pub(crate) marks: Vec<StateMark>,
    /// The model and its limits, in order.
    facts: Vec<ModelFacts>,
    /// The agent's own numbers, in order.
    estimates: Vec<DatedEstimate>,
    /// True if earlier states were forgotten.
    pub(super) forgotten: bool,
}

/// The agent's own number at some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct DatedEstimate {
    /// `None`: it has none that is about the context of that time.
    estimate: Option<AgentEstimate>,
    /// The record of its newest number.
    record: u32,
}

/// A record that changed what a context is computed from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateMark {
    pub(crate) place: Place,
    pub(crate) at: Option<Timestamp>,
    pub(crate) record: u32,
    pub(crate) inputs: Inputs,
}

/// The inputs from which a context is computed, besides the items in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Inputs {
    /// Requests reported.
    pub(crate) requests: usize,
    /// Resets so far.
    pub(crate) resets: usize,
    /// User turns begun.
    pub(crate) turns: u32,
    /// The number of times that items have left, come back, or changed their size.
    changes: u32,
    pub(crate) anchor: Option<RequestIx>,
    pub(crate) unlogged: UnloggedSource,
    /// Tokens of unlogged text that the next prompt will have again.
    pub(crate) returning: u64,
    /// Tokens that have left since the last report, as a share of a sum that was divided by lengths.
    pub(crate) guessed_of_left: u64,
    /// True if the agent has rewritten its history since the last report.
    pub(crate) is_rewritten: bool,
    /// The width of the interval of an estimate.
    pub(crate) spread: Spread,
    /// The number of [`Past::facts`] and [`Past::estimates`].
    facts: usize,
    estimates: usize,
}

/// The source of the part of the context that no item explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnloggedSource {
    /// The anchor's system part, in tokens.
    Reported(u64),
    /// The prefix before the reset, in tokens.
    Learned(u64),
    /// The part of the agent's own number that no item explained, in tokens.
    Agent(u64),
    /// Nothing but what is usual with the agent.
    Usual,
}

/// The model, its window and its trigger, as the log names them, and what is left out of its prompts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ModelFacts {
    pub(crate) model: Option<Arc<str>>,
    pub(crate) provider: Option<Box<str>>,
    pub(crate) window: Option<u64>,
    pub(crate) trigger: Option<u64>,
    pub(crate) left_out: u64,
}

/// Returns the entry that was the newest among the first `len`.
fn newest<T>(all: &[T], len: usize) -> Option<&T> {
    all.get(len.checked_sub(1)?)
}

impl Past {
    /// Returns the present inputs. `unexplained`: the part of the agent's newest number that no item explains, in
    /// tokens.
    pub(crate) fn inputs(
        &self,
        attribution: &Attribution,
        turns: u32,
        unexplained: Option<u64>,
    ) -> Inputs {
        let unlogged = match (attribution.anchor(), attribution.prefix, unexplained) {
            (Some(anchor), _, _) => UnloggedSource::Reported(attribution.requests()[anchor].system),
            (None, Some(learned), _) => UnloggedSource::Learned(learned),
            (None, None, Some(rest)) => UnloggedSource::Agent(rest),
            (None, None, None) => UnloggedSource::Usual,
        };
        let items = attribution.items();
        Inputs {
            requests: attribution.requests().len(),
            resets: attribution.resets().len(),
            turns,
            changes: items.changes,
            anchor: attribution.anchor(),
            unlogged,
            returning: attribution.returning(),
            guessed_of_left: items.guessed_of_left(),
            is_rewritten: false,
            spread: items.calibrations().current().spread(),
            facts: self.facts.len(),
            estimates: self.estimates.len(),
        }
    }

    /// Sets a mark at a record, unless nothing has changed since the last one. If earlier states are forgotten, only the
    /// last one is kept.
    pub(crate) fn mark(
        &mut self,
        record: u32,
        place: Place,
        at: Option<Timestamp>,
        inputs: &Inputs,
    ) {
        let last = self.marks.last();
        if last.is_some_and(|last| last.inputs == *inputs) {
            return;
        }
        let is_replaced = |last: &mut StateMark| self.forgotten || last.record == record;
        let replaced = self.marks.pop_if(is_replaced);
        // The first event of a record has its place.
        let first = replaced.filter(|_| !self.forgotten);
        let (place, at) = first.map_or((place, at), |first| (first.place, first.at));
        self.marks.push(StateMark {
            place,
            at,
            record,
            inputs: *inputs,
        });
    }

    /// Notes that a record brought this many more resets.
    pub(crate) fn add_resets(&mut self, count: usize, record: u32, place: Place) {
        let from = self.marks.partition_point(|mark| mark.record < record);
        if self.marks.get(from).is_none_or(|mark| mark.record > record)
            && let Some(before) = from.checked_sub(1).and_then(|ix| self.marks.get(ix))
        {
            let mark = StateMark {
                record,
                place,
                ..*before
            };
            self.marks.insert(from, mark);
        }
        for mark in self.marks.iter_mut().skip(from) {
            mark.inputs.resets += count;
        }
    }

    /// Returns the inputs after a record; `None`: they are not kept.
    pub(crate) fn inputs_at(&self, record: u32) -> Option<Inputs> {
        let after = self.marks.partition_point(|mark| mark.record <= record);
        Some(self.marks.get(after.checked_sub(1)?)?.inputs)
    }

    /// Notes the model and its limits, if they are new.
    pub(crate) fn note_facts(&mut self, facts: ModelFacts) {
        if self.facts.last() != Some(&facts) {
            self.facts.push(facts);
        }
    }

    /// Returns the model and its limits as they were then.
    pub(crate) fn facts_at(&self, inputs: &Inputs) -> ModelFacts {
        newest(&self.facts, inputs.facts)
            .cloned()
            .unwrap_or_default()
    }

    /// Notes the agent's own number and its record (0: none), if they are new.
    pub(crate) fn note_estimate(&mut self, estimate: Option<AgentEstimate>, record: u32) {
        let last = self.estimates.last().copied().unwrap_or_default();
        let new = DatedEstimate { estimate, record };
        if last != new {
            self.estimates.push(new);
        }
    }

    /// Returns the agent's own number for its context at that time.
    pub(crate) fn estimate_at(&self, inputs: &Inputs) -> Option<AgentEstimate> {
        newest(&self.estimates, inputs.estimates)?.estimate
    }

    /// Returns the record of the agent's newest number by then; 0: none.
    pub(crate) fn estimate_record_at(&self, inputs: &Inputs) -> u32 {
        newest(&self.estimates, inputs.estimates).map_or(0, |dated| dated.record)
    }

    /// Forgets the earlier states.
    pub(crate) fn forget(&mut self) {
        let last = self.marks.pop();
        self.marks = last.into_iter().collect();
        self.forgotten = true;
    }
}
