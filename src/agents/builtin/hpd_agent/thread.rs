//! One thread, event after event.

use super::HPD_AGENT;
use super::wire::{Content, Message, Operation, Record, Usage as Numbers};
use decode::image;
use decode::lenient::{self, Raw, Text, full_length};
use model::event::{
    BilledUsage, Cause, Event, EventSink, ItemBuilder, Key, MOST_KEPT, Meta, NewItem, Node, Part,
    Reset, RetainedItems, Usage,
};
use model::{Kind, LeaveReason, Role};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The author of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Author {
    User,
    /// A user's message that guides a turn under way.
    Steering,
    #[default]
    Assistant,
    Tool,
    Harness,
}

impl Author {
    fn of(record: &Record<'_>) -> Author {
        match (record.source.or_empty(), record.role.or_empty()) {
            ("Steering", _) => Author::Steering,
            ("RuntimeContext" | "BackgroundNotification" | "SystemInstruction" | "Internal", _) => {
                Author::Harness
            }
            (_, role) => Author::of_role(role),
        }
    }

    fn of_role(role: &str) -> Author {
        match role {
            "user" => Author::User,
            "system" => Author::Harness,
            "tool" => Author::Tool,
            _ => Author::Assistant,
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
    /// The message that it is part of: its arguments do not name it.
    message: Option<Box<str>>,
}

/// The state of a thread.
#[derive(Clone, Default)]
pub(super) struct Thread {
    /// The authors of messages.
    authors: HashMap<Key, Author>,
    /// The nodes of each message.
    messages: BTreeMap<Key, Vec<Key>>,
    /// Messages that were read from a copy, before the message itself.
    copied: HashSet<Key>,
    calls: HashMap<Key, Call>,
    /// Containers that were expanded.
    containers: HashSet<Box<str>>,
    /// The nodes of what containers show, which leave at the end of the turn.
    shown: Vec<Key>,
    /// The request whose answer is coming in.
    open: Option<Key>,
    /// The newest request, until its numbers come.
    newest: Option<Key>,
    /// Requests by the host's ids of them.
    operations: HashMap<Key, Key>,
    /// True if this turn has a message of the user.
    in_turn: bool,
    nodes: u64,
    /// The nodes that all compactions kept together.
    kept: usize,
    /// The current event, whichever file it is in.
    event: Option<Key>,
}

impl Thread {
    pub(super) fn event(&mut self, event: Key, record: &Record<'_>, out: &mut EventSink<'_>) {
        self.event = Some(event);
        let id = record.message_id.or_empty();
        match record.kind.or_empty() {
            "THREAD_CREATED" | "BRANCH_CREATED" | "THREAD_UPDATED" | "BRANCH_METADATA_UPDATED" => {
                out.meta(Meta {
                    title: record.sub_agent_name.boxed().or(record.name.boxed()),
                    parent: record.parent_session_id.boxed(),
                    ..Meta::default()
                });
            }
            "TEXT_MESSAGE_START" | "MESSAGE_STARTED" | "REASONING_MESSAGE_START" => {
                self.authors.insert(Key::of(id), Author::of(record));
            }
            "TEXT_DELTA" => {
                let author = self.author(record);
                self.text(id, author, record.text.or_empty(), out);
            }
            "USER_MESSAGE" => self.user_message(record, out),
            "REASONING_DELTA" => {
                let item = thought(&record.text, &record.protected_data, out);
                self.add(id, Author::Assistant, item, out);
            }
            "CONTENT_ADDED" => {
                let author = self.author(record);
                for content in &record.content.0 {
                    self.content(id, author, content, out);
                }
            }
            "TOOL_CALL_START" => {
                let call = self.call(record);
                call.kind = record.call_type.boxed();
                call.harness = record.harness.boxed();
                call.message = record.message_id.boxed();
            }
            "TOOL_CALL_ARGS" | "TOOL_CALL_END" => self.arguments(record, out),
            "TOOL_CALL_RESULT" => self.result(record, out),
            "CONTAINER_EXPANDED" => self.expanded(record, out),
            "AGENT_TURN_STARTED" => self.open = None,
            "AGENT_TURN_FINISHED" | "PROVIDER_OPERATION_USAGE" => {
                let is_chat = is_chat(record.family.get());
                let (operation, model) = (record.operation_id.get(), record.model_id.get());
                match &record.usage {
                    Some(numbers) if is_chat => self.usage(operation, model, numbers, out),
                    // A call outside the conversation: embeddings, speech, images.
                    Some(numbers) => {
                        let own = operation.map(|id| Key::of_parts(&["operation", id]));
                        out.billed(own.unwrap_or(event), billed(numbers));
                    }
                    None => {}
                }
                if is_chat {
                    self.open = None;
                }
            }
            "MESSAGE_TURN_FINISHED" | "MESSAGE_TURN_ERROR" => self.turn_ended(record, out),
            "THREAD_HISTORY_COMPACTION_CHECKPOINT" | "BRANCH_HISTORY_COMPACTED" => {
                self.compaction(record, out);
            }
            "THREAD_MESSAGE_REPLACED" => {
                let nodes = self.messages.remove(&Key::of(id)).unwrap_or_default();
                out.emit(Event::cleared(nodes, Vec::new()));
                self.replacements(record, out);
            }
            "TEXT_MESSAGE_END"
            | "MESSAGE_COMPLETED"
            | "REASONING_MESSAGE_END"
            | "MESSAGE_TURN_STARTED" => {}
            "" => out.unreadable("no type"),
            other => HPD_AGENT.pass_over(other, out),
        }
    }

    fn author(&self, record: &Record<'_>) -> Author {
        if record.role.get().is_some() {
            return Author::of(record);
        }
        let message = Key::of(record.message_id.or_empty());
        self.authors.get(&message).copied().unwrap_or_default()
    }

    fn call(&mut self, record: &Record<'_>) -> &mut Call {
        let key = Key::of(record.call_id.or_empty());
        let call = self.calls.entry(key).or_default();
        call.name = call.name.take().or(record.name.boxed());
        call
    }

    fn text(&mut self, id: &str, author: Author, text: &str, out: &mut EventSink<'_>) {
        if self.copied.contains(&Key::of(id)) {
            return out.skip("repeated text");
        }
        let item = item_of(author, out).text(text).done();
        self.add(id, author, item, out);
    }

    /// Takes in a copy of a message for whoever shows it; the message itself where no other event had it.
    fn user_message(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let id = record.message_id.or_empty();
        if self.messages.contains_key(&Key::of(id)) {
            return out.skip("USER_MESSAGE");
        }
        if !id.is_empty() {
            self.copied.insert(Key::of(id));
        }
        let item = item_of(Author::User, out)
            .text(record.text.or_empty())
            .done();
        self.add(id, Author::User, item, out);
    }

    /// Takes in a message of a saved history, which is one after another: of the model, what one call answered.
    pub(super) fn message(&mut self, event: Key, message: &Message<'_>, out: &mut EventSink<'_>) {
        (self.event, self.open) = (Some(event), None);
        let author = Author::of_role(message.role.or_empty());
        self.in_turn &= author != Author::User;
        let id = message.message_id.or_empty();
        for content in &message.contents.0 {
            self.content(id, author, content, out);
        }
    }

    fn content(
        &mut self,
        id: &str,
        author: Author,
        content: &Content<'_>,
        out: &mut EventSink<'_>,
    ) {
        match content.kind.or_empty() {
            "text" | "" if content.text.or_empty().trim().is_empty() => {}
            "text" | "" => self.text(id, author, content.text.or_empty(), out),
            "reasoning" => {
                let item = thought(&content.text, &content.protected_data, out);
                self.add(id, Author::Assistant, item, out);
            }
            "functionCall" => {
                let item = out.tool_call(content.name.get(), content.call_id.get());
                let arguments = content.arguments.into_iter();
                let item = arguments.fold(item, without_indentation).done();
                let call = Key::of(content.call_id.or_empty());
                let call = self.calls.entry(call).or_default();
                (call.name, call.has_arguments) = (content.name.boxed(), true);
                self.add(id, Author::Assistant, item, out);
            }
            "functionResult" => {
                let call = self.calls.get(&Key::of(content.call_id.or_empty()));
                let name = call.and_then(|call| call.name.as_deref());
                let result = content.result;
                // A saved result of a container is sent again, unlike the functions that it showed.
                let (role, kind) = if result.is_some_and(|result| lists_functions(result.get())) {
                    (Role::Container, Kind::ToolList)
                } else {
                    (Role::Tool, Kind::ToolResult)
                };
                let item = out.item(role, kind).tool(name).call(content.call_id.get());
                let item = lenient::strings(item, result).done();
                self.add(id, Author::Tool, item, out);
            }
            "data" | "uri" => {
                let data = content.uri.or_empty();
                let data = data.split_once(',').map_or(data, |(_, data)| data);
                let tokens = image::tokens(data, image::openai, image::DEFAULT);
                let item = item_of(author, out).fixed(tokens, "[image]").done();
                self.add(id, author, item, out);
            }
            other => HPD_AGENT.pass_over(other, out),
        }
    }

    /// Emits a call's arguments, which newer builds write twice.
    fn arguments(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let call = self.call(record);
        if record.args_json.get().is_none() || std::mem::replace(&mut call.has_arguments, true) {
            return;
        }
        let message = record.message_id.boxed().or(call.message.clone());
        let item = out.tool_call(call.name.as_deref(), record.call_id.get());
        let item = item.text(record.args_json.or_empty()).done();
        let message = message.as_deref().unwrap_or_default();
        self.add(message, Author::Assistant, item, out);
    }

    fn result(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let call = self.call(record);
        let name = call.name.clone();
        let harness = record.harness.get().or(call.harness.as_deref());
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
        let mut item = out
            .item(role, kind)
            .tool(name.as_deref())
            .call(record.call_id.get());
        for answer in &record.result.0 {
            item = match answer.text.get() {
                Some(text) => item.text(text),
                None => lenient::strings(item, answer.json),
            };
        }
        let item = item.done();
        self.open = None;
        let node = self.add(record.message_id.or_empty(), Author::Tool, item, out);
        self.shown.extend(is_container.then_some(node));
    }

    /// Emits the functions that a container shows: their schemas are in the context while the turn lasts. The log has
    /// their names alone, so the next report settles their size.
    fn expanded(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        self.containers.extend(record.container_name.boxed());
        let unlocked: Vec<&str> = record.unlocked_functions.iter().collect();
        let item = out
            .item(Role::Container, Kind::ToolList)
            .tool(record.container_name.get())
            .tools(unlocked.len())
            .text(&unlocked.join(" "))
            .partial()
            .done();
        let node = self.add("", Author::Harness, item, out);
        self.shown.push(node);
    }

    fn turn_ended(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        if let Some(numbers) = &record.usage {
            let chat = |call: &&Operation<'_>| is_chat(call.family.get());
            match numbers.operations.iter().rfind(chat) {
                Some(last) => {
                    let (id, model) = (last.operation_id.get(), last.model_id.get());
                    let counts = lenient::value(last.usage, "usage", out);
                    self.usage(id, model, &counts, out);
                }
                None if numbers.input_token_count.0.is_some() => out.skip("sum of a turn"),
                None => {}
            }
        }
        self.open = None;
        let is_read = std::mem::take(&mut self.in_turn);
        // Items from before the place at which reading began leave, too.
        let unread = (!is_read).then(|| Key::of("hpd turn that was not read"));
        self.shown.extend(unread);
        self.hide_shown(out);
    }

    /// Takes away what the containers of a turn showed.
    fn hide_shown(&mut self, out: &mut EventSink<'_>) {
        out.emit(Event::Cleared {
            nodes: std::mem::take(&mut self.shown),
            calls: Vec::new(),
            cause: LeaveReason::TurnEnd,
        });
    }

    /// Emits the numbers of one call of the model.
    fn usage(
        &mut self,
        operation: Option<&str>,
        model: Option<&str>,
        numbers: &Numbers<'_>,
        out: &mut EventSink<'_>,
    ) {
        let Some(prompt) = numbers.input_token_count.0.filter(|prompt| *prompt > 0) else {
            return out.meta(Meta::of_model(model.map(Into::into)));
        };
        let operation = operation.map(Key::of);
        let known = operation.and_then(|id| self.operations.get(&id).copied());
        let Some(request) = known.or(self.newest.take()).or(self.event) else {
            return;
        };
        self.operations.extend(operation.map(|id| (id, request)));
        out.usage(Usage {
            model: model.map(Into::into),
            cached: numbers.cached_input_token_count.or_zero().min(prompt),
            output: numbers.output_token_count.0,
            reasoning: numbers.reasoning_token_count.0,
            ..Usage::billed(request, prompt, billed(numbers))
        });
    }

    fn compaction(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let gone = record.compacted_message_ids.iter().filter_map(Text::key);
        let gone: HashSet<Key> = gone.collect();
        self.messages.retain(|message, _| !gone.contains(message));
        if self.kept >= MOST_KEPT {
            self.messages.clear();
        }
        let kept: Vec<Key> = self.messages.values().flatten().copied().collect();
        self.kept += kept.len();
        let cause = if self.in_turn {
            Cause::Automatic
        } else {
            Cause::Unlogged
        };
        let id = record.compaction_id.get();
        out.reset(Reset {
            key: id.map(|id| Key::of_parts(&["compaction", id])),
            ..Reset::compaction(cause, RetainedItems::Nodes(kept))
        });
        self.replacements(record, out);
    }

    /// Messages that take the place of others: summaries, where they are not a person's.
    fn replacements(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        for message in &record.replacements {
            let (role, kind, author) = match message.role.or_empty() {
                "user" => (Role::User, Kind::Text, Author::Steering),
                _ => (Role::Container, Kind::Summary, Author::Harness),
            };
            let item = out.item(role, kind);
            let contents = message.contents.0.iter();
            let item = match message.text.get() {
                Some(text) => item.text(text),
                None => contents.fold(item, |item, part| item.text(part.text.or_empty())),
            };
            let item = item.done();
            self.add(message.message_id.or_empty(), author, item, out);
        }
    }

    /// Adds an item to a message. Returns its node.
    fn add(
        &mut self,
        message: &str,
        author: Author,
        item: NewItem,
        out: &mut EventSink<'_>,
    ) -> Key {
        self.nodes += 1;
        let key = Key::of_number("hpd node", self.nodes);
        self.messages.entry(Key::of(message)).or_default().push(key);
        let part = match author {
            Author::User | Author::Steering => Part::Input,
            Author::Assistant => Part::Output,
            Author::Tool => Part::Result,
            Author::Harness => Part::Injected,
        };
        let turn = author == Author::User && !std::mem::replace(&mut self.in_turn, true);
        if turn && !self.shown.is_empty() {
            self.hide_shown(out);
        }
        let request = self.open.or(self.event);
        let request = request.filter(|_| author == Author::Assistant);
        (self.open, self.newest) = (request.or(self.open), request.or(self.newest));
        out.node(Node {
            request,
            turn,
            ..Node::new(Some(key), part, vec![item])
        });
        key
    }
}

fn thought(text: &Text<'_>, hidden: &Text<'_>, out: &mut EventSink<'_>) -> NewItem {
    let item = out.item(Role::Assistant, Kind::Thinking);
    let item = item.text(text.or_empty());
    item.opaque(full_length(hidden.or_empty())).done()
}

/// Adds arguments to an item as they are sent: documents are indented.
fn without_indentation<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    arguments: Raw<'_>,
) -> ItemBuilder<'s, 'm> {
    let is_indented = arguments.get().contains('\n');
    match serde_json::from_str::<serde_json::Value>(arguments.get()) {
        Ok(value) if is_indented => lenient::raw(item, Raw::of(&value.to_string())),
        _ => lenient::raw(item, arguments),
    }
}

/// Returns true if a result is that of a container: the list of the functions that it shows.
fn lists_functions(result: &str) -> bool {
    result.starts_with('"') && result.contains(" expanded. Available functions: ")
}

/// Returns true if a call of this family is one of the conversation; builds without families report no others.
fn is_chat(family: Option<&str>) -> bool {
    matches!(family, None | Some("Chat"))
}

fn billed(numbers: &Numbers<'_>) -> BilledUsage {
    let (input, output) = (numbers.input_token_count, numbers.output_token_count);
    BilledUsage::new(input.or_zero(), output.or_zero())
        .with_cache(numbers.cached_input_token_count.or_zero(), 0)
        .with_reasoning(numbers.reasoning_token_count.or_zero())
}

/// Begins an item of an author's message.
fn item_of<'s, 'm>(author: Author, out: &'s mut EventSink<'m>) -> ItemBuilder<'s, 'm> {
    let (role, kind) = match author {
        Author::User | Author::Steering => (Role::User, Kind::Text),
        Author::Assistant => (Role::Assistant, Kind::Text),
        Author::Tool => (Role::Tool, Kind::ToolResult),
        Author::Harness => (Role::Container, Kind::Reminder),
    };
    out.item(role, kind)
}
