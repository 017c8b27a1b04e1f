//! Which call of a model belongs to the conversation.
//!
//! Updates of the statistics hold sums, by the usage that a model is put to. What a sum grew by is one
//! call where `per_turn_token` says as much. They come before the events of the answer, and name none.

use super::wire::{Metrics, Numbers, State};
use crate::model::Source;
use crate::model::event::{Billed, Key, Usage};
use std::collections::HashMap;

/// Sums so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sum {
    prompt: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    reasoning: u64,
}

impl Sum {
    fn of(numbers: &Numbers<'_>) -> Sum {
        Sum {
            prompt: numbers.prompt_tokens.or_zero(),
            output: numbers.completion_tokens.or_zero(),
            cache_read: numbers.cache_read_tokens.or_zero(),
            cache_write: numbers.cache_write_tokens.or_zero(),
            reasoning: numbers.reasoning_tokens.or_zero(),
        }
    }

    /// What was added to the sums before; `None`: they began anew.
    fn since(self, before: Sum) -> Option<Sum> {
        Some(Sum {
            prompt: self.prompt.checked_sub(before.prompt)?,
            output: self.output.checked_sub(before.output)?,
            cache_read: self.cache_read.checked_sub(before.cache_read)?,
            cache_write: self.cache_write.checked_sub(before.cache_write)?,
            reasoning: self.reasoning.checked_sub(before.reasoning)?,
        })
    }

    /// The numbers of one call. LiteLLM counts what was cached in the prompt; where it is more than that,
    /// it was counted beside it.
    fn usage(self, model: Option<&str>) -> Usage {
        let cached = self.cache_read + self.cache_write;
        let prompt = match self.cache_read > self.prompt {
            true => self.prompt + cached,
            false => self.prompt,
        };
        Usage {
            request: Key(0),
            model: model.filter(|id| !id.is_empty()).map(bare),
            prompt,
            cached: self.cache_read,
            output: Some(self.output),
            reasoning: Some(self.reasoning).filter(|tokens| *tokens > 0),
            source: Source::Reported,
            billed: Billed {
                input: self.prompt,
                cache_creation: self.cache_write,
                cache_read: self.cache_read,
                output: self.output,
                reasoning: self.reasoning,
            },
        }
    }
}

/// A model's id without the way that LiteLLM takes to it: `litellm_proxy/minimax-m2.7`.
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
    /// The call of a record; `None`: it has no prompt.
    pub(super) fn of(numbers: &Numbers<'_>) -> Option<Call> {
        Call::added(Sum::of(numbers), numbers)
    }

    fn added(sum: Sum, numbers: &Numbers<'_>) -> Option<Call> {
        let usage = sum.usage(numbers.model.get());
        (usage.prompt > 0).then(|| Call {
            usage,
            window: numbers.context_window.0.filter(|window| *window > 0),
        })
    }
}

/// The statistics of a conversation so far.
#[derive(Default)]
pub(super) struct Stats {
    sums: HashMap<Box<str>, Sum>,
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

    /// Takes in an update.
    pub(super) fn update(&mut self, metrics: &Metrics<'_>) {
        for (id, metric) in &metrics.0 {
            let Some(numbers) = &metric.accumulated_token_usage else {
                continue;
            };
            let sum = Sum::of(numbers);
            let before = self.sums.insert(id.clone(), sum).unwrap_or_default();
            let added = sum.since(before).unwrap_or(sum);
            let is_one = numbers.per_turn_token.0 == Some(added.prompt + added.output);
            if let Some(call) = Call::added(added, numbers).filter(|_| is_one) {
                self.waiting.push((id.clone(), call));
            }
        }
    }

    /// The call whose answer follows, and how many others there were. Of several that the agent's model
    /// was called for, the one with the largest prompt: a title takes less than the conversation.
    pub(super) fn answered(&mut self) -> (Option<Call>, usize) {
        let waiting = std::mem::take(&mut self.waiting);
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
