//! The line around a request and its response: where each is, when it was, and which ids it has. Every
//! logger has its own; what they have in common is what they wrap.

use super::ids::Ids;
use decode::bodies::{Numbers, Request, Response, request, stream, string};
use decode::lenient::{FieldPlace, LostFields, Raw, ReportedCount, Text, parse, record};
use decode::time::Time;
use jiff::Timestamp;
use std::borrow::Cow;

record! {
    pub(super) struct Envelope<'a> {
        kind: Text<'a> = "type",
        call_type: Text<'a>,
        url: Text<'a>,
        path: Text<'a>,
        endpoint: Text<'a>,
        id: Option<Raw<'a>>,
        request_id: Text<'a> = "request_id" | "requestId",
        object: Text<'a>,
        request: Option<Raw<'a>> = "request" | "req",
        body: Option<Raw<'a>>,
        params: Option<Raw<'a>>,
        input: Option<Raw<'a>>,
        response: Option<Raw<'a>> = "response" | "res",
        result: Option<Raw<'a>>,
        output: Option<Raw<'a>>,
        chunks: Option<Raw<'a>>,
        events: Option<Raw<'a>>,
        stream: Option<Raw<'a>>,
        prompt_tokens: ReportedCount,
        completion_tokens: ReportedCount,
        timestamp: Option<Time> = "timestamp" | "ts",
        time: Option<Time>,
        start_time: Option<Time> = "start_time" | "startTime",
        created_at: Option<Time>,
        logged_at: Option<Time>,
    }

    /// The fields that an HTTP recorder writes of one side.
    struct Http<'a> {
        url: Text<'a>,
        path: Text<'a>,
        body: Option<Raw<'a>>,
        body_raw: Option<Raw<'a>>,
        json: Option<Raw<'a>>,
        chunks: Option<Raw<'a>>,
        events: Option<Raw<'a>>,
        timestamp: Option<Time>,
    }
}

/// The content of one line: a request, a response, or both.
pub(super) struct Exchange<'a> {
    pub(super) request: Option<Request<'a>>,
    pub(super) response: Option<Response<'a>>,
    pub(super) session: Option<String>,
    pub(super) trace: Option<String>,
    /// The id that a request and a response in lines of their own share.
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) at: Option<Timestamp>,
}

/// The bodies that a line may hold, with JSON in strings and streams in pieces unfolded.
pub(super) struct Bodies<'a> {
    envelope: Envelope<'a>,
    line: &'a str,
    requests: Vec<Cow<'a, str>>,
    responses: Vec<Cow<'a, str>>,
    /// The names of fields that should be bodies and are not.
    odd: Vec<&'static str>,
    url: Option<Box<str>>,
    at: Option<Timestamp>,
}

/// Words in a call's type or address that make it no conversation.
const OTHER_CALLS: [&str; 8] = [
    "count_tokens",
    "countTokens",
    "embedding",
    "embedContent",
    "moderation",
    "transcription",
    "image_generation",
    "rerank",
];

