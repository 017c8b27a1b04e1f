//! Requests and responses as loggers and proxies record them, of whatever provider: one JSON Lines file,
//! one call to a model a line.
//!
//! There is no one format. The fields of a line show what it holds, wherever the logger has put them:
//! at the top, below `request` and `response`, in their `body`, as JSON or as text that holds JSON.
//!
//! * OpenAI Chat Completions, Responses, Anthropic Messages, Gemini `generateContent`; the AI SDK's
//!   parameters and results of versions 4 to 6.
//! * LiteLLM's standard logging payload (BerriAI/litellm, `litellm/types/utils.py`): messages and
//!   response at the top, tools in `model_parameters`, `prompt_tokens` always all of the input. Its
//!   `trace_id` is one of a request and its retries unless the caller sets a session's.
//! * AutoGen's events (microsoft/autogen, `autogen_core/logging.py`): `LLMCall` with messages and
//!   response, `LLMStreamStart` and `LLMStreamEnd` with one each, and the database of older versions, see
//!   `databases`; a log handler may put words before
//!   the JSON. `agent_id` names the agent whose context it is.
//! * claude-trace (badlogic/lemmy): pairs of request and response, streams as text in `body_raw`.
//! * Recorded streams: a list of chunks, or the text of server-sent events; usage is in the last.
//!
//! Which conversation a request belongs to is decided in `threads`, what it changes there in `prompts`. Every
//! request carries its whole history, so what is no longer sent has left: thinking is *stripped*,
//! results that became a stub and the oldest that were dropped *cleared*, a history that a summary made
//! short *compacted*, everything else *rewound*. With `previous_response_id` or a `conversation` the
//! provider keeps the history and the request holds what is new.
//!
//! Output is what stays: reasoning that the response does not hold in a form to be sent back does not.
//! `toolUsePromptTokenCount`, what Gemini's own tools put in while it answered, is input beside
//! `promptTokenCount` (googleapis/python-genai, `types.py`: the total is the sum of both and the
//! output) and in no later prompt: it is known, in this one prompt, and leaves. Items that a Responses
//! request only refers to are not followed. Of several choices the first counts.

mod databases;
mod envelope;
mod ids;
mod recognise;
mod thread;
mod threads;

use decode::bodies::{Numbers, Response, Thoughts};
use decode::lenient::{LostFields, model_name};
use decode::prompts::Block;
use decode::time::time_before;
use envelope::{Bodies, Exchange};
use formats::{
    Base, Claim, Decoder, Format, Recognition, Root, StoreKind, Totals, WITH_CACHE_AND_REASONING,
    decoder,
};
use model::Kind;
use model::event::{EventSink, Key, Usage};
use std::path::Path;
use threads::{Names, Threads};

/// The format.
pub static REQUEST_LOG: Format = Format {
    id: "request-log",
    // Loggers write wherever they are configured to; this is a folder to configure.
    roots: &[Root::new(Base::XdgData("ctxgauge"), "requests")],
    claims: &claims,
    recognition: Recognition::new(&recognise::is_request_log)
        .kept_in(&|head| {
            StoreKind::database(&databases::REQUESTS, head).or_else(|| Format::DEFAULT.store(head))
        })
        .several(),
    decoder: &decoder::<RequestLogDecoder>,
    // Nothing marks the line: a compaction shows in what the next request no longer holds.
    totals: Totals::new(WITH_CACHE_AND_REASONING),
    ..Format::DEFAULT
};

fn claims(path: &Path) -> Option<Claim> {
    if path.file_name()? == "logs.db" {
        return Some(Claim::database(&databases::REQUESTS));
    }
    (path.extension()? == "jsonl").then_some(Claim::LINES)
}

/// Shorter ids of responses are not unique: some servers number theirs.
const UNIQUE_ID: usize = 16;

/// Decodes one file.
#[derive(Default)]
struct RequestLogDecoder {
    threads: Threads,
}

impl Decoder for RequestLogDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let (before, json) = json_of(line);
        let lost = LostFields::default();
        let bodies = match Bodies::of(json, &lost) {
            Ok(bodies) => bodies,
            Err(why) => return out.unreadable(why),
        };
        if let Some(other) = bodies.other_call() {
            return out.skip(other.to_owned());
        }
        match (bodies.read(&lost), bodies.kind()) {
            (Some(exchange), _) => {
                out.set_time(time_before(before).or(exchange.at));
                self.exchange(json, exchange, out);
            }
            (None, "") => out.unreadable("neither a request nor a response of a model"),
            (None, kind) => out.skip(kind.to_owned()),
        }
        lost.report(out);
    }
}

impl RequestLogDecoder {
    fn exchange(&mut self, line: &str, mut exchange: Exchange<'_>, out: &mut EventSink<'_>) {
        let names = Names {
            session: exchange.session.as_deref(),
            trace: exchange.trace.as_deref(),
            id: exchange.id.as_deref(),
        };
        if let Some(request) = &mut exchange.request {
            if let Some(response) = &mut exchange.response {
                request.blocks.append(&mut response.before);
            }
            self.threads.add_request(request, names, out);
        }
        let Some(mut response) = exchange.response else {
            return;
        };
        let requested = exchange.request.as_ref();
        let requested = requested.and_then(|request| request.model.as_deref());
        let id = response.id.as_deref().filter(|id| id.len() >= UNIQUE_ID);
        let request = Key::of_parts(&["request-log", id.unwrap_or(line)]);
        let usage = usage_of(&mut response, requested, request);
        self.threads
            .add_response(&response, usage, request, names, out);
    }
}

/// Returns the usage of a response. Thinking of it that no later prompt will hold is taken out.
fn usage_of(response: &mut Response<'_>, requested: Option<&str>, request: Key) -> Option<Usage> {
    let numbers = response.numbers;
    let prompt = numbers.prompt()?;
    let is_thinking = |block: &Block<'_>| block.kind == Kind::Thinking;
    if numbers.reasoning.is_some() && response.thoughts == Thoughts::AreNotSentBack {
        response.blocks.retain(|block| !is_thinking(block));
    }
    let model = response.model.as_deref().or(requested).map(model_name);
    let cached = numbers.cache_read.map(|cached| cached.min(prompt));
    let numbers = Numbers {
        whole: Some(prompt),
        cache_read: cached,
        ..numbers
    };
    let mut usage = numbers.usage(request, model)?;
    if !response.blocks.iter().any(is_thinking) {
        let reasoning = usage.reasoning.take().unwrap_or(0);
        usage.output = usage.output.map(|output| output.saturating_sub(reasoning));
    }
    Some(usage)
}

/// Returns the words that a log handler put before the JSON of a line, and the JSON.
fn json_of(line: &str) -> (&str, &str) {
    match line.find('{') {
        Some(at) if line[..at].trim() != "[" => line.split_at(at),
        _ => ("", line),
    }
}

#[cfg(test)]
mod tests;
