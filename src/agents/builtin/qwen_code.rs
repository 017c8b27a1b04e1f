//! Qwen Code.
//!
//! A session is a JSON Lines file of records that form a tree by `uuid` and `parentUuid`. The last
//! line is the leaf; the context is the path from it to the root, from the last compression on. After
//! its recording and session services (QwenLM/qwen-code, `packages/core/src/services`:
//! `chatRecordingService.ts`, `session-api-history.ts`; `agents/agent-transcript.ts`), checked on
//! records of 0.21:
//!
//! * Several lines may contain one record, in parts: the same uuid adds to what is there.
//! * Old results leave a prompt without a record, by a rule of `models.toml`.
//! * A rewind is a record whose parent lies further back; all since is left. Titles and the like are
//!   written again every 32 KiB, with new ids: links, nothing more.
//! * `chat_compression` holds the whole new history: a summary, the model's answer to it, which the
//!   harness writes, and what is kept (up to 0.15.6: the newest 30 %) or put back in (files, images).
//!   Texts that a person wrote before are the user's, other texts are the harness's. `originalTokenCount` is
//!   the provider's number (since about 0.22 the agent's own count), `newTokenCount` an estimate.
//!   `triggerReason` is its cause; where it has none, it is *manual* if the newest command before it was
//!   `/compress`. The reminders that stand before the conversation are in no record: they leave with
//!   a compression in the middle of a turn, and are sent again from the second request after it on.
//! * `usageMetadata` is computed by Qwen Code from its provider's usage (`core/openaiContentGenerator/
//!   converter.ts`, `core/anthropicContentGenerator/usage.ts`). Of the OpenAI interface: the prompt as
//!   it is; where there is only a total, 0.7 and 0.3 of it, which is the agent's estimate. Of
//!   Anthropic's: the sum with both cache numbers, unless the input is larger than each of them; older
//!   builds left out what was written to the cache. One early build of the recording service named the
//!   numbers `input`, `output`, `cached`, `thoughts`, `total`.
//! * `promptTokenCount` includes what was cached. Whether `candidatesTokenCount` includes the thoughts
//!   differs by provider (the OpenAI interface: yes; Gemini's: no), so the output is the total less
//!   the prompt. Some providers report nothing. `ui_telemetry` repeats the numbers.
//! * Thoughts are sent again, since models need their reasoning back; older versions dropped them when
//!   a session was resumed (`stripThoughtsFromHistory`, once true by default), which no record shows.
//! * A sub-agent's file is `subagents/<session>/agent-<id>.jsonl`; its calls are in records of their
//!   own after the text that has their response's numbers. A response of calls alone reports none
//!   there. The file beside it, `agent-<id>.meta.json`, has what its records lack: the model, what it was
//!   started for, and the sub-agent that started it.
//! * `/branch` copies records under their ids, so a request is known by its record's id.
//! * The trigger changed twice: 0.7 of the window; since #4345 (merged 2026-05-25) the larger of a
//!   share and the window − 33,000; since #6583 (merged 2026-07-09) the smaller. Which releases carried
//!   them is not written down anywhere found, so the policies go by version up to 0.15.6, by date
//!   after it.

use decode::lenient::{self, LostFields};
use formats::settings::Layers;
use formats::{
    Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate, Totals, decoder, head,
};
use formats::{THOUGHTS, about_agent, names};
use model::event::{
    Cause, Conversation, Event, EventSink, Key, Meta, NewItem, Node, Parent, Part, Reset,
    RetainedItems,
};
use model::{Kind, Role};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

mod items;
mod record;
mod settings;
#[cfg(test)]
mod tests;
use items::{Class, MODELS, NOTE, RESULT, USERS, items};
use record::{AboutAgent, Content, Payload, Record};

