//! Spans and log records, whichever way they are written, as calls of a model.

use super::attributes::{Attributes, Unreadable, first, list, plain};
use super::call::{Call, Record};
use super::{content, run};
use decode::bodies::Numbers;
use decode::lenient::{LostFields, model_name};
use decode::prompts::Block;
use jiff::Timestamp;
use model::Kind;
use model::event::Key;
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

/// Returns the records of a line. The error is why it has none.
pub(super) fn records(line: &Value, lost: &LostFields) -> Result<Vec<Record>, Box<str>> {
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

/// Returns the name of the program that a resource, or a flat span with one, is of.
fn service(of: &Value, lost: &LostFields) -> Option<String> {
    let resource = first(of, &["resource"], lost, Some)?;
    Attributes::of(resource, lost).text(&["service.name"])
}

fn span(span: &Value, service: Option<&str>, lost: &LostFields) -> Record {
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
    let is_around_a_call = || !names_a_call(&attributes) || is_without_messages(&call, &attributes);
    let has_numbers = call.numbers.is_unreadable || call.numbers.whole.is_some();
    if !has_numbers && is_around_a_call() {
        return Record::Other(name.to_owned());
    }
    content::pair(&mut call.input);
    Record::Call(Box::new(call))
}

/// Returns a record beside the spans: the content of a call, or an event of it.
fn log_record(record: &Value, lost: &LostFields) -> Record {
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

/// Returns the type of a span that is no call of a model; `None`: it may be one.
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

/// Returns true if a span without numbers and content is a call: one that failed.
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

fn call(record: &Value, attributes: &Attributes<'_>, lost: &LostFields) -> Call {
    let id = |names: &[&'static str]| {
        let own = first(record, names, lost, Value::as_str);
        let in_context = || {
            let is_object = |value| Some(value).filter(|value: &&Value| value.is_object());
            let context = first(record, &["spanContext", "context"], lost, is_object)?;
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
        cut: content::cut_of(attributes),
        ..Call::default()
    };
    call.numbers = numbers(attributes).unwrap_or(Numbers {
        is_unreadable: true,
        ..Numbers::default()
    });
    content::of_attributes(attributes, &mut call.input, &mut call.output);
    call
}

/// Returns true if a span of OpenInference has no messages.
fn is_without_messages(call: &Call, attributes: &Attributes<'_>) -> bool {
    let is_front = |block: &Block<'_>| matches!(block.kind, Kind::Prompt | Kind::ToolList);
    attributes.text(&[OPENINFERENCE]).is_some()
        && call.output.is_empty()
        && call.input.iter().all(is_front)
}

fn numbers(attributes: &Attributes<'_>) -> Result<Numbers, Unreadable> {
    Ok(Numbers {
        whole: attributes.count(PROMPT)?,
        output: attributes.count(ANSWERED)?,
        reasoning: attributes.count(REASONING)?,
        cache_read: attributes.count(CACHE_READ)?,
        cache_write: attributes.count(CACHE_CREATION)?,
        ..Numbers::default()
    })
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

/// Returns a time: nanoseconds, bare or as a string; Node's `[seconds, nanoseconds]`; or in words.
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
