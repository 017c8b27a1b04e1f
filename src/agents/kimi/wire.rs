//! Kimi Code's `wire.jsonl`: the changes to the context, one a line.

use super::Writer;
use super::history::{History, Message as Said, Who};
use super::message::{Content, Numbers, Part as Piece, ToolCall, fill, is_note, said, text_of};
use crate::agents::lenient::{self, Count, Pieces, Text};
use crate::model::event::{Event, Kept, Key, Lane, Meta, NewItem, Node, Part, Reset};
use crate::model::{Gone, Kind, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// What stands before the conversation: the system prompt, the tools.
const STANDING: [&str; 2] = ["kimi system prompt", "kimi tools"];
/// The smallest tool result that a micro compaction clears, in tokens as Kimi Code estimates them.
const LEAST_CLEARED: u64 = 100;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    environment_disclosure: Option<Disclosure<'a>>,
    #[serde(borrow)]
    profile_name: Text<'a>,
    #[serde(borrow)]
    model_alias: Text<'a>,
    #[serde(borrow)]
    system_prompt: Text<'a>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    event: Option<LoopEvent<'a>>,
    usage: Option<Numbers>,
    #[serde(borrow)]
    usage_scope: Text<'a>,
    #[serde(borrow)]
    source: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    context_summary: Text<'a>,
    compacted_count: Count,
    kept_user_message_count: Count,
    kept_head_user_message_count: Count,
    count: Count,
    cutoff: Count,
}

/// What the model is told of its surroundings.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Disclosure<'a> {
    #[serde(borrow)]
    cwd: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    tool_calls: Pieces<'a, ToolCall<'a>>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    origin: Option<Origin<'a>>,
}

/// Where a message sent as the user's comes from.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    trigger: Text<'a>,
    #[serde(borrow)]
    phase: Text<'a>,
    /// The skill, or the command of a plugin.
    #[serde(borrow, alias = "commandName")]
    skill_name: Text<'a>,
}

impl Origin<'_> {
    /// The name of what put the message in.
    fn skill(&self) -> Option<&str> {
        self.skill_name.get().filter(|name| !name.is_empty())
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LoopEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow)]
    step_uuid: Text<'a>,
    #[serde(borrow)]
    part: Option<Piece<'a>>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<Outcome<'a>>,
    usage: Option<Numbers>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Outcome<'a> {
    #[serde(borrow)]
    output: Content<'a>,
}

/// Reads the changes.
#[derive(Default)]
pub(super) struct Wire {
    history: History,
    /// What stands before the conversation, which outlives everything.
    standing: Vec<Key>,
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
    /// The model of the newest request.
    model: Option<Box<str>>,
    /// What caused the compaction that is under way.
    cause: Option<Box<str>>,
    /// Whether the next message was put in while the model had the floor.
    steered: bool,
}

