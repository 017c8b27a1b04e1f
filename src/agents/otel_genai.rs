//! OpenTelemetry's conventions for generative AI: what Semantic Kernel, LangChain, LlamaIndex, Pydantic
//! AI, the AI SDK and others write where they are told to export spans to a file.
//!
//! Two forms of lines, told apart line by line: OTLP's JSON (`{"resourceSpans":[…]}` and
//! `{"resourceLogs":[…]}`, as the Collector's file exporter writes it; 64-bit numbers are strings, or
//! not) and flat spans (`{"type":"span","name":…,"attributes":{…}}`, as Node's exporters write them).
//! What open-telemetry/semantic-conventions-genai, traceloop/openllmetry, Arize-ai/openinference and
//! vercel/ai say:
//!
//! * A span is a call of a model where its operation is `chat`, `generate_content` or
//!   `text_completion`; older ones say so by `llm.request.type`, OpenInference by
//!   `openinference.span.kind`, the AI SDK by `ai.operationId`. Spans of agents, chains and whole
//!   generations sum up the calls below them: a sum is no context, so they are passed over.
//! * `gen_ai.usage.input_tokens` includes what was read from and written to a cache. Instrumentations
//!   older than that rule report it beside: where the cached part is larger than the input, it is.
//! * The content is opt-in: today `gen_ai.input.messages`, `gen_ai.output.messages`,
//!   `gen_ai.system_instructions` and `gen_ai.tool.definitions`, as JSON or as a string of it; before,
//!   an event for each message, on the span or as a log record; `gen_ai.prompt.N.…` (OpenLLMetry),
//!   `llm.input_messages.N.…` (OpenInference), `ai.prompt.messages` (AI SDK). Without it the numbers
//!   alone are known; so where a line is so long that its strings are cut, JSON in strings among them.
//! * A conversation goes by `gen_ai.conversation.id` or what older conventions call it, else by its
//!   trace, and in it by the agent. A call that shares nothing with it (a title, a classification) is
//!   a conversation of its own. Many begin a trace with each turn: a call that names no conversation and
//!   repeats an answer of another trace goes on with that; without content, nothing tells.
//! * Spans are written when they end, and exporters do not sort: one that began before the newest
//!   counts in the totals and changes nothing in the context.
//! * Spans and log records of one file are joined by their ids; where an exporter writes each to a file
//!   of its own (the Collector's does), the file of spans has the numbers and that of records the
//!   content, and nothing joins them.
//!
//! Frameworks have habits of their own; what their sources say:
//!
//! * Semantic Kernel (microsoft/semantic-kernel, `ModelDiagnostics.cs`, `model_diagnostics/
//!   decorators.py`): operations `chat.completions`, `chat.streaming_completions`, `text.completions`.
//!   Its tools' messages do not say which call they answer. At first its numbers were
//!   `gen_ai.response.prompt_tokens` and -1 where it had none, and its content no JSON.
//! * LangChain and LangGraph through LangSmith (langchain-ai/langsmith-sdk, `otel/_otel_exporter.py`):
//!   each run is a span, `langsmith.span.kind` says of what; templates are `chat` as well. All that goes
//!   in and comes out stands in `gen_ai.prompt` and `gen_ai.completion`. Its *session* is the project;
//!   a conversation is a *thread*, one of three keys of the metadata.
//! * LlamaIndex (run-llama/llama_index, `llama-index-observability-otel`, `genai.py`): today's names,
//!   operations `chat` and `completion`, texts alone, no calls. Without that switch its spans have no
//!   numbers; OpenInference or OpenLLMetry tell more.
//! * Pydantic AI (pydantic/pydantic-ai, `models/instrumented.py`): at first the messages as one attribute
//!   `events` or as log records, the tools in `model_request_parameters`, the cached part in
//!   `gen_ai.usage.details.…`; since its version 2 of the data today's names.
//! * OpenLLMetry: tools in `llm.request.functions.N.…`, thoughts as messages of the role `thinking`.
//! * Strands (strands-agents/sdk-python, `telemetry/tracer.py`): Bedrock's blocks, as JSON; the spans of
//!   its loop repeat the messages and are no calls.
//! * ADK (google/adk-python): requests and responses whole, in `gcp.vertex.agent.llm_…`.

