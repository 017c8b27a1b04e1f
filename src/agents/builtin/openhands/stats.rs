//! Determines which call of a model belongs to the conversation.
//!
//! Updates of the statistics hold sums, by the usage that a model is put to. The growth of a sum is one call where
//! `per_turn_token` is as much. The updates come before the events of the answer, and name none.

use super::wire::{Metrics, Numbers, State};
use decode::lenient::Report;
use model::event::{BilledUsage, Key, Usage};
use std::collections::{HashMap, HashSet};

impl Numbers<'_> {
    /// Returns the cost in the provider's own terms.
    pub(super) fn billed(&self) -> BilledUsage {
        let (read, written) = (self.cache_read_tokens, self.cache_write_tokens);
        BilledUsage::new(
            self.prompt_tokens.or_zero(),
            self.completion_tokens.or_zero(),
        )
        .with_cache(read.or_zero(), written.or_zero())
        .with_reasoning(self.reasoning_tokens.or_zero())
    }
}

/// Returns a model's id without the way that LiteLLM takes to it: `litellm_proxy/minimax-m2.7`.
pub(super) fn bare(model: &str) -> Box<str> {
    model.rsplit('/').next().unwrap_or(model).into()
}

/// One call of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) usage: Usage,
    pub(super) window: Option<u64>,
}

impl Call {
    /// Returns a call of this cost; `None`: it has no prompt. LiteLLM counts the cached part in the prompt; where that is
    /// more than the prompt, it was counted beside it.
    pub(super) fn of(billed: BilledUsage, numbers: &Numbers<'_>) -> Option<Call> {
        let prompt = if billed.cache_read > billed.input {
            billed.input + billed.cache_read + billed.cache_creation
        } else {
            billed.input
        };
        let model = numbers.model.get().filter(|id| !id.is_empty());
        let usage = Usage {
            model: model.map(bare),
            output: Some(billed.output),
            reasoning: Some(billed.reasoning).filter(|tokens| *tokens > 0),
            ..Usage::billed(Key::new(0), prompt, billed)
        };
        let window = numbers.context_window.0;
        (prompt > 0).then_some(Call { usage, window })
    }
}

/// The statistics of a conversation so far.
#[derive(Default)]
pub(super) struct Stats {
    /// `None`: the newest could not be read, so the next call is not known.
    sums: HashMap<Box<str>, Option<BilledUsage>>,
    /// Usages with a call that cannot be read, and whose answer was not seen.
    lost: HashSet<Box<str>>,
    /// Calls of which no answer was seen, with the usage they were made for.
    waiting: Vec<(Box<str>, Call)>,
    /// The usage that the agent's own model is put to.
    own: Option<Box<str>>,
}

impl Stats {
    /// Reads which usage the conversation's own model has.
    pub(super) fn read_state(&mut self, state: &State<'_>) {
        self.own = state.agent.llm.usage_id.boxed().or(self.own.take());
    }

    /// Takes in an update, or the statistics of a whole state: those are of the past, and no answer follows.
    pub(super) fn update(&mut self, metrics: &Metrics<'_>, is_state: bool) {
        let input = |sums: &Report<Numbers<'_>>| match sums {
            Report::Is(numbers) => numbers.prompt_tokens.or_zero(),
            Report::Absent | Report::Unreadable => 0,
        };
        let metrics = metrics.0.iter();
        let inputs = metrics
            .clone()
            .map(|(_, metric)| input(&metric.accumulated_token_usage));
        let most = inputs.max().unwrap_or(0);
        for (id, metric) in metrics {
            let numbers = match &metric.accumulated_token_usage {
                Report::Absent => continue,
                Report::Is(numbers) => numbers,
                Report::Unreadable => {
                    self.sums.insert(id.clone(), None);
                    self.lost.insert(id.clone());
                    continue;
                }
            };
            let sum = numbers.billed();
            let before = self.sums.insert(id.clone(), Some(sum));
            let is_first = before.is_none();
            let Some(before) = before.unwrap_or(Some(BilledUsage::default())) else {
                self.lost.insert(id.clone());
                continue;
            };
            // Sums may start again from zero.
            let added = sum.checked_sub(before).unwrap_or(sum);
            let is_one = numbers.per_turn_token.0 == Some(added.input + added.output);
            match Call::of(added, numbers) {
                Some(call) if is_one => self.waiting.push((id.clone(), call)),
                // Earlier sums are not in what was read of the log, and the usage with the most is the
                // conversation's: what its call was is not known.
                Some(_) if is_first && !is_state && sum.input == most => {
                    self.lost.insert(id.clone());
                }
                _ => {}
            }
        }
    }

    /// Returns the call whose answer follows, and how many others there were. Of several that the agent's model was
    /// called for, the one with the largest prompt: a title takes less than the conversation.
    pub(super) fn answered(&mut self) -> (Option<Call>, usize) {
        let waiting = std::mem::take(&mut self.waiting);
        let lost = std::mem::take(&mut self.lost);
        if self
            .own
            .as_ref()
            .map_or(!lost.is_empty(), |own| lost.contains(own))
        {
            return (None, waiting.len());
        }
        let others = waiting.len().saturating_sub(1);
        let is_own = |id: &str| self.own.as_deref() == Some(id);
        let call = waiting
            .into_iter()
            .max_by_key(|(id, call)| (is_own(id), call.usage.prompt));
        let Some((id, call)) = call else {
            return (None, 0);
        };
        self.own = Some(id);
        (Some(call), others)
    }

    /// Calls that were made for something else.
    pub(super) fn elsewhere(&mut self) -> usize {
        std::mem::take(&mut self.waiting).len()
    }
}
