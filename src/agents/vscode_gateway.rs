//! The Vercel AI Gateway's VS Code extension: its forensic captures and its investigation logs.
//!
//! Both are off until a setting turns them on. What the extension says (wycats/SferaDev,
//! `packages/vscode-ai-gateway/src/provider/forensic-capture.ts` and `…/src/logger/investigation*.ts`);
//! no log of real use was found:
//!
//! * `~/.vscode-ai-gateway/forensic-captures.jsonl`: a line a request, before it is sent. Its messages
//!   by role, length and hash; whole with `forensicCaptureFullContent`, from capture version 1.1 on.
//!   The extension's estimate of the prompt, of the window it goes by, and no usage at all. A result's
//!   length is not in the summary, only a text's.
//! * `<workspace>/.logs/<investigation>/index.jsonl`: a line a request, after it: estimated and actual
//!   numbers beside each other. `…/<conversation>/messages.jsonl` repeats them; `…/messages/<chat>.json`
//!   holds the whole request (in the shape of OpenAI's Responses) and its usage. `events.jsonl` wraps all
//!   of these, told apart by `kind`; there the numbers of a request stand before its content, so from
//!   the first content on the index's numbers wait for it.
//! * `chatId` names a request. A conversation goes by `conversationId`; captures have none, and theirs
//!   goes by the hashes of the system prompt and of the first message.
//! * `input_tokens` includes the cached ones, as with OpenAI's Responses; where more is cached than that,
//!   it does not.
//! * A summarization is a request beside the conversation: with its success the history is replaced.

mod capture;
mod wire;

use super::snapshot::{Conversation, Writer};
use super::{Claim, Decoder, Facts, Format, Input, Root, StoreKind, decoder, facts, head, lenient};
use crate::model::event::{Billed, Cause, Event, Kept, Key, Lane, Meta, Place, Reset, Sink, Usage};
use crate::model::{Gone, Source};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use wire::{Actual, Line, one};

/// The format.
pub static VSCODE_GATEWAY: Format = Format {
    id: "vscode-gateway",
    label: "gateway",
    roots: &[Root::home("", ".vscode-ai-gateway")],
    facts: Facts {
        mark: "`captureVersion` of a capture, or `conversationId` beside `chatId`",
        live: facts::EACH_LINE,
        known: "prompts, outputs, reasoning in investigations",
        estimated: "captures, beside its own estimate",
        sub_agents: "each conversation by itself",
        compactions: "summarizations in investigations",
        tried: "invented lines after its sources",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<VscodeGatewayDecoder>,
    // A file that holds several sessions is read from its beginning.
    holds_several: true,
    ..Format::DEFAULT
};

fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name);
    match name {
        "forensic-captures.jsonl" | "index.jsonl" | "events.jsonl" | "messages.jsonl" => {
            Some(Claim::LINES)
        }
        _ if name.ends_with(".json") && folder.is_some_and(|folder| folder == "messages") => {
            Some(Claim::LINES.kept_in(StoreKind::Document))
        }
        _ => None,
    }
}

fn recognise(head: &[u8]) -> bool {
    let has = |mark: &str| head::has(head, mark);
    head::is_object(head)
        && (has("\"captureVersion\"") && has("\"contentSummary\"")
            || has("\"conversationId\"") && has("\"chatId\""))
}

/// A conversation of the file.
#[derive(Default)]
struct Thread {
    conversation: Conversation,
    model: Option<Box<str>>,
}

/// Reads one file.
#[derive(Default)]
struct VscodeGatewayDecoder {
    threads: HashMap<Lane, Thread>,
    /// The conversation that came first: the file's own.
    first: Option<Key>,
    /// Requests whose numbers were told.
    told: HashSet<Key>,
    /// Whether contents follow on numbers in this file.
    has_contents: bool,
}