/// The format.
pub static QWEN_CODE: Format = Format {
    id: "qwen-code",
    roots: &[
        Root::home(".qwen", "projects").env("QWEN_RUNTIME_DIR"),
        Root::home(".qwen", "projects").env("QWEN_HOME"),
        Root::home(".qwen", "settings.json")
            .env("QWEN_HOME")
            .listing("advanced.runtimeOutputDir", projects),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<QwenCodeDecoder>,
    reset_marks: &[r#""subtype":"chat_compression""#],
    harmless: "chat_compression ui_telemetry attribution_snapshot session_artifact_snapshot file_history_snapshot \
        custom_title parent_session session_model slash_command at_command rewind notification",
    totals: Totals::new(THOUGHTS).without_compactions(),
    settings: Some(&settings::SETTINGS),
    beside: FilesBeside::states(about_agent),
    ..Format::DEFAULT
};

/// Returns the folder of the projects in the one that the settings name.
fn projects(settings: &[u8]) -> Vec<PathBuf> {
    let below = |folder: &str| Path::new(folder).join("projects");
    let folder = Layers::json_with_comments(&[settings])
        .find("/advanced/runtimeOutputDir", |value| {
            value.as_str().map(below)
        });
    folder.into_iter().collect()
}

/// Claims `chats/<session>.jsonl`, and a sub-agent's `subagents/<session>/agent-<id>.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let mut names = names(path);
    let name = names.next()?.strip_suffix(".jsonl")?;
    let (parent, grandparent) = (names.next()?, names.next());
    if grandparent == Some("subagents") {
        return Some(Claim::session(name.strip_prefix("agent-")?).child_of(parent));
    }
    let is_id = name.len() >= 32 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    (parent == "chats" && is_id).then(|| Claim::session(name))
}

/// Returns true if a log is of this format. Claude Code's records have the same ids; their messages have no parts.
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

/// Decodes one file.
#[derive(Default)]
struct QwenCodeDecoder {
    /// The facts about its sub-agent in the file beside the log.
    about: Meta,
    /// True if the whole file is a sub-agent's. The first record settles it; `None` before.
    of_subagent: Option<bool>,
    branches: HashMap<Conversation, Branch>,
}

/// The state of one conversation.
#[derive(Default)]
struct Branch {
    /// The newest facts.
    meta: Meta,
    /// The record before this one.
    last: Option<Key>,
    /// The uuids of all records.
    seen: HashSet<Key>,
    /// The key of the newest part of each record that came in several lines.
    newest: HashMap<Key, Key>,
    /// The request whose output the newest message is.
    request: Option<Key>,
    /// The user's messages, by hash.
    user_messages: HashSet<u64>,
    /// True if the user has just asked for a compression.
    commanded: bool,
    /// The user's newest message and its text, while nothing has answered it: it may turn out to have
    /// been a command.
    unanswered: Option<(Key, Box<str>)>,
    /// The newest results that no request has held yet: their calls and nodes.
    to_send: Vec<(Vec<Key>, Key)>,
    /// Results that a compression left to be sent, though its history does not hold them.
    left_to_send: Vec<Key>,
}

impl Decoder for QwenCodeDecoder {
    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let about: AboutAgent<'_> = lenient::parse(document, &LostFields::default()).ok()?;
        self.about = Meta {
            title: about.description.boxed(),
            parent: about.parent.boxed(),
            model: about.model.boxed().or(about.model_option.boxed()),
            ..Meta::default()
        };
        out.meta(self.about.clone());
        Some(StateUpdate::Accepted)
    }

    fn skip_to_end(&mut self, head: &Meta) {
        self.of_subagent = head.id.as_ref().map(|_| head.parent.is_some());
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        if let Some(record) = lenient::object(line, out) {
            self.record(&record, out);
        }
    }
}

impl QwenCodeDecoder {
    fn record(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let conversation = self.conversation(record);
        out.set_conversation(conversation);
        out.set_time(record.timestamp.time());
        let Some(uuid) = record.uuid.get() else {
            return out.unreadable("a record without a uuid");
        };
        let is_sub_agent = self.of_subagent == Some(true) || conversation != Conversation::Main;
        let branch = self.branches.entry(conversation).or_default();
        branch.meta(record, is_sub_agent.then_some(&self.about), out);
        let (node, again) = branch.hang(uuid, record.parent_uuid.get(), out);
        match (record.kind.or_empty(), record.subtype.get()) {
            ("", _) => out.unreadable("no type"),
            ("user" | "assistant", Some("realtime_message")) => {
                out.skip_node("realtime_message", node)
            }
            ("user", subtype) => branch.user(record, subtype, node, out),
            ("assistant", _) => branch.assistant(record, again, uuid, node, out),
            ("tool_result", _) => branch.result(record, node, out),
            ("system", Some(subtype)) => branch.system(record, subtype, uuid, node, out),
            (other, _) => QWEN_CODE.pass_over_node(other, node, out),
        }
    }