impl Wire {
    /// Reads a record of this type.
    pub(super) fn read(&mut self, kind: &str, line: &[u8], writer: &mut Writer<'_, '_>) {
        let record: Record<'_> = match lenient::object(line) {
            Ok(record) => record,
            Err(why) => return writer.push(Event::Unreadable(why)),
        };
        match kind {
            "metadata" => return self.reserve(writer),
            "config.update" | "profile.bind" if self.config(&record, writer) => return,
            "llm.tools_snapshot" if self.tools(&record, writer) => return,
            "llm.request" if self.request(&record, writer) => return,
            "context.append_message" => match &record.message {
                Some(message) => return self.message(message, writer),
                None => return writer.push(Event::Unreadable("no message".into())),
            },
            "context.append_loop_event" => match &record.event {
                Some(event) => return self.event(event, writer),
                None => return writer.push(Event::Unreadable("no event".into())),
            },
            "context.apply_compaction" => return self.compaction(&record, writer),
            "context.clear" => return self.clear(writer),
            "context.undo" if self.undo(&record, writer) => return,
            "micro_compaction.apply" => return self.clear_results(&record, writer),
            "usage.record" if record.usage_scope.get() == Some("session") => {
                return compaction_call(&record, writer);
            }
            "" => return writer.push(Event::Unreadable("no type".into())),
            "turn.steer" => self.steered = true,
            "full_compaction.begin" => self.cause = record.source.boxed(),
            "full_compaction.cancel" | "full_compaction.complete" => self.cause = None,
            _ => {}
        }
        writer.skip(kind);
    }

    /// Begins with places for what stands before the conversation: the tools are told only after the
    /// step has begun whose prompt holds them.
    fn reserve(&mut self, writer: &mut Writer<'_, '_>) {
        self.standing = STANDING.map(Key::of).to_vec();
        for key in &self.standing {
            writer.node(*key, Part::Injected, |_| {});
        }
    }

    /// Returns whether the record says anything of use.
    fn config(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) -> bool {
        let disclosed = record.environment_disclosure.as_ref();
        let disclosed = disclosed.and_then(|disclosed| disclosed.cwd.boxed());
        let meta = Meta {
            cwd: record.cwd.boxed().or(disclosed),
            // Requests name the model itself.
            model: record.model_alias.boxed().filter(|_| self.model.is_none()),
            // Of a sub-agent, what kind it is.
            title: record
                .profile_name
                .boxed()
                .filter(|name| **name != *"agent"),
            ..Meta::default()
        };
        let news = meta != Meta::default();
        if news {
            writer.push(Event::Meta(Box::new(meta)));
        }
        let prompt = record.system_prompt.get().filter(|text| !text.is_empty());
        if let Some(prompt) = prompt {
            let item = writer.out.item(Role::Container, Kind::Prompt).text(prompt);
            let item = item.done();
            self.stand(Key::of(STANDING[0]), item, writer);
        }
        news || prompt.is_some()
    }

    /// Returns whether there are any.
    fn tools(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) -> bool {
        if let Some(tools) = record.tools {
            let item = writer.out.item(Role::Container, Kind::ToolList);
            let item = lenient::raw(item, tools).done();
            self.stand(Key::of(STANDING[1]), item, writer);
        }
        record.tools.is_some()
    }

    /// Puts in what stands before the conversation, in place of what stood there.
    fn stand(&mut self, key: Key, item: NewItem, writer: &mut Writer<'_, '_>) {
        if !self.standing.contains(&key) {
            self.standing.push(key);
        }
        writer.node(key, Part::Injected, |node| node.items.push(item));
    }

    /// Returns whether the model is another one.
    fn request(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) -> bool {
        let of_conversation = matches!(record.kind.get(), None | Some("loop"));
        let model = record.model.boxed().filter(|_| of_conversation);
        let changed = model.is_some() && model != self.model;
        if changed {
            self.model = model.clone();
            writer.push(Event::Meta(Box::new(Meta {
                model,
                ..Meta::default()
            })));
        }
        changed
    }

    fn message(&mut self, message: &Message<'_>, writer: &mut Writer<'_, '_>) {
        let steered = std::mem::take(&mut self.steered);
        let key = writer.here();
        match message.role.or_empty() {
            "user" => {
                let text = text_of(&message.content);
                let (who, role, kind, part) = sent_as_user(message.origin.as_ref(), &text);
                let skill = message.origin.as_ref().and_then(Origin::skill);
                let item = writer.out.item(role, kind).tool(skill);
                let item = fill(item, &message.content).done();
                self.history.add(who, key);
                writer.node(key, part, |node| {
                    node.turn = part == Part::Input && !steered;
                    node.items.push(item);
                });
            }
            "assistant" => {
                let mut items = said(&message.content, writer.out);
                for call in &message.tool_calls.0 {
                    let lenient::Piece::Part(call) = call else {
                        continue;
                    };
                    self.learn(call.id.get(), call.name());
                    items.push(call.item(writer.out));
                }
                self.history.add(Who::Model, key);
                writer.node(key, Part::Output, |node| node.items = items);
            }
            "tool" => self.result(message.tool_call_id.get(), &message.content, writer),
            other => writer.skip(other),
        }
    }

    fn event(&mut self, event: &LoopEvent<'_>, writer: &mut Writer<'_, '_>) {
        let step = event.step_uuid.get().or(event.uuid.get());
        let request = step.map(request_of);
        let key = writer.here();
        let output = |node: &mut Node| node.request = request;
        match event.kind.or_empty() {
            // The prompt is all that stands before this.
            "step.begin" => {
                self.history.add(Who::Model, key);
                writer.node(key, Part::Output, output);
            }
            "content.part" => {
                let items = event
                    .part
                    .iter()
                    .map(|part| part.said(writer.out))
                    .collect();
                self.history.add_to_model(key);
                writer.node(key, Part::Output, |node| {
                    output(node);
                    node.items = items;
                });
            }
            "tool.call" => {
                self.learn(event.tool_call_id.get(), event.name.get());
                let call = writer
                    .out
                    .item(Role::Assistant, Kind::ToolCall)
                    .tool(event.name.get())
                    .call(event.tool_call_id.get())
                    .text(event.name.or_empty());
                let item = match event.args {
                    Some(args) => lenient::raw(call, args).done(),
                    None => call.done(),
                };
                self.history.add_to_model(key);
                writer.node(key, Part::Output, |node| {
                    output(node);
                    node.items.push(item);
                });
            }
            "tool.result" => {
                let nothing = Content::default();
                let output = event
                    .result
                    .as_ref()
                    .map_or(&nothing, |result| &result.output);
                self.result(event.tool_call_id.get(), output, writer);
            }
            "step.end" => {
                let model = self.model.clone();
                let usage = event
                    .usage
                    .zip(request)
                    .and_then(|(numbers, request)| numbers.usage(request, model));
                match usage {
                    Some(usage) => writer.push(Event::Usage(Box::new(usage))),
                    None => writer.skip("step.end"),
                }
            }
            "" => writer.push(Event::Unreadable("no type".into())),
            other => writer.skip(other),
        }
    }

    fn learn(&mut self, call: Option<&str>, name: Option<&str>) {
        if let (Some(call), Some(name)) = (call, name) {
            self.tools.insert(Key::of(call), name.into());
        }
    }

    fn result(&mut self, call: Option<&str>, output: &Content<'_>, writer: &mut Writer<'_, '_>) {
        let id = call.map(Key::of);
        let name = id.and_then(|id| self.tools.get(&id)).map(|name| &**name);
        let (role, kind) = match name {
            Some("Skill") => (Role::Container, Kind::Skill),
            _ => (Role::Tool, Kind::ToolResult),
        };
        let item = writer.out.item(role, kind).tool(name).call(call);
        let item = fill(item, output).done();
        let key = writer.here();
        self.history.0.push(Said {
            who: Who::Tool,
            keys: vec![key],
            result: id.map(|id| (id, estimate(&item))),
        });
        writer.node(key, Part::Result, |node| node.items.push(item));
    }

    fn compaction(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let count = |count: Count| count.0.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        match count(record.kept_user_message_count) {
            Some(all) => {
                let first = count(record.kept_head_user_message_count);
                self.history.keep_persons(all, first.unwrap_or(0));
            }
            // Older versions kept the end as it was.
            None => {
                let gone = count(record.compacted_count);
                self.history.keep_after(gone.unwrap_or(usize::MAX));
            }
        }
        let cause = self.cause.take().as_deref().unwrap_or("unknown").into();
        let kept = self.standing.iter().copied().chain(self.history.keys());
        writer.push(Event::Reset(Box::new(Reset {
            key: None,
            gone: Gone::Compaction,
            cause,
            // Its sizes leave out the system prompt and the tools: 15,912 where 42,371 were sent.
            before: None,
            after: None,
            kept: Kept::Nodes(kept.collect()),
        })));
        let text = record.context_summary.get().or(record.summary.get());
        let item = text.map(|text| {
            let item = writer.out.item(Role::Container, Kind::Summary);
            item.text(text).done()
        });
        let key = writer.here();
        self.history.add(Who::Summary, key);
        writer.node(key, Part::Injected, |node| node.items.extend(item));
    }

    fn clear(&mut self, writer: &mut Writer<'_, '_>) {
        self.history = History::default();
        writer.push(Event::Reset(Box::new(Reset {
            key: None,
            gone: Gone::Clear,
            cause: "clear".into(),
            before: None,
            after: None,
            kept: Kept::Nodes(self.standing.clone()),
        })));
    }

    /// Returns whether there was anything to undo.
    fn undo(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) -> bool {
        let count = record.count.0.and_then(|n| usize::try_from(n).ok());
        let undone = self.history.undo(count.unwrap_or(0));
        if undone {
            let keys = self.standing.iter().copied().chain(self.history.keys());
            writer.push(Event::Retain {
                keys: keys.collect(),
                cause: Gone::Rewind,
            });
        }
        undone
    }

    /// The larger results among the first messages become a line that says they were cleared.
    fn clear_results(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let cutoff = usize::try_from(record.cutoff.or_zero()).unwrap_or(usize::MAX);
        let results = self
            .history
            .0
            .iter()
            .take(cutoff)
            .filter_map(|said| said.result);
        let large = results.filter(|(_, tokens)| *tokens >= LEAST_CLEARED);
        let calls = large.map(|(call, _)| call).collect();
        writer.push(Event::Cleared {
            nodes: Vec::new(),
            calls,
        });
    }
}

