//! What Copilot CLI's OpenTelemetry file tells of its requests.
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
//! * The event `github.copilot.session.usage_info` tells the window, and the agent's own count.

use super::{response_key, turn_key};
use crate::agents::lenient::{self, Count, Piece, Pieces, Text};
use crate::agents::{SidecarRecord, SidecarSpec};
use crate::model::Source;
use crate::model::event::{Billed, Key, Usage};
use serde::Deserialize;
use std::path::Path;

pub(super) static SIDECAR: SidecarSpec = SidecarSpec {
    env: "COPILOT_OTEL_FILE_EXPORTER_PATH",
    folder: |log: &Path| {
        let state = log.ancestors().find(|dir| dir.ends_with("session-state"))?;
        Some(state.parent()?.join("otel"))
    },
    read,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Span<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    span_id: Text<'a>,
    #[serde(borrow)]
    trace_id: Text<'a>,
    attributes: Attributes<'a>,
    #[serde(borrow)]
    events: Pieces<'a, SpanEvent>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attributes<'a> {
    #[serde(borrow, rename = "gen_ai.operation.name")]
    operation: Text<'a>,
    #[serde(borrow, rename = "gen_ai.conversation.id")]
    conversation: Text<'a>,
    #[serde(borrow, rename = "gen_ai.response.id")]
    response: Text<'a>,
    #[serde(borrow, rename = "gen_ai.response.model")]
    response_model: Text<'a>,
    #[serde(borrow, rename = "gen_ai.request.model")]
    request_model: Text<'a>,
    #[serde(borrow, rename = "github.copilot.interaction_id")]
    interaction: Text<'a>,
    #[serde(borrow, rename = "github.copilot.turn_id")]
    turn: Text<'a>,
    #[serde(rename = "gen_ai.usage.input_tokens")]
    input: Count,
    #[serde(rename = "gen_ai.usage.output_tokens")]
    output: Count,
    #[serde(rename = "gen_ai.usage.cache_read.input_tokens")]
    cache_read: Count,
    #[serde(rename = "gen_ai.usage.cache_creation.input_tokens")]
    cache_creation: Count,
    #[serde(rename = "gen_ai.usage.cache_write.input_tokens")]
    cache_write: Count,
    #[serde(rename = "gen_ai.usage.reasoning.output_tokens")]
    reasoning: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpanEvent {
    attributes: Sizes,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Sizes {
    #[serde(rename = "github.copilot.token_limit")]
    limit: Count,
    #[serde(rename = "github.copilot.current_tokens")]
    current: Count,
}

/// Numbers of a prompt of this size, of which nothing else is known.
pub(super) fn usage(prompt: u64) -> Usage {
    Usage {
        request: Key(0),
        model: None,
        prompt,
        cached: 0,
        output: None,
        reasoning: None,
        source: Source::Agent,
        billed: Billed::default(),
    }
}

/// What a line tells of a request; `None`: it is of something else.
fn read(line: &[u8]) -> Option<SidecarRecord> {
    // Most lines are of tools, and of metrics.
    memchr::memmem::find(line, b"\"gen_ai.conversation.id\"")?;
    let span: Span<'_> = lenient::object(line).ok()?;
    let said = &span.attributes;
    let is_chat = said.operation.get() == Some("chat") || span.name.or_empty().starts_with("chat ");
    let session = said.conversation.boxed().filter(|_| is_chat)?;
    let sizes = span.events.0.iter().filter_map(|piece| match piece {
        Piece::Part(event) => Some(event.attributes),
        Piece::Text(_) => None,
    });
    let above = |count: Count| count.0.filter(|tokens| *tokens > 0);
    let sizes: Vec<Sizes> = sizes.collect();
    let window = sizes.iter().rev().find_map(|sizes| above(sizes.limit));
    let usage = match above(said.input) {
        Some(prompt) => Usage {
            model: said.response_model.boxed().or(said.request_model.boxed()),
            cached: said.cache_read.or_zero().min(prompt),
            output: said.output.0,
            reasoning: said.reasoning.0,
            source: Source::Reported,
            billed: Billed {
                input: prompt,
                cache_creation: said
                    .cache_creation
                    .or_zero()
                    .max(said.cache_write.or_zero()),
                cache_read: said.cache_read.or_zero(),
                output: said.output.or_zero(),
                reasoning: said.reasoning.or_zero(),
            },
            ..usage(prompt)
        },
        None => usage(sizes.iter().rev().find_map(|sizes| above(sizes.current))?),
    };
    let response = said.response.get();
    let turn = said.interaction.get().zip(said.turn.get());
    let keys = [
        response.map(response_key),
        turn.map(|(interaction, turn)| turn_key(interaction, turn)),
    ];
    let own = Key::of_parts(&["span", span.trace_id.or_empty(), span.span_id.or_empty()]);
    Some(SidecarRecord {
        session,
        keys: keys.into_iter().flatten().collect(),
        window,
        usage: Usage {
            request: response.map_or(own, response_key),
            ..usage
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_are_taken() {
        let chat = br#"{"type":"span","traceId":"t","spanId":"s","name":"chat claude-opus-4.6","attributes":{"gen_ai.operation.name":"chat","gen_ai.conversation.id":"one","gen_ai.usage.input_tokens":22799,"gen_ai.usage.output_tokens":77,"gen_ai.usage.cache_read.input_tokens":13013,"gen_ai.usage.cache_creation.input_tokens":9776,"gen_ai.response.model":"claude-opus-4.6","gen_ai.response.id":"msg_1","github.copilot.turn_id":"0","github.copilot.interaction_id":"i"},"events":[{"name":"github.copilot.session.usage_info","attributes":{"github.copilot.token_limit":200000,"github.copilot.current_tokens":22526}}]}"#;
        let aside = read(chat).unwrap();
        assert_eq!((&*aside.session, aside.window), ("one", Some(200_000)));
        assert_eq!(aside.keys, [response_key("msg_1"), turn_key("i", "0")]);
        let usage = aside.usage;
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
