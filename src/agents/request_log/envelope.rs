//! The line around a request and its response: where each stands, when it was, and by which ids it is
//! known. Every logger has its own; what they have in common is what they wrap.

use super::answer::{self, Answer};
use super::ask::{self, Ask, Ids};
use super::message::string;
use super::usage::Numbers;
use crate::agents::lenient::{self, Count, Text};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

type Raw<'a> = Option<&'a RawValue>;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    call_type: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    endpoint: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    request_id: Text<'a>,
    #[serde(borrow, rename = "requestId")]
    request_id_camel: Text<'a>,
    #[serde(borrow)]
    object: Text<'a>,
    request: Raw<'a>,
    req: Raw<'a>,
    body: Raw<'a>,
    params: Raw<'a>,
    input: Raw<'a>,
    response: Raw<'a>,
    res: Raw<'a>,
    result: Raw<'a>,
    output: Raw<'a>,
    chunks: Raw<'a>,
    events: Raw<'a>,
    stream: Raw<'a>,
    prompt_tokens: Count,
    completion_tokens: Count,
    timestamp: Raw<'a>,
    ts: Raw<'a>,
    time: Raw<'a>,
    #[serde(rename = "startTime")]
    start_time_camel: Raw<'a>,
    start_time: Raw<'a>,
    created_at: Raw<'a>,
    logged_at: Raw<'a>,
}

/// What an HTTP recorder writes of one side.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Http<'a> {
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    path: Text<'a>,
    body: Raw<'a>,
    body_raw: Raw<'a>,
    json: Raw<'a>,
    chunks: Raw<'a>,
    events: Raw<'a>,
    timestamp: Raw<'a>,
}

/// What one line says of a request, an answer, or both.
pub(super) struct Exchange<'a> {
    pub(super) ask: Option<Ask<'a>>,
    pub(super) answer: Option<Answer<'a>>,
    pub(super) session: Option<String>,
    pub(super) trace: Option<String>,
    /// The id by which a request and an answer in lines of their own know each other.
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) at: Option<Timestamp>,
}

/// The bodies that a line may hold, with JSON in strings and streams in pieces unfolded.
pub(super) struct Bodies<'a> {
    envelope: Envelope<'a>,
    line: &'a str,
    asks: Vec<Cow<'a, str>>,
    answers: Vec<Cow<'a, str>>,
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
    pub(super) fn of(line: &'a [u8]) -> Result<Bodies<'a>, Box<str>> {
        let envelope: Envelope<'a> = lenient::object(line)?;
        let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let request: Http<'a> = http(envelope.request.or(envelope.req));
        let response: Http<'a> = http(envelope.response.or(envelope.res));
        let unfold = |raws: &[Raw<'a>]| raws.iter().flatten().map(|raw| unfolded(raw)).collect();
        let asks = unfold(&[
            request.body,
            request.body_raw,
            request.json,
            envelope.request,
            envelope.req,
            envelope.body,
            envelope.params,
            envelope.input,
        ]);
        let answers = unfold(&[
            response.body,
            response.body_raw,
            response.json,
            response.chunks,
            response.events,
            envelope.chunks,
            envelope.events,
            envelope.stream,
            envelope.response,
            envelope.res,
            envelope.result,
            envelope.output,
            envelope.body,
        ]);
        let at = [
            envelope.timestamp,
            envelope.ts,
            envelope.time,
            envelope.start_time_camel,
            envelope.start_time,
            envelope.created_at,
            request.timestamp,
            envelope.logged_at,
            response.timestamp,
        ];
        let url = [
            &envelope.url,
            &envelope.path,
            &envelope.endpoint,
            &request.url,
            &request.path,
        ];
        let url = url.into_iter().find_map(Text::boxed);
        Ok(Bodies {
            at: at.into_iter().flatten().find_map(time),
            url,
            envelope,
            line,
            asks,
            answers,
        })
    }

    /// What kind of call this is where it is none to a model for its conversation.
    pub(super) fn other_call(&self) -> Option<&'static str> {
        let told = [self.envelope.call_type.get(), self.url.as_deref()];
        OTHER_CALLS
            .into_iter()
            .find(|word| told.iter().flatten().any(|text| text.contains(word)))
    }

    /// The line's type, as it names it.
    pub(super) fn kind(&self) -> &str {
        self.envelope.kind.or_empty()
    }

    /// Reads what is there; `None`: neither a request nor an answer.
    pub(super) fn read(&self) -> Option<Exchange<'_>> {
        let is_line = |kind: &str| matches!(kind, "LLMStreamEnd" | "response");
        let asks = self.asks.iter().map(|body| (&**body, ask::read(body)));
        // The line itself may be the request, unless it says that it is not.
        let own = std::iter::once_with(|| (self.line, ask::read(self.line)))
            .filter(|_| !is_line(self.kind()));
        let asked = asks
            .chain(own)
            .find_map(|(body, ask)| ask.map(|ask| (body, ask)));
        let mut answer = self.answers.iter().find_map(|body| {
            let found = answer::read(body);
            found.filter(|answer| !answer.is_empty())
        });
        let is_answer = asked.is_some() || matches!(self.kind(), "message" | "response");
        if answer.is_none() && (is_answer || self.envelope.object.0.is_some()) {
            answer = answer::read(self.line).filter(|answer| !answer.is_empty());
        }
        let told = Numbers::of_line(self.envelope.prompt_tokens, self.envelope.completion_tokens);
        if let Some(answer) = &mut answer
            && answer.numbers.prompt().is_none()
        {
            answer.numbers = told;
        }
        if asked.is_none() && answer.is_none() {
            return None;
        }
        let line = Ids::read(self.line);
        let body = asked.as_ref().map(|(body, _)| Ids::read(body));
        let ids = || [Some(&line), body.as_ref()].into_iter().flatten();
        let session = ids().find_map(Ids::session);
        let trace = ids().find_map(Ids::trace);
        let envelope = &self.envelope;
        let id = [
            &envelope.request_id,
            &envelope.request_id_camel,
            &envelope.id,
        ];
        let id = id.into_iter().find_map(Text::get);
        Some(Exchange {
            ask: asked.map(|(_, ask)| ask),
            answer,
            session,
            trace,
            id: id.map(Cow::Borrowed),
            at: self
                .at
                .or_else(|| self.answers.iter().find_map(|body| created(body))),
        })
    }
}

