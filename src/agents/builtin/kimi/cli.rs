//! kimi-cli's `wire.jsonl`: what it sent to its screen, one event a line.

use super::KIMI;
use super::here;
use super::history::{Author, History};
use super::message::{Content, Numbers, Part as ContentPart, ToolCall, add_content, text_of};
use decode::anthropic::ToolNames;
use decode::lenient::{self, Raw, Text, Window, record};
use model::event::{
    Cause, Conversation, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems,
};
use model::{Kind, Role};
use std::collections::HashMap;

record! {
    /// An event, of a line or within another event.
    pub(super) struct WireEvent<'a> {
        kind: Text<'a> = "type",
        payload: Option<Raw<'a>>,
    }

    struct Payload<'a> {
        user_input: Content<'a>,
        arguments_part: Text<'a>,
        tool_call_id: Text<'a>,
        return_value: Option<ReturnValue<'a>>,
        token_usage: Option<Numbers>,
        max_context_tokens: Window,
        parent_tool_call_id: Text<'a> = "parent_tool_call_id" | "task_tool_call_id",
        agent_id: Text<'a>,
        subagent_type: Text<'a>,
        event: Option<Raw<'a>>,
    }

    struct ReturnValue<'a> {
        output: Content<'a>,
        message: Text<'a>,
    }
}

/// Decodes the events of all conversations of a file.
#[derive(Default)]
pub(super) struct Cli(HashMap<Conversation, ConversationState>);

/// The state of one conversation.
#[derive(Default)]
struct ConversationState {
    history: History,
    /// The step that is under way.
    step: Option<Step>,
    tools: ToolNames,
    /// The newest call, which more of its arguments may follow.
    call: Option<Box<str>>,
    /// True if the user entered a command in place of a message.
    commanded: bool,
    /// The newest facts.
    meta: Meta,
}

/// A step of the model.
struct Step {
    request: Key,
    /// The node of the request, until there is more of the message.
    begun: Option<Key>,
}

impl Cli {
    /// Reads an event.
    pub(super) fn read(&mut self, event: &WireEvent<'_>, out: &mut EventSink<'_>) {
        // Some events have no payload.
        let payload: Payload<'_> = lenient::value(event.payload, "payload", out);
        if event.kind.get() == Some("SubagentEvent") {
            return self.of_subagent(&payload, out);
        }
        let conversation = self.0.entry(out.conversation()).or_default();
        conversation.read(event, &payload, out);
    }

    fn of_subagent(&mut self, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        let event: Option<WireEvent<'_>> = lenient::value(payload.event, "event", out);
        let id = payload.agent_id.get().or(payload.parent_tool_call_id.get());
        let (Some(event), Some(id)) = (event, id) else {
            return out.unreadable("an event of no sub-agent");
        };
        let outer = out.conversation();
        out.set_conversation(Conversation::Side(Key::of(id)));
        if !self.0.contains_key(&out.conversation()) {
            out.meta(Meta {
                id: Some(id.into()),
                title: payload.subagent_type.boxed(),
                ..Meta::default()
            });
        }
        self.read(&event, out);
        out.set_conversation(outer);
    }
}

impl ConversationState {
    fn read(&mut self, event: &WireEvent<'_>, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        match event.kind.or_empty() {
            "TurnBegin" => {
                self.step = None;
                // A command is carried out and never sent.
                self.commanded = text_of(&payload.user_input).starts_with('/');
                if self.commanded {
                    out.skip("command")
                } else {
                    self.input(payload, true, out)
                }
            }
            "SteerInput" => self.input(payload, false, out),
            "StepBegin" => self.begin(out),
            "ContentPart" => {
                let part: ContentPart<'_> = lenient::value(event.payload, "payload", out);
                let item = part.output_item(out);
                self.output(item, out);
            }
            "ToolCall" => {
                let call: ToolCall<'_> = lenient::value(event.payload, "payload", out);
                let item = call.item(&mut self.tools, out);
                self.call = call.id.boxed();
                self.output(item, out);
            }
            "ToolCallPart" => {
                let call = self.call.as_deref();
                let item = out.tool_call(self.tools.get(call), call);
                let item = item.text(payload.arguments_part.or_empty()).done();
                self.output(item, out);
            }
            "ToolResult" => self.result(payload, out),
            "StatusUpdate" => self.status(payload, out),
            "CompactionEnd" => self.compaction(out),
            "" => out.unreadable("no type"),
            other => KIMI.pass_over(other, out),
        }
    }

    /// Reads a message of the user, which may begin a turn.
    fn input(&mut self, payload: &Payload<'_>, turn: bool, out: &mut EventSink<'_>) {
        let item = out.item(Role::User, Kind::Text);
        let item = add_content(item, &payload.user_input).done();
        let key = here(out);
        self.history.add(Author::Person, key);
        out.node(Node {
            turn,
            ..Node::new(Some(key), Part::Input, vec![item])
        });
    }

    /// A request is sent: its prompt is all that precedes this.
    fn begin(&mut self, out: &mut EventSink<'_>) {
        let key = here(out);
        let request = super::request(out);
        self.step = Some(Step {
            request,
            begun: Some(key),
        });
        out.node(Node::output(Some(key), Some(request), Vec::new()));
    }

    fn output(&mut self, item: NewItem, out: &mut EventSink<'_>) {
        let key = here(out);
        if let Some(begun) = self.step.as_mut().and_then(|step| step.begun.take()) {
            self.history.add(Author::Model, begun);
        }
        self.history.add_to_model(key);
        let request = self.step.as_ref().map(|step| step.request);
        out.node(Node::output(Some(key), request, vec![item]));
    }

    fn result(&mut self, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        let call = payload.tool_call_id.get();
        let mut item = out.tool_result(self.tools.get(call), call);
        if let Some(returned) = &payload.return_value {
            item = add_content(item.text(returned.message.or_empty()), &returned.output);
        }
        let item = item.done();
        let key = here(out);
        self.history.add(Author::Tool(None), key);
        out.node(Node::new(Some(key), Part::Result, vec![item]));
    }

    fn status(&mut self, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        let meta = Meta::of_window(payload.max_context_tokens.0);
        out.meta(meta.changes(&mut self.meta));
        let step = self.step.as_ref().map(|step| step.request);
        let request = step.unwrap_or_else(|| super::request(out));
        let numbers = payload.token_usage;
        match numbers.and_then(|numbers| numbers.usage(request, None)) {
            Some(usage) => out.usage(usage),
            None => out.skip("StatusUpdate"),
        }
    }

    /// The summary itself is not in the log, so its cost is unlogged.
    fn compaction(&mut self, out: &mut EventSink<'_>) {
        if !self.history.keep_last_two() {
            return out.skip("CompactionEnd");
        }
        let cause = if self.commanded {
            Cause::Manual
        } else {
            Cause::Automatic
        };
        let kept = RetainedItems::Nodes(self.history.keys().collect());
        out.reset(Reset::compaction(cause, kept));
        self.history.summarised();
        // The step goes on with another prompt.
        if self.step.is_some() {
            self.begin(out);
        }
    }
}
