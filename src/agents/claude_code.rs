//! Claude Code: `projects/<slug>/<session>.jsonl`, a tree of records, one line a content block.
//!
//! The maker calls the format internal and changeable, so nothing here insists: fields may be missing,
//! types unknown. What was learned of it, and kept in fixtures by name:
//!
//! * One response is several lines of one `message.id`, not always next to each other; the input side
//!   of its usage is the same on each, the output rises to the last.
//! * `output_tokens` is real only where some line of the response has a `stop_reason`; in builds up to
//!   2.1.42 and in newer sub-agents it is a placeholder.
//! * With a server-side advisor, `usage` is the sum over `iterations`; the context is the last one of
//!   type `message`.
//! * `isMeta` and `isCompactSummary` records are sent to the model, `toolUseResult` is not.
//! * Synthetic lines (model `<synthetic>`, all-zero usage) are not sent and report nothing.
//! * Sub-agents have files of their own since about 2.1; older files interleave them.

mod attachment;
pub(super) mod content;
mod settings;
mod wire;

use super::{Base, Claim, Decoder, Facts, Format, Input, Root, decoder, facts, head};
use crate::model::event::{
    Billed, Event, Kept, Key, Lane, Meta, NewItem, Node, Parent, Part, Place, Reset, Sink, Usage,
};
use crate::model::{Gone, Kind, Role, Source};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use wire::{CompactMetadata, Message, Microcompact, Origin, RawUsage, Record, Snip};

/// The format.
pub static CLAUDE_CODE: Format = Format {
    id: "claude-code",
    label: "claude",
    roots: &[
        Root::home(".claude", "projects").env("CLAUDE_CONFIG_DIR"),
        Root::new(Base::XdgConfig("claude"), "projects").env("CLAUDE_CONFIG_DIR"),
    ],
    facts: Facts {
        mark: "`parentUuid` beside `sessionId`",
        live: facts::EACH_LINE,
        known: "prompts, outputs",
        estimated: "outputs of builds that log a placeholder (up to 2.1.42, newer sub-agents)",
        sub_agents: "in files of their own; in the main file of older versions",
        compactions: "yes, micro-compactions too",
        tried: "2.1.38 to 2.1.219",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<ClaudeCodeDecoder>,
    reset_marks: &["\"compact_boundary\""],
    terms: &[
        ("input", |b: &Billed| b.input),
        ("cache_creation", |b: &Billed| b.cache_creation),
        ("cache_read", |b: &Billed| b.cache_read),
        ("output", |b: &Billed| b.output),
    ],
    settings: Some(&settings::SETTINGS),
    ..Format::DEFAULT
};

fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_stem()?.to_str()?;
    if path.extension()? != "jsonl" || name == "journal" || name == "history" {
        return None;
    }
    let folders: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let below = folders.iter().rposition(|part| *part == "subagents");
    Some(Claim {
        id: is_id(name).then(|| name.to_owned()),
        parent: below
            .and_then(|at| folders.get(at.checked_sub(1)?))
            .map(|id| (*id).to_owned()),
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

/// Whether a file's name is a session's or a sub-agent's id, rather than one that somebody chose.
fn is_id(name: &str) -> bool {
    let uuid = name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    uuid || name.starts_with("agent-")
}

/// Reads one file.
#[derive(Default)]
struct ClaudeCodeDecoder {
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
    /// Whether the whole file is a sub-agent's; settled by its first record.
    of_subagent: Option<bool>,
    /// Lanes of interleaved sub-agents' records, where they give no agent id.
    lanes: HashMap<Key, Lane>,
    /// What was last said of each lane.
    said: HashMap<Lane, Meta>,
    /// Compactions so far, to tell the prompt snapshots of epochs apart.
    epoch: u64,
}

impl Decoder for ClaudeCodeDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let Input::Line(place, bytes) = input else {
            return;
        };
        match serde_json::from_slice::<Record<'_>>(bytes) {
            Ok(record) => self.record(&record, place, out),
            Err(error) => {
                let why = format!("not a JSON record: {error}");
                out.push(Lane::Main, place, None, Event::Unreadable(why.into()));
            }
        }
    }
}

