//! The provider's numbers of a request.
//!
//! Since 1.0.102 the log has them itself: `session.usage_record`, straight before the `assistant.message`
//! with the same `apiCallId`. `inputTokens` is the whole prompt, what was read from a cache included.
//! Older builds write them to a database and an OpenTelemetry file only, if at all. Requests that compact have no record;
//! `session.compaction_complete` has their sum. `session.shutdown` has sums by model, of all requests since the session
//! began or, in builds of May 2026, since it was resumed; `assistant.message` has the output.

use super::events::{Data, Metrics, Numbers};
use super::{CopilotCliDecoder, response_key, turn_of};
use decode::lenient::{LostFields, Raw, Window, parse};
use json::each_field;
use model::event::{BilledUsage, EventSink, Key, Usage};
use std::collections::BTreeMap;

impl CopilotCliDecoder {
    /// Keeps a request's numbers until its response is written.
    pub(super) fn usage_record(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let numbers = &data.usage;
        self.window(numbers.max_prompt_tokens, out);
        let response = numbers.api_call_id.get().map(response_key);
        let request = Key::of_number("copilot usage", out.place().id());
        let usage = numbers.usage(request);
        if usage.is_none() {
            out.skip("session.usage_record");
        }
        self.unanswered = Some((response, usage));
    }

    /// Reports the usage of a response, as its record has it. Numbers beside the log are searched only if there is no
    /// record: those found for a record without a prompt would be another request's.
    pub(super) fn report(&mut self, data: &Data<'_>, request: Key, out: &mut EventSink<'_>) {
        let response = data.api_call_id.get().map(response_key);
        let record = self.unanswered.take();
        let record = record.filter(|(of, _)| of.is_none() || *of == response);
        let thread = self.thread(out.conversation());
        let was_asked = thread.asked.replace(request) == Some(request);
        let turn = thread.turn;
        let usage = match record {
            Some((_, Some(usage))) => Some(usage),
            _ if was_asked => return,
            Some((_, None)) => None,
            None => {
                let names = [response, turn_of(data), turn];
                let message = (out.conversation(), out.time(), data.output_tokens);
                let (window, usage) = self.asides.find(names.into_iter().flatten(), message);
                self.window(Window(window), out);
                usage
            }
        };
        if let Some(usage) = usage {
            self.bill(usage.billed);
            out.usage(Usage { request, ..usage });
        } else if let Some(output) = data.output_tokens.0.filter(|output| *output > 0) {
            let billed = BilledUsage::new(0, output);
            self.bill(billed);
            out.billed(request, billed);
        }
    }

    /// Adds the cost of a compaction to the totals. Its calls are no part of the conversation.
    pub(super) fn compaction_calls(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let request = Key::of_number("copilot compaction", out.place().id());
        if let Some(usage) = data.compaction_tokens_used.usage(request) {
            self.bill(usage.billed);
            out.billed_sum(request, usage.billed);
        }
    }

    /// Notes a cost that is emitted.
    fn bill(&mut self, billed: BilledUsage) {
        self.billed = self.billed.plus(billed);
        self.billed_since_end = self.billed_since_end.plus(billed);
    }

    /// Emits the cost of all requests of a run, or of all runs so far, less the part that earlier records have.
    pub(super) fn sums(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        let mut sums: BTreeMap<Box<str>, BilledUsage> = BTreeMap::new();
        let metrics = data.model_metrics.map_or("{}", Raw::get);
        let read = each_field(metrics, &mut |model, json| match parse::<Metrics<'_>>(
            json.get(),
            &lost,
        ) {
            Ok(metrics) => {
                let sum = sums.entry(model.into()).or_default();
                *sum = sum.plus(metrics.usage.billed());
            }
            Err(_) => lost.note("modelMetrics"),
        });
        if read.is_err() {
            lost.note("modelMetrics");
        }
        let is_whole = !lost.has_usage();
        lost.report(out);
        if sums.is_empty() || !is_whole {
            return;
        }
        let sum = total(&sums);
        let before = if self.began_again(&sums) {
            self.billed_since_end
        } else {
            self.billed
        };
        let rest = sum.saturating_sub(before);
        if rest != BilledUsage::default() {
            self.bill(rest);
            out.billed_rest(Key::of_number("copilot sums", out.place().id()), rest);
        }
        self.sums_at_end = sums;
        self.billed_since_end = BilledUsage::default();
    }

    /// Returns true if the sums are those of the newest run alone, as some builds write them. Then one of them has
    /// fallen, or the output is nearer to the output since the run before than to that of all runs.
    fn began_again(&self, sums: &BTreeMap<Box<str>, BilledUsage>) -> bool {
        let has_fallen = self.sums_at_end.iter().any(|(model, before)| {
            let now = sums.get(model);
            now.is_none_or(|now| now.checked_sub(*before).is_none())
        });
        let output = total(sums).output.saturating_mul(2);
        let since = self.billed_since_end.output.saturating_mul(2);
        let before = total(&self.sums_at_end).output;
        has_fallen || output < since.saturating_add(before)
    }
}

fn total(sums: &BTreeMap<Box<str>, BilledUsage>) -> BilledUsage {
    sums.values()
        .copied()
        .fold(BilledUsage::default(), BilledUsage::plus)
}

impl Numbers<'_> {
    /// Returns the numbers as a usage report; `None`: there is no prompt.
    pub(super) fn usage(&self, request: Key) -> Option<Usage> {
        let prompt = self.input_tokens.0.filter(|tokens| *tokens > 0)?;
        Some(Usage {
            model: self.model.boxed(),
            output: self.output_tokens.0,
            reasoning: self.reasoning_tokens.0,
            ..Usage::billed(request, prompt, self.billed())
        })
    }

    fn billed(&self) -> BilledUsage {
        let input = self.input_tokens.or_zero();
        BilledUsage::new(input, self.output_tokens.or_zero())
            .with_cache(
                self.cache_read_tokens.or_zero().min(input),
                self.cache_write_tokens.or_zero(),
            )
            .with_reasoning(self.reasoning_tokens.or_zero())
    }
}
