//! Whose history a rollout is: the thread's own facts, its parent, what was copied from it.

use super::reader::{CodexDecoder, Done, Read, Stamp, push};
use super::wire::{self, SessionMeta, str_of};
use crate::model::event::{Event, Key, Meta, NewItem, Node, Part, Sink};
use crate::model::{Kind, Role};
use jiff::{SignedDuration, Timestamp};
use serde_json::value::RawValue;

/// Lines of a parent's history are stamped with the time at which they were copied into a sub-agent's
/// file, all in a moment; its own first response takes longer than this.
const COPIED_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// Whose history the lines are.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The id of the file's own thread.
    pub(super) id: Option<Box<str>>,
    /// The newest `session_meta`'s id: a fork's file repeats its parent's.
    pub(super) latest: Box<str>,
    pub(super) sub_agent: bool,
    /// The ordinal of a sub-agent's own first line.
    pub(super) own_from: Option<u64>,
    /// When the lines of the parent were copied, while they last.
    pub(super) copied_at: Option<Timestamp>,
}

impl Thread {
    /// Whether a line of a sub-agent's file is its parent's history: spent there, not here.
    pub(super) fn is_copied(&self, stamp: Stamp) -> bool {
        match (self.own_from, stamp.ordinal) {
            (Some(own_from), Some(ordinal)) => ordinal < own_from,
            _ => match (self.copied_at, stamp.at) {
                (Some(copied_at), Some(at)) => at.duration_since(copied_at) <= COPIED_WITHIN,
                _ => false,
            },
        }
    }
}

impl CodexDecoder {
    pub(super) fn session_meta(&mut self, payload: &str, stamp: Stamp, out: &mut Sink<'_>) -> Read {
        let meta: SessionMeta<'_> = serde_json::from_str(payload)?;
        let id = str_of(&meta.id);
        self.thread.latest = id.into();
        let fact = |text: &Option<wire::Text<'_>>| {
            let text = str_of(text);
            (!text.is_empty()).then(|| Box::<str>::from(text))
        };
        match &self.thread.id {
            Some(own) if **own == *id => {
                // Resumed: the folder and the version may have changed.
                self.cwd = fact(&meta.cwd).or(self.cwd.take());
                let meta = Meta {
                    cwd: fact(&meta.cwd),
                    version: fact(&meta.cli_version),
                    ..Meta::default()
                };
                push(out, stamp, Event::Meta(Box::new(meta)));
                return Ok(Done::Read);
            }
            Some(_) => {
                if self.thread.sub_agent {
                    self.thread.copied_at = stamp.at;
                }
                return Ok(Done::Skipped);
            }
            // Begun in the middle of the file: this may be a parent's.
            None if stamp.place.line == 0 => return Ok(Done::Skipped),
            None => {}
        }
        let (parent, title) = lineage(&meta);
        self.thread.id = Some(id.into());
        self.thread.sub_agent = parent.is_some();
        self.thread.own_from = meta.subagent_history_start_ordinal;
        self.cwd = fact(&meta.cwd);
        let facts = Meta {
            id: fact(&meta.id),
            title,
            cwd: fact(&meta.cwd),
            version: fact(&meta.cli_version),
            parent,
            ..Meta::default()
        };
        push(out, stamp, Event::Meta(Box::new(facts)));
        let items = prefix(&meta, out);
        if !items.is_empty() {
            let node = Node {
                key: Some(prefix_key()),
                part: Part::Injected,
                items,
                ..Node::default()
            };
            push(out, stamp, Event::Node(Box::new(node)));
        }
        Ok(Done::Read)
    }
}

/// The node of what stands before all history and stays at every compaction.
pub(super) fn prefix_key() -> Key {
    Key::of("codex prefix")
}

/// The system prompt and the tools that a session's first line holds.
fn prefix(meta: &SessionMeta<'_>, out: &mut Sink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    if let Some(text) = meta
        .base_instructions
        .as_ref()
        .and_then(|b| b.text.as_ref())
    {
        items.push(out.item(Role::Container, Kind::Prompt).text(&text.0).done());
    }
    let tools = meta.dynamic_tools.map(RawValue::get);
    if let Some(tools) = tools.filter(|tools| tools.len() > "null".len()) {
        items.push(out.item(Role::Container, Kind::ToolList).text(tools).done());
    }
    items
}

/// Who started a session, and what kind of sub-agent it is. A fork has a past, not a parent.
fn lineage(meta: &SessionMeta<'_>) -> (Option<Box<str>>, Option<Box<str>>) {
    let origin = meta
        .source
        .and_then(|source| serde_json::from_str::<wire::Origin<'_>>(source.get()).ok())
        .and_then(|origin| origin.subagent);
    let word = origin.and_then(|raw| serde_json::from_str::<wire::Text<'_>>(raw.get()).ok());
    let subagent =
        origin.and_then(|raw| serde_json::from_str::<wire::Subagent<'_>>(raw.get()).ok());
    let (spawn, other) = subagent.map_or((None, None), |sub| (sub.thread_spawn, sub.other));
    let (spawner, name, role) = spawn.map_or((None, None, None), |spawn| {
        (
            spawn.parent_thread_id,
            spawn.agent_nickname,
            spawn.agent_role,
        )
    });
    let first = |texts: [&Option<wire::Text<'_>>; 2]| {
        texts
            .into_iter()
            .map(str_of)
            .find(|text| !text.is_empty())
            .map(Box::<str>::from)
    };
    let name = first([&meta.agent_nickname, &name]);
    let role = first([&meta.agent_role, &role]).or_else(|| first([&other, &word]));
    let title = match (name, role) {
        (Some(name), Some(role)) => Some(format!("{name} ({role})").into()),
        (name, role) => name.or(role),
    };
    (first([&meta.parent_thread_id, &spawner]), title)
}