impl ClaudeCodeDecoder {
    fn record(&mut self, record: &Record<'_>, place: Place, out: &mut Sink<'_>) {
        let at = record.timestamp.and_then(|raw| {
            let text: Cow<'_, str> = serde_json::from_str(raw.get()).ok()?;
            text.parse::<Timestamp>().ok()
        });
        let lane = self.lane(record);
        let kind = record.kind.as_deref().unwrap_or("");
        self.meta(record, lane, place, at, out);

        let skip = |name: String, out: &mut Sink<'_>| {
            out.push(lane, place, at, Event::Skipped(name.into()));
        };
        let mut node = Node {
            key: record.uuid.as_deref().map(Key::of),
            parent: record
                .parent_uuid
                .as_deref()
                .map_or(Parent::Root, |id| Parent::Key(Key::of(id))),
            ..Node::default()
        };
        let mut usage = None;
        match kind {
            "user" => self.user(record, &mut node, out),
            "assistant" => usage = self.assistant(record, &mut node, out),
            "attachment" => {
                if !attachment::read(record, &mut node, self.epoch, out) {
                    skip(attachment::name(record), out);
                }
            }
            "system" => {
                let subtype = record.subtype.as_deref().unwrap_or("");
                if self.system(record, subtype, lane, place, at, &mut node, out) {
                    return;
                }
                if node.items.is_empty() {
                    skip(format!("system/{subtype}"), out);
                }
            }
            "last-prompt" => {
                if let Some(leaf) = record.leaf_uuid.as_deref() {
                    let leaf = Event::Leaf {
                        key: Key::of(leaf),
                        rewound: record.rewound == Some(true),
                    };
                    out.push(lane, place, at, leaf);
                }
                skip(kind.to_owned(), out);
            }
            "" => skip("(no type)".to_owned(), out),
            other => skip(other.to_owned(), out),
        }
        if matches!(kind, "user" | "assistant") && node.items.is_empty() {
            skip(format!("{kind}/not sent"), out);
        }
        if node.key.is_none() && node.items.is_empty() {
            return;
        }
        if node.key.is_none() && record.parent_uuid.is_none() {
            node.parent = Parent::Previous;
        }
        out.push(lane, place, at, Event::Node(Box::new(node)));
        if let Some(usage) = usage {
            out.push(lane, place, at, Event::Usage(Box::new(usage)));
        }
    }

    /// The conversation a record belongs to. A file that begins with a sub-agent's record is that
    /// sub-agent's own.
    fn lane(&mut self, record: &Record<'_>) -> Lane {
        let Some(uuid) = record.uuid.as_deref() else {
            return Lane::Main;
        };
        let side = record.is_sidechain == Some(true);
        let of_subagent = *self.of_subagent.get_or_insert(side);
        if !side || of_subagent {
            return Lane::Main;
        }
        let lane = match record.agent_id.as_deref() {
            Some(agent) => Lane::Side(Key::of(agent)),
            None => {
                let parent = record.parent_uuid.as_deref().map(Key::of);
                let inherited = parent.and_then(|key| self.lanes.get(&key)).copied();
                inherited.unwrap_or_else(|| Lane::Side(Key::of(uuid)))
            }
        };
        self.lanes.insert(Key::of(uuid), lane);
        lane
    }

    /// Says what a record tells of its session, where that is new.
    fn meta(
        &mut self,
        record: &Record<'_>,
        lane: Lane,
        place: Place,
        at: Option<Timestamp>,
        out: &mut Sink<'_>,
    ) {
        let own = self.of_subagent != Some(true) && lane == Lane::Main;
        let title = match record.kind.as_deref() {
            Some("custom-title") => record.custom_title.as_deref(),
            Some("ai-title") => record.ai_title.as_deref(),
            Some("summary") => record.summary.as_deref(),
            _ => None,
        };
        let (id, parent) = if own {
            (record.session_id.as_deref(), None)
        } else {
            (record.agent_id.as_deref(), record.session_id.as_deref())
        };
        let said = self.said.entry(lane).or_default();
        let mut news = Meta::default();
        let say = |last: &mut Option<Box<str>>, now: Option<&str>| -> Option<Box<str>> {
            let now = now.filter(|now| last.as_deref() != Some(*now))?;
            *last = Some(now.into());
            Some(now.into())
        };
        news.id = say(&mut said.id, id);
        news.parent = say(&mut said.parent, parent);
        news.title = say(&mut said.title, title);
        news.cwd = say(&mut said.cwd, record.cwd.as_deref());
        news.version = say(&mut said.version, record.version.as_deref());
        if news != Meta::default() {
            out.push(lane, place, at, Event::Meta(Box::new(news)));
        }
    }

    fn user(&mut self, record: &Record<'_>, node: &mut Node, out: &mut Sink<'_>) {
        let unsent = record.is_virtual == Some(true)
            || (record.is_visible_in_transcript_only == Some(true)
                && record.is_compact_summary != Some(true));
        let message = record
            .message
            .and_then(|raw| serde_json::from_str::<Message<'_>>(raw.get()).ok());
        let Some(content) = message.as_ref().and_then(|m| m.content).filter(|_| !unsent) else {
            return;
        };
        let typed = record.origin.is_none_or(|raw| {
            serde_json::from_str::<Origin<'_>>(raw.get())
                .ok()
                .and_then(|origin| origin.kind.map(|kind| kind == "human"))
                .unwrap_or(true)
        });
        let (role, kind) = if record.is_compact_summary == Some(true) {
            (Role::Container, Kind::Summary)
        } else if record.source_tool_use_id.is_some() {
            (Role::Container, Kind::Skill)
        } else if record.is_meta == Some(true) || !typed {
            (Role::Container, Kind::Reminder)
        } else {
            (Role::User, Kind::Text)
        };
        node.items = content::user_items(content, role, kind, &self.tools, out);
        node.part = part_of(&node.items);
        node.turn = node.part == Part::Input;
    }

    fn assistant(
        &mut self,
        record: &Record<'_>,
        node: &mut Node,
        out: &mut Sink<'_>,
    ) -> Option<Usage> {
        let message: Message<'_> = serde_json::from_str(record.message?.get()).ok()?;
        let model = message.model.as_deref().unwrap_or("");
        if model == "<synthetic>" || record.is_api_error_message == Some(true) {
            return None;
        }
        let request = Key::of(
            message
                .id
                .as_deref()
                .or(record.request_id.as_deref())
                .or(record.uuid.as_deref())?,
        );
        node.part = Part::Output;
        node.request = Some(request);
        if let Some(content) = message.content {
            node.items = content::assistant_items(content, &mut self.tools, out);
        }
        let raw: RawUsage = serde_json::from_str(message.usage?.get()).ok()?;
        let (prompt, cached, output) = raw.context();
        if prompt == 0 {
            return None;
        }
        Some(Usage {
            request,
            model: (!model.is_empty()).then(|| model.into()),
            prompt,
            cached,
            output: message.stop_reason.is_some().then_some(output),
            reasoning: raw.thinking().filter(|_| message.stop_reason.is_some()),
            source: Source::Reported,
            billed: raw.billed(),
        })
    }

    /// Reads a system record. Returns whether it has been told already, node and all.
    #[allow(clippy::too_many_arguments)]
    fn system(
        &mut self,
        record: &Record<'_>,
        subtype: &str,
        lane: Lane,
        place: Place,
        at: Option<Timestamp>,
        node: &mut Node,
        out: &mut Sink<'_>,
    ) -> bool {
        match subtype {
            "compact_boundary" => {
                self.epoch += 1;
                let meta: CompactMetadata = parsed(record.compact_metadata);
                let reset = Reset {
                    key: node.key,
                    gone: Gone::Compaction,
                    cause: meta.trigger.as_deref().unwrap_or("unknown").into(),
                    before: meta.pre_tokens.0,
                    after: meta.post_tokens.0,
                    kept: kept(meta),
                };
                out.push(lane, place, at, Event::Reset(Box::new(reset)));
                return true;
            }
            "microcompact_boundary" => {
                let meta: Microcompact = parsed(record.microcompact_metadata);
                out.push(lane, place, at, cleared(&meta.attachments, &meta.tool_ids));
            }
            "snip_boundary" => {
                let meta: Snip = parsed(record.snip_metadata);
                out.push(lane, place, at, cleared(&meta.removed_uuids, &[]));
            }
            "model_refusal_fallback" => {
                let retracted = record.retracted_message_uuids.iter().flatten();
                let nodes = retracted.map(|id| Key::of(id)).collect();
                let calls = Vec::new();
                out.push(lane, place, at, Event::Cleared { nodes, calls });
            }
            // Sent as a user message, though it is no user record.
            "local_command" => {
                if let Some(content) = record.content {
                    let tools = HashMap::new();
                    node.items =
                        content::user_items(content, Role::Container, Kind::Reminder, &tools, out);
                    node.part = part_of(&node.items);
                }
            }
            _ => {}
        }
        false
    }
}

