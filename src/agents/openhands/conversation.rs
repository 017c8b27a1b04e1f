//! One conversation, event after event.

use super::branch::{self, Branch};
use super::items;
use super::stats::{self, Call, Stats};
use super::wire::{self, Record, State, one, texts};
use crate::agents::lenient::{self, Text};
use crate::agents::{Decoder, Input, StateUpdate};
use crate::model::event::{
    Billed, Event, Kept, Key, Lane, Meta, NewItem, Node, Parent, Part, Place, Reset, Sink, Usage,
};
use crate::model::{Gone, Kind, Role, Source};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Reads one conversation.
#[derive(Default)]
pub(super) struct OpenHandsDecoder {
    branch: Branch,
    /// The calls of tools that were made.
    calls: HashSet<Key>,
    stats: Stats,
    /// Calls by their answers, as the state beside the log tells them.
    told: HashMap<Key, Call>,
    /// What that tells of the conversation.
    facts: Option<Meta>,
    has_begun: bool,
    /// The answers whose calls are not known yet.
    unknown: HashSet<Key>,
    /// The answer that the newest event begins, and where it stands.
    open: Option<(Key, Place, Option<Timestamp>)>,
    /// The first system prompt's event.
    system: Option<Key>,
    /// The newest answer.
    newest: Option<Key>,
    /// The condensation whose summary is in the context.
    summary: Option<Key>,
    /// Why a condensation was asked for, while none has come.
    asked: Option<Box<str>>,
    /// Whether the agent has said its last word for now.
    ended: bool,
    /// Whether it condenses at a number of tokens, and not of events alone.
    counts_tokens: bool,
    window: Option<u64>,
    model: Option<Box<str>>,
}

impl Decoder for OpenHandsDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let Input::Line(place, line) = input else {
            return;
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let record: Record<'_> = match lenient::object(line) {
            Ok(record) => record,
            Err(why) => return out.push(Lane::Main, place, None, Event::Unreadable(why)),
        };
        let at = time(&record.timestamp);
        let mut writer = Writer { place, at, out };
        self.open = None;
        if !std::mem::replace(&mut self.has_begun, true)
            && let Some(facts) = &self.facts
        {
            writer.push(Event::Meta(Box::new(facts.clone())));
        }
        self.event(&record, &mut writer);
    }

    /// The calls of a state are a list that grows. Its file is written before the first event and after
    /// each, or, in older versions, at the end of a run.
    fn read_state(&mut self, document: &[u8], out: &mut Sink<'_>) -> StateUpdate {
        let Ok(state) = lenient::object::<State<'_>>(document) else {
            return StateUpdate::Incomplete;
        };
        self.stats.learn(&state);
        let facts = self.learn(&state);
        if self.facts.as_ref() != Some(&facts) {
            if self.has_begun {
                return StateUpdate::RereadLog;
            }
            self.facts = Some(facts);
        }
        let stats = one(&state.stats);
        for metric in stats.map(wire::Stats::metrics).unwrap_or_default().values() {
            let calls = one(metric)
                .into_iter()
                .flat_map(|metric| wire::objects(&metric.token_usages));
            for numbers in calls {
                let answer = numbers.response_id.get().map(response_key);
                if let (Some(answer), Some(call)) = (answer, Call::of(numbers)) {
                    self.told.entry(answer).or_insert(call);
                }
            }
        }
        let is_told = |answer: &&Key| self.told.contains_key(*answer);
        let told: Vec<Key> = self.unknown.iter().filter(is_told).copied().collect();
        match (told.as_slice(), self.open) {
            ([], _) => StateUpdate::Accepted,
            ([answer], Some((open, place, at))) if *answer == open => {
                self.answered(open, &mut Writer { place, at, out });
                StateUpdate::Accepted
            }
            _ => StateUpdate::RereadLog,
        }
    }
}

/// Python writes times without a zone.
fn time(text: &Text<'_>) -> Option<Timestamp> {
    let civil = || text.get()?.parse::<jiff::civil::DateTime>().ok();
    let utc = || civil()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.time().or_else(|| Some(utc()?.timestamp()))
}

