//! Claude Code: `projects/<slug>/<session>.jsonl`, a tree of records, one line a content block.
//!
//! The maker calls the format internal and changeable, so nothing here insists: fields may be missing,
//! types unknown. What was learned of it, and kept in fixtures by name:
//!
//! * One response is several lines, not always next to each other (`responses.rs`); the input side of its usage is
//!   the same on each where the provider reports it, the output rises to the last.
//! * `output_tokens` is real only where some line of the response has a `stop_reason`; in builds up to
//!   2.1.42 and in newer sub-agents it is a placeholder.
//! * With a server-side advisor, `usage` is the sum over `iterations`; the context is the last one of
//!   type `message`.
//! * `isMeta` and `isCompactSummary` records are sent to the model, `toolUseResult` is not.
//! * Synthetic lines (model `<synthetic>`, all-zero usage) are not sent and report nothing.
//! * Sub-agents have files of their own since about 2.1; older files interleave them.

mod attachment;
mod canonical;
mod chosen_models;
mod cleared;
mod command;
mod fork;
mod idle;
mod registry;
mod requests;
mod responses;
mod settings;
mod usage;
mod wire;

use chosen_models::ChosenModels;
use cleared::PendingClearing;
use decode::anthropic::{ToolNames, assistant_items, part_of, user_items};
use decode::lenient::{self, LostFields, Text};
use decode::{damage, image, text};
use fork::Fork;
use formats::{
    ANTHROPIC, Base, Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate,
    StoreKind, Totals, decoder, head,
};
use formats::{about_agent, is_uuid};
use idle::IdleTracker;
use model::event::{
    BilledUsage, Conversation, Event, EventSink, Key, Meta, NewItem, Node, Parent, Part, Reset,
    Usage,
};
use model::{Kind, Role};
use requests::Requests;
use responses::{Ids, Responses};
use std::collections::HashMap;
use std::path::Path;
use wire::{AboutAgent, Record, keys};

/// The format.
pub static CLAUDE_CODE: Format = Format {
    id: "claude-code",
    roots: &[
        Root::home(".claude", "projects").env("CLAUDE_CONFIG_DIR"),
        Root::new(Base::XdgConfig("claude"), "projects").env("CLAUDE_CONFIG_DIR"),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise).kept_in(&fork::store),
    decoder: &decoder::<ClaudeCodeDecoder>,
    reset_marks: &["\"compact_boundary\""],
    usage_marks: usage::MARKS,
    harmless: "summary started result file-history-snapshot file-history-delta queue-operation \
        ai-title custom-title agent-name agent-color mode permission-mode atis-latch pr-link \
        bridge-session tools-used relocated worktree-state frame-link fork-context-ref \
        dev-mods saved_hook_context api-request-resumed continued-in resume-head-vouch observer-ref \
        content-replacement data-flow-records data-flow-incomplete derived-from ended-by-model tag \
        agent-setting artifact-comment-monitor artifact-autoreact-ledger history-suppression \
        attribution-snapshot isolation-latch session-owner memory-mode repl-mode \
        hybrid-organization host-row attachment/hook_success attachment/hook_system_message \
        attachment/hook_cancelled attachment/hook_non_blocking_error attachment/async_hook_response \
        attachment/command_permissions attachment/auto_mode attachment/model attachment/remote_session_change \
        attachment/credential_org system/stop_hook_summary system/turn_duration system/api_error \
        system/away_summary system/informational system/scheduled_task_fire system/bridge_status \
        system/agents_killed system/microcompact_boundary system/snip_boundary \
        system/model_refusal_fallback system/model_refusal_no_fallback system/local_command",
    totals: Totals::new(ANTHROPIC).cached_beside().without_compactions(),
    settings: Some(&settings::SETTINGS),
    beside: FilesBeside {
        states: about_agent,
        registry: Some(&registry::REGISTRY),
        ..FilesBeside::NONE
    },
    ..Format::DEFAULT
};

fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_stem()?.to_str()?;
    if path.extension()? != "jsonl" || name == "journal" || name == "history" {
        return None;
    }
    let folders: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let below = folders.iter().rposition(|part| *part == "subagents");
    // Other names are chosen by somebody.
    let is_id = is_uuid(name) || name.starts_with("agent-");
    Some(Claim {
        id: is_id.then(|| name.to_owned()),
        parent: below
            .and_then(|at| folders.get(at.checked_sub(1)?))
            .map(|id| (*id).to_owned()),
        store: match below {
            Some(_) => StoreKind::Chain(&fork::CHAIN),
            None => StoreKind::Lines,
        },
        ..Claim::LINES
    })
}

fn recognise(head: &[u8]) -> bool {
    let has = |mark: &str| head::has(head, mark);
    head.starts_with(b"{")
        && ((has("\"parentUuid\"") && has("\"sessionId\""))
            || (has("\"leafUuid\"") && has("\"type\":\"summary\""))
            || (has("\"type\":\"file-history-snapshot\"") && has("\"messageId\""))
            || (has("\"type\":\"queue-operation\"") && has("\"sessionId\""))
            || (has("\"type\":\"last-prompt\"") && has("\"sessionId\"")))
}

/// Decodes one file.
#[derive(Default)]
struct ClaudeCodeDecoder {
    tools: ToolNames,
    /// True if the whole file is a sub-agent's. The first record settles it; `None` before.
    of_subagent: Option<bool>,
    /// Conversations of interleaved sub-agents' records, where they give no agent id.
    conversations: HashMap<Key, Conversation>,
    /// The newest facts of each conversation.
    metas: HashMap<Conversation, Meta>,
    responses: Responses,
    /// The history that the file's sub-agent inherits; `None`: it is no fork.
    fork: Option<Fork>,
    /// The newest response and its nodes, if it is thinking alone.
    thoughts: Option<(Key, Vec<Key>)>,
    /// The content of the main conversation's requests, as the log records it.
    requests: Requests,
    /// The tool definitions of the newest snapshot that has any.
    declared: Vec<NewItem>,
    chosen: ChosenModels,
    idle: IdleTracker,
    clearing: PendingClearing,
    /// True if the first prompt was read, or the log is not read from its beginning.
    has_prompt: bool,
}

impl Decoder for ClaudeCodeDecoder {
    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let about: AboutAgent<'_> = lenient::parse(document, &LostFields::default()).ok()?;
        let title = about.description.get().or(about.agent_type.get());
        out.meta(Meta {
            title: title.map(Into::into),
            parent: about.parent.get().map(|id| format!("agent-{id}").into()),
            ..Meta::default()
        });
        Some(StateUpdate::Accepted)
    }

    fn skip_to_end(&mut self, head: &Meta) {
        self.of_subagent = head.id.as_ref().map(|_| head.parent.is_some());
        self.has_prompt = true;
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        if let Some(record) = lenient::object::<Record<'_>>(line, out) {
            out.set_time(record.timestamp.time());
            let ids = [&record.uuid, &record.parent_uuid, &record.agent_id];
            out.set_conversation(self.conversation(ids, record.is_sidechain));
            self.meta(&record, out);
            self.record(&record, out);
        }
    }

    fn read_usage(&mut self, line: &[u8], out: &mut EventSink<'_>) {
        if self.spend(&text(line), out).is_none() {
            self.read_line(&damage::line(line).0, out);
        }
    }

    fn needs(&self, line: &[u8]) -> bool {
        // The records of sub-agents in their parent's file show whose the next ones are.
        match self.of_subagent {
            None => true,
            Some(false) => usage::is_side(line),
            Some(true) => false,
        }
    }
}

