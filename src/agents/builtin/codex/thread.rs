//! The thread that a rollout belongs to: its facts, its parent, the lines that were copied from the
//! parent.

use super::reader::CodexDecoder;
use super::wire::SessionMeta;
use jiff::{SignedDuration, Timestamp};
use kit::lenient::{self, Piece, Raw, Text};
use model::event::{Event, Key, Meta, NewItem, Node, Part, Sink};
use model::{Kind, Role};

/// Lines of a parent's history have the time at which they were copied into a sub-agent's file, all in
/// a moment; its own first response takes longer than this.
const COPIED_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// The thread of a rollout.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The id of the file's own thread.
    pub(super) id: Option<Box<str>>,
    /// The newest `session_meta`'s id: a fork's file repeats its parent's.
    pub(super) latest: Box<str>,
    is_sub_agent: bool,
    /// The ordinal of the own first line of a sub-agent or a fork.
    own_from: Option<u64>,
    /// Whether the lines of the rollout that this one continues should follow.
    expects_base: bool,
    /// When the parent's lines were copied, if the last `session_meta` was a parent's.
    copied_at: Option<Timestamp>,
}

impl Thread {
    /// Whether the rollout that this one continues was not found. True once, at the line after the first.
    pub(super) fn lacks_base(&mut self, ordinal: Option<u64>) -> bool {
        std::mem::take(&mut self.expects_base)
            && self
                .own_from
                .zip(ordinal)
                .is_none_or(|(own, line)| line >= own)
    }

    /// Whether a line is the history of the thread that this one was forked from or started by.
    pub(super) fn is_copied(&self, ordinal: Option<u64>, time: Option<Timestamp>) -> bool {
        match (self.own_from, ordinal) {
            (Some(own_from), Some(ordinal)) => ordinal < own_from,
            _ => match (self.copied_at, time) {
                (Some(copied_at), Some(time)) => time.duration_since(copied_at) <= COPIED_WITHIN,
                _ => false,
            },
        }
    }
}

impl CodexDecoder {
    pub(super) fn session_meta(&mut self, payload: Raw<'_>, out: &mut Sink<'_>) -> Option<()> {
        let meta: SessionMeta<'_> = lenient::value(Some(payload), "payload", out);
        let id = meta.id.or_empty();
        self.thread.latest = id.into();
        match &self.thread.id {
            Some(own) if **own == *id => {
                // Resumed: the folder and the version may have changed.
                let facts = Meta {
                    cwd: meta.cwd.boxed(),
                    version: meta.cli_version.boxed(),
                    ..Meta::default()
                };
                // Even if nothing changed, the record has been read.
                let changes = facts.changes(&mut self.meta);
                out.emit(Event::Meta(Box::new(changes)));
                return Some(());
            }
            Some(_) => {
                if self.thread.is_sub_agent {
                    self.thread.copied_at = out.time();
                }
                return None;
            }
            // Begun in the middle of the file: this may be a parent's.
            None if out.place().line == 0 => return None,
            None => {}
        }
        let (parent, title) = lineage(&meta);
        self.thread.id = Some(id.into());
        self.thread.is_sub_agent = parent.is_some();
        let base = meta.history_base.as_ref();
        let inherited = base.and_then(|base| base.end_ordinal_exclusive.0);
        self.thread.expects_base = inherited.is_some();
        self.thread.own_from = meta.subagent_history_start_ordinal.0.or(inherited);
        let facts = Meta {
            id: meta.id.boxed(),
            title,
            cwd: meta.cwd.boxed(),
            version: meta.cli_version.boxed(),
            parent,
            ..Meta::default()
        };
        out.meta(facts.changes(&mut self.meta));
        let items = prefix(&meta, out);
        if !items.is_empty() {
            out.node(Node::new(Some(prefix_key()), Part::Injected, items));
        }
        Some(())
    }
}

/// The node that precedes the history and is kept by every compaction.
pub(super) fn prefix_key() -> Key {
    Key::of("codex prefix")
}

/// The system prompt and the tools in a session's first line.
fn prefix(meta: &SessionMeta<'_>, out: &mut Sink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    if let Some(text) = meta.base_instructions.text.get() {
        items.push(out.text(Role::Container, Kind::Prompt, text));
    }
    if let Some(tools) = meta.dynamic_tools {
        let item = out.item(Role::Container, Kind::ToolList);
        items.push(
            item.tools(lenient::tool_count(tools.get()))
                .text(tools.get())
                .done(),
        );
    }
    items
}

/// The thread that started a session, and the kind of sub-agent it is. A fork has no parent.
fn lineage(meta: &SessionMeta<'_>) -> (Option<Box<str>>, Option<Box<str>>) {
    let origin = match &meta.source {
        Some(Piece::Part(origin)) => origin.subagent.clone(),
        _ => None,
    };
    let (spawn, kind) = match origin {
        Some(Piece::Part(subagent)) => (subagent.thread_spawn, subagent.other),
        Some(Piece::Text(word)) => (Default::default(), Text(Some(word))),
        None => Default::default(),
    };
    let name = meta.agent_nickname.boxed().or(spawn.agent_nickname.boxed());
    let roles = [&meta.agent_role, &spawn.agent_role, &kind];
    let title = match (name, roles.into_iter().find_map(Text::boxed)) {
        (Some(name), Some(role)) => Some(format!("{name} ({role})").into()),
        (name, role) => name.or(role),
    };
    let parents = [&meta.parent_thread_id, &spawn.parent_thread_id];
    (parents.into_iter().find_map(Text::boxed), title)
}
