//! Qwen Code.
//!
//! A session is a JSON Lines file of records that form a tree by `uuid` and `parentUuid`. The last
//! line is the leaf; the context is the path from it to the root, from the last compression on. What
//! its recording and session services say (QwenLM/qwen-code, `packages/core/src/services`:
//! `chatRecordingService.ts`, `session-api-history.ts`; `agents/agent-transcript.ts`), checked on
//! records of 0.21:
//!
//! * A line may hold several records: the agent itself takes such lines apart. Several lines may hold
//!   one record, in parts: the same uuid adds to what is there.
//! * A rewind is a record whose parent lies further back; all since is left. Titles and the like are
//!   written again every 32 KiB, with new ids: links, nothing more.
//! * `chat_compression` holds the whole new history: a summary, the model's answer to it, which the
//!   harness writes, and what is kept (up to 0.15.6: the newest 30 %) or put back in (files, images).
//!   What a person said before is the user's, other texts are the harness's. `originalTokenCount` is
//!   the provider's number, `newTokenCount` an estimate. Nothing says what caused it; it is *manual*
//!   where the newest command before it was `/compress`.
//! * `usageMetadata` is made by Qwen Code of what its provider says (`core/openaiContentGenerator/
//!   converter.ts`, `core/anthropicContentGenerator/usage.ts`). Of the OpenAI interface: the prompt as
//!   it is; where only a total is told, 0.7 and 0.3 of it, which is the agent's word and not known. Of
//!   Anthropic's: the sum with both cache numbers, unless the input is larger than each of them; older
//!   builds left out what was written to the cache. One early build of the recording service named the
//!   numbers `input`, `output`, `cached`, `thoughts`, `total`.
//! * `promptTokenCount` includes what was cached. Whether `candidatesTokenCount` includes the thoughts
//!   differs by provider (the OpenAI interface: yes; Gemini's: no), so the output is the total less
//!   the prompt. Some providers report nothing. `ui_telemetry` repeats the numbers.
//! * Thoughts are sent again, since models need their reasoning back; older versions dropped them when
//!   a session was resumed (`stripThoughtsFromHistory`, once true by default), which no record tells.
//! * A sub-agent's file is `subagents/<session>/agent-<id>.jsonl`; its calls stand in records of their
//!   own after the text that carries their response's numbers. A response of calls alone reports none
//!   there.
//! * `/branch` copies records under their ids, so a request is known by its record's id.
//! * The trigger changed twice: 0.7 of the window; since #4345 (merged 2026-05-25) the larger of a
//!   share and the window − 33,000; since #6583 (merged 2026-07-09) the smaller. Which releases carried
//!   them is not written down anywhere found, so the policies go by version up to 0.15.6, by date
//!   after it.

use super::lenient;
use super::{Claim, Decoder, Facts, Format, Input, Root, decoder, facts, head};
use crate::model::event::{
    Cause, Event, Kept, Key, Lane, Meta, NewItem, Node, Parent, Part, Place, Reset, Sink,
};
use crate::model::{Gone, Kind, Role};
use jiff::Timestamp;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::path::Path;

mod items;
mod record;
mod settings;
#[cfg(test)]
mod tests;
use items::{Speaker, items};
use record::{Content, Payload, Record};

