//! One conversation, event after event.

use super::OPENHANDS;
use super::branch::{self, Branch};
use super::items;
use super::stats::{self, Call};
use super::wire::{Record, State, Stats};
use decode::bodies::Numbers;
use decode::lenient::{self, Count, LostFields, Raw, Text};
use decode::sums::PendingResponse;
use decode::time::time_or_civil;
use formats::{Decoder, StateUpdate};
use model::event::{Cause, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage};
use model::{Kind, Role};
use std::collections::{HashMap, HashSet};

/// Decodes one conversation.
#[derive(Default)]
pub(super) struct OpenHandsDecoder {
    branch: Branch,
    /// The calls of tools that were made.
    calls: HashSet<Key>,
    stats: stats::Stats,
    /// Calls by their responses, from the state beside the log.
    known: HashMap<Key, Call>,
    /// Facts about the conversation, from the same.
    meta: Option<Meta>,
    has_begun: bool,
    /// The answers whose calls are not known yet.
    unknown: HashSet<Key>,
    /// The answer that the newest event begins, with its place and time.
    open: Option<PendingResponse>,
    /// The first system prompt's event.
    system: Option<Key>,
    /// The newest answer.
    newest: Option<Key>,
    /// The condensation whose summary is in the context.
    summary: Option<Key>,
    /// The reason for which a condensation was requested; `None`: none is awaited.
    asked: Option<Box<str>>,
    /// True if the agent has finished its turn.
    ended: bool,
    /// True if it condenses at a number of tokens, and not of events alone.
    counts_tokens: bool,
    window: Option<u64>,
    model: Option<Box<str>>,
}

impl Decoder for OpenHandsDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(record.timestamp.get().and_then(time_or_civil));
        self.open = None;
        if !std::mem::replace(&mut self.has_begun, true)
            && let Some(meta) = &self.meta
        {
            out.meta(meta.clone());
        }
        self.event(&record, out);
    }

    /// The calls in a state are a list that grows. Its file is written before the first event and after
    /// each, or, in older versions, at the end of a run.
    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let lost = LostFields::default();
        let state: State<'_> = lenient::parse(document, &lost).ok()?;
        if !self.has_begun {
            lost.report(out);
        }
        self.stats.read_state(&state);
        let meta = self.read_meta(&state);
        if self.meta.as_ref() != Some(&meta) {
            if self.has_begun {
                return Some(StateUpdate::RereadLog);
            }
            self.meta = Some(meta);
        }
        let metrics = state.stats.usage_to_metrics.0.iter();
        for numbers in metrics.flat_map(|(_, metric)| &metric.token_usages) {
            let response = numbers.response_id.get().map(response_key);
            if let (Some(response), Some(call)) = (response, Call::of(numbers.billed(), numbers)) {
                self.known.entry(response).or_insert(call);
            }
        }
        let is_known = |response: &&Key| self.known.contains_key(*response);
        let known: Vec<Key> = self.unknown.iter().filter(is_known).copied().collect();
        Some(match (known.as_slice(), self.open) {
            ([], _) => StateUpdate::Accepted,
            ([response], Some(open)) if *response == open.request => {
                open.begin(out);
                self.emit_usage(open.request, out);
                StateUpdate::Accepted
            }
            _ => StateUpdate::RereadLog,
        })
    }
}

impl OpenHandsDecoder {
    fn event(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        match record.kind.or_empty() {
            "SystemPromptEvent" | "SystemPromptUpdateEvent" => self.system(record, out),
            "MessageEvent" => self.message(record, out),
            "ActionEvent" => self.action(record, out),
            "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent" => {
                self.result(record, out);
            }
            "Condensation" => self.condensation(record, out),
            "CondensationRequest" => {
                let reason = match (record.reason.get(), self.ended) {
                    (Some("manual"), _) | (None, true) => "manual",
                    _ => "auto",
                };
                self.asked = Some(reason.into());
                out.skip("CondensationRequest");
                self.link(record, out);
            }
            "TokenEvent" => {
                self.token_ids(record, out);
                self.link(record, out);
            }
            // No part of the tree, though they may name a parent.
            "ConversationStateUpdateEvent" => self.update(record, out),
            "ConversationErrorEvent" => out.skip("ConversationErrorEvent"),
            "" => out.unreadable("no kind"),
            other => {
                OPENHANDS.pass_over(other, out);
                self.link(record, out);
            }
        }
    }

