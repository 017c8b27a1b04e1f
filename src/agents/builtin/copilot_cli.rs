//! GitHub Copilot CLI.
//!
//! A session is a JSON Lines file of events, `session-state/<id>/events.jsonl`. The events are defined
//! in github/copilot-sdk (`nodejs/src/generated/session-events.ts`); checked on shapes of 0.0.420 to
//! 1.0.77, and on whole logs of 1.0.102:
//!
//! * Events are a list: `parentId` is the event before, whoever's it is. `agentId` (older:
//!   `parentToolCallId`) names the sub-agent whose event it is.
//! * Since 1.0.102 `session.usage_record` contains the provider's numbers of a request; see `usage`. Before,
//!   no event on disk contains a prompt's size: `assistant.usage` and `session.usage_info` are ephemeral, only
//!   `outputTokens` is written. The prompts are in a database, see `rows`, and in the OpenTelemetry file,
//!   where the user has one written; see `spans`. A response is there by its `apiCallId`, or else by its interaction and turn.
//! * `currentTokens`, and the parts in compactions, are counted by the agent: beside a span with
//!   22,799 input tokens, it counted 22,526. They are estimates.
//! * `transformedContent` is what the model gets of a user's message, `content` what he typed.
//!   `result.content` is what it gets of a result, `detailedContent` is for the screen. Reasoning is
//!   written beside the answer and, for the screen, once more. `skill.invoked` may be followed by the
//!   same text in a message whose `source` is `skill-…`: it counts once.
//! * `session.compaction_complete` counts only with `success`. It does not name the messages that
//!   stay: those after `session.compaction_start` do, since the summary cannot contain them.
//!   Newer builds name the cause in `trigger` (`threshold`: the agent itself); in others only
//!   `customInstructions` show that a person asked for it. `tokenLimit` is the window. A compaction runs
//!   beside the conversation, whose next requests still contain all; at the end of a run it is cancelled.
//! * `session.truncation` takes the oldest messages away, by their number; `session.context_cleared`
//!   all. Whether the `initialMessage` of the latter is logged as a message too is not known: it is not
//!   read here. `session.snapshot_rewind` is ephemeral, so no rewind is seen.
//! * Logs of old builds name the model in a tool's result alone.
//! * The system prompt is logged by newer builds, the tools by none: together 16,100 to 26,900 tokens as
//!   the agent counts them, in nine published logs.
//! * `session.shutdown`'s other numbers are sums over all runs, or over the newest: for totals, see `usage`.
//!
//! Of what it keeps in SQLite (`session-store.db`), the requests are read; see `rows`.

mod asides;
mod events;
mod resets;
mod rows;
mod spans;
mod usage;

use asides::Asides;
use decode::anthropic::{ToolNames, add_typed};
use decode::image::{self, Formula};
use decode::lenient::{self, Window};
use events::{Binary, Data, Record, Request};
use formats::{
    Claim, Decoder, FilesBeside, Format, Recognition, Root, SidecarRecord, StateUpdate, Totals,
    WITH_CACHE_AND_REASONING, decoder, head,
};
use model::event::{BilledUsage, Conversation, EventSink, Key, Meta, NewItem, Node, Part, Usage};
use model::{Kind, Role};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The format.
pub static COPILOT_CLI: Format = Format {
    id: "copilot-cli",
    roots: &[
        Root::home(".copilot", "session-state").env("COPILOT_HOME"),
        Root::named("XDG_STATE_HOME", ".copilot/session-state"),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<CopilotCliDecoder>,
    reset_marks: &[
        r#""type":"session.compaction_complete""#,
        r#""type":"session.truncation""#,
        r#""type":"session.context_cleared""#,
    ],
    harmless: "abort assistant.idle assistant.intent assistant.reasoning auto_mode_switch.completed \
        auto_mode_switch.requested command.completed command.execute command.queued \
        elicitation.completed elicitation.requested exit_plan_mode.completed \
        exit_plan_mode.requested external_tool.completed external_tool.requested hook.end \
        hook.progress hook.start mcp.oauth_completed mcp.oauth_required model.call_failure \
        permission.completed permission.requested sampling.completed sampling.requested \
        session.autopilot_objective_changed session.background_tasks_changed \
        session.commands_changed session.custom_agents_updated session.error \
        session.extensions_loaded session.idle session.info session.mcp_server_status_changed \
        session.mcp_servers_loaded session.mode_changed session.permissions_changed \
        session.plan_changed session.remote_steerable_changed session.schedule_cancelled \
        session.schedule_created session.schedule_rearmed session.session_limits_changed \
        session.skills_loaded session.task_complete session.todos_changed session.tools_updated \
        session.usage_checkpoint session.warning session.workspace_file_changed subagent.completed \
        subagent.configured subagent.deselected subagent.failed subagent.selected \
        tool.execution_partial_result tool.execution_progress tool.user_requested \
        tool_search.activated user_input.completed user_input.requested",
    totals: Totals::new(WITH_CACHE_AND_REASONING),
    beside: FilesBeside {
        sidecar: Some(&spans::SIDECAR),
        ..FilesBeside::NONE
    },
    ..Format::DEFAULT
};

/// Claims `<session id>/events.jsonl`; before 1.0 `session-state/<session id>.jsonl`.
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

/// Returns true if a log is of this format. Other programs' events have the same names.
fn recognise(head: &[u8]) -> bool {
    let marks = [
        r#""type":"session.start""#,
        r#""sessionId""#,
        r#""copilotVersion""#,
    ];
    head::is_object(head) && marks.iter().all(|mark| head::has(head, mark))
}

/// Returns the key of a request by its response; [`turn_key`] returns that by its turn.
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
    /// Those of them that are texts of skills.
    skills: HashSet<Key>,
    /// The number of them that a running compaction summarises; `None`: none is running.
    summarised: Option<usize>,
    /// The turn that is open, as telemetry names it.
    turn: Option<Key>,
    /// The request whose numbers were looked for last.
    asked: Option<Key>,
}