/// The request of a step.
fn request_of(step: &str) -> Key {
    Key::of_parts(&["kimi", step])
}

/// What a message is that is sent as the user's.
fn sent_as_user(origin: Option<&Origin<'_>>, text: &str) -> (Who, Role, Kind, Part) {
    let person = (Who::Person, Role::User, Kind::Text, Part::Input);
    let Some(origin) = origin else {
        return match is_note(text) {
            true => (Who::Other, Role::Container, Kind::Reminder, Part::Injected),
            false => person,
        };
    };
    match origin.kind.or_empty() {
        "user" => person,
        "skill_activation" | "plugin_command" => match origin.trigger.get() {
            Some("user-slash") => (Who::Person, Role::Container, Kind::Skill, Part::Input),
            _ => (Who::Other, Role::Container, Kind::Skill, Part::Injected),
        },
        // A command that the user ran himself; what it wrote comes by itself.
        "shell_command" if origin.phase.get() != Some("output") => {
            (Who::Other, Role::User, Kind::Text, Part::Input)
        }
        // A sub-agent's task.
        "system_trigger" if origin.name.get() == Some("subagent") => {
            (Who::Other, Role::User, Kind::Text, Part::Input)
        }
        "compaction_summary" => (Who::Summary, Role::Container, Kind::Summary, Part::Injected),
        "injection" => (
            Who::Injection,
            Role::Container,
            Kind::Reminder,
            Part::Injected,
        ),
        _ => (Who::Other, Role::Container, Kind::Reminder, Part::Injected),
    }
}

/// A text's tokens as Kimi Code estimates them: four ASCII characters each, or one other.
fn estimate(item: &NewItem) -> u64 {
    let other = item.size.wide + item.size.marks;
    item.size.chars.saturating_sub(other).div_ceil(4) + other
}

/// The call that wrote a summary: it counts, but holds no part of the conversation.
fn compaction_call(record: &Record<'_>, writer: &mut Writer<'_, '_>) {
    let lane = std::mem::replace(&mut writer.lane, Lane::Side(Key::of("compaction")));
    let at = writer.at.map(|at| at.to_string()).unwrap_or_default();
    let request = Key::of_parts(&["kimi compaction", &at]);
    let model = record.model.boxed();
    if let Some(usage) = record
        .usage
        .and_then(|numbers| numbers.usage(request, model))
    {
        writer.push(Event::Meta(Box::new(Meta {
            title: Some("compaction".into()),
            ..Meta::default()
        })));
        writer.push(Event::Usage(Box::new(usage)));
    }
    writer.lane = lane;
}
