//! The Vercel AI Gateway's VS Code extension: its forensic captures and its investigation logs.
//!
//! Both are off until a setting turns them on. What the extension documents (wycats/SferaDev,
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
//!   of these, with a `kind` each; there the numbers of a request come before its content, so from
//!   the first content on the index's numbers wait for it.
//! * `chatId` names a request. A conversation goes by `conversationId`; captures have none, and theirs
//!   goes by the hashes of the system prompt and of the first message.
//! * `input_tokens` includes the cached ones, as with OpenAI's Responses; where more is cached than that,
//!   it does not.
//! * Its output channel, saved as text, has the provider's number for each prompt (`channel`).
//! * A summarization is a request beside the conversation: with its success the history is replaced.

mod capture;
mod channel;
mod wire;

use channel::Channel;
use decode::bodies::{Numbers, request};
use decode::lenient::{self, LostFields, Text};
use decode::prompts::{LossInference::FromSize, Prompt, PromptHistory, Threads, mark_turns};
use formats::{Claim, Decoder, Format, Recognition, Root, StoreKind, decoder, head};
use model::event::{Cause, EventSink, Key, Meta, Place, Reset, RetainedItems, Usage};
use std::collections::HashSet;
use std::path::Path;
use wire::{Line, Model};

/// The format.
pub static VSCODE_GATEWAY: Format = Format {
    id: "vscode-gateway",
    roots: &[Root::home("", ".vscode-ai-gateway")],
    claims: &claims,
    // A file that holds several sessions is read from its beginning.
    recognition: Recognition::new(&recognise).several(),
    decoder: &decoder::<VscodeGatewayDecoder>,
    harmless: "request.message-summary tree.change",
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
    let is_json = head::is_object(head)
        && (has("\"captureVersion\"") && has("\"contentSummary\"")
            || has("\"conversationId\"") && has("\"chatId\""));
    is_json || channel::is_channel(head)
}

/// Decodes one file.
#[derive(Default)]
struct VscodeGatewayDecoder {
    threads: Threads,
    /// Requests whose numbers were emitted.
    emitted: HashSet<Key>,
    /// True if contents follow the numbers in this file.
    has_contents: bool,
    channel: Channel,
}

impl Decoder for VscodeGatewayDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        match lenient::parse(line, &lost) {
            Ok(line) => self.line(&line, &lost, out),
            Err(_) if self.channel.read(line, out) => {}
            Err(why) => out.unreadable(why),
        }
        lost.report(out);
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        *self = VscodeGatewayDecoder::default();
        out.begin(Place::of_line(1));
        self.read_line(document, out);
    }
}

impl VscodeGatewayDecoder {
    fn line(&mut self, line: &Line<'_>, lost: &LostFields, out: &mut EventSink<'_>) {
        out.set_time(line.ts.time().or(line.timestamp.time()));
        match line.kind.get() {
            Some("request.index") => match lenient::value(line.entry, "entry", out) {
                Some(entry) => self.numbers(&entry, EventPart::Yes, out),
                None => out.unreadable("an index event without an entry"),
            },
            Some("request.full") => match lenient::value(line.capture, "capture", out) {
                Some(capture) => self.request(&capture, lost, out),
                None => out.unreadable("a request event without a capture"),
            },
            Some(kind) => VSCODE_GATEWAY.pass_over(kind, out),
            None if line.is_capture() => self.capture(line, lost, out),
            None if line.request.is_some() => self.request(line, lost, out),
            None if line.chat_id.get().or(line.conversation_id.get()).is_some() => {
                self.numbers(line, EventPart::No, out)
            }
            None => out.unreadable("neither a capture nor of an investigation"),
        }
    }

    /// Emits a request's numbers, estimated and actual.
    fn numbers(&mut self, line: &Line<'_>, wrapped: EventPart, out: &mut EventSink<'_>) {
        out.set_time(line.ts.time());
        let conversation = line.conversation_id.or_empty();
        let model: Text<'_> = lenient::value(line.model, "model", out);
        let meta = Meta {
            id: line.conversation_id.boxed(),
            model: model.boxed(),
            ..Meta::default()
        };
        let request = request_of(line, out);
        let thread = self
            .threads
            .thread(Key::of(conversation), FromSize, meta, out);
        if line.is_summarization == Some(true) {
            out.skip("summarization");
            if line.status.get().is_none_or(|status| status == "success") {
                let chat = line.chat_id.get();
                out.reset(Reset {
                    key: chat.map(|id| Key::of_parts(&["summarization", id])),
                    ..Reset::compaction(Cause::Automatic, RetainedItems::Nothing)
                });
                thread.history = PromptHistory::new(FromSize);
            }
            return;
        }
        if let Some(tokens) = line.estimated() {
            out.usage(Usage::estimated(request, tokens));
        }
        if self.has_contents && wrapped == EventPart::Yes {
            return;
        }
        if let Some(usage) = line.actual().usage(request, model.get()) {
            thread.history.add_response(request, &[], [usage], out);
        }
        self.emitted.insert(request);
    }

    /// Takes in a whole request, and the numbers of its response.
    fn request(&mut self, line: &Line<'_>, lost: &LostFields, out: &mut EventSink<'_>) {
        out.set_time(line.ts.time());
        let conversation = Key::of(line.conversation_id.or_empty());
        let key = request_of(line, out);
        let already = std::mem::replace(&mut self.has_contents, true);
        if line.is_summarization == Some(true) || !already && self.emitted.contains(&key) {
            out.set_conversation(self.threads.conversation(conversation));
            return out.skip("request.full");
        }
        let Some(request) = line.request else {
            return;
        };
        let request = request::read(request.0.get(), lost).unwrap_or_default();
        let model = request.model.as_deref();
        let meta = Meta {
            id: line.conversation_id.boxed(),
            model: model.map(Into::into),
            ..Meta::default()
        };
        self.emitted.insert(key);
        let thread = self.threads.thread(conversation, FromSize, meta, out);
        let conversation = &mut thread.history;
        let mut carried = [request.front, request.blocks].concat();
        mark_turns(&mut carried);
        conversation.add_request(&Prompt::of(&carried), out);
        let numbers = line.usage;
        let numbers = numbers.map(|usage| Numbers::read(usage, lost.at("usage")));
        let usage = numbers.and_then(|numbers| numbers.usage(key, model));
        conversation.add_response(key, &[], usage, out);
    }

    /// Takes in a request, captured before it was sent.
    fn capture(&mut self, line: &Line<'_>, lost: &LostFields, out: &mut EventSink<'_>) {
        out.set_time(line.timestamp.time());
        let model: Model<'_> = lenient::value(line.model, "model", out);
        let meta = Meta {
            model: model.id.boxed(),
            window: model.max_input_tokens.0,
            ..Meta::default()
        };
        let thread = self
            .threads
            .thread(capture::conversation(line), FromSize, meta, out);
        let blocks = capture::captured(line, lost);
        thread.history.add_request(&Prompt::of(&blocks), out);
        if let Some(tokens) = line.estimated.get() {
            let chat = line.state_chat_id.key();
            let request = chat.unwrap_or(Key::of_number("capture", out.place().id()));
            out.usage(Usage::estimated(request, tokens));
        }
    }
}

/// Shows whether a record is part of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventPart {
    Yes,
    No,
}

fn request_of(line: &Line<'_>, out: &EventSink<'_>) -> Key {
    match line.chat_id.get() {
        Some(id) => Key::of_parts(&["vscode-gateway", id]),
        None => Key::of_number("vscode-gateway", out.place().id()),
    }
}

#[cfg(test)]
mod tests;