    /// Returns the conversation a record belongs to. A file that begins with a sub-agent's record is that sub-agent's
    /// own.
    fn conversation(&mut self, record: &Record<'_>) -> Conversation {
        let side = record.is_sidechain == Some(true);
        let of_subagent = *self.of_subagent.get_or_insert(side);
        match record.agent_id.key() {
            Some(agent) if side && !of_subagent => Conversation::Side(agent),
            _ => Conversation::Main,
        }
    }
}

impl Branch {
    /// Emits what a record contains about its session, where that is new. `about`: what is known of a sub-agent
    /// besides.
    fn meta(&mut self, record: &Record<'_>, about: Option<&Meta>, out: &mut EventSink<'_>) {
        let Meta {
            title,
            parent,
            model,
            ..
        } = about.cloned().unwrap_or_default();
        let (id, parent) = match about {
            Some(_) => (
                record.agent_id.boxed(),
                parent.or(record.session_id.boxed()),
            ),
            None => (record.session_id.boxed(), None),
        };
        let meta = Meta {
            id,
            parent,
            title: title.or(record.agent_name.boxed()),
            cwd: record.cwd.boxed(),
            version: record.version.boxed(),
            model: record.model.boxed().or(model),
            window: record.context_window_size.0,
            ..Meta::default()
        };
        out.meta(meta.changes(&mut self.meta));
    }

