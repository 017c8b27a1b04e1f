//! OpenTelemetry's conventions for generative AI: what Semantic Kernel, LangChain, LlamaIndex, Pydantic
//! AI, the AI SDK and others write when they are configured to export spans to a file.
//!
//! Two forms of lines, which may be mixed: OTLP's JSON (`{"resourceSpans":[…]}` and
//! `{"resourceLogs":[…]}`, as the Collector's file exporter writes it; 64-bit numbers are strings, or
//! not) and flat spans and log records (`{"type":"span","name":…,"attributes":{…}}`, as Node's and Python's
//! exporters write them).
//! The documents of open-telemetry/semantic-conventions-genai, traceloop/openllmetry, Arize-ai/openinference and
//! vercel/ai say:
//!
//! * A span is a call of a model where its operation is `chat`, `generate_content` or
//!   `text_completion`; older ones use `llm.request.type`, OpenInference by
//!   `openinference.span.kind`, the AI SDK by `ai.operationId`. Spans of agents, chains and whole
//!   generations sum up the calls below them: a sum is no context, so they are passed over. So is a span that names no
//!   operation, in a conversation whose calls do (superopen's `coding_agent.session.loop.stop`).
//! * `gen_ai.usage.input_tokens` includes what was read from and written to a cache. Instrumentations
//!   older than that rule report it beside: OpenLLMetry's for Bedrock, and each of which a call of the
//!   trace had a larger cached part than input.
//! * The content is opt-in: today `gen_ai.input.messages`, `gen_ai.output.messages`,
//!   `gen_ai.system_instructions` and `gen_ai.tool.definitions`, as JSON or as a string of it; before,
//!   an event for each message, on the span or as a log record; `gen_ai.prompt.N.…` (OpenLLMetry),
//!   `llm.input_messages.N.…` (OpenInference), `ai.prompt.messages` (AI SDK). Without it the numbers
//!   alone are known; so where a line is so long that its strings are cut, JSON in strings among them.
//! * OpenTelemetry keeps 128 attributes of a span unless it is configured otherwise, the newest: of numbered messages
//!   the tools and the oldest messages are missing then. The calls before it had them.
//! * A conversation goes by `gen_ai.conversation.id` or what older conventions call it, else by its
//!   trace, and in it by the agent. A call that shares nothing with it (a title, a classification) is
//!   a conversation of its own. Many begin a trace with each turn: a call that names no conversation and
//!   repeats a response of another trace continues that one; without content, nothing shows it.
//! * Spans are written when they end, and exporters do not sort: one that began before the newest
//!   counts in the totals and changes nothing in the context.
//! * Spans and log records of one file are joined by their ids; where an exporter writes each to a file
//!   of its own (the Collector's does), the file of spans has the numbers and that of records the
//!   content, and nothing joins them.
//!
//! Frameworks have habits of their own, by their sources:
//!
//! * Semantic Kernel (microsoft/semantic-kernel, `ModelDiagnostics.cs`, `model_diagnostics/
//!   decorators.py`): operations `chat.completions`, `chat.streaming_completions`, `text.completions`.
//!   Its tools' messages do not name the call they answer. At first its numbers were
//!   `gen_ai.response.prompt_tokens` and -1 where it had none, and its content no JSON.
//! * LangChain and LangGraph through LangSmith (langchain-ai/langsmith-sdk, `otel/_otel_exporter.py`):
//!   each run is a span, `langsmith.span.kind` is its kind; templates are `chat` as well. All input and
//!   output is in `gen_ai.prompt` and `gen_ai.completion`. Its *session* is the project;
//!   a conversation is a *thread*, one of three keys of the metadata.
//! * LlamaIndex (run-llama/llama_index, `llama-index-observability-otel`, `genai.py`): today's names,
//!   operations `chat` and `completion`, texts alone, no calls. Without that switch its spans have no
//!   numbers; OpenInference or OpenLLMetry have more.
//! * Pydantic AI (pydantic/pydantic-ai, `models/instrumented.py`): at first the messages as one attribute
//!   `events` or as log records, the tools in `model_request_parameters`, the cached part in
//!   `gen_ai.usage.details.…`; since its version 2 of the data today's names.
//! * OpenLLMetry: tools in `llm.request.functions.N.…`, thoughts as messages of the role `thinking`.
//! * Strands (strands-agents/sdk-python, `telemetry/tracer.py`): Bedrock's blocks, as JSON; the spans of
//!   its loop repeat the messages and are no calls.
//! * Copilot CLI: `gen_ai.input.messages` contains only what is new since the call before; a part of the type
//!   `compaction` is the summary that takes the place of what came before. Its metrics are in the same file.
//! * LangSmith's own exports hold runs (`run`), LangChain's saved histories messages (`history`): both are
//!   read as calls, too.
//! * ADK (google/adk-python): requests and responses whole, in `gcp.vertex.agent.llm_…`.