/// Decodes one session.
#[derive(Default)]
struct CopilotCliDecoder {
    threads: HashMap<Conversation, Thread>,
    /// Sub-agents that were started, by the call that did.
    started: HashMap<Key, Meta>,
    tools: ToolNames,
    /// The number of times that each skill was invoked.
    skills: HashMap<Box<str>, u64>,
    /// The key of the event that is being read.
    event: Option<Key>,
    /// The largest prompt.
    window: Option<u64>,
    /// The record of a request whose response has not been read: the response's key and the numbers, if it has them.
    unanswered: Option<(Option<Key>, Option<Usage>)>,
    /// The cost of the session by the records so far, and the part of it since the last run ended.
    billed: BilledUsage,
    billed_since_end: BilledUsage,
    /// The sums at the end of the last run, by model.
    sums_at_end: BTreeMap<Box<str>, BilledUsage>,
    asides: Asides,
}

impl Decoder for CopilotCliDecoder {
    fn read_sidecar(&mut self, records: &[SidecarRecord]) -> StateUpdate {
        self.asides.take(records)
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(record.timestamp.time());
        // The main conversation, or a sub-agent's.
        let agent = record.agent_id.key();
        let agent = agent.or(record.data.parent_tool_call_id.key());
        out.set_conversation(agent.map_or(Conversation::Main, Conversation::Side));
        self.event = record.id.key();
        self.begin(&record, out);
        self.record(&record, out);
    }
}

impl CopilotCliDecoder {
    /// Emits the facts of a sub-agent, at its first event.
    fn begin(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        if out.conversation() == Conversation::Main
            || self.threads.contains_key(&out.conversation())
        {
            return;
        }
        let call = record.data.parent_tool_call_id.get();
        let call = call.or(record.agent_id.get()).map(Key::of);
        let known = call.and_then(|call| self.started.get(&call)).cloned();
        let id = record.agent_id.boxed();
        out.meta(Meta {
            id: id.or(record.data.parent_tool_call_id.boxed()),
            ..known.unwrap_or_default()
        });
    }

    fn thread(&mut self, conversation: Conversation) -> &mut Thread {
        self.threads.entry(conversation).or_default()
    }

