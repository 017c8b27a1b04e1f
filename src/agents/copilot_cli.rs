//! GitHub Copilot CLI.
//!
//! A session is a JSON Lines file of events, `session-state/<id>/events.jsonl`. What the events are is
//! in github/copilot-sdk (`nodejs/src/generated/session-events.ts`); checked on shapes of 0.0.420 to
//! 1.0.77:
//!
//! * Events are a list: `parentId` is the event before, whoever's it is. `agentId` (older:
//!   `parentToolCallId`) names the sub-agent whose event it is.
//! * No event on disk tells a prompt: `assistant.usage` and `session.usage_info` are ephemeral, only
//!   `outputTokens` is written. The prompts are in the OpenTelemetry file, where the user has one
//!   written; see `spans`. A response is there by its `apiCallId`, or else by its interaction and turn.
//! * `currentTokens`, and the parts that compactions tell, are counted by the agent: a span with
//!   22,799 input tokens says 22,526. They are the agent's, not known.
//! * `transformedContent` is what the model gets of a user's message, `content` what he typed.
//!   `result.content` is what it gets of a result, `detailedContent` is for the screen. Reasoning is
//!   written beside the answer and, for the screen, once more. `skill.invoked` may be followed by the
//!   same text in a message whose `source` is `skill-…`: it counts once.
//! * `session.compaction_complete` counts only with `success`. It does not say which messages stay:
//!   those that came after `session.compaction_start` do, since the summary cannot know them.
//!   Newer builds say by `trigger` what caused it (`threshold`: the agent itself); in others
//!   `customInstructions` alone tell that a person asked for it. `tokenLimit` is the window.
//! * `session.truncation` takes the oldest messages away, by their number; `session.context_cleared`
//!   all. Whether the `initialMessage` of the latter is logged as a message too is not known: it is left
//!   to that. `session.snapshot_rewind` is ephemeral, so no rewind is seen.
//! * Logs of old builds name the model in a tool's result alone.
//! * The system prompt is logged by newer builds, the tools by none: together 16,100 to 26,900 tokens as
//!   the agent counts them, in nine published logs.
//! * `session.shutdown`'s other numbers are sums over all resumed runs, no context.
//!
//! What it keeps in SQLite (`session-store.db`) is not read.

mod events;
mod media;
mod resets;
mod spans;
mod writer;

use super::lenient::{self, Count, Piece};
use super::{Claim, Decoder, Facts, Format, Input, Root, SidecarRecord, decoder, facts, head};
use crate::model::event::{Event, Key, Lane, Meta, NewItem, Part, Sink, Usage};
use crate::model::{Kind, Role};
use events::{Data, Record, Request};
use media::{Speaks, picture, pictures};
use std::collections::HashMap;
use std::path::Path;
use writer::Writer;

/// The format.
pub static COPILOT_CLI: Format = Format {
    id: "copilot-cli",
    label: "copilot",
    roots: &[Root::home(".copilot", "session-state").env("COPILOT_HOME")],
    facts: Facts {
        mark: "event `session.start` with a `sessionId`",
        live: facts::EACH_LINE,
        known: "prompts, outputs, where its OpenTelemetry is written to a file (`~/.copilot/otel`, \
                `$COPILOT_OTEL_FILE_EXPORTER_PATH`)",
        estimated: "all, elsewhere",
        sub_agents: "in the main file",
        compactions: "yes, truncations too",
        tried: "shapes of 0.0.420 to 1.0.77, a span of 1.0.78",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<CopilotCliDecoder>,
    reset_marks: &[
        r#""type":"session.compaction_complete""#,
        r#""type":"session.truncation""#,
        r#""type":"session.context_cleared""#,
    ],
    terms: &[
        ("input", |b| b.input),
        ("cache_read", |b| b.cache_read),
        ("cache_write", |b| b.cache_creation),
        ("output", |b| b.output),
        ("reasoning", |b| b.reasoning),
    ],
    sidecar: Some(&spans::SIDECAR),
    ..Format::DEFAULT
};

/// `<session id>/events.jsonl`; before 1.0 `session-state/<session id>.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?.file_name()?.to_str()?;
    let id = match name.strip_suffix(".jsonl")? {
        "events" => folder,
        id if folder == "session-state" => id,
        _ => return None,
    };
    Some(Claim::session(id))
}

