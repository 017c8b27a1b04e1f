//! Kimi Code's `wire.jsonl`: the changes to the context, one a line.

use super::KIMI;
use super::here;
use super::history::{Author, History};
use super::message::{
    Content, Numbers, Part as ContentPart, ToolCall, add_content, is_note, output_items, own_bytes,
    text_of,
};
use decode::anthropic::ToolNames;
use decode::lenient::{self, Count, Raw, Text, record};
use model::event::{Cause, Event, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems};
use model::{Kind, LeaveReason, Role};

/// The nodes before the conversation: the system prompt, the tools.
const PREFIX: [&str; 2] = ["kimi system prompt", "kimi tools"];
/// The smallest tool result that a micro compaction clears, in tokens as Kimi Code estimates them.
const LEAST_CLEARED: u64 = 100;

record! {
    struct Record<'a> {
        cwd: Text<'a>,
        /// The folder that is described to the model.
        disclosed_cwd: Text<'a> = "environmentDisclosure" / "cwd",
        profile_name: Text<'a> = "profileName",
        model_alias: Text<'a> = "modelAlias",
        system_prompt: Text<'a> = "systemPrompt",
        tools: Option<Raw<'a>>,
        kind: Text<'a>,
        model: Text<'a>,
        message: Option<Message<'a>>,
        event: Option<LoopEvent<'a>>,
        usage: Option<Numbers>,
        usage_scope: Text<'a> = "usageScope",
        source: Text<'a>,
        summary: Text<'a>,
        context_summary: Text<'a> = "contextSummary",
        compacted_count: Count = "compactedCount",
        kept_user_message_count: Count = "keptUserMessageCount",
        kept_head_user_message_count: Count = "keptHeadUserMessageCount",
        count: Count,
        cutoff: Count,
    }

    struct Message<'a> {
        role: Text<'a>,
        content: Content<'a>,
        tool_calls: Vec<ToolCall<'a>> = "toolCalls",
        tool_call_id: Text<'a> = "toolCallId",
        origin: Option<Origin<'a>>,
    }

    /// The origin of a message that is sent as the user's.
    struct Origin<'a> {
        kind: Text<'a>,
        name: Text<'a>,
        trigger: Text<'a>,
        phase: Text<'a>,
        /// The skill, or the command of a plugin.
        skill_name: Text<'a> = "skillName" | "commandName",
    }

    struct LoopEvent<'a> {
        kind: Text<'a> = "type",
        uuid: Text<'a>,
        step_uuid: Text<'a> = "stepUuid",
        part: Option<ContentPart<'a>>,
        tool_call_id: Text<'a> = "toolCallId",
        name: Text<'a>,
        args: Option<Raw<'a>>,
        result: Content<'a> = "result" / "output",
        usage: Option<Numbers>,
    }
}

/// Decodes the changes.
#[derive(Default)]
pub(super) struct Wire {
    history: History,
    /// True if the history lacks the part of the log that was not read.
    lacks_beginning: bool,
    /// The nodes of what precedes the conversation. Nothing removes them.
    prefix: Vec<Key>,
    tools: ToolNames,
    /// The model of the newest request.
    model: Option<Box<str>>,
    /// True if a request has begun and not ended.
    open: bool,
    /// Its numbers, which Kimi Code 2.1 has before its calls, and again at its end.
    numbers: Option<Numbers>,
    /// The cause of the compaction that is under way.
    cause: Option<Box<str>>,
    /// True if the next message was inserted while the model ran.
    steered: bool,
}

impl Wire {
    /// Records that the part of the log before the next record was not read.
    pub(super) fn skip_to_end(&mut self) {
        self.lacks_beginning = true;
    }