mod attributes;
mod call;
mod content;
mod history;
mod run;
mod span;
mod tools;

use call::{Call, MissingPart, Record};
use decode::bodies;
use decode::lenient::{self, LostFields, Raw};
use decode::prompts::{Block, LossInference, Prompt, PromptHistory, mark_turns};
use formats::{Base, Claim, Decoder, Format, Recognition, Root, Totals, decoder, head};
use history::History;
use jiff::Timestamp;
use model::Kind;
use model::event::{Conversation, EventSink, Key, Meta, Place};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The format.
pub static OTEL_GENAI: Format = Format {
    id: "otel-genai",
    // Exporters write wherever they are configured to; this is a folder to configure.
    roots: &[Root::new(Base::XdgData("ctxgauge"), "spans")],
    claims: &claims,
    recognition: Recognition::new(&recognise).several(),
    decoder: &decoder::<OtelGenAiDecoder>,
    totals: Totals::new(&[
        ("input", |b| b.input),
        ("cache_creation", |b| b.cache_creation),
        ("cache_read", |b| b.cache_read),
        ("output", |b| b.output),
        ("reasoning", |b| b.reasoning),
    ]),
    ..Format::DEFAULT
};

/// Claims `*.jsonl` and `*.json`: the Collector calls its lines by either name.
fn claims(path: &Path) -> Option<Claim> {
    let ext = path.extension()?;
    (ext == "jsonl" || ext == "json").then_some(Claim::LINES)
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    let start = head::solid(line, 16);
    let concerns_a_model = |part| span::MARKS.iter().any(|mark| head::has(part, mark));
    // The first lines of Python's exporters may be of anything.
    let of_python = [r#""trace_id""#, r#""span_id""#, r#""resource""#];
    let is_of_python = || of_python.iter().all(|mark| head::has(line, mark));
    history::is_like_messages(head)
        || run::is_like_a_run(line)
        || start.starts_with(br#"{"resourceSpans"#)
        || start.starts_with(br#"{"resourceLogs""#)
        || start.starts_with(b"{")
            && head::has(line, r#""attributes""#)
            && (concerns_a_model(line) || is_of_python() && concerns_a_model(head))
}

/// A call is compared with the first conversation of its id and so many newer ones, and with so many of other traces.
const MOST_COMPARED: usize = 64;

/// A conversation of the file.
struct Thread {
    conversation: PromptHistory,
    /// The time at which its newest call began.
    newest: Option<Timestamp>,
    model: Option<String>,
    /// The newest response, where calls contain only what is new.
    answer: Vec<Block<'static>>,
}

/// Decodes one file.
#[derive(Default)]
struct OtelGenAiDecoder {
    threads: HashMap<Conversation, Thread>,
    /// The conversations of an id, the first one first.
    conversations: HashMap<Key, Vec<Conversation>>,
    /// The conversations of calls that name none, by the agent: one may continue in another trace.
    of_traces: Vec<(String, Conversation)>,
    /// The ids of conversations of which spans name their operation, and whether one of them has numbers.
    named: HashMap<Key, bool>,
    /// Traces and instrumentations of calls whose input lacks what was cached.
    cached_beside: HashSet<(String, String)>,
    /// Calls that were emitted, by their spans.
    emitted: HashSet<Key>,
    /// Messages that came in log records, before the response to them.
    waiting: HashMap<Key, (Conversation, Vec<Block<'static>>)>,
    /// Calls of which log records showed the response.
    answered: HashMap<Key, Conversation>,
    /// Messages that were saved one after another.
    history: History,
}

impl Decoder for OtelGenAiDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        match lenient::raw_value(line) {
            Ok(line) => self.value(line, &lost, out),
            Err(why) => out.unreadable(why),
        }
        lost.report(out);
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        match lenient::raw_value(document) {
            Ok(value) if value.get().starts_with('[') => {
                for (line, one) in (1..).zip(bodies::list(value)) {
                    out.begin(Place::of_line(line));
                    self.value(one, &lost, out);
                }
            }
            Ok(value) => self.value(value, &lost, out),
            Err(why) => out.unreadable(why),
        }
        lost.report(out);
    }
}

impl OtelGenAiDecoder {
    /// Reads the content of a line or a document.
    fn value(&mut self, value: Raw<'_>, lost: &LostFields, out: &mut EventSink<'_>) {
        let place = out.place();
        let is_object = |one: &Raw<'_>| one.get().starts_with('{');
        if value.get().starts_with('[') {
            let list = bodies::list(value);
            if list.iter().copied().all(history::is_message) && !list.is_empty() {
                let calls = list.into_iter().map(|message| history::read(message, lost));
                let mut calls: Vec<Call> = calls.collect();
                for call in &mut calls.split_off(self.history.known(&calls)) {
                    self.message(call, out);
                }
                return;
            }
            if list.iter().any(is_object) {
                for one in list.into_iter().filter(is_object) {
                    out.begin(place);
                    self.value(one, lost, out);
                }
                return;
            }
        }
        if history::is_message(value) {
            return self.message(&mut history::read(value, lost), out);
        }
        match span::records(value, lost) {
            Ok(records) => {
                for record in records {
                    out.begin(place);
                    match record {
                        Record::Call(call) => self.call(*call, out),
                        Record::Content(call) => self.content(*call, out),
                        Record::Other(name) => out.skip(name),
                    }
                }
            }
            Err(why) => out.unreadable(why),
        }
    }

    /// Takes in a message of a saved history.
    fn message(&mut self, message: &mut Call, out: &mut EventSink<'_>) {
        out.set_conversation(Conversation::Main);
        let thread = self
            .threads
            .entry(Conversation::Main)
            .or_insert_with(Thread::new);
        if message.model.is_some() {
            thread.emit_meta(message, out);
        }
        self.history.add(message, &mut thread.conversation, out);
    }

    /// Takes in the content in a log record: a call's whole content, or one message of it. The span follows, if it is
    /// in this file at all.
    fn content(&mut self, mut call: Call, out: &mut EventSink<'_>) {
        let key = call.key.unwrap_or(Key::of_number("otel", out.place().id()));
        let lane = match self.waiting.get(&key) {
            Some((lane, _)) => *lane,
            None => self.conversation_of(&call, &call.input),
        };
        out.set_conversation(lane);
        out.set_time(call.at);
        if self.emitted.contains(&key) || self.answered.contains_key(&key) {
            return out.skip("repeated content");
        }
        let thread = self.threads.entry(lane).or_insert_with(Thread::new);
        thread.emit_meta(&call, out);
        let waiting = self.waiting.entry(key);
        let (_, input) = waiting.or_insert_with(|| (lane, Vec::new()));
        input.extend(call.input);
        mark_turns(input);
        if call.output.is_empty() {
            thread.conversation.add_request_part(input, out);
        } else {
            let conversation = &mut thread.conversation;
            conversation.add_request(&Prompt::of(input), out);
            call.output.retain(|block| !block.is_empty());
            conversation.add_response(key, &call.output, None, out);
            self.waiting.remove(&key);
            self.answered.insert(key, lane);
        }
    }

    fn call(&mut self, mut call: Call, out: &mut EventSink<'_>) {
        let request = call.key.unwrap_or(Key::of_number("otel", out.place().id()));
        // A fact of the instrumentation that one call of a trace shows holds for the later ones.
        let source = call.trace.clone().zip(call.instrumentation.clone());
        if call.shows_cached_beside() {
            self.cached_beside.extend(source);
        } else if call.is_cached_beside
            || source.is_some_and(|source| self.cached_beside.contains(&source))
        {
            call.add_cached();
        }
        if let Some(id) = call.id().map(Key::of) {
            match self.named.get(&id) {
                _ if call.is_named => {
                    *self.named.entry(id).or_default() |= call.numbers.whole.is_some();
                }
                Some(true) => return out.skip("sum of calls"),
                Some(false) => return self.sum(&call, request, out),
                None => {}
            }
        }
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
            (None, None) => self.conversation_of(&call, &call.input),
        };
        out.set_conversation(lane);
        out.set_time(call.at);
        if !self.emitted.insert(request) {
            return out.skip("repeated span");
        }
        let thread = self.threads.entry(lane).or_insert_with(Thread::new);
        thread.emit_meta(&call, out);
        let usage = call.usage(request, out);
        if thread.is_late(&call) {
            return thread.conversation.add_late_response(request, usage, out);
        }
        thread.newest = call.begun.or(thread.newest);
        if answered.is_none() && !call.input.is_empty() {
            mark_turns(&mut call.input);
            thread.add_request(&call, out);
        }
        call.output.retain(|block| !block.is_empty());
        let conversation = &mut thread.conversation;
        conversation.add_response(request, &call.output, usage, out);
        if call.is_increment {
            thread.answer = call.output;
        }
    }

    /// Takes in the sum of calls, which is all that is known of them where they have no numbers.
    fn sum(&mut self, call: &Call, request: Key, out: &mut EventSink<'_>) {
        let usage = call.usage(request, out);
        out.set_conversation(self.conversation_of(call, &[]));
        out.set_time(call.at);
        match usage.filter(|_| self.emitted.insert(request)) {
            Some(usage) => out.billed_sum(request, usage.billed),
            None => out.skip("sum of calls"),
        }
    }

    /// Returns the conversation that a call is part of: of its id, or else its trace, and one that it shares something
    /// with; or one of another trace, of which it repeats an answer.
    fn conversation_of(&mut self, call: &Call, carried: &[Block<'_>]) -> Conversation {
        let agent = call.agent.as_deref().unwrap_or_default();
        let id = [call.id().unwrap_or_default(), agent];
        let is_first = self.conversations.is_empty();
        let known = self.conversations.entry(Key::of_parts(&id)).or_default();
        let fits = |lane: &&Conversation| {
            let thread = self.threads.get(lane);
            carried.is_empty() || thread.is_none_or(|thread| thread.conversation.shares(carried))
        };
        let newer = known.iter().skip(1).rev().take(MOST_COMPARED).rev();
        if let Some(lane) = known.first().into_iter().chain(newer).find(fits) {
            return *lane;
        }
        let of_traces = match call.conversation {
            Some(_) => &[][..],
            None => &self.of_traces,
        };
        let of_traces = &of_traces[of_traces.len().saturating_sub(MOST_COMPARED)..];
        let repeated = of_traces.iter().filter(|(own, _)| own == agent);
        let repeated = repeated.filter_map(|(_, lane)| {
            let conversation = &self.threads.get(lane)?.conversation;
            Some((conversation.repeats(carried)?, *lane))
        });
        let lane = match repeated.max_by_key(|(much, _)| *much) {
            Some((_, lane)) => lane,
            None if is_first => Conversation::Main,
            None => Conversation::Side(Key::of_parts(&[id[0], id[1], &known.len().to_string()])),
        };
        known.push(lane);
        if call.conversation.is_none() {
            self.of_traces.push((agent.to_owned(), lane));
        }
        lane
    }
}

impl Thread {
    fn new() -> Thread {
        Thread {
            conversation: PromptHistory::new(LossInference::FromSize),
            newest: None,
            model: None,
            answer: Vec::new(),
        }
    }

    /// Takes in the request of a call. One that contains only what is new has all that came before, too;
    /// after a compaction only the response before it.
    fn add_request(&mut self, call: &Call, out: &mut EventSink<'_>) {
        let keeps_front = call.cut != MissingPart::Nothing;
        let prompt = Prompt {
            keeps_front,
            ..Prompt::of(&call.input)
        };
        let is_summary = |block: &Block<'_>| block.kind == Kind::Summary;
        if call.cut == MissingPart::Messages {
            let kept = self.conversation.held_before(prompt.blocks);
            let prompt = Prompt { kept, ..prompt };
            self.conversation.add_request(&prompt, out);
        } else if !call.is_increment {
            self.conversation.add_request(&prompt, out);
        } else if call.input.iter().any(is_summary) {
            let stays = [prompt.front, &self.answer, prompt.blocks].concat();
            self.conversation.add_request(&Prompt::of(&stays), out);
        } else {
            let kept = self.conversation.held();
            self.conversation
                .add_request(&Prompt { kept, ..prompt }, out);
        }
    }

    fn is_late(&self, call: &Call) -> bool {
        matches!((call.begun, self.newest), (Some(begun), Some(newest)) if begun < newest)
    }

    fn emit_meta(&mut self, call: &Call, out: &mut EventSink<'_>) {
        let is_new = self.newest.is_none() && self.model.is_none();
        if !is_new && self.model == call.model {
            return;
        }
        self.model.clone_from(&call.model);
        // Where there is no content, nothing else names it.
        let service = call.service.as_deref().filter(|_| call.input.is_empty());
        let title = call.agent.as_deref().or(service);
        let id = call.id().filter(|_| is_new || call.conversation.is_some());
        out.meta(Meta {
            // It continues in other traces under the id of its first.
            id: id.map(Into::into),
            title: title.map(Into::into),
            model: call.model.as_deref().map(Into::into),
            ..Meta::default()
        });
    }
}

#[cfg(test)]
mod tests;
