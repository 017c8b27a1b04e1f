//! Spans and log records, whichever way they are written, as calls of a model.

use super::attributes::{Attributes, Plain, Unreadable};
use super::call::{Call, Record};
use super::{content, run};
use decode::bodies::{NestedJson, Numbers, list, string};
use decode::lenient::{
    Field, FieldPlace, LostFields, Raw, Record as Fields, Text, model_name, parse, record,
};
use decode::prompts::Block;
use jiff::Timestamp;
use model::Kind;
use model::event::Key;
use model::values::version;
use std::collections::HashMap;
use std::sync::LazyLock;

/// One of these is in every line about a model.
pub(super) const MARKS: [&str; 6] = [
    "\"gen_ai.",
    "\"llm.token_count.",
    "\"llm.request.type\"",
    "\"llm.input_messages.",
    "\"openinference.span.kind\"",
    "\"ai.operationId\"",
];

record! {
    /// A line: lists of spans or of log records, or one of them with the program that it is of.
    struct Line<'a> {
        spans: Option<Vec<Resource<'a>>> = "resourceSpans",
        logs: Option<Vec<Resource<'a>>> = "resourceLogs",
        metrics: Option<Raw<'a>> = "resourceMetrics",
        data_points: Option<Vec<Raw<'a>>> = "dataPoints",
    }

    /// A program's spans or log records. Before OTLP 0.15 a scope of spans had another name.
    struct Resource<'a> {
        attributes: Option<Raw<'a>> = "resource" / "attributes",
        scopes: Vec<Scope<'a>> = "scopeSpans" | "scopeLogs",
        old_scopes: Vec<Scope<'a>> = "instrumentationLibrarySpans",
    }

    struct Scope<'a> {
        about: Instrumentation<'a> = "scope" | "instrumentationLibrary",
        spans: Option<Raw<'a>>,
        records: Option<Raw<'a>> = "logRecords",
    }

    struct Instrumentation<'a> {
        name: Text<'a>,
        version: Text<'a>,
    }

    /// A span or a log record as any exporter writes it.
    struct Wire<'a> {
        kind: Text<'a> = "type",
        name: Text<'a>,
        event_name: Text<'a> = "eventName" | "event_name",
        severity: Text<'a> = "severity_text",
        trace: Text<'a> = "traceId" | "trace_id",
        span: Text<'a> = "spanId" | "span_id",
        context: Context<'a> = "spanContext" | "context",
        begun: Option<SpanTime> = "startTimeUnixNano",
        begun_js: Option<SpanTime> = "startTime",
        begun_python: Option<SpanTime> = "start_time",
        ended: Option<SpanTime> = "endTimeUnixNano",
        ended_js: Option<SpanTime> = "endTime",
        ended_python: Option<SpanTime> = "end_time",
        at: Option<SpanTime> = "timeUnixNano",
        observed: Option<SpanTime> = "observedTimeUnixNano",
        timestamp: Option<SpanTime>,
        attributes: Option<NestedJson<'a>>,
        events: Vec<SpanEvent<'a>>,
        body: Option<Plain<'a>>,
        resource: Option<Raw<'a>> = "resource" / "attributes",
    }

    struct Context<'a> {
        trace: Text<'a> = "traceId" | "trace_id",
        span: Text<'a> = "spanId" | "span_id",
    }

    struct SpanEvent<'a> {
        name: Text<'a>,
        attributes: Option<NestedJson<'a>>,
    }
}

