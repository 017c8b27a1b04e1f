//! ouro's trace of a run: an event a line, of which each call of the model has two, when it begins and when
//! it ends.
//!
//! Its `--trace` writes them to a database, `trace.db`, the attributes in `attributes_json`, or to lines. `llm.input_tokens` and `llm.output_tokens` are the provider's. Messages and tool schemas
//! are there only if content is captured. `run_id` is the session, `agent_id` one of its agents.

use decode::bodies::{self, Numbers, request};
use decode::lenient::{
    self, Field, FieldPlace, LostFields, Raw, ReportedCount, Text, model_name, record,
};
use decode::prompts::{Block, LossInference, Prompt, Step, Threads};
use formats::database::{DatabaseSpec, Schema, object};
use model::event::{EventSink, Key, Meta, Usage};
use model::{Kind, Role};
use std::collections::HashMap;

/// The database of traces: an event a row. A run is a session.
pub(super) static DATABASE: DatabaseSpec = DatabaseSpec {
    schemas: &[Schema {
        sessions: "SELECT CAST(run_id AS TEXT), NULL, \
                   CAST(strftime('%s', max(timestamp)) AS INTEGER) * 1000, max(rowid) \
                   FROM trace_events GROUP BY run_id",
        header: "SELECT NULL WHERE ?1 IS NULL",
        from: "trace_events WHERE run_id = ?1",
        order: "rowid",
        line: object!(
            text event_type = "coalesce(r.event_type, '')", text event_id, text run_id, text span_id, text agent_id,
            text timestamp, json attributes = "CAST(coalesce(r.attributes_json, '{}') AS TEXT)",
        ),
        ..Schema::DEFAULT
    }],
};

record! {
    /// An event of a run.
    struct Event<'a> {
        event_type: Text<'a>,
        event_id: Text<'a>,
        run_id: Text<'a>,
        span_id: Text<'a>,
        agent_id: Text<'a>,
        timestamp: Text<'a>,
        attributes: Attributes<'a> = "attributes" | "attributes_json",
    }

    /// The attributes of a call of the model, with its content and its response.
    struct Attributes<'a> {
        model: Text<'a> = "llm.model",
        messages: List<'a> = "llm.messages",
        tools: List<'a> = "llm.tool_schemas",
        answer: Text<'a> = "llm.response.content",
        calls: List<'a> = "llm.response.tool_calls",
        input: ReportedCount = "llm.input_tokens",
        output: ReportedCount = "llm.output_tokens",
        cached: ReportedCount = "llm.cache_read_tokens" | "llm.cached_tokens",
    }
}

/// A JSON list as it is written.
#[derive(Debug, Default, Clone, Copy)]
struct List<'a>(Option<Raw<'a>>);

impl<'a> Field<'a> for List<'a> {
    fn read(value: Raw<'a>, _: FieldPlace<'_>) -> Option<Self> {
        value.get().starts_with('[').then_some(List(Some(value)))
    }
}

/// Returns true if a line that begins so is an event of a trace.
pub(super) fn is_trace(line: &[u8]) -> bool {
    use formats::head::has;
    let marks = [r#""event_type""#, r#""run_id""#, r#""span_id""#];
    line.starts_with(b"{") && marks.iter().all(|mark| has(line, mark))
}

/// The agents of a trace.
#[derive(Default)]
pub(super) struct Trace {
    agents: Threads,
    /// The tools on offer to each agent, which the end of a call does not repeat.
    tools: HashMap<Key, Box<str>>,
}

impl Trace {
    /// Reads a line.
    pub(super) fn read(&mut self, line: &str, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        match lenient::parse::<Event<'_>>(line, &lost) {
            Ok(event) => self.event(&event, &lost, out),
            Err(why) => out.unreadable(why),
        }
        lost.report(out);
    }

    fn event(&mut self, event: &Event<'_>, lost: &LostFields, out: &mut EventSink<'_>) {
        out.set_time(event.timestamp.time());
        match event.event_type.or_empty() {
            "llm_call" => {}
            "" => return out.unreadable("no event_type"),
            other => return out.skip(other.to_owned()),
        }
        let id = Key::of_parts(&[event.run_id.or_empty(), event.agent_id.or_empty()]);
        let model = event.attributes.model.get().map(model_name);
        let meta = Meta {
            id: event.run_id.boxed(),
            title: event.agent_id.boxed(),
            ..Meta::of_model(model.map(Into::into))
        };
        let agent = self
            .agents
            .thread(id, LossInference::FromSummary, meta, out);
        let attributes = &event.attributes;
        if let Some(tools) = attributes.tools.0 {
            self.tools.insert(id, tools.get().into());
        }
        if attributes.messages.0.is_some() {
            let tools = self.tools.get(&id).and_then(|tools| Raw::of(tools));
            let at = lost.at("llm.messages");
            let (front, blocks) = request::parts(Vec::new(), attributes.messages.0, tools, at);
            let prompt = Prompt {
                front: &front,
                keeps_front: false,
                kept: 0,
                blocks: &blocks,
                step: Step::Continue,
            };
            agent.history.add_request(&prompt, out);
        }
        let span = event.span_id.key().or(event.event_id.key());
        let request = span.unwrap_or(Key::of_number("ouro", out.place().id()));
        let answer = attributes
            .answer
            .get()
            .filter(|text| !text.trim().is_empty());
        let answer = answer.map(|text| Block::text(Role::Assistant, Kind::Text, text));
        let mut output = Vec::from_iter(answer);
        let calls = attributes.calls.0;
        let calls = calls.map(|raw| bodies::calls(raw, lost.at("llm.response.tool_calls")));
        output.extend(calls.into_iter().flatten());
        let usage = usage(request, attributes, agent.known.model.as_deref());
        if usage.is_some() || !output.is_empty() {
            agent.history.add_response(request, &output, usage, out);
        }
    }
}

fn usage(request: Key, attributes: &Attributes<'_>, model: Option<&str>) -> Option<Usage> {
    let parts = [attributes.input, attributes.output, attributes.cached];
    let [input, output, cached] = ReportedCount::mended(parts);
    let numbers = Numbers {
        cache_read: cached.0.min(input.0),
        ..Numbers::of_line([input, output])
    };
    numbers.usage(request, model)
}
