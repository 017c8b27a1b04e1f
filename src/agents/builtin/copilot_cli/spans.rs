//! The requests in Copilot CLI's OpenTelemetry file.
//!
//! Where the user has it written, `COPILOT_OTEL_FILE_EXPORTER_PATH` names a JSON Lines file of spans, of
//! all sessions and in the order in which they end; `otel` in Copilot's folder is where people put it
//! (ccusage and others look there). What its spans hold is in GitHub's documentation (OpenTelemetry
//! monitoring); a span of 1.0.78 was seen whole:
//!
//! * Requests are the `chat` spans. `invoke_agent` spans sum those inside them, metrics repeat them.
//! * `gen_ai.usage.input_tokens` includes what was read from the cache and written to it: 22,799 was
//!   13,013 and 9,776 and 10. Reasoning is part of the output.
//! * `gen_ai.response.id` is the event's `apiCallId`; `github.copilot.interaction_id` and `turn_id` are
//!   its `interactionId` and `turnId`, in older builds all there is to go by.
//! * The event `github.copilot.session.usage_info` contains the window, and the agent's own count.

use super::rows::DATABASE;
use super::{response_key, turn_key};
use decode::lenient::{self, Count, ReportedCount, Text, Window, record};
use formats::{SidecarRecord, SidecarSpec};
use model::event::{BilledUsage, ByLength, EventSink, Key, Usage};
use std::path::Path;

pub(super) static SIDECAR: SidecarSpec = SidecarSpec {
    env: Some("COPILOT_OTEL_FILE_EXPORTER_PATH"),
    folder: |log: &Path| {
        let state = log.ancestors().find(|dir| dir.ends_with("session-state"))?;
        Some(state.parent()?.join("otel"))
    },
    read,
    database: Some(&DATABASE),
};

record! {
    struct Span<'a> {
        name: Text<'a>,
        span_id: Text<'a> = "spanId",
        trace_id: Text<'a> = "traceId",
        attributes: Attributes<'a>,
        events: Vec<SpanEvent>,
    }

    struct Attributes<'a> {
        operation: Text<'a> = "gen_ai.operation.name",
        conversation: Text<'a> = "gen_ai.conversation.id",
        response: Text<'a> = "gen_ai.response.id",
        response_model: Text<'a> = "gen_ai.response.model",
        request_model: Text<'a> = "gen_ai.request.model",
        interaction: Text<'a> = "github.copilot.interaction_id",
        turn: Text<'a> = "github.copilot.turn_id",
        input: ReportedCount = "gen_ai.usage.input_tokens",
        output: ReportedCount = "gen_ai.usage.output_tokens",
        cache_read: ReportedCount = "gen_ai.usage.cache_read.input_tokens",
        cache_creation: ReportedCount = "gen_ai.usage.cache_creation.input_tokens",
        cache_write: ReportedCount = "gen_ai.usage.cache_write.input_tokens",
        reasoning: ReportedCount = "gen_ai.usage.reasoning.output_tokens",
    }

    struct SpanEvent {
        attributes: Sizes,
    }

    #[derive(Copy)]
    struct Sizes {
        limit: Window = "github.copilot.token_limit",
        current: Count = "github.copilot.current_tokens",
    }
}