    /// Reads a record of this type.
    pub(super) fn read(&mut self, kind: &str, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        // The usage is of a call outside of all turns.
        let is_of_session = record.usage_scope.get() == Some("session");
        match kind {
            "metadata" => return self.reserve(out),
            "config.update" | "profile.bind" if self.config(&record, out) => return,
            "llm.tools_snapshot" if self.tools(&record, out) => return,
            "llm.request" if self.request(&record, out) => return,
            "context.append_message" => match &record.message {
                Some(message) => return self.message(message, out),
                None => return out.unreadable("no message"),
            },
            "context.append_loop_event" => match &record.event {
                Some(event) => return self.event(event, out),
                None => return out.unreadable("no event"),
            },
            "context.apply_compaction" => return self.compaction(&record, out),
            "context.clear" => return self.clear(out),
            "context.undo" if self.undo(&record, out) => return,
            "micro_compaction.apply" => return self.clear_results(&record, out),
            "usage.record" if is_of_session && call_aside(&record, out) => return,
            "usage.record" => self.numbers = record.usage.filter(|_| self.open),
            "" => return out.unreadable("no type"),
            "turn.steer" => self.steered = true,
            "full_compaction.begin" => self.cause = record.source.boxed(),
            "full_compaction.cancel" | "full_compaction.complete" => self.cause = None,
            _ => {}
        }
        KIMI.pass_over(kind, out);
    }

    /// Emits empty nodes for what precedes the conversation: the tools are logged only after the first
    /// step has begun, whose prompt contains them.
    fn reserve(&mut self, out: &mut EventSink<'_>) {
        self.prefix = PREFIX.map(Key::of).to_vec();
        for key in &self.prefix {
            out.node(Node::new(Some(*key), Part::Injected, Vec::new()));
        }
    }

    /// Returns whether the record contains anything of use.
    fn config(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) -> bool {
        let profile = record.profile_name.boxed();
        let meta = Meta {
            cwd: record.cwd.boxed().or(record.disclosed_cwd.boxed()),
            // Requests name the model itself.
            model: record.model_alias.boxed().filter(|_| self.model.is_none()),
            // Of a sub-agent, what kind it is.
            title: profile.filter(|name| **name != *"agent"),
            ..Meta::default()
        };
        let has_facts = meta != Meta::default();
        out.meta(meta);
        let prompt = record.system_prompt.get().filter(|text| !text.is_empty());
        if let Some(prompt) = prompt {
            let item = out.text(Role::Container, Kind::Prompt, prompt);
            self.set_prefix(Key::of(PREFIX[0]), item, out);
        }
        has_facts || prompt.is_some()
    }

    /// Returns whether there are any.
    fn tools(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) -> bool {
        if let Some(tools) = record.tools {
            let item = out.item(Role::Container, Kind::ToolList);
            let item = lenient::tools(item, tools).done();
            self.set_prefix(Key::of(PREFIX[1]), item, out);
        }
        record.tools.is_some()
    }

    /// Replaces a part of what precedes the conversation.
    fn set_prefix(&mut self, key: Key, item: NewItem, out: &mut EventSink<'_>) {
        if !self.prefix.contains(&key) {
            self.prefix.push(key);
        }
        out.node(Node::new(Some(key), Part::Injected, vec![item]));
    }

    /// Returns whether the model is another one.
    fn request(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) -> bool {
        let of_conversation = matches!(record.kind.get(), None | Some("loop"));
        let model = record.model.boxed().filter(|_| of_conversation);
        let changed = model.is_some() && model != self.model;
        if changed {
            self.model.clone_from(&model);
            out.meta(Meta::of_model(model));
        }
        changed
    }

    /// Reports the numbers of a request. Returns whether there are any.
    fn report(
        &self,
        numbers: Option<Numbers>,
        request: Option<Key>,
        out: &mut EventSink<'_>,
    ) -> bool {
        let numbers = numbers.zip(request);
        let usage = numbers.and_then(|(of, request)| of.usage(request, self.model.clone()));
        let is_any = usage.is_some();
        out.usage(usage);
        is_any
    }