impl ClaudeCodeDecoder {
    fn record(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let kind = record.kind.or_empty();
        let parent = record.parent_uuid.key();
        let mut node = Node {
            key: record.uuid.key(),
            parent: parent.map_or(Parent::Root, Parent::Key),
            ..Node::default()
        };
        let is_inherited = self.is_inherited(&record.agent_id);
        match &mut self.fork {
            Some(fork) if is_inherited => fork.note(node.key),
            Some(fork) if node.key.is_some() && parent.is_none() => node.parent = fork.parent(out),
            _ => {}
        }
        let mut usage = None;
        match kind {
            fork::KIND => {
                self.of_subagent = Some(true);
                self.fork = Some(Fork::new(record));
                return out.skip(fork::KIND);
            }
            "user" => self.user(record, &mut node, out),
            "assistant" => usage = self.assistant(record, &mut node, out),
            "attachment" => self.attachment(record, &mut node, out),
            "api-request-shape" => {
                self.tools.with_definitions = true;
                let items = attachment::front(&record.shape.system, &record.shape.tools, out);
                return self.requests.add_shape(record, items, out);
            }
            "api-request-blob" => return self.blob(record, out),
            "api-request" => {
                let known = self.metas.entry(out.conversation()).or_default();
                let model = record.params.model();
                self.tools.images = model.as_deref().map(image::claude_formula);
                let meta = Meta {
                    says_window: Some(true),
                    ..Meta::of_model(model)
                };
                out.meta(meta.changes(known));
                let cache_minutes = record.cache_minutes();
                out.emit(Event::Requested { cache_minutes });
                return self.requests.add_request(record, out);
            }
            "system" if record.subtype.get() == Some("compact_boundary") => {
                return self.compaction(record, out);
            }
            "system" => system(record, &mut node, out),
            "last-prompt" => {
                if let Some(key) = record.leaf_uuid.key() {
                    let rewound = record.rewound == Some(true);
                    out.emit(Event::Leaf { key, rewound });
                }
                out.skip("last-prompt");
            }
            "progress" => {
                usage::bill_progress(record.data, &mut self.responses, out);
                out.skip("progress");
            }
            "cost-state" => {
                self.chosen.costs(record.model_usage, out);
                out.own_cost(None, record.total_cost.0);
                out.skip("cost-state");
            }
            "" => out.unknown("(no type)"),
            other => CLAUDE_CODE.pass_over(other, out),
        }
        match kind {
            "user" if node.items.is_empty() => out.skip("user/not sent"),
            "assistant" if node.items.is_empty() => out.skip("assistant/not sent"),
            _ => {}
        }
        if node.key.is_none() && node.items.is_empty() {
            return;
        }
        if node.key.is_none() && parent.is_none() {
            node.parent = Parent::Previous;
        }
        if out.conversation() == Conversation::Main {
            self.requests.add_record(record, &mut node);
            self.idle.add(node.part, out.time());
            self.clearing.add(&node.items);
        }
        let cut = self.cut_thoughts(record, &node);
        out.node(node);
        out.usage(usage);
        if let Some(nodes) = cut {
            out.emit(Event::cleared(nodes, Vec::new()));
        }
    }

    /// Returns the nodes of a response of thinking alone that was cut: it is not sent again (103,276, 103,339 and
    /// 103,401 were prompts one after the other, with 64,000 of output each).
    fn cut_thoughts(&mut self, record: &Record<'_>, node: &Node) -> Option<Vec<Key>> {
        let (request, key) = (node.request?, node.key?);
        let is_thinking = |item: &NewItem| item.kind == Kind::Thinking;
        let nodes = match self.thoughts.take() {
            Some((of, nodes)) if of == request => nodes,
            _ => Vec::new(),
        };
        if node.items.is_empty() || !node.items.iter().all(is_thinking) {
            return None;
        }
        let nodes: Vec<Key> = nodes.into_iter().chain([key]).collect();
        if record.message.stop_reason.get() == Some("max_tokens") {
            return Some(nodes);
        }
        self.thoughts = Some((request, nodes));
        None
    }

    /// Returns true if a fork has this record from the session that it was forked from.
    pub(super) fn is_inherited(&self, agent: &Text<'_>) -> bool {
        self.fork.is_some() && agent.get().is_none()
    }

    fn attachment(&mut self, record: &Record<'_>, node: &mut Node, out: &mut EventSink<'_>) {
        let Some(snapshot) = attachment::snapshot(record) else {
            if !attachment::read(record, node, out) {
                CLAUDE_CODE.pass_over(&record.attachment_name(), out);
            }
            return;
        };
        // The requests of newer versions contain it.
        if self.requests.shape.is_some() {
            return out.skip(record.attachment_name());
        }
        let mut items = attachment::front(&snapshot.system_prompt, &snapshot.tools, out);
        // A snapshot without tools is of the system prompt alone.
        let tools = items.iter().filter(|item| item.kind == Kind::ToolList);
        let tools: Vec<NewItem> = tools.cloned().collect();
        if tools.is_empty() {
            items.extend(self.declared.iter().cloned());
        } else {
            self.declared = tools;
        }
        out.node(requests::front(items));
    }

