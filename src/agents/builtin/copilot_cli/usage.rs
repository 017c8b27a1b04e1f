//! The provider's numbers of a request.
//!
//! Since 1.0.102 the log has them itself: `session.usage_record`, straight before the `assistant.message`
//! with the same `apiCallId`. `inputTokens` is the whole prompt, what was read from a cache included.
//! Older builds write them to a database and an OpenTelemetry file only, if at all. Requests that compact have no record;
//! `session.compaction_complete` has their sum.

use super::events::{Data, Numbers};
use super::{CopilotCliDecoder, response_key, turn_of};
use kit::lenient::Window;
use model::event::{Billed, Key, Lane, Meta, Sink, Usage};

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
            out.usage(Usage { request, ..usage });
        }
    }

    /// What a compaction cost: it counts, but holds no part of the conversation.
    pub(super) fn compaction_calls(&mut self, data: &Data<'_>, out: &mut Sink<'_>) {
        let request = Key::of_number("copilot compaction", out.place().id());
        let Some(usage) = data.compaction_tokens_used.usage(request) else {
            return;
        };
        let lane = out.lane();
        out.set_lane(Lane::Side(Key::of("compaction")));
        out.meta(Meta::of_title(Some("compaction".into())));
        out.usage(usage);
        out.set_lane(lane);
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
            billed: Billed {
                input: prompt,
                cache_creation: self.cache_write_tokens.or_zero(),
                cache_read: cached,
                output: self.output_tokens.or_zero(),
                reasoning: self.reasoning_tokens.or_zero(),
            },
            ..Usage::reported(request, prompt)
        })
    }
}