fn recognise(head: &[u8]) -> bool {
    let marks = [r#""type":"session.start""#, r#""sessionId""#];
    head::is_object(head) && marks.iter().all(|mark| head::has(head, mark))
}

/// The names by which a request is told from others: of the response, and of the turn.
fn response_key(id: &str) -> Key {
    Key::of_parts(&["copilot response", id])
}

fn turn_key(interaction: &str, turn: &str) -> Key {
    Key::of_parts(&["copilot turn", interaction, turn])
}

/// One conversation of a session: the main one, or a sub-agent's.
#[derive(Default)]
struct Thread {
    model: Option<Box<str>>,
    /// System messages, which every reset keeps.
    system: Vec<Key>,
    /// The messages in the context, oldest first.
    messages: Vec<Key>,
    /// How many of them a compaction that is under way summarises.
    summarised: Option<usize>,
    /// The turn that is open, as telemetry names it.
    turn: Option<Key>,
}

/// Reads one session.
#[derive(Default)]
struct CopilotCliDecoder {
    threads: HashMap<Lane, Thread>,
    /// Sub-agents that were started, by the call that did.
    started: HashMap<Key, Meta>,
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
    /// How often each skill was invoked.
    skills: HashMap<Box<str>, u64>,
    /// The largest prompt.
    window: Option<u64>,
    asides: Vec<SidecarRecord>,
    /// Which of them a name means; `None`: it means several.
    by_key: HashMap<Key, Option<usize>>,
}

impl Decoder for CopilotCliDecoder {
    fn read_sidecar(&mut self, asides: &[SidecarRecord]) {
        self.asides = asides.to_vec();
        self.by_key.clear();
        for (ix, aside) in asides.iter().enumerate() {
            for key in &aside.keys {
                let same = |other: usize| asides[other].usage.request == aside.usage.request;
                self.by_key
                    .entry(*key)
                    .and_modify(|slot| *slot = slot.filter(|other| same(*other)).map(|_| ix))
                    .or_insert(Some(ix));
            }
        }
    }

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
        let lane = self.lane(&record);
        let mut writer = Writer {
            lane,
            key: record.id.get().map(Key::of),
            place,
            at: record.timestamp.time(),
            out,
        };
        self.begin(&record, &mut writer);
        self.record(&record, &mut writer);
    }
}

impl CopilotCliDecoder {
    fn lane(&self, record: &Record<'_>) -> Lane {
        let agent = record.agent_id.get();
        let agent = agent.or(record.data.parent_tool_call_id.get());
        agent.map_or(Lane::Main, |id| Lane::Side(Key::of(id)))
    }

    /// The first event of a sub-agent tells whose it is.
    fn begin(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        if writer.lane == Lane::Main || self.threads.contains_key(&writer.lane) {
            return;
        }
        let call = record.data.parent_tool_call_id.get();
        let call = call.or(record.agent_id.get()).map(Key::of);
        let known = call.and_then(|call| self.started.get(&call)).cloned();
        let id = record.agent_id.boxed();
        writer.meta(Meta {
            id: id.or(record.data.parent_tool_call_id.boxed()),
            ..known.unwrap_or_default()
        });
    }

    fn thread(&mut self, lane: Lane) -> &mut Thread {
        self.threads.entry(lane).or_default()
    }

    fn record(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let data = &record.data;
        match record.kind.or_empty() {
            "session.start" | "session.resume" => {
                let context = data.context.0.iter().find_map(|piece| match piece {
                    Piece::Part(context) => context.cwd.boxed(),
                    Piece::Text(_) => None,
                });
                writer.meta(Meta {
                    id: data.session_id.boxed(),
                    cwd: context,
                    version: data.copilot_version.boxed(),
                    ..Meta::default()
                });
                self.model(data.selected_model.get(), writer);
            }
            "session.model_change" => self.model(data.new_model.get(), writer),
            "session.auto_mode_resolved" => self.model(data.chosen_model.get(), writer),
            "session.context_changed" => writer.meta(Meta {
                cwd: data.cwd.boxed(),
                ..Meta::default()
            }),
            "session.title_changed" => writer.meta(Meta {
                title: data.title.boxed(),
                ..Meta::default()
            }),
            "system.message" => self.system(data, writer),
            "user.message" => self.user(data, writer),
            "assistant.turn_start" => {
                let turn = turn_of(data);
                self.thread(writer.lane).turn = turn;
                self.model_of(data, writer);
                writer.skip("assistant.turn_start");
            }
            "assistant.turn_end" => {
                self.thread(writer.lane).turn = None;
                writer.skip("assistant.turn_end");
            }
            "assistant.message" => self.assistant(data, writer),
            "tool.execution_start" => {
                if let (Some(call), Some(name)) = (data.tool_call_id.get(), data.tool_name.boxed())
                {
                    self.tools.insert(Key::of(call), name);
                }
                writer.skip("tool.execution_start");
            }
            "tool.execution_complete" => {
                self.model_of(data, writer);
                self.result(data, writer);
            }
            "skill.invoked" => self.skill(data, writer),
            "system.notification" => {
                let item = writer.out.item(Role::Container, Kind::Reminder);
                let item = item.text(data.content.or_empty()).done();
                self.message(Part::Injected, vec![item], writer);
            }
            "subagent.started" => {
                if let Some(call) = data.tool_call_id.get() {
                    let meta = Meta {
                        title: data.agent_display_name.boxed().or(data.agent_name.boxed()),
                        model: data.model.boxed(),
                        ..Meta::default()
                    };
                    self.started.insert(Key::of(call), meta);
                }
                writer.skip("subagent.started");
            }
            "session.compaction_start" => {
                self.window(data.token_limit, writer);
                let thread = self.thread(writer.lane);
                thread.summarised = Some(thread.messages.len());
                let size = data.parts().or(data.current_tokens.0);
                writer.says("session.compaction_start", size);
            }
            "session.compaction_complete" => self.compaction(data, writer),
            "session.context_cleared" => self.clear(writer),
            "session.truncation" => self.truncation(data, writer),
            "session.shutdown" => writer.says("session.shutdown", data.current_tokens.0),
            "" => writer.push(Event::Unreadable("no type".into())),
            other => writer.skip(other),
        }
    }