    /// Adds an event to the conversation.
    fn node(
        &mut self,
        record: &Record<'_>,
        part: Part,
        items: Vec<NewItem>,
        out: &mut EventSink<'_>,
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
        out.node(Node {
            parent,
            request,
            ..Node::new(key, part, items)
        });
        if let Some(request) = request {
            self.answer(request, out);
        }
    }

    /// Later events may hang below one that is not in the context.
    fn link(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        if record.parent_id.get().is_some() {
            self.node(record, Part::Link, Vec::new(), out);
        }
    }

    /// The newest system prompt replaces the one before.
    fn system(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let mut items = Vec::new();
        for text in [&record.system_prompt, &record.dynamic_context] {
            if !text.0.is_empty() {
                let item = out.item(Role::Container, Kind::Prompt);
                items.push(items::content(item, text, self.model.as_deref()).done());
            }
        }
        items.extend(items::tools(&record.tools, out));
        let Some(first) = self.system else {
            self.system = record.id.get().map(Key::of);
            return self.node(record, Part::Injected, items, out);
        };
        out.node(Node::new(Some(first), Part::Injected, items));
        self.link(record, out);
    }

    fn message(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let Some(message) = &record.llm_message else {
            out.unreadable("a message without a message");
            return self.link(record, out);
        };
        let model = self.model.as_deref();
        let is_agent = message.role.get() == Some("assistant");
        let mut items = Vec::new();
        let (part, role, kind) = match (is_agent, record.source.or_empty()) {
            (true, _) => {
                let (thought, blocks) = (&message.reasoning_content, &message.thinking_blocks);
                let reasoning = message.responses_reasoning_item.as_ref();
                let thinking = items::thinking(thought, blocks, reasoning, &message.content, out);
                items.extend(thinking);
                (Part::Output, Role::Assistant, Kind::Text)
            }
            (false, "user") => (Part::Input, Role::User, Kind::Text),
            _ => (Part::Injected, Role::Container, Kind::Reminder),
        };
        let item = out.item(role, kind);
        items.push(items::content(item, &message.content, model).done());
        if !record.extended_content.0.is_empty() {
            let kind = if record.activated_skills.iter().next().is_none() {
                Kind::Reminder
            } else {
                Kind::Skill
            };
            let item = out.item(Role::Container, kind);
            items.push(items::content(item, &record.extended_content, model).done());
        }
        self.ended = is_agent;
        self.node(record, part, items, out);
    }

    fn action(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let (thought, blocks) = (&record.reasoning_content, &record.thinking_blocks);
        let reasoning = record.responses_reasoning_item.as_ref();
        let thinking = items::thinking(thought, blocks, reasoning, &record.thought, out);
        let mut items = Vec::from_iter(thinking);
        let mut parts = record.thought.0.iter();
        if parts.any(|part| !part.text.or_empty().is_empty()) {
            let item = out.item(Role::Assistant, Kind::Text);
            items.push(items::content(item, &record.thought, None).done());
        }
        let call = record.tool_call_id.get();
        self.calls.extend(call.map(Key::of));
        let item = out.item(Role::Assistant, Kind::ToolCall);
        let item = item.tool(record.tool_name.get()).call(call);
        items.push(item.text(record.arguments.or_empty()).done());
        self.ended = false;
        self.node(record, Part::Output, items, out);
    }

    fn result(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let call = record.tool_call_id.get();
        if let Some(call) = call.filter(|call| !self.calls.contains(&Key::of(call))) {
            // Its action is not in the log, but its request was made.
            self.answer(response_key(call), out);
        }
        let model = self.model.as_deref();
        let item = out.item(Role::Tool, Kind::ToolResult);
        let item = item.tool(record.tool_name.get()).call(call);
        let item = match (record.error.get(), record.rejection_reason.get()) {
            (Some(error), _) => item.text(error),
            (None, Some(reason)) => item.text("Action rejected:").text(reason),
            (None, None) => items::observation(item, &record.observation, model),
        };
        let mut items = vec![item.done()];
        if !record.extended_content.0.is_empty() {
            let item = out.item(Role::Container, Kind::Memory);
            items.push(items::content(item, &record.extended_content, model).done());
        }
        self.ended = record.tool_name.get() == Some("finish");
        self.node(record, Part::Result, items, out);
    }

