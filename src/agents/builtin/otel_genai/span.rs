//! Spans and log records, whichever way they are written, as calls of a model.

use super::{content, run};
use jiff::Timestamp;
use kit::lenient::{self, Count, Lost, model_name};
use kit::prompts::Block;
use model::event::{Billed, Event, Key, Sink, Usage};
use model::{Kind, Source};
use serde_json::Value;

/// One of these is in every line about a model.
pub(super) const MARKS: [&str; 6] = [
    "\"gen_ai.",
    "\"llm.token_count.",
    "\"llm.request.type\"",
    "\"llm.input_messages.",
    "\"openinference.span.kind\"",
    "\"ai.operationId\"",
];

/// A record of a line.
pub(super) enum Record {
    /// A call of a model.
    Call(Box<Call>),
    /// What a call carried, beside its span.
    Content(Box<Call>),
    /// Something that is meant to be passed over.
    Other(String),
}

/// A call of a model.
#[derive(Default)]
pub(super) struct Call {
    pub(super) key: Option<Key>,
    pub(super) conversation: Option<String>,
    pub(super) trace: Option<String>,
    pub(super) agent: Option<String>,
    /// The program that was watched.
    pub(super) service: Option<String>,
    pub(super) model: Option<String>,
    pub(super) begun: Option<Timestamp>,
    pub(super) at: Option<Timestamp>,
    pub(super) input: Vec<Block<'static>>,
    pub(super) output: Vec<Block<'static>>,
    /// Whether `input` contains only what is new since the call before.
    pub(super) is_increment: bool,
    pub(super) prompt: Option<u64>,
    pub(super) answered: Option<u64>,
    pub(super) reasoning: Option<u64>,
    pub(super) cache_read: u64,
    pub(super) cache_creation: u64,
    /// Whether one of its numbers cannot be read, so that none is used.
    pub(super) is_unreadable: bool,
}

impl Call {
    /// The conversation's id, or else the trace's.
    pub(super) fn id(&self) -> Option<&str> {
        self.conversation.as_deref().or(self.trace.as_deref())
    }

    /// Whether a span of OpenInference has no messages.
    fn is_without_messages(&self, attributes: &Attributes<'_>) -> bool {
        let is_front = |block: &Block<'_>| matches!(block.kind, Kind::Prompt | Kind::ToolList);
        attributes.text(&[OPENINFERENCE]).is_some()
            && self.output.is_empty()
            && self.input.iter().all(is_front)
    }

    fn read_counts(&mut self, attributes: &Attributes<'_>) -> Result<(), Unreadable> {
        self.prompt = attributes.count(PROMPT)?;
        self.answered = attributes.count(ANSWERED)?;
        self.reasoning = attributes.count(REASONING)?;
        self.cache_read = attributes.count(CACHE_READ)?.unwrap_or(0);
        self.cache_creation = attributes.count(CACHE_CREATION)?.unwrap_or(0);
        Ok(())
    }

    /// The numbers, where there are any.
    pub(super) fn usage(&self, request: Key, out: &mut Sink<'_>) -> Vec<Usage> {
        if self.is_unreadable {
            out.emit(Event::UnreadableUsage);
            return Vec::new();
        }
        let Some(input) = self.prompt.filter(|prompt| *prompt > 0) else {
            return Vec::new();
        };
        let cached = self.cache_read + self.cache_creation;
        let prompt = if cached > input {
            input + cached
        } else {
            input
        };
        vec![Usage {
            request,
            model: self.model.as_deref().map(Into::into),
            prompt,
            cached: self.cache_read,
            output: self.answered,
            reasoning: self.reasoning,
            source: Source::Reported,
            billed: Billed {
                input,
                cache_creation: self.cache_creation,
                cache_read: self.cache_read,
                output: self.answered.unwrap_or(0),
                reasoning: self.reasoning.unwrap_or(0),
            },
            is_whole: false,
        }]
    }
}

/// Attributes by name, their values plain JSON.
pub(super) struct Attributes<'l> {
    object: Value,
    lost: &'l Lost,
}

impl<'l> Attributes<'l> {
    /// The attributes of a span, an event or a log record.
    fn of(record: &Value, lost: &'l Lost) -> Attributes<'l> {
        let object = first(
            record,
            &["attributes"],
            lost,
            |attributes| match attributes {
                Value::Object(_) => Some(attributes.clone()),
                Value::Array(list) => Some(pairs(list, lost)),
                _ => None,
            },
        );
        Attributes {
            object: object.unwrap_or_default(),
            lost,
        }
    }

    /// Attributes beside these.
    pub(super) fn beside(&self, object: Value) -> Attributes<'l> {
        let lost = self.lost;
        Attributes { object, lost }
    }