    /// The model of what comes next. `auto` stands for one that is not chosen yet.
    fn model(&mut self, id: Option<&str>, writer: &mut Writer<'_, '_>) {
        let model: Option<Box<str>> = id.filter(|id| !matches!(*id, "" | "auto")).map(Into::into);
        if model.is_some() {
            self.thread(writer.lane).model.clone_from(&model);
        }
        writer.meta(Meta {
            model,
            ..Meta::default()
        });
    }

    /// The model that events tell in passing, where nothing else has told one.
    fn model_of(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        if self.thread(writer.lane).model.is_none() && data.model.boxed().is_some() {
            self.model(data.model.get(), writer);
        }
    }

    /// The largest prompt of the main conversation.
    fn window(&mut self, limit: Count, writer: &mut Writer<'_, '_>) {
        let limit = limit.0.filter(|limit| *limit > 0);
        if limit.is_some() && limit != self.window && writer.lane == Lane::Main {
            self.window = limit;
            writer.meta(Meta {
                window: limit,
                ..Meta::default()
            });
        }
    }

    /// Writes a message of the conversation.
    fn message(&mut self, part: Part, items: Vec<NewItem>, writer: &mut Writer<'_, '_>) {
        self.thread(writer.lane).messages.extend(writer.key);
        writer.node(part, None, items);
    }

    /// A system prompt takes the place of the one before it.
    fn system(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        let item = writer.out.item(Role::Container, Kind::Prompt);
        let item = item.text(data.content.or_empty()).done();
        let key = Key::of_parts(&["copilot system", data.name.or_empty()]);
        let system = &mut self.thread(writer.lane).system;
        if !system.contains(&key) {
            system.push(key);
        }
        writer.key = Some(key);
        writer.node(Part::Injected, None, vec![item]);
    }

    fn user(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        let typed = data.content.or_empty();
        let sent = data.transformed_content.get().unwrap_or(typed);
        let source = data.source.get().filter(|source| *source != "user");
        if let Some(skill) = source.and_then(|source| source.strip_prefix("skill-")) {
            return self.skill_text(skill, sent, writer);
        }
        let own = source.is_none() && data.is_autopilot_continuation != Some(true);
        let mut items = Vec::new();
        let mut add = |role, kind, text: &str| {
            if !text.trim().is_empty() {
                items.push(writer.out.item(role, kind).text(text).done());
            }
        };
        match sent.find(typed).filter(|_| own && !typed.is_empty()) {
            Some(at) => {
                add(Role::Container, Kind::Reminder, &sent[..at]);
                add(Role::User, Kind::Text, typed);
                add(Role::Container, Kind::Reminder, &sent[at + typed.len()..]);
            }
            None if own => add(Role::User, Kind::Text, sent),
            None => add(Role::Container, Kind::Reminder, sent),
        }
        let claude = self.speaks_claude(writer.lane);
        for piece in &data.attachments.0 {
            if let Piece::Part(media) = piece
                && media.is_inline()
            {
                let item = writer.out.item(Role::User, Kind::Text);
                items.push(picture(item, media, claude).done());
            }
        }
        self.message(
            if own { Part::Input } else { Part::Injected },
            items,
            writer,
        );
    }

    fn speaks_claude(&self, lane: Lane) -> Speaks {
        let thread = self.threads.get(&lane);
        match thread.and_then(|thread| thread.model.as_deref()) {
            Some(id) if id.starts_with("claude") => Speaks::Claude,
            _ => Speaks::Other,
        }
    }