type ReadRecord = fn(Wire<'_>, Option<&str>, &LostFields) -> Record;

/// Returns the records of a line. The error is why it has none.
pub(super) fn records(line: Raw<'_>, lost: &LostFields) -> Result<Vec<Record>, Box<str>> {
    if run::is_run(line) {
        return Ok(run::records(line, lost));
    }
    let lists: Line<'_> = parse(line.get(), lost)?;
    let (resources, read) = match (lists.spans, lists.logs) {
        (Some(resources), _) => (resources, span as ReadRecord),
        (None, Some(resources)) => (resources, log_record as ReadRecord),
        (None, None) if lists.metrics.is_some() || lists.data_points.is_some() => {
            return Ok(vec![Record::Other("metrics".to_owned())]);
        }
        (None, None) => return Ok(vec![flat(line, lost)?]),
    };
    let records = resources.into_iter().flat_map(|resource| {
        let service = service(resource.attributes, lost);
        let scopes = resource.scopes.into_iter().chain(resource.old_scopes);
        let records = scopes.flat_map(|scope| {
            let is_beside = scope.about.is_cached_beside();
            let name = scope.about.name.boxed().map(String::from);
            let records = objects(scope.records, "logRecords", lost);
            let records = objects(scope.spans, "spans", lost).chain(records);
            records.map(move |record| (record, name.clone(), is_beside))
        });
        records.map(move |(record, name, is_beside)| {
            let mut record = read(record, service.as_deref(), lost);
            if let Record::Call(call) = &mut record {
                call.is_cached_beside = is_beside;
                call.instrumentation = name;
            }
            record
        })
    });
    Ok(records.collect())
}

impl Instrumentation<'_> {
    /// Returns true if its input lacks what was cached, as OpenLLMetry's for Bedrock up to 0.62.3 (traceloop/openllmetry
    /// issue 4449); its others include it.
    fn is_cached_beside(&self) -> bool {
        self.name.get() == Some("opentelemetry.instrumentation.bedrock")
            && version::is_up_to(self.version.get(), Some("0.62.3"))
    }
}

/// Returns the objects of a list. Anything else is noted as lost, null in a list too.
fn objects<'a, T: Fields<'a>>(
    raw: Option<Raw<'a>>,
    name: &'static str,
    lost: &LostFields,
) -> impl Iterator<Item = T> {
    let elements = match raw {
        Some(raw) if raw.get().starts_with('[') => list(raw),
        Some(raw) if raw.get() != "null" => {
            lost.note(name);
            Vec::new()
        }
        _ => Vec::new(),
    };
    elements.into_iter().filter_map(move |raw| {
        if !raw.get().starts_with('{') {
            lost.note(name);
            return None;
        }
        lost.at(name).read(raw)
    })
}

/// Returns the span or log record that a line is.
fn flat(line: Raw<'_>, lost: &LostFields) -> Result<Record, Box<str>> {
    let record: Wire<'_> = parse(line.get(), lost)?;
    if record.attributes.is_none() {
        return Err("neither spans nor log records".into());
    }
    Ok(match record.kind.get() {
        _ if record.severity.get().is_some() => log_record(record, None, lost),
        None | Some("" | "span") => {
            let service = service(record.resource, lost);
            span(record, service.as_deref(), lost)
        }
        Some(other) => Record::Other(other.to_owned()),
    })
}

/// Returns the name of the program that a resource is.
fn service(attributes: Option<Raw<'_>>, lost: &LostFields) -> Option<String> {
    Attributes::of(attributes, lost).text(&["service.name"])
}

fn span(span: Wire<'_>, service: Option<&str>, lost: &LostFields) -> Record {
    let attributes = span.attributes(lost);
    if let Some(other) = no_call(&attributes) {
        return Record::Other(other);
    }
    let mut call = call(&span, &attributes);
    call.service = service.map(str::to_owned);
    let first = |times: [Option<SpanTime>; 3]| times.into_iter().flatten().next();
    let begun = first([span.begun, span.begun_js, span.begun_python]);
    let ended = first([span.ended, span.ended_js, span.ended_python]);
    call.begun = begun.map(|time| time.0);
    call.at = ended.or(begun).map(|time| time.0);
    for event in &span.events {
        let of_event = Attributes::of(event.attributes.map(|json| json.0), lost);
        let name = event.name.or_empty();
        if name == content::DETAILS {
            content::of_attributes(&of_event, &mut call);
        }
        content::of_event(name, &of_event, None, &mut call);
    }
    // Strands has the messages on its loop's spans, too; LlamaIndex prepares a call in a span like one.
    call.is_named = names_a_call(&attributes);
    let is_around_a_call = || !call.is_named || is_without_messages(&call, &attributes);
    let has_numbers = call.numbers.is_unreadable || call.numbers.whole.is_some();
    if !has_numbers && is_around_a_call() {
        return Record::Other(span.name.get().unwrap_or("span").to_owned());
    }
    content::pair(&mut call.input);
    Record::Call(Box::new(call))
}