    fn condensation(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let Some(id) = record.id.get() else {
            return out.unreadable("a condensation without an id");
        };
        skip_others(self.stats.elsewhere(), out);
        let key = Key::of(id);
        let mut forgotten: HashSet<Key> = record
            .forgotten_event_ids
            .iter()
            .filter_map(Text::key)
            .collect();
        forgotten.extend(self.summary.replace(key));
        let stays = self.branch.forget(&forgotten, key);
        // A size that many events happened to have is no size at which it condenses.
        let usual = if self.counts_tokens { "auto" } else { "events" };
        let cause = Cause::named(self.asked.take().as_deref().unwrap_or(usual));
        out.reset(Reset {
            key: Some(Key::of_parts(&["openhands", "reset", id])),
            ..Reset::compaction(cause, RetainedItems::Nodes(stays))
        });
        let summary = record.summary.get();
        let summary = summary.map(|summary| out.text(Role::Container, Kind::Summary, summary));
        let items = summary.into_iter().collect();
        out.node(Node::new(Some(key), Part::Injected, items));
    }

    fn update(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let is_read = match record.key.or_empty() {
            "stats" => {
                let stats: Option<Stats<'_>> = lenient::value(record.value, "value", out);
                stats.map(|stats| self.stats.update(&stats.usage_to_metrics, false))
            }
            "full_state" => {
                let state: Option<State<'_>> = lenient::value(record.value, "value", out);
                state.map(|state| self.state(&state, out))
            }
            _ => None,
        };
        if is_read.is_none() {
            out.skip("ConversationStateUpdateEvent");
        }
    }

    /// Takes in the whole state of a conversation.
    fn state(&mut self, state: &State<'_>, out: &mut EventSink<'_>) {
        self.stats.read_state(state);
        self.stats.update(&state.stats.usage_to_metrics, true);
        out.meta(self.read_meta(state));
    }

    /// Returns the facts in the conversation's state.
    fn read_meta(&mut self, state: &State<'_>) -> Meta {
        let window = state.agent.llm.max_input_tokens.0;
        let most = state.agent.trigger.0;
        let meta = Meta {
            id: state.id.boxed(),
            cwd: state.working_dir.boxed(),
            model: state.agent.llm.model.get().map(stats::bare),
            window,
            trigger: most.map(|most| most.min(window.unwrap_or(most))),
            ..Meta::default()
        };
        self.window = meta.window.or(self.window);
        self.counts_tokens = meta.trigger.is_some();
        self.model = meta.model.clone().or(self.model.take());
        meta
    }

    /// The conversation continues with this answer: emits what is known of its request.
    fn answer(&mut self, request: Key, out: &mut EventSink<'_>) {
        if self.newest.replace(request) == Some(request) {
            return;
        }
        self.unknown.insert(request);
        self.open = Some(PendingResponse::new(request, out));
        self.emit_usage(request, out);
    }

    /// Emits the usage of the call whose answer this is, if it is known.
    fn emit_usage(&mut self, request: Key, out: &mut EventSink<'_>) {
        let (call, others) = self.stats.answered();
        skip_others(others, out);
        if let Some(Call { usage, window }) = self.known.get(&request).cloned().or(call) {
            self.unknown.remove(&request);
            if window.is_some() && window != self.window {
                self.window = window;
                out.meta(Meta::of_window(window));
            }
            self.model = usage.model.clone().or(self.model.take());
            out.usage(Usage { request, ..usage });
        }
    }

    /// Takes in the ids of all tokens of the newest request and its answer.
    fn token_ids(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let ids: Vec<Raw<'_>> = lenient::value(record.prompt_token_ids, "prompt_token_ids", out);
        let prompt = ids.len() as u64;
        let Some(request) = self.newest.filter(|_| prompt > 0) else {
            return out.skip("TokenEvent");
        };
        let ids: Option<Vec<Raw<'_>>> =
            lenient::value(record.response_token_ids, "response_token_ids", out);
        let output = ids.map(|ids| ids.len() as u64);
        let numbers = Numbers::of_line([Count(Some(prompt)), Count(output)]);
        out.usage(numbers.usage(request, None));
    }
}

fn response_key(id: &str) -> Key {
    Key::of_parts(&["openhands", "response", id])
}

/// Counts calls of a model that were made for something else.
fn skip_others(count: usize, out: &mut EventSink<'_>) {
    (0..count).for_each(|_| out.skip("call for something else"));
}