    fn skill(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        let name = data.name.or_empty();
        *self.skills.entry(name.into()).or_default() += 1;
        self.skill_text(name, data.content.or_empty(), writer);
    }

    fn skill_text(&mut self, name: &str, text: &str, writer: &mut Writer<'_, '_>) {
        let time = self.skills.get(name).copied().unwrap_or(0).to_string();
        let item = writer.out.item(Role::Container, Kind::Skill);
        let item = item.tool(Some(name)).text(text).done();
        let key = Key::of_parts(&["copilot skill", name, &time]);
        writer.key = Some(key);
        let messages = &mut self.thread(writer.lane).messages;
        if !messages.contains(&key) {
            messages.push(key);
        }
        writer.node(Part::Injected, None, vec![item]);
    }

    fn assistant(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        let known = self.thread(writer.lane).model.as_deref();
        if data.model.get().is_some_and(|id| known != Some(id)) {
            self.model(data.model.get(), writer);
        }
        let mut items = Vec::new();
        let hidden = [&data.reasoning_opaque, &data.encrypted_content];
        let hidden: usize = hidden.iter().map(|text| text.or_empty().len()).sum();
        if data.reasoning_text.boxed().is_some() || hidden > 0 {
            let item = writer.out.item(Role::Assistant, Kind::Thinking);
            let item = item.text(data.reasoning_text.or_empty());
            items.push(item.opaque(hidden as u64).done());
        }
        if let Some(text) = data.content.get().filter(|text| !text.is_empty()) {
            let item = writer.out.item(Role::Assistant, Kind::Text);
            items.push(item.text(text).done());
        }
        for piece in &data.tool_requests.0 {
            if let Piece::Part(request) = piece {
                items.push(self.call(request, writer));
            }
        }
        let names = [&data.api_call_id, &data.message_id];
        let name = names.into_iter().find_map(|name| name.get());
        let request = name.map(|name| Key::of_parts(&["copilot", name]));
        let request = request.or(writer.key);
        self.thread(writer.lane).messages.extend(writer.key);
        writer.node(Part::Output, request, items);
        if let Some(request) = request {
            self.report(data, request, writer);
        }
    }

    fn call(&mut self, request: &Request<'_>, writer: &mut Writer<'_, '_>) -> NewItem {
        if let (Some(call), Some(name)) = (request.tool_call_id.get(), request.name.boxed()) {
            self.tools.insert(Key::of(call), name);
        }
        let item = writer
            .out
            .item(Role::Assistant, Kind::ToolCall)
            .tool(request.name.get())
            .call(request.tool_call_id.get())
            .text(request.name.or_empty());
        match request.arguments {
            // Some models' are a string that holds them.
            Some(arguments) if arguments.get().starts_with('"') => {
                lenient::strings(item, arguments).done()
            }
            Some(arguments) => lenient::raw(item, arguments).done(),
            None => item.done(),
        }
    }

    /// What telemetry tells of a response.
    fn report(&mut self, data: &Data<'_>, request: Key, writer: &mut Writer<'_, '_>) {
        let open = self
            .threads
            .get(&writer.lane)
            .and_then(|thread| thread.turn);
        let names = [
            data.api_call_id.get().map(response_key),
            turn_of(data),
            open,
        ];
        let found = |key| self.by_key.get(&key).copied().flatten();
        let Some(aside) = names.into_iter().flatten().find_map(found) else {
            return;
        };
        let (window, usage) = (self.asides[aside].window, self.asides[aside].usage.clone());
        self.window(Count(window), writer);
        writer.push(Event::Usage(Box::new(Usage { request, ..usage })));
    }

    fn result(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        let call = data.tool_call_id.get();
        let name = call.and_then(|call| self.tools.get(&Key::of(call)));
        let claude = self.speaks_claude(writer.lane);
        let item = writer.out.item(Role::Tool, Kind::ToolResult);
        let mut item = item.tool(name.map(|name| &**name)).call(call);
        // A failure has no result but a message.
        let outcome = if data.result.0.is_empty() {
            &data.error
        } else {
            &data.result
        };
        for piece in &outcome.0 {
            item = match piece {
                Piece::Text(text) => item.text(text),
                Piece::Part(outcome) => {
                    let text = outcome.content.get().or(outcome.message.get());
                    let item = item.text(text.unwrap_or_default());
                    pictures(item, &outcome.binary_results_for_llm, claude)
                }
            };
        }
        let item = item.done();
        self.message(Part::Result, vec![item], writer);
    }
}

/// The turn of a message, as telemetry names it.
fn turn_of(data: &Data<'_>) -> Option<Key> {
    Some(turn_key(data.interaction_id.get()?, data.turn_id.get()?))
}

#[cfg(test)]
mod tests;