impl OpenHandsDecoder {
    fn event(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        match record.kind.or_empty() {
            "SystemPromptEvent" | "SystemPromptUpdateEvent" => self.system(record, writer),
            "MessageEvent" => self.message(record, writer),
            "ActionEvent" => self.action(record, writer),
            "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent" => {
                self.result(record, writer);
            }
            "Condensation" => self.condensation(record, writer),
            "CondensationRequest" => {
                let reason = match (record.reason.get(), self.ended) {
                    (Some("manual"), _) | (None, true) => "manual",
                    _ => "auto",
                };
                self.asked = Some(reason.into());
                writer.skipped("CondensationRequest");
                self.link(record, writer);
            }
            "TokenEvent" => {
                self.token_ids(record, writer);
                self.link(record, writer);
            }
            // No part of the tree, though they may name a parent.
            "ConversationStateUpdateEvent" => self.update(record, writer),
            "ConversationErrorEvent" => writer.skipped("ConversationErrorEvent"),
            "" => writer.push(Event::Unreadable("no kind".into())),
            other => {
                writer.skipped(other);
                self.link(record, writer);
            }
        }
    }

    /// Adds an event to the conversation.
    fn node(
        &mut self,
        record: &Record<'_>,
        part: Part,
        items: Vec<NewItem>,
        writer: &mut Writer<'_, '_>,
    ) {
        let key = record.id.get().map(Key::of);
        let parent = branch::parent(record.parent_id.get());
        if let Some(key) = key {
            self.branch.add(key, parent);
        }
        let request = match part {
            Part::Output => record.llm_response_id.get().map(response_key),
            _ => None,
        };
        writer.push(Event::Node(Box::new(Node {
            key,
            parent,
            part,
            request,
            turn: part == Part::Input,
            items,
        })));
        if let Some(request) = request {
            self.answer(request, writer);
        }
    }

    /// Later events may hang below one that is not in the context.
    fn link(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        if record.parent_id.get().is_some() {
            self.node(record, Part::Link, Vec::new(), writer);
        }
    }

    /// What is said last takes the place of what was said before.
    fn system(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let mut items = Vec::new();
        for text in [&record.system_prompt, &record.dynamic_context] {
            if !text.0.is_empty() {
                let item = writer.out.item(Role::Container, Kind::Prompt);
                items.push(items::content(item, text, self.model.as_deref()).done());
            }
        }
        items.extend(items::tools(&record.tools, writer.out));
        let Some(first) = self.system else {
            self.system = record.id.get().map(Key::of);
            return self.node(record, Part::Injected, items, writer);
        };
        writer.push(Event::Node(Box::new(Node {
            key: Some(first),
            part: Part::Injected,
            items,
            ..Node::default()
        })));
        self.link(record, writer);
    }

    fn message(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let Some(message) = one(&record.llm_message) else {
            return writer.push(Event::Unreadable("a message without a message".into()));
        };
        let model = self.model.as_deref();
        let is_agent = message.role.get() == Some("assistant");
        let mut items = Vec::new();
        let (part, role, kind) = match (is_agent, record.source.or_empty()) {
            (true, _) => {
                let thinking = items::Thinking {
                    content: &message.reasoning_content,
                    blocks: &message.thinking_blocks,
                    item: &message.responses_reasoning_item,
                    said: &message.content,
                };
                items.extend(items::thinking(&thinking, writer.out));
                (Part::Output, Role::Assistant, Kind::Text)
            }
            (false, "user") => (Part::Input, Role::User, Kind::Text),
            _ => (Part::Injected, Role::Container, Kind::Reminder),
        };
        let item = writer.out.item(role, kind);
        items.push(items::content(item, &message.content, model).done());
        if !record.extended_content.0.is_empty() {
            let kind = match record.activated_skills.0.is_empty() {
                true => Kind::Reminder,
                false => Kind::Skill,
            };
            let item = writer.out.item(Role::Container, kind);
            items.push(items::content(item, &record.extended_content, model).done());
        }
        self.ended = is_agent;
        self.node(record, part, items, writer);
    }