impl<'a> Bodies<'a> {
    /// Reads the envelope of a line. The error says why it has none.
    pub(super) fn of(line: &'a str, lost: &LostFields) -> Result<Bodies<'a>, Box<str>> {
        let envelope: Envelope<'a> = parse(line, lost)?;
        let at = lost.at("");
        let request = http(envelope.request, at.field("request"));
        let response = http(envelope.response, at.field("response"));
        let bodies = [
            ("request", envelope.request),
            ("params", envelope.params),
            ("response", envelope.response),
            ("result", envelope.result),
            ("body", envelope.body),
            ("body", request.body),
            ("body", response.body),
        ];
        let chunks = response.chunks.or(envelope.chunks);
        let bodies = bodies.map(|(name, raw)| (name, raw, &['{', '['][..]));
        let streams = [
            ("chunks", chunks, &['['][..]),
            ("body_raw", response.body_raw, &[]),
        ];
        let odd = bodies.into_iter().chain(streams);
        let odd = odd.filter(|(_, raw, begins)| raw.is_some_and(|raw| !is_body(raw, begins)));
        let unfold =
            |raws: &[Option<Raw<'a>>]| raws.iter().flatten().map(|raw| unfolded(*raw)).collect();
        let requests = unfold(&[
            request.body,
            request.body_raw,
            request.json,
            envelope.request,
            envelope.body,
            envelope.params,
            envelope.input,
        ]);
        let responses = unfold(&[
            response.body,
            response.body_raw,
            response.json,
            response.chunks,
            response.events,
            envelope.chunks,
            envelope.events,
            envelope.stream,
            envelope.response,
            envelope.result,
            envelope.output,
            envelope.body,
        ]);
        let times = [
            envelope.timestamp,
            envelope.time,
            envelope.start_time,
            envelope.created_at,
            request.timestamp,
            envelope.logged_at,
            response.timestamp,
        ];
        let urls = [
            &envelope.url,
            &envelope.path,
            &envelope.endpoint,
            &request.url,
            &request.path,
        ];
        let url = urls.into_iter().find_map(Text::boxed);
        Ok(Bodies {
            at: times.into_iter().flatten().next().map(|time| time.0),
            url,
            envelope,
            line,
            requests,
            responses,
            odd: odd.map(|(name, ..)| name).collect(),
        })
    }

    /// Returns the kind of call that this is, if it is not a model's call within a conversation.
    pub(super) fn other_call(&self) -> Option<&'static str> {
        let names = [self.envelope.call_type.get(), self.url.as_deref()];
        OTHER_CALLS
            .into_iter()
            .find(|word| names.iter().flatten().any(|text| text.contains(word)))
    }

    /// Returns true if a recorder wrote the line: it has the call's type or address.
    pub(super) fn is_recorded(&self) -> bool {
        self.url.is_some() || self.envelope.call_type.get().is_some()
    }

    /// Returns the line's type, as it names it.
    pub(super) fn kind(&self) -> &str {
        self.envelope.kind.or_empty()
    }

    /// Reads what is there; `None`: neither a request nor a response.
    pub(super) fn read(&self, lost: &LostFields) -> Option<Exchange<'_>> {
        // The line itself may be the request, unless its type says that it is not.
        let own = Some(self.line).filter(|_| !matches!(self.kind(), "LLMStreamEnd" | "response"));
        let mut bodies = self.requests.iter().map(|body| &**body).chain(own);
        let request = bodies.find_map(|body| Some((body, request::read(body, lost)?)));
        let mut bodies = self.responses.iter().map(|body| &**body);
        let mut response = bodies.find_map(|body| stream::response(body, lost));
        let is_response = request.is_some()
            || matches!(self.kind(), "message" | "response")
            || self.envelope.object.0.is_some();
        if response.is_none() && is_response {
            response = stream::response(self.line, lost);
        }
        let parts = [self.envelope.prompt_tokens, self.envelope.completion_tokens];
        let numbers = Numbers::of_line(ReportedCount::mended(parts));
        if let Some(response) = &mut response
            && response.numbers.prompt().is_none()
        {
            response.numbers = numbers;
        }
        if request.is_none() && response.is_none() {
            return None;
        }
        self.odd.iter().for_each(|name| lost.note(name));
        let line = Ids::read(self.line, lost);
        let body = request.as_ref().filter(|(body, _)| *body != self.line);
        let body = body.map(|(body, _)| Ids::read(body, lost));
        let ids = || [Some(&line), body.as_ref()].into_iter().flatten();
        let created = || self.responses.iter().find_map(|body| created(body, lost));
        let id = self.envelope.request_id.get().map(Cow::Borrowed);
        Some(Exchange {
            session: ids().find_map(|ids| ids.session(lost)),
            trace: ids().find_map(|ids| ids.trace(lost)),
            request: request.map(|(_, request)| request),
            response,
            id: id.or_else(|| string(self.envelope.id?)),
            at: self.at.or_else(created),
        })
    }
}

record! {
    struct Created {
        created: Option<Time> = "created" | "created_at",
    }
}

/// Returns the time at which a response was made, by the response itself: for lines that have no time.
fn created(body: &str, lost: &LostFields) -> Option<Timestamp> {
    let response: Created = parse(body, lost).ok()?;
    response.created.map(|time| time.0)
}

/// Returns true if a value is a body: JSON that begins as expected, a string of JSON or of a stream, or nothing.
fn is_body(raw: Raw<'_>, begins: &[char]) -> bool {
    match string(raw) {
        Some(text) => {
            let text = text.trim_start();
            text.is_empty() || text.starts_with(['{', '[']) || text.contains("data:")
        }
        None => raw.get().starts_with(begins),
    }
}

fn http<'a>(raw: Option<Raw<'a>>, at: FieldPlace<'_>) -> Http<'a> {
    let raw = raw.filter(|raw| raw.get().starts_with('{'));
    raw.and_then(|raw| at.read(raw)).unwrap_or_default()
}

/// Returns the text of a body: JSON in a string is taken out of it, a stream's pieces are joined.
fn unfolded(raw: Raw<'_>) -> Cow<'_, str> {
    if let Some(text) = string(raw) {
        return text;
    }
    if raw.get().starts_with("[\"")
        && let Ok(pieces) = serde_json::from_str::<Vec<String>>(raw.get())
    {
        // Pieces may be lines without their ends, or any cuts of the stream.
        let is_lines = pieces.iter().all(|piece| !piece.contains('\n'));
        return Cow::Owned(pieces.join(if is_lines { "\n" } else { "" }));
    }
    Cow::Borrowed(raw.get())
}
