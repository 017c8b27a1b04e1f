//! One call to the model, in little memory: a session may have a million.

use super::RequestIx;
use crate::event::{BilledUsage, Key, Place, Surcharges, Usage, count};
use crate::expectation::Expectation;
use crate::small::{MaybeCount, MaybeIx, MaybeTime, short};
use jiff::{SignedDuration, Timestamp};
use std::num::NonZeroU32;
use std::sync::Arc;

/// One call to the model, with what the provider reported.
///
/// Numbers of tokens have 32 bits, and what claims to be larger is taken for the largest.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    key: Key,
    pub(crate) place: Place,
    at: MaybeTime,
    model: Option<Arc<str>>,
    prompt: u32,
    cached: u32,
    output: MaybeCount,
    reasoning: MaybeCount,
    /// See [`BilledUsage::counts`].
    billed: [u32; 6],
    /// The numbers of [`Expectation`], in its order.
    predicted: Option<[u32; 3]>,
    agent_estimate: MaybeCount,
    system: u32,
    turn: u32,
    start: u32,
    pub(crate) generation: Option<NonZeroU32>,
    pub(crate) previous: MaybeIx,
    sent_before: u16,
    cache_minutes: u8,
    is_whole: bool,
    is_inherited: bool,
    surcharges: Surcharges,
}

/// The data of a request that is not in its report.
#[derive(Debug, Clone, Default)]
pub(crate) struct Circumstances {
    pub(crate) place: Place,
    pub(crate) at: Option<Timestamp>,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) agent_estimate: Option<u64>,
    pub(crate) turn: u32,
    pub(crate) sent_before: u16,
    pub(crate) cache_minutes: u8,
}

impl Request {
    /// Returns a request that was just reported. Nothing is attributed of it.
    pub(crate) fn new(usage: &Usage, of: Circumstances) -> Request {
        let mut request = Request {
            key: usage.request,
            place: of.place,
            at: of.at.into(),
            model: of.model,
            prompt: count(usage.prompt),
            cached: count(usage.cached),
            output: usage.output.into(),
            reasoning: usage.reasoning.into(),
            billed: [0; 6],
            predicted: None,
            agent_estimate: of.agent_estimate.into(),
            system: 0,
            turn: of.turn,
            start: 0,
            generation: None,
            previous: MaybeIx::default(),
            sent_before: of.sent_before,
            cache_minutes: of.cache_minutes,
            is_whole: usage.is_whole,
            is_inherited: usage.is_inherited,
            surcharges: Surcharges::NONE,
        };
        request.set_billed(usage.billed);
        request
    }

    /// Returns its identity in the log.
    pub fn key(&self) -> Key {
        self.key
    }

    /// Returns the last line that carries its usage.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the time at which its first line was written.
    pub fn at(&self) -> Option<Timestamp> {
        self.at.get()
    }

    /// Returns the model that answered.
    pub fn model(&self) -> Option<&Arc<str>> {
        self.model.as_ref()
    }

    /// Returns all input, cached or not.
    pub fn prompt(&self) -> u64 {
        self.prompt.into()
    }

    /// Returns the part of it that came from a cache.
    pub fn cached(&self) -> u64 {
        self.cached.into()
    }

    /// Returns the output that the context holds; `None`: the log's number is a placeholder.
    pub fn output(&self) -> Option<u64> {
        self.output.get()
    }

    /// Returns the output with the reasoning that is known not to be sent back, which the context does not hold.
    pub fn whole_output(&self) -> Option<u64> {
        let (kept, billed) = (self.output()?, self.billed());
        let is_without = self.reasoning().is_none() && kept + billed.reasoning == billed.output;
        Some(if is_without { billed.output } else { kept })
    }

    /// Returns the thinking in [`Request::output`], where the provider reports it.
    pub fn reasoning(&self) -> Option<u64> {
        self.reasoning.get()
    }

    /// Returns its usage in the provider's own terms.
    pub fn billed(&self) -> BilledUsage {
        BilledUsage::of_counts(self.billed.map(u64::from), self.surcharges)
    }