    fn message(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) {
        let steered = std::mem::take(&mut self.steered);
        let key = here(out);
        match message.role.or_empty() {
            "user" => {
                let text = text_of(&message.content);
                let (who, role, kind, part) = sent_as_user(message.origin.as_ref(), &text);
                let skill = message.origin.as_ref().and_then(|of| of.skill_name.get());
                let skill = skill.filter(|name| !name.is_empty());
                let item = out.item(role, kind).tool(skill);
                let item = add_content(item, &message.content);
                let item = item.own_bytes(own_bytes(&message.content)).done();
                self.history.add(who, key);
                out.node(Node {
                    turn: part == Part::Input && !steered,
                    ..Node::new(Some(key), part, vec![item])
                });
            }
            "assistant" => {
                let mut items = output_items(&message.content, out);
                let calls = message.tool_calls.iter();
                items.extend(calls.map(|call| call.item(&mut self.tools, out)));
                self.history.add(Author::Model, key);
                out.node(Node::new(Some(key), Part::Output, items));
            }
            "tool" => self.result(message.tool_call_id.get(), &message.content, out),
            other => out.unknown(format!("{other} message")),
        }
    }

    fn event(&mut self, event: &LoopEvent<'_>, out: &mut EventSink<'_>) {
        let step = event.step_uuid.get().or(event.uuid.get());
        let request = step.map(|step| Key::of_parts(&["kimi", step]));
        let key = here(out);
        let output = |items| Node::output(Some(key), request, items);
        match event.kind.or_empty() {
            // The prompt is all that precedes this.
            "step.begin" => {
                (self.open, self.numbers) = (true, None);
                self.history.add(Author::Model, key);
                out.node(output(Vec::new()));
            }
            "content.part" => {
                let parts = event.part.iter();
                let items = parts.map(|part| part.output_item(out)).collect();
                self.history.add_to_model(key);
                out.node(output(items));
                self.report(self.numbers, request, out);
            }
            "tool.call" => {
                let (name, call) = (event.name.get(), event.tool_call_id.get());
                if let Some(name) = name {
                    self.tools.insert(call, name);
                }
                let item = lenient::call(name, call, event.args, out);
                self.history.add_to_model(key);
                out.node(output(vec![item]));
                self.report(self.numbers, request, out);
            }
            "tool.result" => {
                self.result(event.tool_call_id.get(), &event.result, out);
            }
            "step.end" => {
                (self.open, self.numbers) = (false, None);
                if !self.report(event.usage, request, out) {
                    out.skip("step.end");
                }
            }
            "" => out.unreadable("no type"),
            other => KIMI.pass_over(other, out),
        }
    }

    fn result(&mut self, call: Option<&str>, output: &Content<'_>, out: &mut EventSink<'_>) {
        let name = self.tools.get(call);
        let (role, kind) = match name {
            Some("Skill") => (Role::Container, Kind::Skill),
            _ => (Role::Tool, Kind::ToolResult),
        };
        let item = out.item(role, kind).tool(name).call(call);
        let item = add_content(item, output);
        let item = item.own_bytes(own_bytes(output)).done();
        let key = here(out);
        let result = call.map(|id| (Key::of(id), estimate(&item)));
        self.history.add(Author::Tool(result), key);
        out.node(Node::new(Some(key), Part::Result, vec![item]));
    }

    fn compaction(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let count = |count: Count| count.0.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        match count(record.kept_user_message_count) {
            Some(all) => {
                let first = count(record.kept_head_user_message_count);
                self.history.retain_human_messages(all, first.unwrap_or(0));
            }
            // Older versions kept the end unchanged.
            None => {
                let gone = count(record.compacted_count);
                self.history.keep_after(gone.unwrap_or(usize::MAX));
            }
        }
        let cause = self.cause.take();
        let cause = Cause::named(cause.as_deref().unwrap_or_default());
        // Its sizes leave out the system prompt and the tools: 15,912 where 42,371 were sent.
        out.reset(Reset::compaction(cause, RetainedItems::Nodes(self.keys())));
        let text = record.context_summary.get().or(record.summary.get());
        let item = text.map(|text| out.text(Role::Container, Kind::Summary, text));
        let items = item.into_iter().collect();
        let key = here(out);
        self.history.add(Author::Summary, key);
        out.node(Node::new(Some(key), Part::Injected, items));
    }