    /// Notes that a value is of another type than expected.
    pub(super) fn note(&self, name: &'static str) {
        self.lost.note(name);
    }

    pub(super) fn to_value(&self) -> Value {
        self.object.clone()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// An attribute of JSON or text.
    pub(super) fn content(&self, name: &'static str) -> Option<Value> {
        first(&self.object, &[name], self.lost, |value| {
            let is_scalar = value.is_number() || value.is_boolean();
            (!is_scalar).then(|| content::parsed(value))
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = self.object.as_object().into_iter().flatten();
        fields.map(|(name, value)| (name.as_str(), value))
    }

    fn text(&self, names: &[&'static str]) -> Option<String> {
        first(&self.object, names, self.lost, Value::as_str).map(str::to_owned)
    }

    fn count(&self, names: &[&'static str]) -> Result<Option<u64>, Unreadable> {
        // Some instrumentations write -1 where they have no number.
        let is_absent = |value: &Value| *value == -1 || *value == "-1";
        let mut values = names.iter().filter_map(|name| self.get(name));
        if values.any(|value| number(value).is_none() && !is_absent(value) && *value != "") {
            first(&self.object, names, self.lost, number);
            return Err(Unreadable);
        }
        let found = first(&self.object, names, self.lost, |value| {
            match number(value) {
                None if is_absent(value) => Some(None),
                number => number.map(Some),
            }
        });
        Ok(found.flatten())
    }
}

/// The first of these fields that `read` can read. Others that are there, null and empty text aside, are
/// noted as lost.
pub(super) fn first<'v, T>(
    of: &'v Value,
    names: &[&'static str],
    lost: &Lost,
    read: impl Fn(&'v Value) -> Option<T>,
) -> Option<T> {
    names.iter().find_map(|name| {
        let value = of.get(name);
        let value = value.filter(|value| !value.is_null() && **value != "")?;
        let read = read(value);
        if read.is_none() {
            lost.note(name);
        }
        read
    })
}

/// The objects in the list of this name. Anything else is noted as lost.
fn list<'v>(of: &'v Value, name: &'static str, lost: &Lost) -> impl Iterator<Item = &'v Value> {
    let list = first(of, &[name], lost, Value::as_array);
    list.into_iter().flatten().filter(move |element| {
        if !element.is_object() {
            lost.note(name);
        }
        element.is_object()
    })
}

/// A number of tokens that is there and cannot be read.
pub(super) struct Unreadable;

/// A number of tokens, bare or as the string that OTLP makes of 64 bits.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok().filter(|n| lenient::is_plausible(*n)),
        Value::Number(number) => Count::of(&number.to_string()).0,
        _ => None,
    }
}

/// `[{"key":…,"value":{"stringValue":…}}]` as an object.
fn pairs(list: &[Value], lost: &Lost) -> Value {
    let pairs = list.iter().filter_map(|pair| {
        if !pair.is_object() {
            lost.note("attributes");
        }
        let key = first(pair, &["key"], lost, Value::as_str)?;
        let is_object = |value| Some(value).filter(|value: &&Value| value.is_object());
        let value = first(pair, &["value"], lost, is_object)?;
        Some((key.to_owned(), plain(value, lost)))
    });
    Value::Object(pairs.collect())
}

/// OTLP's `AnyValue` as plain JSON.
fn plain(value: &Value, lost: &Lost) -> Value {
    let Some(fields) = value.as_object() else {
        return value.clone();
    };
    let list = |name| {
        let list = first(value, &[name], lost, Value::as_object)?.get("values");
        let list = list.filter(|values| !values.is_null());
        if list.is_some_and(|values| !values.is_array()) {
            lost.note("values");
        }
        Some(
            list.and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice),
        )
    };
    match fields.keys().next().map(String::as_str) {
        Some("arrayValue") => list("arrayValue").map_or(Value::Null, |values| {
            values.iter().map(|value| plain(value, lost)).collect()
        }),
        Some("kvlistValue") => {
            list("kvlistValue").map_or(Value::Null, |values| pairs(values, lost))
        }
        _ => fields.values().next().cloned().unwrap_or_default(),
    }
}

/// The records of a line. The error is why it has none.
pub(super) fn records(line: &Value, lost: &Lost) -> Result<Vec<Record>, Box<str>> {
    let has_list = |name| first(line, &[name], lost, Value::as_array).is_some();
    let has_attributes = || {
        let container = |value: &Value| (value.is_object() || value.is_array()).then_some(());
        first(line, &["attributes"], lost, container).is_some()
    };
    let is_log_record = || first(line, &["severity_text"], lost, Value::as_str).is_some();
    if run::is_run(line) {
        return Ok(run::records(line, lost));
    }
    let mut found = Vec::new();
    if has_list("resourceSpans") {
        for resource in list(line, "resourceSpans", lost) {
            let service = service(resource, lost);
            // Before OTLP 0.15 a scope had another name.
            let scopes = list(resource, "scopeSpans", lost);
            let scopes = scopes.chain(list(resource, "instrumentationLibrarySpans", lost));
            let spans = scopes.flat_map(|scope| list(scope, "spans", lost));
            found.extend(spans.map(|record| span(record, service.as_deref(), lost)));
        }
    } else if has_list("resourceLogs") {
        for resource in list(line, "resourceLogs", lost) {
            let scopes = list(resource, "scopeLogs", lost);
            let records = scopes.flat_map(|scope| list(scope, "logRecords", lost));
            found.extend(records.map(|record| log_record(record, lost)));
        }
    } else if line.get("resourceMetrics").is_some() || has_list("dataPoints") {
        found.push(Record::Other("metrics".to_owned()));
    } else if is_log_record() && has_attributes() {
        found.push(log_record(line, lost));
    } else if has_attributes() {
        found.push(match first(line, &["type"], lost, Value::as_str) {
            None | Some("span") => span(line, service(line, lost).as_deref(), lost),
            Some(other) => Record::Other(other.to_owned()),
        });
    } else {
        return Err("neither spans nor log records".into());
    }
    Ok(found)
}

/// The name of the program that a resource, or a flat span with one, is of.
fn service(of: &Value, lost: &Lost) -> Option<String> {
    let resource = first(of, &["resource"], lost, Some)?;
    Attributes::of(resource, lost).text(&["service.name"])
}

fn span(span: &Value, service: Option<&str>, lost: &Lost) -> Record {
    let attributes = Attributes::of(span, lost);
    let name = first(span, &["name"], lost, Value::as_str).unwrap_or("span");
    if let Some(other) = no_call(&attributes) {
        return Record::Other(other);
    }
    let mut call = call(span, &attributes, lost);
    call.service = service.map(str::to_owned);
    let begun = ["startTimeUnixNano", "startTime", "start_time"];
    call.begun = first(span, &begun, lost, time);
    let ended = ["endTimeUnixNano", "endTime", "end_time"];
    call.at = first(span, &ended, lost, time).or(call.begun);
    for event in list(span, "events", lost) {
        let of_event = Attributes::of(event, lost);
        let name = first(event, &["name"], lost, Value::as_str).unwrap_or_default();
        if name == content::DETAILS {
            content::of_attributes(&of_event, &mut call.input, &mut call.output);
        }
        content::of_event(name, &of_event, None, &mut call.input, &mut call.output);
    }
    // Strands has the messages on its loop's spans, too; LlamaIndex prepares a call in a span like one.
    let is_around_a_call = || !names_a_call(&attributes) || call.is_without_messages(&attributes);
    if call.prompt.is_none() && is_around_a_call() {
        return Record::Other(name.to_owned());
    }
    content::pair(&mut call.input);
    Record::Call(Box::new(call))
}

/// A record beside the spans: the content of a call, or an event of it.
fn log_record(record: &Value, lost: &Lost) -> Record {
    let attributes = Attributes::of(record, lost);
    let name = first(record, &["eventName", "event_name"], lost, Value::as_str).map(str::to_owned);
    let Some(name) = name.or_else(|| attributes.text(&["event.name"])) else {
        return Record::Other("log record".to_owned());
    };
    let mut call = call(record, &attributes, lost);
    let times = ["timeUnixNano", "observedTimeUnixNano", "timestamp"];
    call.at = first(record, &times, lost, time);
    let body = record.get("body").map(|body| plain(body, lost));
    let body = body.as_ref();
    content::of_event(&name, &attributes, body, &mut call.input, &mut call.output);
    if call.input.is_empty() && call.output.is_empty() {
        return Record::Other(name);
    }
    Record::Content(Box::new(call))
}

/// What a span is that is no call of a model.
fn no_call(attributes: &Attributes<'_>) -> Option<String> {
    // LangSmith calls prompts, which are templates, chats.
    if let Some(run) = attributes.text(&["langsmith.span.kind"]) {
        return (run != "llm").then_some(run);
    }
    if let Some(operation) = attributes.text(&["gen_ai.operation.name"]) {
        // `chat`, Semantic Kernel's `chat.completions`, LlamaIndex's `completion`.
        let calls = ["chat", "completion", "generate_content", "responses"];
        let is_call = calls.iter().any(|call| operation.contains(call));
        return (!is_call).then_some(operation);
    }
    if let Some(kind) = attributes.text(&[OPENINFERENCE]) {
        return (kind != "LLM").then_some(kind);
    }
    if let Some(id) = attributes.text(&["ai.operationId"]) {
        return (!id.contains(".do")).then_some(id);
    }
    attributes.text(&["traceloop.span.kind"])
}

/// Whether a span without numbers and content is a call: one that failed.
fn names_a_call(attributes: &Attributes<'_>) -> bool {
    [
        "gen_ai.operation.name",
        OPENINFERENCE,
        "ai.operationId",
        "llm.request.type",
    ]
    .iter()
    .any(|name| attributes.text(&[name]).is_some())
}

fn call(record: &Value, attributes: &Attributes<'_>, lost: &Lost) -> Call {
    let id = |names: &[&'static str]| {
        let own = first(record, names, lost, Value::as_str);
        let in_context = || {
            let context = first(record, &["spanContext", "context"], lost, Some)?;
            first(context, names, lost, Value::as_str)
        };
        own.or_else(in_context).map(str::to_owned)
    };
    let trace = id(&["traceId", "trace_id"]);
    let span = id(&["spanId", "span_id"]);
    let mut call = Call {
        key: span.map(|span| Key::of_parts(&["otel", trace.as_deref().unwrap_or_default(), &span])),
        conversation: attributes.text(CONVERSATION),
        trace,
        agent: attributes.text(AGENT),
        is_increment: attributes.text(&[COPILOT_TURN]).is_some(),
        model: attributes.text(MODEL).map(|id| model_name(&id).to_owned()),
        ..Call::default()
    };
    call.is_unreadable = call.read_counts(attributes).is_err();
    content::of_attributes(attributes, &mut call.input, &mut call.output);
    call
}

/// The kind of a span of OpenInference.
const OPENINFERENCE: &str = "openinference.span.kind";

/// On the calls of Copilot CLI.
const COPILOT_TURN: &str = "github.copilot.turn_id";

const CONVERSATION: &[&str] = &[
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "langfuse.session.id",
    // LangSmith's own sessions are projects.
    "langsmith.metadata.thread_id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.conversation_id",
    "ai.telemetry.metadata.sessionId",
    "gcp.vertex.agent.session_id",
];
const AGENT: &[&str] = &[
    "gen_ai.agent.name",
    "gen_ai.agent.id",
    "ai.telemetry.functionId",
];
const MODEL: &[&str] = &[
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
];
const PROMPT: &[&str] = &[
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "gen_ai.response.prompt_tokens",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
];
const ANSWERED: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "gen_ai.response.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
];
const REASONING: &[&str] = &[
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "ai.usage.reasoningTokens",
];
const CACHE_READ: &[&str] = &[
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cache_read_input_tokens",
    "gen_ai.usage.details.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
];
const CACHE_CREATION: &[&str] = &[
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "gen_ai.usage.details.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
];

/// A time: nanoseconds, bare or as a string; Node's `[seconds, nanoseconds]`; or in words.
fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Array(pair) => {
            let part = |ix: usize| pair.get(ix).and_then(Value::as_i64);
            let nanoseconds = i32::try_from(part(1)?).ok()?;
            Timestamp::new(part(0)?, nanoseconds).ok()
        }
        Value::String(text) => match text.parse::<i128>() {
            Ok(nanoseconds) => Timestamp::from_nanosecond(nanoseconds).ok(),
            Err(_) => text.parse().ok(),
        },
        Value::Number(number) => Timestamp::from_nanosecond(number.as_i64()?.into()).ok(),
        _ => None,
    }
}
