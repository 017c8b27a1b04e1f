//! Requests and responses as loggers and proxies record them, of whatever provider: one JSON Lines file,
//! one call to a model a line.
//!
//! There is no one format. What a line holds is told by its fields, wherever the logger has put them:
//! at the top, below `request` and `response`, in their `body`, as JSON or as text that holds JSON.
//!
//! * OpenAI Chat Completions, Responses, Anthropic Messages, Gemini `generateContent`; the AI SDK's
//!   parameters and results of versions 4 to 6.
//! * LiteLLM's standard logging payload (BerriAI/litellm, `litellm/types/utils.py`): messages and
//!   response at the top, tools in `model_parameters`, `prompt_tokens` always all of the input. Its
//!   `trace_id` is one of a request and its retries unless the caller sets a session's.
//! * AutoGen's events (microsoft/autogen, `autogen_core/logging.py`): `LLMCall` with messages and
//!   response, `LLMStreamStart` and `LLMStreamEnd` with one each; a log handler may put words before
//!   the JSON. `agent_id` is whose context it is.
//! * claude-trace (badlogic/lemmy): pairs of request and response, streams as text in `body_raw`.
//! * Recorded streams: a list of chunks, or the text of server-sent events; usage stands in the last.
//!
//! Which conversation a request belongs to is in `threads`, what it changes there in `thread`. Every
//! request carries its whole history, so what is no longer sent has left: thoughts are *stripped*,
//! results that became a stub and the oldest that were dropped *cleared*, a history that a summary made
//! short *compacted*, everything else *rewound*. With `previous_response_id` or a `conversation` the
//! provider keeps the history and the request holds what is new.
//!
//! Output is what stays: reasoning of which the answer holds nothing to be sent back does not.
//! `toolUsePromptTokenCount`, what Gemini's own tools put in while it answered, is input beside
//! `promptTokenCount` (googleapis/python-genai, `types.py`: the total is the sum of both and the
//! output) and in no later prompt: it is known, in this one prompt, and leaves. Items that a Responses request names by reference
//! only are not followed. Of several choices the first counts.

mod answer;
mod ask;
mod envelope;
mod held;
mod message;
mod recognise;
mod stream;
mod thread;
mod threads;
mod unit;
mod usage;

use super::lenient::model_name;
use super::{Base, Claim, Decoder, Facts, Format, Input, Root, decoder, facts};
use crate::model::event::{Billed, Event, Key, Lane, Place, Sink, Usage};
use crate::model::{Kind, Source};
use answer::{Answer, Thoughts};
use envelope::{Bodies, Exchange};
use std::path::Path;
use thread::Writer;
use threads::{Names, Threads};

/// The format.
pub static REQUEST_LOG: Format = Format {
    id: "request-log",
    label: "request",
    // Loggers write wherever they are told to; this is a place to tell them.
    roots: &[Root::new(Base::XdgData("ctxgauge"), "requests")],
    facts: Facts {
        mark: "request to a model (`messages`, `input` or `contents`) or its response",
        live: facts::EACH_LINE,
        known: "prompts, outputs, reasoning where it is told apart",
        estimated: "requests whose response has no usage",
        sub_agents: "by their ids, or by what requests share",
        compactions: "told from what requests no longer hold",
        tried: "invented logs after the providers' and loggers' own definitions",
    },
    claims: &claims,
    recognise: &recognise::is_request_log,
    decoder: &decoder::<RequestLogDecoder>,
    // Nothing marks the line: a compaction shows in what the next request no longer holds.
    terms: &[
        ("input", |b| b.input),
        ("cache_read", |b| b.cache_read),
        ("cache_write", |b| b.cache_creation),
        ("output", |b| b.output),
        ("reasoning", |b| b.reasoning),
    ],
    holds_several: true,
    ..Format::DEFAULT
};

fn claims(path: &Path) -> Option<Claim> {
    (path.extension()? == "jsonl").then_some(Claim::LINES)
}