    fn record(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let data = &record.data;
        match record.kind.or_empty() {
            "session.start" | "session.resume" => {
                out.meta(Meta {
                    id: data.session_id.boxed(),
                    cwd: data.context_cwd.boxed(),
                    version: data.copilot_version.boxed(),
                    ..Meta::default()
                });
                self.model(data.selected_model.get(), out);
            }
            "session.model_change" => self.model(data.new_model.get(), out),
            "session.auto_mode_resolved" => self.model(data.chosen_model.get(), out),
            "session.context_changed" => out.meta(Meta {
                cwd: data.cwd.boxed(),
                ..Meta::default()
            }),
            "session.title_changed" => out.meta(Meta::of_title(data.title.boxed())),
            "system.message" => self.system(data, out),
            "user.message" => self.user(data, out),
            "assistant.turn_start" => {
                self.thread(out.conversation()).turn = turn_of(data);
                self.model_of(data, out);
                out.skip("assistant.turn_start");
            }
            "assistant.turn_end" => {
                self.thread(out.conversation()).turn = None;
                out.skip("assistant.turn_end");
            }
            "session.usage_record" => self.usage_record(data, out),
            "assistant.message" => self.assistant(data, out),
            "tool.execution_start" => {
                if let Some(name) = data.tool_name.get() {
                    self.tools.insert(data.tool_call_id.get(), name);
                }
                out.skip("tool.execution_start");
            }
            "tool.execution_complete" => {
                self.model_of(data, out);
                self.result(data, out);
            }
            "skill.invoked" => self.skill(data, out),
            "system.notification" => {
                let text = data.content.or_empty();
                let item = out.text(Role::Container, Kind::Reminder, text);
                self.message(Part::Injected, vec![item], out);
            }
            "subagent.started" => {
                if let Some(call) = data.tool_call_id.key() {
                    let meta = Meta {
                        title: data.agent_display_name.boxed().or(data.agent_name.boxed()),
                        model: data.model.boxed(),
                        ..Meta::default()
                    };
                    self.started.insert(call, meta);
                }
                out.skip("subagent.started");
            }
            "session.compaction_start" => {
                self.window(data.token_limit, out);
                let thread = self.thread(out.conversation());
                thread.summarised = Some(thread.messages.len());
                let size = data.parts().or(data.current_tokens.0);
                report_size("session.compaction_start", size, out);
            }
            "session.compaction_complete" => self.compaction(data, out),
            "session.context_cleared" => self.clear(out),
            "session.truncation" => self.truncation(data, out),
            "session.shutdown" => {
                self.sums(data, out);
                report_size("session.shutdown", data.current_tokens.0, out);
            }
            "" => out.unreadable("no type"),
            other => COPILOT_CLI.pass_over(other, out),
        }
    }

    /// Emits the model of the next requests. `auto` means that none is chosen yet.
    fn model(&mut self, id: Option<&str>, out: &mut EventSink<'_>) {
        let model: Option<Box<str>> = id.filter(|id| !matches!(*id, "" | "auto")).map(Into::into);
        if model.is_some() {
            self.thread(out.conversation()).model.clone_from(&model);
        }
        out.meta(Meta::of_model(model));
    }

    /// Emits the model that is named by another event, where none has been named before.
    fn model_of(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        if self.thread(out.conversation()).model.is_none() && data.model.boxed().is_some() {
            self.model(data.model.get(), out);
        }
    }

    /// Emits the largest prompt of the main conversation.
    fn window(&mut self, limit: Window, out: &mut EventSink<'_>) {
        let limit = limit.0;
        if limit.is_some() && limit != self.window && out.conversation() == Conversation::Main {
            self.window = limit;
            out.meta(Meta::of_window(limit));
        }
    }

    /// Writes a message of the conversation.
    fn message(&mut self, part: Part, items: Vec<NewItem>, out: &mut EventSink<'_>) {
        let event = self.event;
        self.thread(out.conversation()).messages.extend(event);
        out.node(Node::new(self.event, part, items));
    }

    /// A system prompt takes the place of the one before it.
    fn system(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let item = out.text(Role::Container, Kind::Prompt, data.content.or_empty());
        let key = Key::of_parts(&["copilot system", data.name.or_empty()]);
        let system = &mut self.thread(out.conversation()).system;
        if !system.contains(&key) {
            system.push(key);
        }
        out.node(Node::new(Some(key), Part::Injected, vec![item]));
    }

    fn user(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let typed = data.content.or_empty();
        let sent = data.transformed_content.get().unwrap_or(typed);
        let source = data.source.get().filter(|source| *source != "user");
        if let Some(skill) = source.and_then(|source| source.strip_prefix("skill-")) {
            return self.skill_text(skill, sent, out);
        }
        let own = source.is_none() && data.is_autopilot_continuation != Some(true);
        let mut items = Vec::new();
        let parts = match sent.find(typed).filter(|_| own && !typed.is_empty()) {
            Some(at) => [&sent[..at], typed, &sent[at + typed.len()..]],
            None if own => ["", sent, ""],
            None => [sent, "", ""],
        };
        add_typed(parts, &mut items, out);
        let formula = self.formula(out.conversation());
        // Others are named in the message's text.
        let is_sent = |media: &&Binary<'_>| media.kind.get() == Some("blob");
        for media in data.attachments.iter().filter(is_sent) {
            let item = out.item(Role::User, Kind::Text);
            items.push(media.add_to(item, formula).done());
        }
        let part = if own { Part::Input } else { Part::Injected };
        self.message(part, items, out);
    }