    /// Returns the nodes in the context.
    fn keys(&self) -> Vec<Key> {
        let prefix = self.prefix.iter().copied();
        prefix.chain(self.history.keys()).collect()
    }

    fn clear(&mut self, out: &mut EventSink<'_>) {
        self.history = History::default();
        let kept = RetainedItems::Nodes(self.keys());
        out.reset(Reset::new(LeaveReason::Clear, Cause::named("clear"), kept));
    }

    /// Returns whether there was anything to undo.
    fn undo(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) -> bool {
        let count = record.count.0.and_then(|n| usize::try_from(n).ok());
        let undone = self.history.undo(count.unwrap_or(0));
        if !undone && self.lacks_beginning {
            out.emit(Event::BeginningMissing);
        }
        if undone {
            out.emit(Event::Retain {
                keys: self.keys(),
                cause: LeaveReason::Rewind,
            });
        }
        undone
    }

    /// The larger results among the first messages are replaced by a line.
    fn clear_results(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let cutoff = usize::try_from(record.cutoff.or_zero()).unwrap_or(usize::MAX);
        if cutoff > self.history.0.len() {
            out.emit(Event::BeginningMissing);
        }
        let messages = self.history.0.iter().take(cutoff);
        let large = messages.filter_map(|message| match message.author {
            Author::Tool(Some((call, tokens))) if tokens >= LEAST_CLEARED => Some(call),
            _ => None,
        });
        out.emit(Event::cleared_calls(large.collect()));
    }
}

/// Returns the author, role, kind and part of a message that is sent as the user's.
fn sent_as_user(origin: Option<&Origin<'_>>, text: &str) -> (Author, Role, Kind, Part) {
    let person = (Author::Person, Role::User, Kind::Text, Part::Input);
    let task = (Author::Other, Role::User, Kind::Text, Part::Input);
    let injected = |author, kind| (author, Role::Container, kind, Part::Injected);
    let Some(origin) = origin else {
        return if is_note(text) {
            injected(Author::Other, Kind::Reminder)
        } else {
            person
        };
    };
    match origin.kind.or_empty() {
        "user" => person,
        "skill_activation" | "plugin_command" => match origin.trigger.get() {
            Some("user-slash") => (Author::Person, Role::Container, Kind::Skill, Part::Input),
            _ => injected(Author::Other, Kind::Skill),
        },
        // A command that the user ran himself; what it wrote comes by itself.
        "shell_command" if origin.phase.get() != Some("output") => task,
        // A sub-agent's task.
        "system_trigger" if origin.name.get() == Some("subagent") => task,
        "compaction_summary" => injected(Author::Summary, Kind::Summary),
        "injection" => injected(Author::Injection, Kind::Reminder),
        _ => injected(Author::Other, Kind::Reminder),
    }
}

/// Returns a text's tokens as Kimi Code estimates them: four ASCII characters each, or one other.
fn estimate(item: &NewItem) -> u64 {
    let other = item.size.wide.saturating_add(item.size.marks);
    u64::from(item.size.chars.saturating_sub(other).div_ceil(4)) + u64::from(other)
}

/// Emits the cost of a call that is no part of the conversation, such as one that wrote a summary: for totals alone.
/// Returns true if there are numbers.
fn call_aside(record: &Record<'_>, out: &mut EventSink<'_>) -> bool {
    let at = out.time().map(|at| at.to_string()).unwrap_or_default();
    let request = Key::of_parts(&["kimi compaction", &at]);
    let usage = record.usage.and_then(|usage| usage.usage(request, None));
    let billed = usage.map(|usage| usage.billed);
    if let Some(billed) = billed {
        out.billed(request, billed);
    }
    billed.is_some()
}