    /// Returns the circumstances besides its tokens that change its price.
    pub fn surcharges(&self) -> Surcharges {
        self.surcharges
    }

    /// Returns the size that was expected of the prompt before its report was read.
    pub fn predicted(&self) -> Option<Expectation> {
        let [tokens, low, high] = self.predicted?.map(u64::from);
        Some(Expectation { tokens, low, high })
    }

    /// Returns the agent's own estimate of the prompt, in tokens, where its log has one.
    pub fn agent_estimate(&self) -> Option<u64> {
        self.agent_estimate.get()
    }

    /// Returns true if the log contains all that the prompt held.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns true if another log has paid for it.
    pub fn is_inherited(&self) -> bool {
        self.is_inherited
    }

    /// Returns the part of the prompt that no logged item explains: the system role.
    pub fn system(&self) -> u64 {
        self.system.into()
    }

    /// Returns the user turn it belongs to, counted from 1.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Returns the seconds by which it was sent before [`Request::at`], as far as the log shows them.
    pub fn sent_before(&self) -> u16 {
        self.sent_before
    }

    /// Returns the minutes for which the provider keeps its prompt in a cache, by the log; 0: not known.
    pub fn cache_minutes(&self) -> u8 {
        self.cache_minutes
    }

    /// Returns the time at which it was sent, as far as the log shows it, and the minutes for which its prompt is kept
    /// in a cache; 0: not known.
    pub(crate) fn sent(&self) -> (Option<Timestamp>, u8) {
        let before = SignedDuration::from_secs(self.sent_before.into());
        let at = self.at().and_then(|at| at.checked_sub(before).ok());
        (at, self.cache_minutes)
    }

    /// Returns true if it attributed the content of its prompt.
    pub(crate) fn is_attributed(&self) -> bool {
        self.generation.is_some()
    }

    /// Returns the node from which on items are no longer in its prompt.
    pub(crate) fn start(&self) -> usize {
        self.start as usize
    }

    /// Returns the report it was attributed against; `None`: the first after a reset.
    pub(crate) fn previous(&self) -> Option<RequestIx> {
        self.previous.get()
    }

    pub(crate) fn set_billed(&mut self, billed: BilledUsage) {
        self.billed = billed.counts().map(count);
        self.surcharges = billed.surcharges;
    }

    pub(crate) fn set_predicted(&mut self, predicted: Option<Expectation>) {
        let numbers = |it: Expectation| [it.tokens, it.low, it.high].map(count);
        self.predicted = predicted.map(numbers);
    }

    pub(crate) fn set_system(&mut self, tokens: u64) {
        self.system = count(tokens);
    }

    pub(crate) fn set_start(&mut self, node: usize) {
        self.start = short(node);
    }

    #[cfg(test)]
    pub(crate) fn set_prompt(&mut self, tokens: u64) {
        self.prompt = count(tokens);
    }

    /// Takes in another report of it. The last one has the prompt, since some endpoints begin with an estimate of it;
    /// the output only rises while it streams. Returns whether the prompt changed, and whether the output grew.
    pub(crate) fn merge(&mut self, usage: &Usage) -> (bool, bool) {
        let (prompt, output) = (count(usage.prompt), MaybeCount::from(usage.output).get());
        let changes = prompt != self.prompt && prompt > 0;
        if changes {
            (self.prompt, self.cached) = (prompt, count(usage.cached));
        }
        let reasoning = MaybeCount::from(usage.reasoning).get();
        let grows = output > self.output() || reasoning > self.reasoning();
        self.output = self.output().max(output).into();
        self.reasoning = self.reasoning().max(reasoning).into();
        (changes, grows)
    }

    /// Returns the prompt and the output as the provider itself counts it.
    pub(crate) fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output_as_billed())
    }

    /// Returns the output as the provider itself counts it: some leave the reasoning out, which they do not get back
    /// either.
    pub(crate) fn output_as_billed(&self) -> u64 {
        let output = self.output().unwrap_or(0);
        match self.billed().output {
            0 => output,
            billed => output.min(billed),
        }
    }
}