    /// Returns the formula of images. Copilot does not document how it counts them: it is that of the model's maker.
    fn formula(&self, conversation: Conversation) -> Formula {
        let thread = self.threads.get(&conversation);
        match thread.and_then(|thread| thread.model.as_deref()) {
            Some(id) if id.starts_with("claude") => image::claude_formula(id),
            id => image::openai_formula(id.unwrap_or_default(), ""),
        }
    }

    fn skill(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let name = data.name.or_empty();
        *self.skills.entry(name.into()).or_default() += 1;
        self.skill_text(name, data.content.or_empty(), out);
    }

    fn skill_text(&mut self, name: &str, text: &str, out: &mut EventSink<'_>) {
        let time = self.skills.get(name).copied().unwrap_or(0).to_string();
        let item = out.item(Role::Container, Kind::Skill);
        let item = item.tool(Some(name)).text(text).done();
        let key = Key::of_parts(&["copilot skill", name, &time]);
        let thread = self.thread(out.conversation());
        if thread.skills.insert(key) {
            thread.messages.push(key);
        }
        out.node(Node::new(Some(key), Part::Injected, vec![item]));
    }

    fn assistant(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let known = self.thread(out.conversation()).model.as_deref();
        if data.model.get().is_some_and(|id| known != Some(id)) {
            self.model(data.model.get(), out);
        }
        let mut items = Vec::new();
        let hidden = [&data.reasoning_opaque, &data.encrypted_content];
        let hidden: usize = hidden.iter().map(|text| text.or_empty().len()).sum();
        if data.reasoning_text.boxed().is_some() || hidden > 0 {
            let item = out.item(Role::Assistant, Kind::Thinking);
            let item = item.text(data.reasoning_text.or_empty());
            items.push(item.opaque(hidden as u64).done());
        }
        if let Some(text) = data.content.get().filter(|text| !text.is_empty()) {
            items.push(out.text(Role::Assistant, Kind::Text, text));
        }
        for request in &data.tool_requests {
            items.push(self.call(request, out));
        }
        let names = [&data.api_call_id, &data.message_id];
        let name = names.into_iter().find_map(|name| name.get());
        let request = name.map(|name| Key::of_parts(&["copilot", name]));
        let request = request.or(self.event);
        let event = self.event;
        self.thread(out.conversation()).messages.extend(event);
        out.node(Node::output(self.event, request, items));
        if let Some(request) = request {
            self.report(data, request, out);
        }
    }

    fn call(&mut self, request: &Request<'_>, out: &mut EventSink<'_>) -> NewItem {
        if let Some(name) = request.name.get() {
            self.tools.insert(request.tool_call_id.get(), name);
        }
        let (name, id) = (request.name.get(), request.tool_call_id.get());
        match request.arguments {
            // Some models' are a string that holds them.
            Some(arguments) if arguments.get().starts_with('"') => {
                let item = out.tool_call(name, id).text(request.name.or_empty());
                lenient::strings(item, arguments).done()
            }
            arguments => lenient::call(name, id, arguments, out),
        }
    }

    fn result(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let call = data.tool_call_id.get();
        let formula = self.formula(out.conversation());
        let mut item = out.tool_result(self.tools.get(call), call);
        // A failure has no result but a message.
        let outcome = if data.result.0.is_empty() {
            &data.error
        } else {
            &data.result
        };
        for outcome in &outcome.0 {
            let text = outcome.content.get().or(outcome.message.get());
            item = item.text(text.unwrap_or_default());
            let pictures = outcome.binary_results_for_llm.iter();
            item = pictures.fold(item, |item, media| media.add_to(item, formula));
        }
        let item = item.done();
        self.message(Part::Result, vec![item], out);
    }
}

/// Reports the agent's own number for the whole context, where an event of this kind has one.
fn report_size(kind: &'static str, tokens: Option<u64>, out: &mut EventSink<'_>) {
    match tokens.filter(|tokens| *tokens > 0) {
        Some(prompt) => {
            let request = Key::of_number("copilot says", out.place().id());
            out.usage(Usage::estimated(request, prompt));
        }
        None => out.skip(kind),
    }
}

/// Returns the turn of a message, as telemetry names it.
fn turn_of(data: &Data<'_>) -> Option<Key> {
    Some(turn_key(data.interaction_id.get()?, data.turn_id.get()?))
}

#[cfg(test)]
mod tests;