/// Reads a line; `None`: it does not concern a request.
fn read(line: &[u8]) -> Option<SidecarRecord> {
    // Most lines are of tools, and of metrics.
    memchr::memmem::find(line, b"\"gen_ai.conversation.id\"")?;
    let line = String::from_utf8_lossy(line);
    let span: Span<'_> = lenient::object(&line, &mut EventSink::new(&ByLength))?;
    let attributes = &span.attributes;
    let is_chat =
        attributes.operation.get() == Some("chat") || span.name.or_empty().starts_with("chat ");
    let session = attributes.conversation.boxed().filter(|_| is_chat)?;
    let above = |count: Count| count.0.filter(|tokens| *tokens > 0);
    let sizes: Vec<Sizes> = span.events.iter().map(|event| event.attributes).collect();
    let window = sizes.iter().rev().find_map(|sizes| sizes.limit.0);
    let response = attributes.response.get();
    let own = Key::of_parts(&["span", span.trace_id.or_empty(), span.span_id.or_empty()]);
    let request = response.map_or(own, response_key);
    let parts = ReportedCount::mended([
        attributes.input,
        attributes.output,
        attributes.cache_read,
        attributes.cache_creation,
        attributes.cache_write,
        attributes.reasoning,
    ]);
    let [
        input,
        output,
        cache_read,
        cache_creation,
        cache_write,
        reasoning,
    ] = parts;
    let usage = match above(input) {
        Some(prompt) => Usage {
            model: attributes
                .response_model
                .boxed()
                .or(attributes.request_model.boxed()),
            cached: cache_read.or_zero().min(prompt),
            output: output.0,
            reasoning: reasoning.0,
            billed: BilledUsage::new(prompt, output.or_zero())
                .with_cache(
                    cache_read.or_zero(),
                    cache_creation.or_zero().max(cache_write.or_zero()),
                )
                .with_reasoning(reasoning.or_zero()),
            ..Usage::reported(request, prompt)
        },
        None => {
            let prompt = sizes.iter().rev().find_map(|sizes| above(sizes.current));
            Usage::estimated(request, prompt?)
        }
    };
    let turn = attributes.interaction.get().zip(attributes.turn.get());
    let keys = [
        response.map(response_key),
        turn.map(|(interaction, turn)| turn_key(interaction, turn)),
    ];
    Some(SidecarRecord {
        session,
        keys: keys.into_iter().flatten().collect(),
        at: None,
        window,
        about: None,
        usage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Source;

    #[test]
    fn only_requests_are_taken() {
        let chat = br#"{"type":"span","traceId":"t","spanId":"s","name":"chat claude-opus-4.6","attributes":{"gen_ai.operation.name":"chat","gen_ai.conversation.id":"one","gen_ai.usage.input_tokens":22799,"gen_ai.usage.output_tokens":77,"gen_ai.usage.cache_read.input_tokens":13013,"gen_ai.usage.cache_creation.input_tokens":9776,"gen_ai.response.model":"claude-opus-4.6","gen_ai.response.id":"msg_1","github.copilot.turn_id":"0","github.copilot.interaction_id":"i"},"events":[{"name":"github.copilot.session.usage_info","attributes":{"github.copilot.token_limit":200000,"github.copilot.current_tokens":22526}}]}"#;
        let record = read(chat).unwrap();
        assert_eq!((&*record.session, record.window), ("one", Some(200_000)));
        assert_eq!(record.keys, [response_key("msg_1"), turn_key("i", "0")]);
        let usage = record.usage;
        assert_eq!(
            (usage.prompt, usage.cached, usage.output),
            (22_799, 13_013, Some(77))
        );
        assert_eq!(
            (usage.source, usage.billed.cache_creation),
            (Source::Reported, 9_776)
        );
        for other in [
            r#"{"type":"span","name":"invoke_agent","attributes":{"gen_ai.operation.name":"invoke_agent","gen_ai.conversation.id":"one","gen_ai.usage.input_tokens":5}}"#,
            r#"{"type":"span","name":"execute_tool bash","attributes":{"gen_ai.conversation.id":"one"}}"#,
            r#"{"type":"span","name":"chat x","attributes":{"gen_ai.conversation.id":"one"}}"#,
            r#"{"type":"span","name":"chat x","attributes":{"gen_ai.conversation.id":7,"gen_ai.usage.input_tokens":5}}"#,
            r#"{"type":"metric","name":"gen_ai.client.token.usage"}"#,
            r#"["gen_ai.conversation.id"]"#,
            r#"{"gen_ai.conversation.id"#,
        ] {
            assert_eq!(read(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn the_agents_own_number_stands_where_the_providers_is_missing() {
        let line = br#"{"name":"chat x","attributes":{"gen_ai.conversation.id":"one"},"events":[{"attributes":{"github.copilot.current_tokens":900}}]}"#;
        let usage = read(line).unwrap().usage;
        assert_eq!((usage.prompt, usage.source), (900, Source::Agent));
    }
}