/// When a response was made, by its own account: where the line does not say when it was written.
fn created(body: &str) -> Option<Timestamp> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Response<'a> {
        #[serde(borrow)]
        created: Raw<'a>,
        created_at: Raw<'a>,
    }
    if !body.starts_with('{') {
        return None;
    }
    let response: Response<'_> = serde_json::from_str(body).ok()?;
    response.created.or(response.created_at).and_then(time)
}

/// When a line was written, by the words that a log handler put before its JSON: Python's begin with
/// `2026-10-01 09:00:00,250`.
pub(super) fn time_before(words: &[u8]) -> Option<Timestamp> {
    let words = std::str::from_utf8(words).ok()?;
    let words = words.trim_start_matches(['[', ' ']);
    let first = words.split([' ', ']']).next().unwrap_or(words);
    if let Ok(with_zone) = first.parse() {
        return Some(with_zone);
    }
    let end = words.find(|c: char| !(c.is_ascii_digit() || "-:., T".contains(c)));
    let stamp = words[..end.unwrap_or(words.len())].trim_matches(|c: char| !c.is_ascii_digit());
    civil(&stamp.replace(',', "."))
}

/// Python writes times without a zone; they are taken for UTC.
fn civil(text: &str) -> Option<Timestamp> {
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let utc = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(utc.timestamp())
}

fn http<'a>(raw: Raw<'a>) -> Http<'a> {
    raw.filter(|raw| raw.get().starts_with('{'))
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

/// The text of a body: JSON in a string is taken out of it, a stream's pieces are joined.
fn unfolded(raw: &RawValue) -> Cow<'_, str> {
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

/// A time: a date, or seconds, milliseconds or microseconds since 1970.
fn time(raw: &RawValue) -> Option<Timestamp> {
    if let Some(text) = string(raw) {
        return text.parse().ok().or_else(|| civil(&text));
    }
    let number: f64 = raw.get().parse().ok()?;
    let seconds = [1.0, 1e3, 1e6]
        .into_iter()
        .map(|unit| number / unit)
        .find(|seconds| (1e8..1e11).contains(seconds))?;
    Timestamp::from_microsecond((seconds * 1e6) as i64).ok()
}