    /// Finds a record's place in the tree and returns its node. Each hangs below the one before it,
    /// unless the user went back: then all since leaves. Returns also whether it adds to a record that
    /// is there.
    fn hang(&mut self, uuid: &str, parent: Option<&str>, out: &mut EventSink<'_>) -> (Node, bool) {
        let own = Key::of(uuid);
        let again = !self.seen.insert(own);
        let below = |id: Key| self.newest.get(&id).copied().unwrap_or(id);
        let (key, parent) = match (again, parent) {
            (true, _) => {
                let key = Key::of_number(uuid, out.place().id());
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
            out.emit(Event::Leaf { key, rewound });
        }
        self.last = Some(key);
        let node = Node {
            key: Some(key),
            parent,
            ..Node::default()
        };
        (node, again)
    }

    fn user(
        &mut self,
        record: &Record<'_>,
        subtype: Option<&str>,
        mut node: Node,
        out: &mut EventSink<'_>,
    ) {
        self.request = None;
        self.commanded = false;
        let is_typed = matches!(subtype, None | Some("mid_turn_user_message"))
            && record.external_input_kind.get() != Some("notification");
        let Some(message) = record.message.as_ref() else {
            return out.skip_node("user", node);
        };
        if is_typed {
            // A process that resumes does not have them.
            for result in self.left_to_send.drain(..) {
                out.emit(Event::cleared_node(result));
            }
            node.part = Part::Input;
            node.turn = subtype.is_none();
            node.items = items(message, USERS, out);
            let own = node.items.iter().filter(|item| item.role == Role::User);
            self.user_messages.extend(own.map(|item| item.hash));
            if let (Some(key), None) = (node.key, subtype) {
                let texts = message.parts.0.iter().filter_map(|part| part.text.get());
                let text: String = texts.collect();
                self.unanswered = Some((key, text.into()));
            }
        } else {
            node.part = Part::Injected;
            node.items = items(message, NOTE, out);
        }
        out.node(node);
    }

    fn assistant(
        &mut self,
        record: &Record<'_>,
        again: bool,
        uuid: &str,
        mut node: Node,
        out: &mut EventSink<'_>,
    ) {
        self.commanded = false;
        self.unanswered = None;
        self.to_send.clear();
        let report = record.usage_metadata;
        // Calls in records of their own belong to the response before them.
        let request = match (again, self.request, report) {
            (false, Some(request), None) => request,
            _ => Key::of_parts(&["qwen", uuid]),
        };
        self.request = Some(request);
        node.part = Part::Output;
        node.request = Some(request);
        if let Some(message) = &record.message {
            node.items = items(message, MODELS, out);
        }
        let model = self.meta.model.clone();
        let usage = report.and_then(|numbers| numbers.usage(request, model));
        out.node(node);
        out.usage(usage);
    }

    fn result(&mut self, record: &Record<'_>, mut node: Node, out: &mut EventSink<'_>) {
        self.request = None;
        self.unanswered = None;
        let Some(message) = record.message.as_ref() else {
            return out.skip_node("tool_result", node);
        };
        node.part = Part::Result;
        node.items = items(message, RESULT, out);
        let calls = node.items.iter().filter_map(|item| item.call);
        self.to_send
            .extend(node.key.map(|key| (calls.collect(), key)));
        out.node(node);
    }

    fn system(
        &mut self,
        record: &Record<'_>,
        subtype: &str,
        uuid: &str,
        mut node: Node,
        out: &mut EventSink<'_>,
    ) {
        let is_read = matches!(
            subtype,
            "chat_compression"
                | "agent_bootstrap"
                | "slash_command"
                | "custom_title"
                | "parent_session"
                | "session_model"
        );
        let payload = record.system_payload.filter(|_| is_read);
        let payload: Payload<'_> = lenient::value(payload, "systemPayload", out);
        match subtype {
            "chat_compression" if !payload.compressed_history.is_empty() => {
                return self.compression(&payload, uuid, node, out);
            }
            "agent_bootstrap" => {
                node.part = Part::Injected;
                node.items = self.history(&payload.history, USERS, out);
                return out.node(node);
            }
            "slash_command" => self.command(&payload, out),
            _ => {}
        }
        let meta = Meta {
            title: payload.custom_title.boxed(),
            parent: payload.parent_session_id.boxed(),
            model: payload.model_id.boxed(),
            ..Meta::default()
        };
        out.meta(meta.changes(&mut self.meta));
        QWEN_CODE.pass_over_node(subtype, node, out);
    }

    /// Takes in a command of the user. If it has an answer of its own, it was recorded as a message that the model
    /// never gets.
    fn command(&mut self, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        let command = payload.raw_command.or_empty();
        match payload.phase.get() {
            Some("result") if payload.sent_to_model != Some(true) => {
                let unanswered = self.unanswered.take();
                if let Some((key, _)) = unanswered.filter(|(_, text)| **text == *command) {
                    out.emit(Event::cleared_node(key));
                }
            }
            Some("result") => {}
            _ => self.commanded = command.trim_start().starts_with("/compress"),
        }
    }

    fn compression(
        &mut self,
        payload: &Payload<'_>,
        uuid: &str,
        mut node: Node,
        out: &mut EventSink<'_>,
    ) {
        let sizes = &payload.info;
        let was_commanded = std::mem::take(&mut self.commanded);
        let cause = match sizes.trigger_reason.get() {
            Some("manual") => Cause::Manual,
            None if was_commanded => Cause::Manual,
            _ => Cause::Automatic,
        };
        self.request = None;
        self.unanswered = None;
        // Where the history ends with a call, its result is sent next.
        let last = payload.compressed_history.last();
        let last = last.filter(|content| content.role.get() == Some("model"));
        let parts = last.into_iter().flat_map(|content| &content.parts.0);
        let calls = parts.filter_map(|part| part.function_call.as_ref()?.id.key());
        let open: HashSet<Key> = calls.collect();
        let is_open = |(calls, _): &(Vec<Key>, Key)| calls.iter().any(|call| open.contains(call));
        let kept = self.to_send.drain(..).filter(is_open);
        let kept: Vec<Key> = kept.map(|(_, node)| node).collect();
        out.reset(Reset {
            key: Some(Key::of_parts(&["reset", uuid])),
            before: sizes.original_token_count.0.filter(|size| *size > 0),
            after: sizes.new_token_count.0.filter(|size| *size > 0),
            ..Reset::compaction(cause, RetainedItems::Nodes(kept.clone()))
        });
        self.left_to_send = kept;
        node.parent = Parent::Previous;
        node.part = Part::Injected;
        let summary = (Role::Container, Kind::Summary);
        node.items = self.history(&payload.compressed_history, summary, out);
        out.node(node);
    }

    /// Returns the items of a whole history, whose first content is of the class `first`. What follows a summary answers
    /// it.
    fn history(
        &self,
        contents: &[Content<'_>],
        first: Class,
        out: &mut EventSink<'_>,
    ) -> Vec<NewItem> {
        let is_summary = first != USERS;
        let mut all = Vec::new();
        for (nth, content) in contents.iter().enumerate() {
            let class = match (nth, content.role.get()) {
                (0, _) => first,
                (1, Some("model")) if is_summary => NOTE,
                (_, Some("model")) => MODELS,
                _ => USERS,
            };
            for mut item in items(content, class, out) {
                let is_users = item.role == Role::User;
                if is_summary && is_users && !self.user_messages.contains(&item.hash) {
                    (item.role, item.kind) = (Role::Container, Kind::Memory);
                }
                all.push(item);
            }
        }
        all
    }
}