mod body;
mod content;
mod span;

use super::snapshot::{Conversation, Unit, Writer};
use super::{Base, Claim, Decoder, Facts, Format, Input, Root, decoder, facts, head, lenient};
use crate::model::event::{Event, Key, Lane, Meta, Place, Sink};
use jiff::Timestamp;
use serde_json::Value;
use span::{Call, Record};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The format.
pub static OTEL_GENAI: Format = Format {
    id: "otel-genai",
    label: "otel",
    // Exporters write wherever they are told to; this is a place to tell them.
    roots: &[Root::new(Base::XdgData("ctxgauge"), "spans")],
    facts: Facts {
        mark: "`resourceSpans`, `resourceLogs`, or a span with `gen_ai.` attributes",
        live: facts::EACH_LINE,
        known: "prompts, outputs, reasoning where it is told apart",
        estimated: "calls whose span has no usage",
        sub_agents: "by the agent's name",
        compactions: "told from what calls no longer carry, where the content is exported",
        tried: "invented lines after the conventions and their instrumentations",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<OtelGenAiDecoder>,
    // What a request no longer carries is told by its absence.
    terms: &[
        ("input", |b| b.input),
        ("cache_creation", |b| b.cache_creation),
        ("cache_read", |b| b.cache_read),
        ("output", |b| b.output),
        ("reasoning", |b| b.reasoning),
    ],
    holds_several: true,
    ..Format::DEFAULT
};

/// `*.jsonl` and `*.json`: the Collector calls its lines by either name.
fn claims(path: &Path) -> Option<Claim> {
    let ext = path.extension()?;
    (ext == "jsonl" || ext == "json").then_some(Claim::LINES)
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    let start = head::solid(line, 16);
    start.starts_with(br#"{"resourceSpans"#)
        || start.starts_with(br#"{"resourceLogs""#)
        || start.starts_with(b"{")
            && head::has(line, r#""attributes""#)
            && span::MARKS.iter().any(|mark| head::has(line, mark))
}

/// A conversation of the file.
#[derive(Default)]
struct Thread {
    conversation: Conversation,
    /// When its newest call began.
    newest: Option<Timestamp>,
    model: Option<String>,
}

/// Reads one file.
#[derive(Default)]
struct OtelGenAiDecoder {
    threads: HashMap<Lane, Thread>,
    /// The conversations of an id, the first one first.
    lanes: HashMap<Key, Vec<Lane>>,
    /// The conversations of calls that name none, by the agent: one may go on in another trace.
    of_traces: Vec<(String, Lane)>,
    /// Calls that were told, by their spans.
    told: HashSet<Key>,
    /// Messages that came in log records, before the answer to them.
    waiting: HashMap<Key, (Lane, Vec<Unit<'static>>)>,
    /// Calls of which log records showed the answer.
    answered: HashMap<Key, Lane>,
}

impl Decoder for OtelGenAiDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let Input::Line(place, line) = input else {
            return;
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let records = match lenient::object::<Value>(line).and_then(|line| span::records(&line)) {
            Ok(records) => records,
            Err(why) => return out.push(Lane::Main, place, None, Event::Unreadable(why)),
        };
        for record in records {
            match record {
                Record::Call(call) => self.call(*call, place, out),
                Record::Content(call) => self.content(*call, place, out),
                Record::Other(name) => {
                    out.push(Lane::Main, place, None, Event::Skipped(name.into()));
                }
            }
        }
    }
}

impl OtelGenAiDecoder {
    /// Content in a log record: a call's whole content, or one message of it. The span has yet to come,
    /// if it stands in this file at all.
    fn content(&mut self, call: Call, place: Place, out: &mut Sink<'_>) {
        let key = call.key.unwrap_or(Key::of_number("otel", place.offset));
        let lane = match self.waiting.get(&key) {
            Some((lane, _)) => *lane,
            None => self.lane_of(&call, &call.input),
        };
        let mut writer = Writer {
            lane,
            place,
            at: call.at,
            out,
        };
        if self.told.contains(&key) || self.answered.contains_key(&key) {
            return writer.push(Event::Skipped("repeated content".into()));
        }
        let thread = self.threads.entry(lane).or_default();
        thread.learn(&call, &mut writer);
        let (_, input) = self
            .waiting
            .entry(key)
            .or_insert_with(|| (lane, Vec::new()));
        input.extend(call.input);
        if call.output.is_empty() {
            thread.conversation.hear(input, &mut writer);
        } else {
            thread.conversation.ask(input, &mut writer);
            thread
                .conversation
                .answer(key, &call.output, Vec::new(), &mut writer);
            self.waiting.remove(&key);
            self.answered.insert(key, lane);
        }
    }

    fn call(&mut self, mut call: Call, place: Place, out: &mut Sink<'_>) {
        let request = call.key.unwrap_or(Key::of_number("otel", place.offset));
        let waiting = self.waiting.remove(&request);
        let answered = self.answered.get(&request).copied();
        let lane = match (answered, waiting) {
            (Some(lane), _) => lane,
            (None, Some((lane, input))) => {
                if call.input.is_empty() {
                    call.input = input;
                }
                lane
            }
            (None, None) => self.lane_of(&call, &call.input),
        };
        let mut writer = Writer {
            lane,
            place,
            at: call.at,
            out,
        };
        if !self.told.insert(request) {
            return writer.push(Event::Skipped("repeated span".into()));
        }
        let thread = self.threads.entry(lane).or_default();
        thread.learn(&call, &mut writer);
        let usage = call.usage(request);
        if thread.is_late(&call) {
            return thread.conversation.late(request, usage, &mut writer);
        }
        thread.newest = call.begun.or(thread.newest);
        if answered.is_none() && !call.input.is_empty() {
            thread.conversation.ask(&call.input, &mut writer);
        }
        let conversation = &mut thread.conversation;
        conversation.answer(request, &call.output, usage, &mut writer);
    }

    /// The conversation that a call is part of: of its id, or else its trace, and one that it shares
    /// something with; or one of another trace, of which it repeats an answer.
    fn lane_of(&mut self, call: &Call, carried: &[Unit<'_>]) -> Lane {
        let agent = call.agent.as_deref().unwrap_or_default();
        let id = [call.id().unwrap_or_default(), agent];
        let is_first = self.lanes.is_empty();
        let known = self.lanes.entry(Key::of_parts(&id)).or_default();
        let fits = |lane: &&Lane| {
            let thread = self.threads.get(lane);
            carried.is_empty() || thread.is_none_or(|thread| thread.conversation.shares(carried))
        };
        if let Some(lane) = known.iter().find(fits) {
            return *lane;
        }
        let of_traces = match call.conversation {
            Some(_) => &[][..],
            None => &self.of_traces,
        };
        let repeated = of_traces.iter().filter(|(own, _)| own == agent);
        let repeated = repeated.filter_map(|(_, lane)| {
            let conversation = &self.threads.get(lane)?.conversation;
            Some((conversation.repeats(carried)?, *lane))
        });
        let lane = match repeated.max_by_key(|(much, _)| *much) {
            Some((_, lane)) => lane,
            None if is_first => Lane::Main,
            None => Lane::Side(Key::of_parts(&[id[0], id[1], &known.len().to_string()])),
        };
        known.push(lane);
        if call.conversation.is_none() {
            self.of_traces.push((agent.to_owned(), lane));
        }
        lane
    }
}

impl Thread {
    fn is_late(&self, call: &Call) -> bool {
        matches!((call.begun, self.newest), (Some(begun), Some(newest)) if begun < newest)
    }

    fn learn(&mut self, call: &Call, writer: &mut Writer<'_, '_>) {
        let is_new = self.newest.is_none() && self.model.is_none();
        if !is_new && self.model == call.model {
            return;
        }
        self.model.clone_from(&call.model);
        // Where there is no content, nothing else names it.
        let service = call.service.as_deref().filter(|_| call.input.is_empty());
        let title = call.agent.as_deref().or(service);
        let id = call.id().filter(|_| is_new || call.conversation.is_some());
        writer.push(Event::Meta(Box::new(Meta {
            // It goes on in other traces under the id of its first.
            id: id.map(Into::into),
            title: title.map(Into::into),
            model: call.model.as_deref().map(Into::into),
            ..Meta::default()
        })));
    }
}

#[cfg(test)]
mod tests;