/// The format.
pub static QWEN_CODE: Format = Format {
    id: "qwen-code",
    label: "qwen",
    roots: &[
        Root::home(".qwen", "projects").env("QWEN_RUNTIME_DIR"),
        Root::home(".qwen", "projects").env("QWEN_HOME"),
    ],
    facts: Facts {
        mark: "record with `parentUuid`, `sessionId` and the parts of Gemini's contents",
        live: facts::EACH_LINE,
        known: "prompts, outputs",
        estimated: "all, where the provider reports nothing",
        sub_agents: "yes",
        compactions: "yes",
        tried: "0.21",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<QwenCodeDecoder>,
    reset_marks: &[r#""subtype":"chat_compression""#],
    terms: &[
        ("input", |b| b.input),
        ("cached", |b| b.cache_read),
        ("output", |b| b.output),
        ("thoughts", |b| b.reasoning),
    ],
    settings: Some(&settings::SETTINGS),
    ..Format::DEFAULT
};

/// `chats/<session>.jsonl`, and a sub-agent's `subagents/<session>/agent-<id>.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let mut above = path
        .ancestors()
        .skip(1)
        .filter_map(|dir| dir.file_name()?.to_str());
    let (parent, grandparent) = (above.next()?, above.next());
    if grandparent == Some("subagents") {
        return Some(Claim::session(name.strip_prefix("agent-")?).child_of(parent));
    }
    let is_id = name.len() >= 32 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    (parent == "chats" && is_id).then(|| Claim::session(name))
}

/// Claude Code's records have the same ids; their messages have no parts.
fn recognise(head: &[u8]) -> bool {
    let has = |mark: &str| head::has(head, mark);
    head::is_object(head)
        && has(r#""parentUuid""#)
        && has(r#""sessionId""#)
        && [
            r#""role":"user","parts":["#,
            r#""role":"model","parts":["#,
            r#""systemPayload":{"#,
        ]
        .iter()
        .any(|mark| has(mark))
}

/// Reads one file.
#[derive(Default)]
struct QwenCodeDecoder {
    /// Whether the whole file is a sub-agent's; settled by its first record.
    of_subagent: Option<bool>,
    branches: HashMap<Lane, Branch>,
}

/// What is to be remembered of a conversation.
#[derive(Default)]
struct Branch {
    /// What was last said of it.
    said: Meta,
    /// The record before this one.
    last: Option<Key>,
    /// The uuids of all records.
    seen: HashSet<Key>,
    /// Under which key the newest part of a record stands that came in several lines.
    newest: HashMap<Key, Key>,
    /// The request whose output the newest message is.
    request: Option<Key>,
    /// What the user has said, by hash.
    words: HashSet<u64>,
    /// Whether the user has just asked for a compression.
    commanded: bool,
    /// The user's newest message and its text, while nothing has answered it: it may turn out to have
    /// been a command.
    unanswered: Option<(Key, Box<str>)>,
}

impl Decoder for QwenCodeDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let Input::Line(place, line) = input else {
            return;
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        if let Ok(record) = lenient::object(line) {
            return self.record(&record, place, out);
        }
        // Several in one line, the last of them perhaps torn; or none.
        for raw in serde_json::Deserializer::from_slice(line).into_iter::<&RawValue>() {
            let raw = raw.map_err(|error| Box::from(error.to_string()));
            match raw.and_then(|raw| lenient::object(raw.get().as_bytes())) {
                Ok(record) => self.record(&record, place, out),
                Err(why) => return out.push(Lane::Main, place, None, Event::Unreadable(why)),
            }
        }
    }
}

impl QwenCodeDecoder {
    fn record(&mut self, record: &Record<'_>, place: Place, out: &mut Sink<'_>) {
        let lane = self.lane(record);
        let mut writer = Writer {
            lane,
            key: None,
            parent: Parent::Previous,
            place,
            at: record.timestamp.time(),
            out,
        };
        let Some(uuid) = record.uuid.get() else {
            return writer.push(Event::Unreadable("a record without a uuid".into()));
        };
        let whole_file = self.of_subagent == Some(true);
        let branch = self.branches.entry(lane).or_default();
        branch.tell(record, whole_file || lane != Lane::Main, &mut writer);
        let again = branch.hang(uuid, record.parent_uuid.get(), &mut writer);
        match (record.kind.or_empty(), record.subtype.get()) {
            ("", _) => writer.push(Event::Unreadable("no type".into())),
            ("user" | "assistant", Some(subtype @ "realtime_message")) => writer.skip(subtype),
            ("user", subtype) => branch.user(record, subtype, &mut writer),
            ("assistant", _) => branch.assistant(record, again, uuid, &mut writer),
            ("tool_result", _) => branch.result(record, &mut writer),
            ("system", Some(subtype)) => branch.system(record, subtype, uuid, &mut writer),
            (other, _) => writer.skip(other),
        }
    }

    /// The conversation a record belongs to. A file that begins with a sub-agent's record is that
    /// sub-agent's own.
    fn lane(&mut self, record: &Record<'_>) -> Lane {
        let side = record.is_sidechain == Some(true);
        let of_subagent = *self.of_subagent.get_or_insert(side);
        match record.agent_id.get() {
            Some(agent) if side && !of_subagent => Lane::Side(Key::of(agent)),
            _ => Lane::Main,
        }
    }
}

/// Whether a line adds to a record that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    No,
    Yes,
}

impl Branch {
    /// Says what a record tells of its session, where that is new.
    fn tell(&mut self, record: &Record<'_>, of_subagent: bool, writer: &mut Writer<'_, '_>) {
        let fresh = |said: &mut Option<Box<str>>, now: Option<Box<str>>| {
            let now = now.filter(|now| said.as_ref() != Some(now))?;
            *said = Some(now.clone());
            Some(now)
        };
        let (id, parent) = match of_subagent {
            true => (record.agent_id.boxed(), record.session_id.boxed()),
            false => (record.session_id.boxed(), None),
        };
        let window = record.context_window_size.0.filter(|window| *window > 0);
        let news = Meta {
            id: fresh(&mut self.said.id, id),
            parent: fresh(&mut self.said.parent, parent),
            title: fresh(&mut self.said.title, record.agent_name.boxed()),
            cwd: fresh(&mut self.said.cwd, record.cwd.boxed()),
            version: fresh(&mut self.said.version, record.version.boxed()),
            model: fresh(&mut self.said.model, record.model.boxed()),
            window: window.filter(|window| self.said.window != Some(*window)),
            trigger: None,
        };
        self.said.window = news.window.or(self.said.window);
        if news != Meta::default() {
            writer.push(Event::Meta(Box::new(news)));
        }
    }

    /// Finds a record's place in the tree. Each hangs below the one before it, unless the user went
    /// back: then all since leaves.
    fn hang(&mut self, uuid: &str, parent: Option<&str>, writer: &mut Writer<'_, '_>) -> Again {
        let own = Key::of(uuid);
        let again = !self.seen.insert(own);
        let below = |id: Key| self.newest.get(&id).copied().unwrap_or(id);
        let (key, parent) = match (again, parent) {
            (true, _) => {
                let key = Key::of_number(uuid, writer.place.offset);
                (key, Parent::Key(below(own)))
            }
            (false, None) => (own, Parent::Root),
            (false, Some(id)) => (own, Parent::Key(below(Key::of(id)))),
        };
        if parent != self.last.map_or(Parent::Root, Parent::Key) {
            self.request = None;
        }
        if again {
            self.newest.insert(own, key);
        } else if let (Some(last), Parent::Key(key)) = (self.last, parent)
            && key != last
        {
            let rewound = true;
            writer.push(Event::Leaf { key, rewound });
        }
        self.last = Some(key);
        (writer.key, writer.parent) = (Some(key), parent);
        if again { Again::Yes } else { Again::No }
    }

    fn user(&mut self, record: &Record<'_>, subtype: Option<&str>, writer: &mut Writer<'_, '_>) {
        self.request = None;
        self.commanded = false;
        let told = matches!(subtype, None | Some("mid_turn_user_message"))
            && record.external_input_kind.get() != Some("notification");
        let Some(message) = record.message.as_ref() else {
            return writer.skip("user");
        };
        if !told {
            let items = items(message, Speaker::Harness(Kind::Reminder), writer.out);
            return writer.node(Part::Injected, |node| node.items = items);
        }
        let items = items(message, Speaker::User, writer.out);
        let own = items.iter().filter(|item| item.role == Role::User);
        self.words.extend(own.map(|item| item.hash));
        if let (Some(key), None) = (writer.key, subtype) {
            let text: String = message.parts.0.iter().filter_map(said).collect();
            self.unanswered = Some((key, text.into()));
        }
        writer.node(Part::Input, |node| {
            node.turn = subtype.is_none();
            node.items = items;
        });
    }

    fn assistant(
        &mut self,
        record: &Record<'_>,
        again: Again,
        uuid: &str,
        writer: &mut Writer<'_, '_>,
    ) {
        self.commanded = false;
        self.unanswered = None;
        let report = record.usage_metadata;
        let own = Key::of_parts(&["qwen", uuid]);
        // Calls in records of their own belong to the response before them.
        let request = match (again, self.request, report) {
            (Again::No, Some(request), None) => request,
            _ => own,
        };
        self.request = Some(request);
        let items = record.message.as_ref().map_or_else(Vec::new, |message| {
            items(message, Speaker::Model, writer.out)
        });
        writer.node(Part::Output, |node| {
            node.request = Some(request);
            node.items = items;
        });
        let model = self.said.model.clone();
        if let Some(usage) = report.and_then(|numbers| numbers.usage(request, model)) {
            writer.push(Event::Usage(Box::new(usage)));
        }
    }

    fn result(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        self.request = None;
        self.unanswered = None;
        let Some(message) = record.message.as_ref() else {
            return writer.skip("tool_result");
        };
        let items = items(message, Speaker::Tool, writer.out);
        writer.node(Part::Result, |node| node.items = items);
    }

    fn system(
        &mut self,
        record: &Record<'_>,
        subtype: &str,
        uuid: &str,
        writer: &mut Writer<'_, '_>,
    ) {
        let useful = matches!(
            subtype,
            "chat_compression"
                | "agent_bootstrap"
                | "slash_command"
                | "custom_title"
                | "parent_session"
                | "session_model"
        );
        let payload: Payload<'_> = record
            .system_payload
            .filter(|_| useful)
            .and_then(|payload| lenient::object(payload.get().as_bytes()).ok())
            .unwrap_or_default();
        match subtype {
            "chat_compression" if payload.has_history() => {
                return self.compression(&payload, uuid, writer);
            }
            "agent_bootstrap" => {
                let items = self.history(&payload.history, Speaker::User, writer.out);
                return writer.node(Part::Injected, |node| node.items = items);
            }
            "slash_command" => self.command(&payload, writer),
            "custom_title" => writer.fact(|meta| meta.title = payload.custom_title.boxed()),
            "parent_session" => writer.fact(|meta| meta.parent = payload.parent_session_id.boxed()),
            "session_model" => {
                self.said.model = payload.model_id.boxed().or(self.said.model.take());
                writer.fact(|meta| meta.model = payload.model_id.boxed());
            }
            _ => {}
        }
        writer.skip(subtype);
    }

    /// A command that the user gave. Where it has an answer of its own, its words were recorded as a
    /// message that the model never gets.
    fn command(&mut self, payload: &Payload<'_>, writer: &mut Writer<'_, '_>) {
        let command = payload.raw_command.or_empty();
        match payload.phase.get() {
            Some("result") if payload.sent_to_model != Some(true) => {
                let asked = self
                    .unanswered
                    .take()
                    .filter(|(_, text)| **text == *command);
                if let Some((key, _)) = asked {
                    writer.push(Event::Cleared {
                        nodes: vec![key],
                        calls: Vec::new(),
                    });
                }
            }
            Some("result") => {}
            _ => self.commanded = command.trim_start().starts_with("/compress"),
        }
    }

    fn compression(&mut self, payload: &Payload<'_>, uuid: &str, writer: &mut Writer<'_, '_>) {
        let sizes = payload.info.unwrap_or_default();
        let cause = match std::mem::take(&mut self.commanded) {
            true => Cause::Manual,
            false => Cause::Automatic,
        };
        self.request = None;
        self.unanswered = None;
        writer.push(Event::Reset(Box::new(Reset {
            key: Some(Key::of_parts(&["reset", uuid])),
            gone: Gone::Compaction,
            cause,
            before: sizes.original_token_count.0.filter(|size| *size > 0),
            after: sizes.new_token_count.0.filter(|size| *size > 0),
            kept: Kept::Nothing,
        })));
        writer.parent = Parent::Previous;
        let summary = Speaker::Harness(Kind::Summary);
        let items = self.history(&payload.compressed_history, summary, writer.out);
        writer.node(Part::Injected, |node| node.items = items);
    }

    /// A history as a whole, its first content being `first`'s. What follows a summary answers it.
    fn history(
        &self,
        contents: &lenient::Pieces<'_, Content<'_>>,
        first: Speaker,
        out: &mut Sink<'_>,
    ) -> Vec<NewItem> {
        let summarised = first != Speaker::User;
        let mut all = Vec::new();
        for (nth, piece) in contents.0.iter().enumerate() {
            let lenient::Piece::Part(content) = piece else {
                continue;
            };
            let speaker = match (nth, Speaker::of(content)) {
                (0, _) => first,
                (1, Speaker::Model) if summarised => Speaker::Harness(Kind::Reminder),
                (_, speaker) => speaker,
            };
            for mut item in items(content, speaker, out) {
                if summarised && item.role == Role::User && !self.words.contains(&item.hash) {
                    (item.role, item.kind) = (Role::Container, Kind::Memory);
                }
                all.push(item);
            }
        }
        all
    }
}

fn said<'p>(piece: &'p lenient::Piece<'_, super::genai::Parts<'_>>) -> Option<&'p str> {
    match piece {
        lenient::Piece::Text(text) => Some(text),
        lenient::Piece::Part(part) => part.text.get(),
    }
}

/// Writes what one record says.
struct Writer<'w, 'm> {
    lane: Lane,
    key: Option<Key>,
    parent: Parent,
    place: Place,
    at: Option<Timestamp>,
    out: &'w mut Sink<'m>,
}

impl Writer<'_, '_> {
    fn push(&mut self, event: Event) {
        self.out.push(self.lane, self.place, self.at, event);
    }

    fn node(&mut self, part: Part, fill: impl FnOnce(&mut Node)) {
        let mut node = Node {
            key: self.key,
            parent: self.parent,
            part,
            ..Node::default()
        };
        fill(&mut node);
        self.push(Event::Node(Box::new(node)));
    }

    fn fact(&mut self, fill: impl FnOnce(&mut Meta)) {
        let mut meta = Meta::default();
        fill(&mut meta);
        self.push(Event::Meta(Box::new(meta)));
    }

    /// Passes a record over; the chain goes through it.
    fn skip(&mut self, kind: &str) {
        self.push(Event::Skipped(kind.into()));
        self.node(Part::Link, |_| {});
    }
}
