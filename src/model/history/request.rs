//! One call to the model.

use super::RequestIx;
use crate::event::{Key, Place, Usage};
use crate::history::NodeIx;
use crate::history::expectation::Expectation;
use derive_more::Deref;
use jiff::{SignedDuration, Timestamp};
use std::num::NonZeroU32;
use std::sync::Arc;

/// One call to the model, with what the provider reported.
#[derive(Debug, Clone, PartialEq, Deref)]
pub struct Request {
    /// The numbers of its reports.
    #[deref]
    pub usage: Usage,
    /// The last line that carries its usage.
    pub place: Place,
    /// The time at which its first line was written.
    pub at: Option<Timestamp>,
    /// The model that answered.
    pub model: Option<Arc<str>>,
    /// The size that was expected of the prompt before its report was read.
    pub predicted: Option<Expectation>,
    /// The agent's own estimate of the prompt, in tokens, where its log has one.
    pub agent_estimate: Option<u64>,
    /// The part of the prompt that no logged item explains: the system role.
    pub system: u64,
    /// The user turn it belongs to, counted from 1.
    pub turn: u32,
    /// The seconds by which it was sent before `at`, as far as the log shows them.
    pub sent_before: u16,
    /// The minutes for which the provider keeps its prompt in a cache, by the log; 0: not known.
    pub cache_minutes: u8,
    /// The node from which on items are no longer in its prompt.
    pub(crate) start: NodeIx,
    /// The generation of the numbers that it attributed; `None`: it attributed none.
    pub(crate) generation: Option<NonZeroU32>,
    /// The report it was attributed against; `None`: the first after a reset.
    pub(crate) previous: Option<RequestIx>,
}

impl Request {
    /// Returns its identity in the log.
    pub fn key(&self) -> Key {
        self.usage.request
    }

    /// Returns the output with the reasoning that is known not to be sent back, which the context does not hold.
    pub fn whole_output(&self) -> Option<u64> {
        let (kept, billed) = (self.output?, self.billed);
        let is_without = self.reasoning.is_none() && kept + billed.reasoning == billed.output;
        Some(if is_without { billed.output } else { kept })
    }

    /// Returns the time at which it was sent, as far as the log shows it, and the minutes for which its prompt is kept
    /// in a cache; 0: not known.
    pub(crate) fn sent(&self) -> (Option<Timestamp>, u8) {
        let before = SignedDuration::from_secs(self.sent_before.into());
        let at = self.at.and_then(|at| at.checked_sub(before).ok());
        (at, self.cache_minutes)
    }

    /// Takes in another report of it. The last one has the prompt, since some endpoints begin with an estimate of it;
    /// the output only rises while it streams. Returns whether the prompt changed, and whether the output grew.
    pub(crate) fn merge(&mut self, new: &Usage) -> (bool, bool) {
        let known = &mut self.usage;
        let changes = new.prompt != known.prompt && new.prompt > 0;
        if changes {
            (known.prompt, known.cached) = (new.prompt, new.cached);
        }
        if new.miss.is_some() {
            known.miss.clone_from(&new.miss);
        }
        let grows = new.output > known.output || new.reasoning > known.reasoning;
        known.output = known.output.max(new.output);
        known.reasoning = known.reasoning.max(new.reasoning);
        (changes, grows)
    }

    /// Returns the prompt and the output as the provider itself counts it.
    pub(crate) fn total(&self) -> u64 {
        self.prompt.saturating_add(self.output_as_billed())
    }

    /// Returns the output as the provider itself counts it: some leave the reasoning out, which they do not get back
    /// either.
    pub(crate) fn output_as_billed(&self) -> u64 {
        let output = self.output.unwrap_or(0);
        match self.billed.output {
            0 => output,
            billed => output.min(billed),
        }
    }
}
