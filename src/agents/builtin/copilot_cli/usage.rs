//! The provider's numbers of a request.
//!
//! Since 1.0.102 the log has them itself: `session.usage_record`, straight before the `assistant.message`
//! with the same `apiCallId`. `inputTokens` is the whole prompt, what was read from a cache included.
//! Older builds write them to a database and an OpenTelemetry file only, if at all. Requests that compact have no record;
//! `session.compaction_complete` has their sum. `session.shutdown` has the sums of all requests of the session since it
//! began, by model; `assistant.message` has the output.

use super::events::{Data, Metrics, Numbers};
use super::{CopilotCliDecoder, response_key, turn_of};
use kit::lenient::scan::each_field;
use kit::lenient::{Lost, Raw, Window, parse};
use model::event::{Billed, Key, Sink, Usage};

impl CopilotCliDecoder {
    /// Keeps a request's numbers until its response is written.
    pub(super) fn usage_record(&mut self, data: &Data<'_>, out: &mut Sink<'_>) {
        let numbers = &data.usage;
        self.window(numbers.max_prompt_tokens, out);
        let response = numbers.api_call_id.get().map(response_key);
        let request = Key::of_number("copilot usage", out.place().id());
        match numbers.usage(request) {
            Some(usage) => self.unanswered = Some((response, usage)),
            None => out.skip("session.usage_record"),
        }
    }

    /// Reports the usage of a response, as its record has it or else telemetry.
    pub(super) fn report(&mut self, data: &Data<'_>, request: Key, out: &mut Sink<'_>) {
        let response = data.api_call_id.get().map(response_key);
        if let Some((of, usage)) = self.unanswered.take()
            && (of.is_none() || of == response)
        {
            self.billed = self.billed.plus(usage.billed);
            return out.usage(Usage { request, ..usage });
        }
        let thread = self.thread(out.lane());
        if thread.asked.replace(request) == Some(request) {
            return;
        }
        let names = [response, turn_of(data), thread.turn];
        let message = (out.lane(), self.at, data.output_tokens);
        let (window, usage) = self.asides.find(names.into_iter().flatten(), message);
        self.window(Window(window), out);
        if let Some(usage) = usage {
            self.billed = self.billed.plus(usage.billed);
            out.usage(Usage { request, ..usage });
        } else if let Some(output) = data.output_tokens.0.filter(|output| *output > 0) {
            let billed = Billed {
                output,
                ..Billed::default()
            };
            self.billed = self.billed.plus(billed);
            out.billed(request, billed);
        }
    }

    /// What a compaction cost: it counts, but holds no part of the conversation.
    pub(super) fn compaction_calls(&mut self, data: &Data<'_>, out: &mut Sink<'_>) {
        let request = Key::of_number("copilot compaction", out.place().id());
        let Some(usage) = data.compaction_tokens_used.usage(request) else {
            return;
        };
        self.billed = self.billed.plus(usage.billed);
        out.billed_sum(request, usage.billed);
    }

    /// The cost of all requests since the session began: what of it no record before has.
    pub(super) fn sums(&mut self, data: &Data<'_>, out: &mut Sink<'_>) {
        let lost = Lost::default();
        let mut sums = Billed::default();
        let metrics = data.model_metrics.map_or("{}", Raw::get);
        let read = each_field(
            metrics,
            &mut |_, json| match parse::<Metrics<'_>>(json.get(), &lost) {
                Ok(metrics) => sums = sums.plus(metrics.usage.billed()),
                Err(_) => lost.note("modelMetrics"),
            },
        );
        if read.is_err() {
            lost.note("modelMetrics");
        }
        lost.report(out);
        let rest = sums.saturating_sub(self.billed);
        if rest != Billed::default() {
            self.billed = self.billed.plus(rest);
            out.billed_rest(Key::of_number("copilot sums", out.place().id()), rest);
        }
    }
}

impl Numbers<'_> {
    /// The numbers as a usage report; `None`: there is no prompt.
    pub(super) fn usage(&self, request: Key) -> Option<Usage> {
        let prompt = self.input_tokens.0.filter(|tokens| *tokens > 0)?;
        let cached = self.cache_read_tokens.or_zero().min(prompt);
        Some(Usage {
            model: self.model.boxed(),
            cached,
            output: self.output_tokens.0,
            reasoning: self.reasoning_tokens.0,
            billed: self.billed(),
            ..Usage::reported(request, prompt)
        })
    }

    fn billed(&self) -> Billed {
        let input = self.input_tokens.or_zero();
        Billed::new(input, self.output_tokens.or_zero())
            .with_cache(
                self.cache_read_tokens.or_zero().min(input),
                self.cache_write_tokens.or_zero(),
            )
            .with_reasoning(self.reasoning_tokens.or_zero())
    }
}
