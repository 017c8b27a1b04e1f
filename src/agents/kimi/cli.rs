//! kimi-cli's `wire.jsonl`: what it told its screen, one event a line.

use super::Writer;
use super::history::{History, Message as Said, Who};
use super::message::{Content, Numbers, Part as Piece, ToolCall, fill, one, text_of};
use crate::agents::lenient::{self, Count, Text};
use crate::model::event::{Cause, Event, Kept, Key, Lane, Meta, NewItem, Part, Reset};
use crate::model::{Gone, Kind, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// An event as it stands on its line, or in another one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Told<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow)]
    user_input: Content<'a>,
    #[serde(borrow)]
    arguments_part: Text<'a>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    return_value: Option<Returned<'a>>,
    token_usage: Option<Numbers>,
    max_context_tokens: Count,
    #[serde(borrow, alias = "task_tool_call_id")]
    parent_tool_call_id: Text<'a>,
    #[serde(borrow)]
    agent_id: Text<'a>,
    #[serde(borrow)]
    subagent_type: Text<'a>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Returned<'a> {
    #[serde(borrow)]
    output: Content<'a>,
    #[serde(borrow)]
    message: Text<'a>,
}

/// Reads the events of all conversations of a file.
#[derive(Default)]
pub(super) struct Cli(HashMap<Lane, Talk>);

/// What is to be remembered of a conversation.
#[derive(Default)]
struct Talk {
    history: History,
    /// The step that is under way.
    step: Option<Step>,
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
    /// The newest call, which more of its arguments may follow.
    call: Option<(Box<str>, Option<Box<str>>)>,
    /// Whether the user gave a command in place of a message.
    commanded: bool,
    window: Option<u64>,
}

/// A step, and whether the model has said anything in it.
struct Step {
    request: Key,
    /// The node that stands for the request, until there is more of the message.
    begun: Option<Key>,
}

impl Cli {
    /// Reads an event.
    pub(super) fn read(&mut self, told: &Told<'_>, writer: &mut Writer<'_, '_>) {
        let raw = told.payload.map_or("{}", RawValue::get);
        // Some events have no payload.
        let payload: Payload<'_> = lenient::object(raw.as_bytes()).unwrap_or_default();
        if told.kind.get() == Some("SubagentEvent") {
            return self.of_subagent(&payload, writer);
        }
        let talk = self.0.entry(writer.lane).or_default();
        talk.read(told.kind.or_empty(), raw, &payload, writer);
    }

    fn of_subagent(&mut self, payload: &Payload<'_>, writer: &mut Writer<'_, '_>) {
        let event = payload
            .event
            .map(|raw| lenient::object(raw.get().as_bytes()));
        let id = payload.agent_id.get().or(payload.parent_tool_call_id.get());
        let (Some(Ok(event)), Some(id)) = (event, id) else {
            return writer.push(Event::Unreadable("an event of no sub-agent".into()));
        };
        let outer = std::mem::replace(&mut writer.lane, Lane::Side(Key::of(id)));
        if !self.0.contains_key(&writer.lane) {
            writer.push(Event::Meta(Box::new(Meta {
                id: Some(id.into()),
                title: payload.subagent_type.boxed(),
                ..Meta::default()
            })));
        }
        self.read(&event, writer);
        writer.lane = outer;
    }
}

impl Talk {
    fn read(&mut self, kind: &str, raw: &str, payload: &Payload<'_>, writer: &mut Writer<'_, '_>) {
        match kind {
            "TurnBegin" => {
                self.step = None;
                // A command is carried out and never sent.
                self.commanded = text_of(&payload.user_input).starts_with('/');
                match self.commanded {
                    true => writer.skip("command"),
                    false => self.input(payload, Turn::New, writer),
                }
            }
            "SteerInput" => self.input(payload, Turn::Same, writer),
            "StepBegin" => self.begin(writer),
            "ContentPart" => {
                let part: Piece<'_> = lenient::object(raw.as_bytes()).unwrap_or_default();
                let item = part.said(writer.out);
                self.output(item, writer);
            }
            "ToolCall" => {
                let call: ToolCall<'_> = lenient::object(raw.as_bytes()).unwrap_or_default();
                let item = call.item(writer.out);
                if let (Some(id), Some(name)) = (call.id.get(), call.name()) {
                    self.tools.insert(Key::of(id), name.into());
                }
                self.call = call.id.boxed().map(|id| (id, call.name().map(Into::into)));
                self.output(item, writer);
            }
            "ToolCallPart" => {
                let (id, name) = match &self.call {
                    Some((id, name)) => (Some(&**id), name.as_deref()),
                    None => (None, None),
                };
                let item = writer.out.item(Role::Assistant, Kind::ToolCall);
                let item = item.tool(name).call(id);
                let item = item.text(payload.arguments_part.or_empty()).done();
                self.output(item, writer);
            }
            "ToolResult" => self.result(payload, writer),
            "StatusUpdate" => self.status(payload, writer),
            "CompactionEnd" => self.compaction(writer),
            "" => writer.push(Event::Unreadable("no type".into())),
            other => writer.skip(other),
        }
    }

    fn input(&mut self, payload: &Payload<'_>, turn: Turn, writer: &mut Writer<'_, '_>) {
        let item = one(writer.out, Role::User, Kind::Text, &payload.user_input);
        let key = writer.here();
        self.history.add(Who::Person, key);
        writer.node(key, Part::Input, |node| {
            node.turn = turn == Turn::New;
            node.items.push(item);
        });
    }

    /// A request is sent: the prompt is all that stands before this.
    fn begin(&mut self, writer: &mut Writer<'_, '_>) {
        let key = writer.here();
        let request = writer.request();
        self.step = Some(Step {
            request,
            begun: Some(key),
        });
        writer.node(key, Part::Output, |node| node.request = Some(request));
    }

    fn output(&mut self, item: NewItem, writer: &mut Writer<'_, '_>) {
        let key = writer.here();
        match &mut self.step {
            Some(step) => match step.begun.take() {
                Some(begun) => self.history.0.push(Said {
                    who: Who::Model,
                    keys: vec![begun, key],
                    result: None,
                }),
                None => self.history.add_to_model(key),
            },
            None => self.history.add_to_model(key),
        }
        let request = self.step.as_ref().map(|step| step.request);
        writer.node(key, Part::Output, |node| {
            node.request = request;
            node.items.push(item);
        });
    }

    fn result(&mut self, payload: &Payload<'_>, writer: &mut Writer<'_, '_>) {
        let call = payload.tool_call_id.get();
        let name = call.and_then(|call| self.tools.get(&Key::of(call)));
        let mut item = writer
            .out
            .item(Role::Tool, Kind::ToolResult)
            .tool(name.map(|name| &**name))
            .call(call);
        if let Some(returned) = &payload.return_value {
            item = fill(item.text(returned.message.or_empty()), &returned.output);
        }
        let item = item.done();
        let key = writer.here();
        self.history.add(Who::Tool, key);
        writer.node(key, Part::Result, |node| node.items.push(item));
    }

    fn status(&mut self, payload: &Payload<'_>, writer: &mut Writer<'_, '_>) {
        let window = payload.max_context_tokens.0.filter(|window| *window > 0);
        if window.is_some() && window != self.window {
            self.window = window;
            writer.push(Event::Meta(Box::new(Meta {
                window,
                ..Meta::default()
            })));
        }
        let step = self.step.as_ref().map(|step| step.request);
        let request = step.unwrap_or_else(|| writer.request());
        match payload
            .token_usage
            .and_then(|numbers| numbers.usage(request, None))
        {
            Some(usage) => writer.push(Event::Usage(Box::new(usage))),
            None => writer.skip("StatusUpdate"),
        }
    }

    /// The summary itself is not told, so what it costs is unlogged.
    fn compaction(&mut self, writer: &mut Writer<'_, '_>) {
        if !self.history.keep_last_two() {
            return writer.skip("CompactionEnd");
        }
        let cause = match self.commanded {
            true => Cause::Manual,
            false => Cause::Automatic,
        };
        writer.push(Event::Reset(Box::new(Reset {
            key: None,
            gone: Gone::Compaction,
            cause,
            before: None,
            after: None,
            kept: Kept::Nodes(self.history.keys().collect()),
        })));
        self.history.summarised();
        // The step goes on with another prompt.
        if self.step.is_some() {
            self.begin(writer);
        }
    }
}

/// Whether a message begins a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    New,
    Same,
}