    fn action(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let thinking = items::Thinking {
            content: &record.reasoning_content,
            blocks: &record.thinking_blocks,
            item: &record.responses_reasoning_item,
            said: &record.thought,
        };
        let mut items: Vec<NewItem> = items::thinking(&thinking, writer.out).into_iter().collect();
        if wire::objects(&record.thought).any(|said| !said.text.or_empty().is_empty()) {
            let item = writer.out.item(Role::Assistant, Kind::Text);
            items.push(items::content(item, &record.thought, None).done());
        }
        let call = record.tool_call_id.get();
        self.calls.extend(call.map(Key::of));
        let item = writer.out.item(Role::Assistant, Kind::ToolCall);
        let item = item.tool(record.tool_name.get()).call(call);
        let arguments = one(&record.tool_call).map(|call| call.arguments.or_empty());
        items.push(item.text(arguments.unwrap_or_default()).done());
        self.ended = false;
        self.node(record, Part::Output, items, writer);
    }

    fn result(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let call = record.tool_call_id.get();
        if let Some(call) = call.filter(|call| !self.calls.contains(&Key::of(call))) {
            // Its action is not in the log, but its request was made.
            self.answer(response_key(call), writer);
        }
        let model = self.model.as_deref();
        let item = writer.out.item(Role::Tool, Kind::ToolResult);
        let item = item.tool(record.tool_name.get()).call(call);
        let item = match (record.error.get(), record.rejection_reason.get()) {
            (Some(error), _) => item.text(error),
            (None, Some(reason)) => item.text("Action rejected:").text(reason),
            (None, None) => match one(&record.observation) {
                Some(observation) => items::observation(item, observation, model),
                None => item,
            },
        };
        let mut items = vec![item.done()];
        if !record.extended_content.0.is_empty() {
            let item = writer.out.item(Role::Container, Kind::Memory);
            items.push(items::content(item, &record.extended_content, model).done());
        }
        self.ended = record.tool_name.get() == Some("finish");
        self.node(record, Part::Result, items, writer);
    }

    fn condensation(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let Some(id) = record.id.get() else {
            return writer.push(Event::Unreadable("a condensation without an id".into()));
        };
        writer.others(self.stats.elsewhere());
        let key = Key::of(id);
        let mut forgotten: HashSet<Key> = texts(&record.forgotten_event_ids).map(Key::of).collect();
        forgotten.extend(self.summary.replace(key));
        let stays = self.branch.forget(&forgotten, key);
        // A size that many events happened to have is no size at which it condenses.
        let usual = if self.counts_tokens { "auto" } else { "events" };
        writer.push(Event::Reset(Box::new(Reset {
            key: Some(Key::of_parts(&["openhands", "reset", id])),
            gone: Gone::Compaction,
            cause: self.asked.take().as_deref().unwrap_or(usual).into(),
            before: None,
            after: None,
            kept: Kept::Nodes(stays),
        })));
        let summary = record.summary.get().map(|summary| {
            let item = writer.out.item(Role::Container, Kind::Summary);
            item.text(summary).done()
        });
        writer.push(Event::Node(Box::new(Node {
            key: Some(key),
            parent: Parent::Previous,
            part: Part::Injected,
            items: summary.into_iter().collect(),
            ..Node::default()
        })));
    }

    fn update(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let told = match record.key.or_empty() {
            "stats" => self.statistics(record.value),
            "full_state" => self.state(record.value, writer),
            _ => None,
        };
        if told.is_none() {
            writer.skipped("ConversationStateUpdateEvent");
        }
    }

    fn statistics(&mut self, value: Option<&RawValue>) -> Option<()> {
        let stats: wire::Stats<'_> = lenient::object(value?.get().as_bytes()).ok()?;
        self.stats.update(&stats.metrics());
        Some(())
    }

