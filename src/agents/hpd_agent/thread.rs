//! One thread, event after event.

use super::wire::{Content, Message, Operation, Record, Usage as Numbers, objects, one, texts};
use crate::agents::{image, lenient};
use crate::model::event::{
    Billed, Cause, Event, Kept, Key, Lane, Meta, NewItem, Node, Part, Place, Reset, Sink, Usage,
};
use crate::model::{Gone, Kind, Role, Source};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};

/// Writes what one event says.
pub(super) struct Writer<'w, 'm> {
    pub(super) lane: Lane,
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    /// The event, in whichever file it stands.
    pub(super) event: Key,
    pub(super) out: &'w mut Sink<'m>,
}

impl Writer<'_, '_> {
    pub(super) fn push(&mut self, event: Event) {
        self.out.push(self.lane, self.place, self.at, event);
    }

    fn skipped(&mut self, kind: &str) {
        self.push(Event::Skipped(kind.into()));
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Speaker {
    User,
    /// A user's message that guides a turn under way.
    Steering,
    #[default]
    Assistant,
    Tool,
    Harness,
}

impl Speaker {
    fn of(record: &Record<'_>) -> Speaker {
        match (record.source.or_empty(), record.role.or_empty()) {
            ("Steering", _) => Speaker::Steering,
            ("RuntimeContext" | "BackgroundNotification" | "SystemInstruction" | "Internal", _) => {
                Speaker::Harness
            }
            (_, "user") => Speaker::User,
            (_, "system") => Speaker::Harness,
            (_, "tool") => Speaker::Tool,
            _ => Speaker::Assistant,
        }
    }
}

/// A call that was made.
#[derive(Clone, Default)]
struct Call {
    name: Option<Box<str>>,
    harness: Option<Box<str>>,
    kind: Option<Box<str>>,
    has_arguments: bool,
}

/// What must be remembered of a thread.
#[derive(Clone, Default)]
pub(super) struct Thread {
    /// Who speaks in which message.
    speakers: HashMap<Key, Speaker>,
    /// The nodes of each message.
    messages: HashMap<Key, Vec<Key>>,
    /// Messages that a copy told before they came themselves.
    copied: HashSet<Key>,
    calls: HashMap<Key, Call>,
    /// Containers that were expanded.
    containers: HashSet<Box<str>>,
    /// The request whose answer is coming in.
    open: Option<Key>,
    /// The newest request, until its numbers come.
    newest: Option<Key>,
    /// Requests by the host's ids of them.
    operations: HashMap<Key, Key>,
    /// Whether the user has spoken in this turn.
    in_turn: bool,
    nodes: u64,
}

impl Thread {
    pub(super) fn event(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        match record.kind.or_empty() {
            "THREAD_CREATED" | "BRANCH_CREATED" | "THREAD_UPDATED" | "BRANCH_METADATA_UPDATED" => {
                writer.push(Event::Meta(Box::new(Meta {
                    title: record.sub_agent_name.boxed().or(record.name.boxed()),
                    parent: record.parent_session_id.boxed(),
                    ..Meta::default()
                })));
            }
            "TEXT_MESSAGE_START" | "MESSAGE_STARTED" | "REASONING_MESSAGE_START" => {
                let message = Key::of(record.message_id.or_empty());
                self.speakers.insert(message, Speaker::of(record));
            }
            "TEXT_DELTA" => self.text(record, writer),
            "USER_MESSAGE" => self.user_message(record, writer),
            "REASONING_DELTA" => {
                let item = writer.out.item(Role::Assistant, Kind::Thinking);
                let item = item
                    .text(record.text.or_empty())
                    .opaque(record.protected_data.or_empty().len() as u64)
                    .done();
                self.output(record, item, writer);
            }
            "CONTENT_ADDED" => {
                let speaker = self.speaker(record);
                for content in objects(&record.content) {
                    self.content(record, speaker, content, writer);
                }
            }
            "TOOL_CALL_START" => {
                let call = self.call(record);
                call.kind = record.call_type.boxed();
                call.harness = record.tool_harness_name.boxed();
            }
            "TOOL_CALL_ARGS" | "TOOL_CALL_END" => self.arguments(record, writer),
            "TOOL_CALL_RESULT" => self.result(record, writer),
            "CONTAINER_EXPANDED" => self.expanded(record, writer),
            "AGENT_TURN_STARTED" => self.open = None,
            "AGENT_TURN_FINISHED" | "PROVIDER_OPERATION_USAGE" => {
                if let Some(numbers) = one(&record.usage) {
                    let (id, model) = (record.operation_id.get(), record.model_id.get());
                    self.usage(id, model, numbers, writer);
                }
                self.open = None;
            }
            "MESSAGE_TURN_FINISHED" | "MESSAGE_TURN_ERROR" => self.turn_ended(record, writer),
            "THREAD_HISTORY_COMPACTION_CHECKPOINT" | "BRANCH_HISTORY_COMPACTED" => {
                self.compaction(record, writer);
            }
            "THREAD_MESSAGE_REPLACED" => {
                let message = Key::of(record.message_id.or_empty());
                writer.push(Event::Cleared {
                    nodes: self.messages.remove(&message).unwrap_or_default(),
                    calls: Vec::new(),
                });
                self.replacements(objects(&record.replacement), writer);
            }
            "TEXT_MESSAGE_END"
            | "MESSAGE_COMPLETED"
            | "REASONING_MESSAGE_END"
            | "MESSAGE_TURN_STARTED" => {}
            "" => writer.push(Event::Unreadable("no type".into())),
            other => writer.skipped(other),
        }
    }

    fn speaker(&self, record: &Record<'_>) -> Speaker {
        if record.role.get().is_some() {
            return Speaker::of(record);
        }
        let message = Key::of(record.message_id.or_empty());
        self.speakers.get(&message).copied().unwrap_or_default()
    }

    fn call(&mut self, record: &Record<'_>) -> &mut Call {
        let call = self
            .calls
            .entry(Key::of(record.call_id.or_empty()))
            .or_default();
        call.name = call.name.take().or(record.name.boxed());
        call
    }

    fn text(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        self.says(record, record.text.or_empty(), writer);
    }

    fn says(&mut self, record: &Record<'_>, text: &str, writer: &mut Writer<'_, '_>) {
        let id = record.message_id.or_empty();
        if self.copied.contains(&Key::of(id)) {
            return writer.skipped("repeated text");
        }
        let speaker = self.speaker(record);
        let item = said(speaker, writer).text(text).done();
        self.add(id, speaker, item, writer);
    }

    /// A copy of a message for whoever shows it; the message itself where no other event had it.
    fn user_message(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let id = record.message_id.or_empty();
        if self.messages.contains_key(&Key::of(id)) {
            return writer.skipped("USER_MESSAGE");
        }
        if !id.is_empty() {
            self.copied.insert(Key::of(id));
        }
        let item = said(Speaker::User, writer)
            .text(record.text.or_empty())
            .done();
        self.add(id, Speaker::User, item, writer);
    }

    fn content(
        &mut self,
        record: &Record<'_>,
        speaker: Speaker,
        content: &Content<'_>,
        writer: &mut Writer<'_, '_>,
    ) {
        let id = record.message_id.or_empty();
        match content.kind.or_empty() {
            "text" | "" => self.says(record, content.text.or_empty(), writer),
            "reasoning" => {
                let item = writer.out.item(Role::Assistant, Kind::Thinking);
                let item = item
                    .text(content.text.or_empty())
                    .opaque(content.protected_data.or_empty().len() as u64)
                    .done();
                self.output(record, item, writer);
            }
            "functionCall" => {
                let item = writer
                    .out
                    .item(Role::Assistant, Kind::ToolCall)
                    .tool(content.name.get())
                    .call(content.call_id.get());
                let item = match content.arguments {
                    Some(arguments) => lenient::raw(item, arguments),
                    None => item,
                };
                let item = item.done();
                let call = self
                    .calls
                    .entry(Key::of(content.call_id.or_empty()))
                    .or_default();
                call.name = content.name.boxed();
                call.has_arguments = true;
                self.output(record, item, writer);
            }
            "functionResult" => {
                let call = self.calls.get(&Key::of(content.call_id.or_empty()));
                let item = writer
                    .out
                    .item(Role::Tool, Kind::ToolResult)
                    .tool(call.and_then(|call| call.name.as_deref()))
                    .call(content.call_id.get());
                let item = match content.result {
                    Some(result) => lenient::strings(item, result),
                    None => item,
                };
                let item = item.done();
                self.add(id, Speaker::Tool, item, writer);
            }
            "data" | "uri" => {
                let data = content.uri.or_empty();
                let size = image::dimensions(data.split_once(',').map_or(data, |(_, data)| data));
                let tokens = size.map_or(image::DEFAULT, |(width, height)| {
                    image::openai(width, height)
                });
                let item = said(speaker, writer).fixed(tokens, "[image]").done();
                self.add(id, speaker, item, writer);
            }
            other => writer.skipped(other),
        }
    }

    /// A call's arguments, which newer builds write twice.
    fn arguments(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let call = self.call(record);
        if record.args_json.get().is_none() || std::mem::replace(&mut call.has_arguments, true) {
            return;
        }
        let item = writer
            .out
            .item(Role::Assistant, Kind::ToolCall)
            .tool(call.name.as_deref())
            .call(record.call_id.get())
            .text(record.args_json.or_empty())
            .done();
        self.output(record, item, writer);
    }

    fn result(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let call = self.call(record);
        let name = call.name.clone();
        let harness = record.tool_harness_name.get().or(call.harness.as_deref());
        let is_harness = harness.is_some() && harness == name.as_deref();
        let is_skill = record.call_type.get().or(call.kind.as_deref()) == Some("Skill");
        let is_expanded = name
            .as_ref()
            .is_some_and(|name| self.containers.contains(name));
        let is_container = is_harness || is_skill || is_expanded;
        let (role, kind) = match (is_container, is_skill) {
            (true, true) => (Role::Container, Kind::Skill),
            (true, false) => (Role::Container, Kind::ToolList),
            (false, _) => (Role::Tool, Kind::ToolResult),
        };
        let mut item = writer
            .out
            .item(role, kind)
            .tool(name.as_deref())
            .call(record.call_id.get());
        for text in texts(&record.result) {
            item = item.text(text);
        }
        for answer in objects(&record.result) {
            item = match (answer.text.get(), answer.json) {
                (Some(text), _) => item.text(text),
                (None, Some(json)) => lenient::strings(item, json),
                (None, None) => item,
            };
        }
        if is_container {
            item = item.ephemeral();
        }
        let item = item.done();
        self.open = None;
        self.add(record.message_id.or_empty(), Speaker::Tool, item, writer);
    }

    /// The functions that a container shows: their schemas are in the context while the turn lasts. The
    /// log has their names alone.
    fn expanded(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        self.containers.extend(record.container_name.boxed());
        let unlocked: Vec<&str> = texts(&record.unlocked_functions).collect();
        let item = writer
            .out
            .item(Role::Container, Kind::ToolList)
            .tool(record.container_name.get())
            .text(&unlocked.join(" "))
            .ephemeral()
            .done();
        self.add("", Speaker::Harness, item, writer);
    }

    fn turn_ended(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        if let Some(numbers) = one(&record.usage) {
            let chat = |call: &&Operation<'_>| matches!(call.family.get(), None | Some("Chat"));
            match objects(&numbers.operations).filter(chat).last() {
                Some(last) => {
                    if let Some(counts) = one(&last.usage) {
                        let (id, model) = (last.operation_id.get(), last.model_id.get());
                        self.usage(id, model, counts, writer);
                    }
                }
                None if numbers.input_token_count.0.is_some() => writer.skipped("sum of a turn"),
                None => {}
            }
        }
        self.open = None;
        self.in_turn = false;
        writer.push(Event::TurnEnded);
    }

    /// The numbers of one call of the model.
    fn usage(
        &mut self,
        operation: Option<&str>,
        model: Option<&str>,
        numbers: &Numbers<'_>,
        writer: &mut Writer<'_, '_>,
    ) {
        let Some(prompt) = numbers.input_token_count.0.filter(|prompt| *prompt > 0) else {
            return;
        };
        let operation = operation.map(Key::of);
        let known = operation.and_then(|id| self.operations.get(&id).copied());
        let request = known.or(self.newest.take()).unwrap_or(writer.event);
        if let Some(id) = operation {
            self.operations.insert(id, request);
        }
        writer.push(Event::Usage(Box::new(Usage {
            request,
            model: model.map(Into::into),
            prompt,
            cached: numbers.cached_input_token_count.or_zero().min(prompt),
            output: numbers.output_token_count.0,
            reasoning: numbers.reasoning_token_count.0,
            source: Source::Reported,
            billed: Billed {
                input: prompt,
                cache_creation: 0,
                cache_read: numbers.cached_input_token_count.or_zero(),
                output: numbers.output_token_count.or_zero(),
                reasoning: numbers.reasoning_token_count.or_zero(),
            },
        })));
    }

    fn compaction(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let gone: HashSet<Key> = texts(&record.compacted_message_ids).map(Key::of).collect();
        let kept = self
            .messages
            .iter()
            .filter(|(message, _)| !gone.contains(message));
        let kept = kept.flat_map(|(_, nodes)| nodes.iter().copied()).collect();
        self.messages.retain(|message, _| !gone.contains(message));
        writer.push(Event::Reset(Box::new(Reset {
            key: record
                .compaction_id
                .get()
                .map(|id| Key::of_parts(&["compaction", id])),
            gone: Gone::Compaction,
            cause: if self.in_turn {
                Cause::Automatic
            } else {
                "unknown".into()
            },
            before: None,
            after: None,
            kept: Kept::Nodes(kept),
        })));
        self.replacements(objects(&record.replacement_messages), writer);
    }

    /// Messages that take the place of others: summaries, where a person did not say them.
    fn replacements<'p, 'a: 'p>(
        &mut self,
        messages: impl Iterator<Item = &'p Message<'a>>,
        writer: &mut Writer<'_, '_>,
    ) {
        for message in messages {
            let (role, kind, speaker) = match message.role.or_empty() {
                "user" => (Role::User, Kind::Text, Speaker::Steering),
                _ => (Role::Container, Kind::Summary, Speaker::Harness),
            };
            let mut item = writer.out.item(role, kind);
            if let Some(text) = message.text.get() {
                item = item.text(text);
            } else {
                for content in objects(&message.contents) {
                    item = item.text(content.text.or_empty());
                }
            }
            let item = item.done();
            self.add(message.message_id.or_empty(), speaker, item, writer);
        }
    }

    fn output(&mut self, record: &Record<'_>, item: NewItem, writer: &mut Writer<'_, '_>) {
        self.add(
            record.message_id.or_empty(),
            Speaker::Assistant,
            item,
            writer,
        );
    }

    /// Adds an item to a message.
    fn add(&mut self, message: &str, speaker: Speaker, item: NewItem, writer: &mut Writer<'_, '_>) {
        self.nodes += 1;
        let key = Key::of_number("hpd node", self.nodes);
        self.messages.entry(Key::of(message)).or_default().push(key);
        let part = match speaker {
            Speaker::User | Speaker::Steering => Part::Input,
            Speaker::Assistant => Part::Output,
            Speaker::Tool => Part::Result,
            Speaker::Harness => Part::Injected,
        };
        let turn = speaker == Speaker::User && !std::mem::replace(&mut self.in_turn, true);
        let request =
            (speaker == Speaker::Assistant).then(|| *self.open.get_or_insert(writer.event));
        self.newest = request.or(self.newest);
        writer.push(Event::Node(Box::new(Node {
            key: Some(key),
            part,
            request,
            turn,
            items: vec![item],
            ..Node::default()
        })));
    }
}

/// Begins an item of whoever speaks.
fn said<'s, 'm>(
    speaker: Speaker,
    writer: &'s mut Writer<'_, 'm>,
) -> crate::model::event::ItemBuilder<'s, 'm> {
    let (role, kind) = match speaker {
        Speaker::User | Speaker::Steering => (Role::User, Kind::Text),
        Speaker::Assistant => (Role::Assistant, Kind::Text),
        Speaker::Tool => (Role::Tool, Kind::ToolResult),
        Speaker::Harness => (Role::Container, Kind::Reminder),
    };
    writer.out.item(role, kind)
}