impl Decoder for VscodeGatewayDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let (place, bytes) = match input {
            Input::Line(_, line) if line.trim_ascii().is_empty() => return,
            Input::Line(place, line) => (place, line),
            Input::Document(bytes) => {
                *self = VscodeGatewayDecoder::default();
                (
                    Place {
                        line: 1,
                        ..Place::default()
                    },
                    bytes,
                )
            }
        };
        match lenient::object::<Line<'_>>(bytes) {
            Ok(line) => self.line(&line, place, out),
            Err(why) => out.push(Lane::Main, place, None, Event::Unreadable(why)),
        }
    }
}

impl VscodeGatewayDecoder {
    fn line(&mut self, line: &Line<'_>, place: Place, out: &mut Sink<'_>) {
        match line.kind.get() {
            Some("request.index") => match one(&line.entry) {
                Some(entry) => self.numbers(entry, Wrapped::Yes, place, out),
                None => unreadable("an index event without an entry", place, out),
            },
            Some("request.full") => match one(&line.capture) {
                Some(capture) => self.request(capture, place, out),
                None => unreadable("a request event without a capture", place, out),
            },
            // The summary repeats the index.
            Some(kind) => out.push(
                Lane::Main,
                place,
                line.ts.time(),
                Event::Skipped(kind.into()),
            ),
            None if line.capture_version.get().is_some() => self.forensic(line, place, out),
            None if one(&line.request).is_some() => self.request(line, place, out),
            None if line.chat_id.get().is_some() => self.numbers(line, Wrapped::No, place, out),
            None => unreadable("neither a capture nor of an investigation", place, out),
        }
    }

    /// A request's numbers, estimated and actual.
    fn numbers(&mut self, line: &Line<'_>, wrapped: Wrapped, place: Place, out: &mut Sink<'_>) {
        let conversation = line.conversation_id.or_empty();
        let lane = self.lane(Key::of(conversation));
        let mut writer = Writer {
            lane,
            place,
            at: line.ts.time(),
            out,
        };
        self.learn(lane, Some(conversation), line.model_id(), None, &mut writer);
        if line.is_summarization == Some(true) {
            writer.push(Event::Skipped("summarization".into()));
            if line.status.get().is_none_or(|status| status == "success") {
                writer.push(Event::Reset(Box::new(Reset {
                    key: line
                        .chat_id
                        .get()
                        .map(|id| Key::of_parts(&["summarization", id])),
                    gone: Gone::Compaction,
                    cause: Cause::Automatic,
                    before: None,
                    after: None,
                    kept: Kept::Nothing,
                })));
                self.threads.insert(lane, Thread::default());
            }
            return;
        }
        let request = request_of(line, place);
        let mut usage: Vec<Usage> = line
            .estimated()
            .map(|tokens| estimate(request, tokens))
            .into_iter()
            .collect();
        let waits = self.has_contents && wrapped == Wrapped::Yes;
        if !waits {
            usage.extend(actual(request, line.model_id(), &line.actual()));
            self.told.insert(request);
        }
        let thread = self.threads.entry(lane).or_default();
        if waits || usage.iter().all(|usage| usage.source == Source::Agent) {
            usage
                .into_iter()
                .for_each(|usage| writer.push(Event::Usage(Box::new(usage))));
        } else {
            thread.conversation.answer(request, &[], usage, &mut writer);
        }
    }

    /// A whole request, and the numbers of its response.
    fn request(&mut self, line: &Line<'_>, place: Place, out: &mut Sink<'_>) {
        let conversation = line.conversation_id.or_empty();
        let lane = self.lane(Key::of(conversation));
        let key = request_of(line, place);
        let mut writer = Writer {
            lane,
            place,
            at: line.ts.time(),
            out,
        };
        let already = std::mem::replace(&mut self.has_contents, true);
        if line.is_summarization == Some(true) || !already && self.told.contains(&key) {
            return writer.push(Event::Skipped("request.full".into()));
        }
        let Some(request) = one(&line.request) else {
            return;
        };
        self.learn(
            lane,
            Some(conversation),
            request.model.get(),
            None,
            &mut writer,
        );
        let thread = self.threads.entry(lane).or_default();
        thread
            .conversation
            .ask(&capture::carried(request), &mut writer);
        let usage = one(&line.response).and_then(|response| one(&response.usage));
        let usage = usage.map(|usage| actual(key, request.model.get(), &usage.actual()));
        self.told.insert(key);
        thread
            .conversation
            .answer(key, &[], usage.into_iter().flatten().collect(), &mut writer);
    }