    /// The whole state of a conversation.
    fn state(&mut self, value: Option<&RawValue>, writer: &mut Writer<'_, '_>) -> Option<()> {
        let state: State<'_> = lenient::object(value?.get().as_bytes()).ok()?;
        self.stats.learn(&state);
        if let Some(stats) = one(&state.stats) {
            self.stats.update(&stats.metrics());
        }
        let meta = self.learn(&state);
        writer.push(Event::Meta(Box::new(meta)));
        Some(())
    }

    fn learn(&mut self, state: &State<'_>) -> Meta {
        let meta = facts_of(state);
        self.window = meta.window.or(self.window);
        self.counts_tokens = meta.trigger.is_some();
        self.model = meta.model.clone().or(self.model.take());
        meta
    }

    /// The conversation goes on with this answer: what is known of its request.
    fn answer(&mut self, request: Key, writer: &mut Writer<'_, '_>) {
        if self.newest.replace(request) == Some(request) {
            return;
        }
        self.unknown.insert(request);
        self.open = Some((request, writer.place, writer.at));
        self.answered(request, writer);
    }

    /// Tells of the call whose answer this is, if it is known.
    fn answered(&mut self, request: Key, writer: &mut Writer<'_, '_>) {
        let (call, others) = self.stats.answered();
        writer.others(others);
        if let Some(Call { usage, window }) = self.told.get(&request).cloned().or(call) {
            self.unknown.remove(&request);
            if window.is_some() && window != self.window {
                self.window = window;
                writer.push(Event::Meta(Box::new(Meta {
                    window,
                    ..Meta::default()
                })));
            }
            self.model = usage.model.clone().or(self.model.take());
            writer.push(Event::Usage(Box::new(Usage { request, ..usage })));
        }
    }

    /// The ids of all tokens of the newest request and its answer.
    fn token_ids(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let count = |ids: Option<&RawValue>| {
            let ids: Vec<IgnoredAny> = serde_json::from_str(ids?.get()).ok()?;
            Some(ids.len() as u64)
        };
        let prompt = count(record.prompt_token_ids).filter(|prompt| *prompt > 0);
        let (Some(request), Some(prompt)) = (self.newest, prompt) else {
            return writer.skipped("TokenEvent");
        };
        let output = count(record.response_token_ids);
        writer.push(Event::Usage(Box::new(Usage {
            request,
            model: None,
            prompt,
            cached: 0,
            output,
            reasoning: None,
            source: Source::Reported,
            billed: Billed {
                input: prompt,
                output: output.unwrap_or(0),
                ..Billed::default()
            },
        })));
    }
}

fn response_key(id: &str) -> Key {
    Key::of_parts(&["openhands", "response", id])
}

/// What a conversation's state tells of it.
fn facts_of(state: &State<'_>) -> Meta {
    let agent = one(&state.agent);
    let llm = agent.and_then(|agent| one(&agent.llm));
    let above = |count: lenient::Count| count.0.filter(|tokens| *tokens > 0);
    let window = llm.and_then(|llm| above(llm.max_input_tokens));
    let condenser = agent.and_then(|agent| one(&agent.condenser));
    let most = condenser.and_then(|condenser| above(condenser.max_tokens));
    Meta {
        id: state.id.boxed(),
        cwd: one(&state.workspace).and_then(|workspace| workspace.working_dir.boxed()),
        model: llm.and_then(|llm| llm.model.get()).map(stats::bare),
        window,
        trigger: most.map(|most| most.min(window.unwrap_or(most))),
        ..Meta::default()
    }
}

/// Writes what one event says.
struct Writer<'w, 'm> {
    place: Place,
    at: Option<Timestamp>,
    out: &'w mut Sink<'m>,
}

impl Writer<'_, '_> {
    fn push(&mut self, event: Event) {
        self.out.push(Lane::Main, self.place, self.at, event);
    }

    fn skipped(&mut self, kind: &str) {
        self.push(Event::Skipped(kind.into()));
    }

    /// Calls of a model that were made for something else.
    fn others(&mut self, count: usize) {
        (0..count).for_each(|_| self.skipped("call for something else"));
    }
}