fn parsed<T: Default + for<'de> Deserialize<'de>>(raw: Option<&RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

fn kept(meta: CompactMetadata) -> Kept {
    let messages = meta.preserved_messages.unwrap_or_default();
    if let Some(ids) = messages.all_uuids.or(messages.uuids) {
        return Kept::Nodes(ids.iter().map(|id| Key::of(id)).collect());
    }
    let segment = meta.preserved_segment.unwrap_or_default();
    segment.head_uuid.map_or(Kept::Nothing, |head| Kept::Range {
        first: Key::of(&head),
        last: segment.tail_uuid.map(|id| Key::of(&id)),
    })
}

fn cleared(nodes: &[String], calls: &[String]) -> Event {
    Event::Cleared {
        nodes: nodes.iter().map(|id| Key::of(id)).collect(),
        calls: calls.iter().map(|id| Key::of(id)).collect(),
    }
}

/// What part of the exchange a user record is: results hang beside the chain, a person's words begin
/// a turn, the rest was put in by the harness.
fn part_of(items: &[NewItem]) -> Part {
    if items.iter().any(|item| item.kind == Kind::ToolResult) {
        Part::Result
    } else if items.iter().any(|item| item.role == Role::User) {
        Part::Input
    } else if items.is_empty() {
        Part::Link
    } else {
        Part::Injected
    }
}

#[cfg(test)]
mod tests;