    /// A request as it was before it was sent.
    fn forensic(&mut self, line: &Line<'_>, place: Place, out: &mut Sink<'_>) {
        let units = capture::captured(line);
        let lane = self.lane(capture::conversation(line));
        let mut writer = Writer {
            lane,
            place,
            at: line.timestamp.time(),
            out,
        };
        let model = one(&line.model);
        let window = model
            .and_then(|model| model.max_input_tokens.0)
            .filter(|window| *window > 0);
        let state = one(&line.internal_state);
        let chat = state.and_then(|state| state.chat_id.get());
        self.learn(
            lane,
            None,
            model.and_then(|model| model.id.get()),
            window,
            &mut writer,
        );
        let thread = self.threads.entry(lane).or_default();
        thread.conversation.ask(&units, &mut writer);
        let request = chat.map_or(Key::of_number("capture", place.offset), Key::of);
        if let Some(tokens) = one(&line.tokens).and_then(|tokens| tokens.estimated.0) {
            writer.push(Event::Usage(Box::new(estimate(request, tokens))));
        }
    }

    fn lane(&mut self, conversation: Key) -> Lane {
        match *self.first.get_or_insert(conversation) {
            first if first == conversation => Lane::Main,
            _ => Lane::Side(conversation),
        }
    }

    fn learn(
        &mut self,
        lane: Lane,
        id: Option<&str>,
        model: Option<&str>,
        window: Option<u64>,
        writer: &mut Writer<'_, '_>,
    ) {
        let is_new = !self.threads.contains_key(&lane);
        let thread = self.threads.entry(lane).or_default();
        if is_new || thread.model.as_deref() != model {
            thread.model = model.map(Into::into);
            writer.push(Event::Meta(Box::new(Meta {
                id: id.filter(|id| !id.is_empty()).map(Into::into),
                model: thread.model.clone(),
                window,
                ..Meta::default()
            })));
        }
    }
}

/// Whether a record stands inside of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapped {
    Yes,
    No,
}

fn unreadable(why: &str, place: Place, out: &mut Sink<'_>) {
    out.push(Lane::Main, place, None, Event::Unreadable(why.into()));
}

fn request_of(line: &Line<'_>, place: Place) -> Key {
    match line.chat_id.get() {
        Some(id) => Key::of_parts(&["vscode-gateway", id]),
        None => Key::of_number("vscode-gateway", place.offset),
    }
}

/// The extension's own number.
fn estimate(request: Key, tokens: u64) -> Usage {
    Usage {
        request,
        model: None,
        prompt: tokens,
        cached: 0,
        output: None,
        reasoning: None,
        source: Source::Agent,
        billed: Billed::default(),
    }
}

/// The provider's numbers, where there are any.
fn actual(request: Key, model: Option<&str>, actual: &Actual) -> Option<Usage> {
    let input = actual.input.0.filter(|input| *input > 0)?;
    let cached = actual.cached.or_zero();
    let prompt = if cached > input {
        input + cached
    } else {
        input
    };
    Some(Usage {
        request,
        model: model.map(Into::into),
        prompt,
        cached,
        output: actual.output.0,
        reasoning: actual.reasoning.0,
        source: Source::Reported,
        billed: Billed {
            input,
            cache_creation: 0,
            cache_read: cached,
            output: actual.output.or_zero(),
            reasoning: actual.reasoning.or_zero(),
        },
    })
}

#[cfg(test)]
mod tests;
