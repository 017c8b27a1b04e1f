//! Spans and log records, whichever way they are written, as calls of a model.

use super::content;
use crate::agents::lenient::{Lost, model_name};
use crate::agents::prompts::Block;
use crate::model::Source;
use crate::model::event::{Billed, Key, Usage};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// One of these stands in every line that says something of a model.
pub(super) const MARKS: [&str; 5] = [
    "\"gen_ai.",
    "\"llm.token_count.",
    "\"llm.request.type\"",
    "\"llm.input_messages.",
    "\"ai.operationId\"",
];

/// What a line says, one record at a time.
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
    prompt: Option<u64>,
    answered: Option<u64>,
    reasoning: Option<u64>,
    cache_read: u64,
    cache_creation: u64,
}

impl Call {
    /// The conversation's id, or else the trace's.
    pub(super) fn id(&self) -> Option<&str> {
        self.conversation.as_deref().or(self.trace.as_deref())
    }

    /// The numbers, where there are any.
    pub(super) fn usage(&self, request: Key) -> Vec<Usage> {
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
        }]
    }
}

/// Attributes by name, their values plain JSON.
pub(super) struct Attributes<'l> {
    map: Map<String, Value>,
    lost: &'l Lost,
}

impl<'l> Attributes<'l> {
    fn of(value: Option<&Value>, lost: &'l Lost) -> Attributes<'l> {
        let map = match value {
            Some(Value::Object(map)) => map.clone(),
            Some(Value::Array(list)) => pairs(list),
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                lost.note("attributes");
                Map::new()
            }
        };
        Attributes { map, lost }
    }

    /// Attributes beside these, as an object.
    pub(super) fn of_map(&self, map: &Map<String, Value>) -> Attributes<'l> {
        let lost = self.lost;
        let map = map.clone();
        Attributes { map, lost }
    }

    pub(super) fn to_value(&self) -> Value {
        Value::Object(self.map.clone())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.map.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The first of these that `read` can read; the others that are there are lost.
    fn first<T>(&self, names: &[&'static str], read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        names.iter().find_map(|name| {
            let value = self.get(name).filter(|value| *value != "")?;
            let read = read(value);
            if read.is_none() {
                self.lost.note(name);
            }
            read
        })
    }

    fn text(&self, names: &[&'static str]) -> Option<String> {
        self.first(names, |value| value.as_str().map(str::to_owned))
    }

    fn count(&self, names: &[&'static str]) -> Option<u64> {
        // Some instrumentations write -1 where they have no number.
        let is_absent = |value: &Value| *value == -1 || *value == "-1";
        self.first(names, |value| match number(value) {
            None if is_absent(value) => Some(None),
            number => number.map(Some),
        })
        .flatten()
    }
}

/// The largest token number that is believed.
const MOST_TOKENS: u64 = 1_000_000_000_000;

/// A number of tokens, bare or as the string that OTLP makes of 64 bits.
fn number(value: &Value) -> Option<u64> {
    let number = match value {
        Value::String(text) => text.parse().ok()?,
        Value::Number(number) => match number.as_u64() {
            Some(number) => number,
            None => number
                .as_f64()
                .filter(|n| *n >= 0.0 && *n < MOST_TOKENS as f64)? as u64,
        },
        _ => return None,
    };
    Some(number).filter(|number| *number <= MOST_TOKENS)
}

/// `[{"key":…,"value":{"stringValue":…}}]` as a map.
fn pairs(list: &[Value]) -> Map<String, Value> {
    let pair = |pair: &Value| {
        Some((
            pair.get("key")?.as_str()?.to_owned(),
            plain(pair.get("value")?),
        ))
    };
    list.iter().filter_map(pair).collect()
}

/// OTLP's `AnyValue` as plain JSON.
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|map| map.iter().next()) else {
        return value.clone();
    };
    let values = || inner.get("values").and_then(Value::as_array);
    match kind.as_str() {
        "arrayValue" => Value::Array(values().into_iter().flatten().map(plain).collect()),
        "kvlistValue" => Value::Object(values().map(|list| pairs(list)).unwrap_or_default()),
        _ => inner.clone(),
    }
}

/// What a line holds. The error says why it is none.
pub(super) fn records(line: &Value, lost: &Lost) -> Result<Vec<Record>, Box<str>> {
    let list =
        |value: Option<&'_ Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut found = Vec::new();
    if let Some(resources) = line.get("resourceSpans").and_then(Value::as_array) {
        for resource in resources {
            let service = service(resource, lost);
            // Before OTLP 0.15 a scope was called otherwise.
            for name in ["scopeSpans", "instrumentationLibrarySpans"] {
                for scope in list(resource.get(name)) {
                    let spans = list(scope.get("spans"));
                    let spans = spans
                        .iter()
                        .map(|record| span(record, service.as_deref(), lost));
                    found.extend(spans);
                }
            }
        }
    } else if let Some(resources) = line.get("resourceLogs").and_then(Value::as_array) {
        for resource in resources {
            for scope in list(resource.get("scopeLogs")) {
                let records = list(scope.get("logRecords"));
                found.extend(records.iter().map(|record| log_record(record, lost)));
            }
        }
    } else if line.get("resourceMetrics").is_some() {
        found.push(Record::Other("metrics".to_owned()));
    } else if line.get("attributes").is_some() {
        found.push(match line.get("type").and_then(Value::as_str) {
            None | Some("span") => span(line, service(line, lost).as_deref(), lost),
            Some(other) => Record::Other(other.to_owned()),
        });
    } else {
        return Err("neither spans nor log records".into());
    }
    Ok(found)
}