    /// Takes in a message of a request, written apart.
    fn blob(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let content = &record.message.content.value;
        let items = match record.message.role.get() {
            Some("assistant") => assistant_items(content, &mut self.tools, out),
            _ => user_items(content, Role::User, Kind::Text, &self.tools, out),
        };
        if let Some(hash) = record.hash.key() {
            self.requests.add_message(hash, items, out);
        }
    }

    /// Returns the conversation a record belongs to, by the ids of the record, of its parent and of its agent, and by
    /// its mark of a sub-agent. A file that begins with a sub-agent's record is that sub-agent's own.
    fn conversation(
        &mut self,
        [own, parent, agent]: [&Text<'_>; 3],
        is_sidechain: Option<bool>,
    ) -> Conversation {
        let Some(key) = own.key() else {
            return Conversation::Main;
        };
        let is_subagents = is_sidechain == Some(true);
        let of_subagent = *self.of_subagent.get_or_insert(is_subagents);
        if !is_subagents || of_subagent {
            return Conversation::Main;
        }
        let inherited = || self.conversations.get(&parent.key()?).copied();
        let conversation = match agent.key() {
            Some(agent) => Conversation::Side(agent),
            None => inherited().unwrap_or(Conversation::Side(key)),
        };
        self.conversations.insert(key, conversation);
        conversation
    }

    /// Emits what a record contains about its session, where that is new.
    fn meta(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let title = match record.kind.or_empty() {
            _ if self.is_inherited(&record.agent_id) => &Text(None),
            "custom-title" => &record.custom_title,
            "ai-title" => &record.ai_title,
            "summary" => &record.summary,
            _ => &Text(None),
        };
        let (id, parent) =
            if self.of_subagent != Some(true) && out.conversation() == Conversation::Main {
                (&record.session_id, &Text(None))
            } else {
                (&record.agent_id, &record.session_id)
            };
        let known = self.metas.entry(out.conversation()).or_default();
        if let Some(version) = record.version.get() {
            self.requests.version(version);
        }
        let meta = Meta {
            id: id.boxed_if_changed(&known.id),
            parent: parent.boxed_if_changed(&known.parent),
            title: title.boxed_if_changed(&known.title),
            cwd: record.cwd.boxed_if_changed(&known.cwd),
            version: record.version.boxed_if_changed(&known.version),
            attended: record.attended(),
            ..Meta::default()
        };
        out.meta(meta.changes(known));
    }

    fn user(&mut self, record: &Record<'_>, node: &mut Node, out: &mut EventSink<'_>) {
        let is_summary = record.is_compact_summary == Some(true);
        let unsent = record.is_virtual == Some(true)
            || record.is_display_only == Some(true)
            || (record.is_visible_in_transcript_only == Some(true) && !is_summary);
        if unsent {
            return;
        }
        let origin = record.origin.get();
        let (role, kind) = if is_summary {
            (Role::Container, Kind::Summary)
        } else if record.source_tool_use_id.get().is_some() {
            (Role::Container, Kind::Skill)
        } else if record.is_meta == Some(true) || origin.is_some_and(|kind| kind != "human") {
            (Role::Container, Kind::Reminder)
        } else {
            (Role::User, Kind::Text)
        };
        if role == Role::User && !self.has_prompt {
            self.name_by_command(record, out);
        }
        node.items = user_items(&record.message.content.value, role, kind, &self.tools, out);
        node.part = part_of(&node.items);
        node.turn = node.part == Part::Input;
    }

    /// Names the session by the command that it begins with: the tags and the name before its arguments fill the preview
    /// that names other sessions.
    fn name_by_command(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let mut blocks = record.message.content.value.0.iter();
        let Some(text) = blocks.find_map(|block| block.text.get()) else {
            return;
        };
        self.has_prompt = !text.trim_start().starts_with('<');
        if let Some(command) = command::typed(text) {
            self.has_prompt = command.contains(' ');
            out.meta(Meta {
                prompt: Some(command.into()),
                ..Meta::default()
            });
        }
    }

    fn assistant(
        &mut self,
        record: &Record<'_>,
        node: &mut Node,
        out: &mut EventSink<'_>,
    ) -> Option<Usage> {
        let message = &record.message;
        if usage::is_synthetic(message.model.get(), record.is_api_error_message) {
            return None;
        }
        let ids = Ids {
            message: &message.id,
            request: &record.request_id,
            record: &record.uuid,
            parent: &record.parent_uuid,
        };
        let context = message.usage.as_ref().map(|usage| usage.context().billed());
        let request = self.responses.key_of(&ids, context)?;
        if out.conversation() == Conversation::Main {
            self.clearing.answer(&message.context_management, out);
        }
        node.part = Part::Output;
        node.request = Some(request);
        node.items = assistant_items(&message.content.value, &mut self.tools, out);
        let is_inherited = self.is_inherited(&record.agent_id);
        if !is_inherited {
            usage::bill_iterations(request, message.usage.as_ref(), out);
        }
        let is_long = self.requests.is_long(&record.request_ref);
        let model = self
            .chosen
            .name(&message.model, &record.request_ref, is_long);
        if let Some(model) = &model {
            self.tools.images = Some(image::claude_formula(model));
        }
        let report = message.usage.as_ref().zip(context);
        let report = report.filter(|(_, context)| self.responses.is_report(context));
        let Some((usage, context)) = report else {
            // Gateways report zeros: the model is named all the same.
            out.meta(Meta::of_model(model));
            return None;
        };
        let is_final = message.stop_reason.get().is_some();
        let output = usage.context().output_tokens.0;
        Some(Usage {
            model,
            cached: context.cache_read,
            miss: message.miss.reported(),
            output: output.filter(|_| is_final),
            reasoning: usage.thinking_tokens.0.filter(|_| is_final),
            // Inherited responses are billed in the session that they are from.
            billed: if is_inherited {
                BilledUsage::default()
            } else {
                usage.billed()
            },
            is_inherited,
            is_whole: self.requests.is_whole(&record.request_ref),
            ..Usage::reported(request, context.prompt())
        })
    }

    fn compaction(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let metadata = &record.compact_metadata;
        let kept = metadata.kept();
        if out.conversation() == Conversation::Main {
            self.requests.compact(&kept);
            self.clearing = PendingClearing::default();
        }
        let cause = self.idle.cause(metadata, out.time());
        out.reset(Reset {
            key: record.uuid.key(),
            // Its number after, `postTokens`, leaves out the system prompt, the tools and what is restored.
            before: metadata.pre_tokens.0,
            ..Reset::compaction(cause, kept)
        });
    }
}

/// Reads a system record that is no compaction.
fn system(record: &Record<'_>, node: &mut Node, out: &mut EventSink<'_>) {
    let subtype = record.subtype.or_empty();
    let cleared = match subtype {
        "microcompact_boundary" => {
            let metadata = &record.microcompact_metadata;
            Some((&metadata.attachments[..], &metadata.tool_ids[..]))
        }
        "snip_boundary" => Some((&record.snipped[..], &[][..])),
        "model_refusal_fallback" => Some((&record.retracted_message_uuids[..], &[][..])),
        _ => None,
    };
    if let Some((nodes, calls)) = cleared {
        out.emit(Event::cleared(keys(nodes), keys(calls)));
    }
    // Sent as a user message, though it is no user record; what `/context` and the like print is not.
    if subtype == "local_command" && record.is_display_only != Some(true) {
        let content = lenient::value(record.content, "content", out);
        let (role, kind) = (Role::Container, Kind::Reminder);
        node.items = user_items(&content, role, kind, &ToolNames::default(), out);
        node.part = part_of(&node.items);
    }
    if node.items.is_empty() {
        CLAUDE_CODE.pass_over(&format!("system/{subtype}"), out);
    }
}

#[cfg(test)]
mod tests;