/// Shorter ids of responses do not tell them apart: some servers number theirs.
const UNIQUE_ID: usize = 16;

/// Reads one file.
#[derive(Default)]
struct RequestLogDecoder {
    threads: Threads,
}

impl Decoder for RequestLogDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let Input::Line(place, line) = input else {
            return;
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let (before, json) = json_of(line);
        if let Err(event) = self.line(place, before, json, out) {
            out.push(Lane::Main, place, None, event);
        }
    }
}

impl RequestLogDecoder {
    fn line(
        &mut self,
        place: Place,
        before: &[u8],
        line: &[u8],
        out: &mut Sink<'_>,
    ) -> Result<(), Event> {
        let unreadable = |why: Box<str>| Event::Unreadable(why);
        let bodies = Bodies::of(line).map_err(unreadable)?;
        if let Some(other) = bodies.other_call() {
            return Err(Event::Skipped(other.into()));
        }
        let Some(exchange) = bodies.read() else {
            return Err(match bodies.kind() {
                "" => unreadable("neither a request nor a response of a model".into()),
                kind => Event::Skipped(kind.into()),
            });
        };
        let mut writer = Writer {
            place,
            at: envelope::time_before(before).or(exchange.at),
            out,
        };
        self.exchange(line, exchange, &mut writer);
        Ok(())
    }

    fn exchange(&mut self, line: &[u8], mut exchange: Exchange<'_>, writer: &mut Writer<'_, '_>) {
        let names = Names {
            session: exchange.session.as_deref(),
            trace: exchange.trace.as_deref(),
            id: exchange.id.as_deref(),
        };
        if let Some(ask) = &mut exchange.ask {
            if let Some(answer) = &mut exchange.answer {
                ask.units.append(&mut answer.before);
            }
            self.threads.ask(ask, names, writer);
        }
        let Some(mut answer) = exchange.answer else {
            return;
        };
        let asked_for = exchange.ask.as_ref().and_then(|ask| ask.model.as_deref());
        let id = answer.id.as_deref().filter(|id| id.len() >= UNIQUE_ID);
        let request = match id {
            Some(id) => Key::of_parts(&["request-log", id]),
            None => Key::of_parts(&["request-log", &String::from_utf8_lossy(line)]),
        };
        let usage = usage_of(&mut answer, asked_for, request);
        self.threads.answer(&answer, usage, request, names, writer);
    }
}

/// The usage of an answer. Thoughts of it that no later prompt will hold are taken out.
fn usage_of(answer: &mut Answer<'_>, asked_for: Option<&str>, request: Key) -> Option<Usage> {
    let numbers = answer.numbers;
    let prompt = numbers.prompt()?;
    let cached = numbers.cache_read.unwrap_or(0).min(prompt);
    if numbers.reasoning.is_some() && answer.thoughts == Thoughts::AreNotSentBack {
        answer.units.retain(|unit| unit.kind != Kind::Thinking);
    }
    let thinks = answer.units.iter().any(|unit| unit.kind == Kind::Thinking);
    let reasoning = numbers.reasoning.unwrap_or(0);
    let (output, split) = match thinks {
        true => (numbers.output, numbers.reasoning),
        false => (
            numbers
                .output
                .map(|output| output.saturating_sub(reasoning)),
            None,
        ),
    };
    let model = answer.model.as_deref().or(asked_for);
    Some(Usage {
        request,
        model: model.map(|model| model_name(model).into()),
        prompt,
        cached,
        output,
        reasoning: split,
        source: Source::Reported,
        billed: Billed {
            input: prompt,
            cache_creation: numbers.cache_write.unwrap_or(0),
            cache_read: cached,
            output: numbers.output.unwrap_or(0),
            reasoning,
        },
    })
}

/// The words that a log handler put before the JSON of a line, and the JSON.
fn json_of(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'{', line) {
        Some(at) if line[..at].trim_ascii() != b"[" => line.split_at(at),
        _ => (&[], line),
    }
}

#[cfg(test)]
mod tests;