/// The first of these that is there.
fn first<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name))
}

/// The name of the program that a resource, or a flat span with one, is of.
fn service(resource: &Value, lost: &Lost) -> Option<String> {
    let attributes = resource.pointer("/resource/attributes");
    Attributes::of(attributes, lost).text(&["service.name"])
}

fn span(span: &Value, service: Option<&str>, lost: &Lost) -> Record {
    let attributes = Attributes::of(span.get("attributes"), lost);
    let name = span.get("name").and_then(Value::as_str).unwrap_or("span");
    if let Some(other) = no_call(&attributes) {
        return Record::Other(other);
    }
    let mut call = call(span, &attributes);
    call.service = service.map(str::to_owned);
    call.begun = time(first(
        span,
        &["startTimeUnixNano", "startTime", "start_time"],
    ));
    call.at = time(first(span, &["endTimeUnixNano", "endTime", "end_time"])).or(call.begun);
    let events = span.get("events").and_then(Value::as_array);
    for event in events.into_iter().flatten() {
        let of_event = Attributes::of(event.get("attributes"), lost);
        let name = event
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if name == content::DETAILS {
            content::of_attributes(&of_event, &mut call.input, &mut call.output);
        }
        content::of_event(name, &of_event, None, &mut call.input, &mut call.output);
    }
    // Strands has the messages on its loop's spans, too.
    if call.prompt.is_none() && !names_a_call(&attributes) {
        return Record::Other(name.to_owned());
    }
    content::pair(&mut call.input);
    Record::Call(Box::new(call))
}

/// A record that stands beside the spans: the content of a call, or an event of it.
fn log_record(record: &Value, lost: &Lost) -> Record {
    let attributes = Attributes::of(record.get("attributes"), lost);
    let named = record
        .get("eventName")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let Some(name) = named.or_else(|| attributes.text(&["event.name"])) else {
        return Record::Other("log record".to_owned());
    };
    let mut call = call(record, &attributes);
    call.at = time(first(record, &["timeUnixNano", "observedTimeUnixNano"]));
    let body = record.get("body").map(plain);
    content::of_event(
        &name,
        &attributes,
        body.as_ref(),
        &mut call.input,
        &mut call.output,
    );
    if call.input.is_empty() && call.output.is_empty() {
        return Record::Other(name);
    }
    Record::Content(Box::new(call))
}

/// What a span is that is no call of a model.
fn no_call(attributes: &Attributes<'_>) -> Option<String> {
    // LangSmith says of prompts, which are templates, that they are chats.
    if let Some(run) = attributes.text(&["langsmith.span.kind"]) {
        return (run != "llm").then_some(run);
    }
    if let Some(operation) = attributes.text(&["gen_ai.operation.name"]) {
        // `chat`, Semantic Kernel's `chat.completions`, LlamaIndex's `completion`.
        let calls = ["chat", "completion", "generate_content", "responses"];
        let is_call = calls.iter().any(|call| operation.contains(call));
        return (!is_call).then_some(operation);
    }
    if let Some(kind) = attributes.text(&["openinference.span.kind"]) {
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
        "openinference.span.kind",
        "ai.operationId",
        "llm.request.type",
    ]
    .iter()
    .any(|name| attributes.get(name).is_some())
}

fn call(record: &Value, attributes: &Attributes<'_>) -> Call {
    let id = |names: &[&str]| {
        let found = first(record, names).or_else(|| {
            let context = first(record, &["spanContext", "context"])?;
            first(context, names)
        });
        found
            .and_then(Value::as_str)
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
    };
    let trace = id(&["traceId", "trace_id"]);
    let span = id(&["spanId", "span_id"]);
    let mut call = Call {
        key: span.map(|span| Key::of_parts(&["otel", trace.as_deref().unwrap_or_default(), &span])),
        conversation: attributes.text(CONVERSATION),
        trace,
        agent: attributes.text(AGENT),
        model: attributes.text(MODEL).map(|id| model_name(&id).to_owned()),
        prompt: attributes.count(PROMPT),
        answered: attributes.count(ANSWERED),
        reasoning: attributes.count(REASONING),
        cache_read: attributes.count(CACHE_READ).unwrap_or(0),
        cache_creation: attributes.count(CACHE_CREATION).unwrap_or(0),
        ..Call::default()
    };
    content::of_attributes(attributes, &mut call.input, &mut call.output);
    call
}

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
fn time(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
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