/// Returns a record beside the spans: the content of a call, or an event of it.
fn log_record(record: Wire<'_>, _: Option<&str>, lost: &LostFields) -> Record {
    let attributes = record.attributes(lost);
    let name = record.event_name.boxed().map(String::from);
    let Some(name) = name.or_else(|| attributes.text(&["event.name"])) else {
        return Record::Other("log record".to_owned());
    };
    let mut call = call(&record, &attributes);
    let time = record.at.or(record.observed).or(record.timestamp);
    call.at = time.map(|time| time.0);
    let body = record.body.as_ref().map(|body| &*body.0);
    content::of_event(&name, &attributes, body, &mut call);
    if call.input.is_empty() && call.output.is_empty() {
        return Record::Other(name);
    }
    Record::Content(Box::new(call))
}

/// Returns the type of a span that is no call of a model; `None`: it may be one.
fn no_call(attributes: &Attributes<'_, '_>) -> Option<String> {
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
fn names_a_call(attributes: &Attributes<'_, '_>) -> bool {
    [
        "gen_ai.operation.name",
        OPENINFERENCE,
        "ai.operationId",
        "llm.request.type",
    ]
    .iter()
    .any(|name| attributes.text(&[name]).is_some())
}

impl<'a> Wire<'a> {
    fn attributes<'l>(&self, lost: &'l LostFields) -> Attributes<'a, 'l> {
        Attributes::of(self.attributes.map(|json| json.0), lost)
    }
}

fn call(record: &Wire<'_>, attributes: &Attributes<'_, '_>) -> Call {
    let id = |own: &Text<'_>, inner: &Text<'_>| own.boxed().or(inner.boxed()).map(String::from);
    let trace = id(&record.trace, &record.context.trace);
    let span = id(&record.span, &record.context.span);
    let mut call = Call {
        key: span.map(|span| Key::of_parts(&["otel", trace.as_deref().unwrap_or_default(), &span])),
        conversation: attributes.text(names("conversation")),
        trace,
        agent: attributes.text(names("agent")),
        is_increment: attributes.text(&[COPILOT_TURN]).is_some(),
        model: attributes
            .text(names("model"))
            .map(|id| model_name(&id).to_owned()),
        cut: content::cut_of(attributes),
        ..Call::default()
    };
    call.numbers = numbers(attributes).unwrap_or(Numbers {
        is_unreadable: true,
        ..Numbers::default()
    });
    content::of_attributes(attributes, &mut call);
    call
}

/// Returns true if a span of OpenInference has no messages.
fn is_without_messages(call: &Call, attributes: &Attributes<'_, '_>) -> bool {
    let is_front = |block: &Block<'_>| matches!(block.kind, Kind::Prompt | Kind::ToolList);
    attributes.text(&[OPENINFERENCE]).is_some()
        && call.output.is_empty()
        && call.input.iter().all(is_front)
}

fn numbers(attributes: &Attributes<'_, '_>) -> Result<Numbers, Unreadable> {
    Ok(Numbers {
        whole: attributes.count(names("input"))?,
        output: attributes.count(names("output"))?,
        reasoning: attributes.count(names("reasoning"))?,
        cache_read: attributes.count(names("cache_read"))?,
        cache_write: attributes.count(names("cache_creation"))?,
        ..Numbers::default()
    })
}

/// The kind of a span of OpenInference.
const OPENINFERENCE: &str = "openinference.span.kind";

/// On the calls of Copilot CLI.
const COPILOT_TURN: &str = "github.copilot.turn_id";

/// Returns the names of an attribute, the first of which counts.
fn names(attribute: &str) -> &'static [&'static str] {
    static ALL: LazyLock<HashMap<&str, Vec<&str>>> =
        LazyLock::new(|| toml::from_str(assets::SPANS).unwrap_or_default());
    ALL.get(attribute).map_or(&[], Vec::as_slice)
}

/// A time: nanoseconds, bare or as a string; Node's `[seconds, nanoseconds]`; or in words.
#[derive(Debug, Clone, Copy)]
struct SpanTime(Timestamp);

impl Field<'_> for SpanTime {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<Self> {
        let text = string(value).unwrap_or(value.get().into());
        let time = match (text.parse(), serde_json::from_str(&text)) {
            (Ok(nanoseconds), _) => Timestamp::from_nanosecond(nanoseconds).ok(),
            (Err(_), Ok::<[i64; 2], _>([seconds, nanoseconds])) => {
                Timestamp::new(seconds, nanoseconds.try_into().ok()?).ok()
            }
            (Err(_), Err(_)) => text.parse().ok(),
        };
        time.map(SpanTime)
    }
}
