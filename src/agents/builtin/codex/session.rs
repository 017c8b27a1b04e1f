//! The line with the facts of a thread: its parent, its system prompt, its tools.

use super::reader::CodexDecoder;
use super::thread::prefix_key;
use super::wire::{SessionMeta, Subagent};
use decode::lenient::{self, Raw, Text};
use model::event::{Event, EventSink, Meta, NewItem, Node, Part};
use model::{Kind, Role};

impl CodexDecoder {
    pub(super) fn session_meta(&mut self, payload: Raw<'_>, out: &mut EventSink<'_>) -> Option<()> {
        let meta: SessionMeta<'_> = lenient::value(Some(payload), "payload", out);
        let id = meta.id.or_empty();
        self.price.tier(&meta.service_tier);
        // Of a thread that is read already, these facts may have changed.
        let facts = Meta {
            cwd: meta.cwd.boxed(),
            version: meta.cli_version.boxed(),
            provider: meta.model_provider.boxed(),
            ..Meta::default()
        };
        match &self.thread.id {
            Some(own) if **own == *id => {
                self.thread.repeated = None;
                if self.thread.continues(self.ordinal) {
                    self.begins_at(&meta);
                }
                // Even if nothing changed, the record has been read.
                let changes = facts.changes(&mut self.meta);
                out.emit(Event::Meta(Box::new(changes)));
                return Some(());
            }
            Some(_) => {
                self.thread.repeated = Some(id.into());
                return None;
            }
            // Begun in the middle of the file: this may be a parent's.
            None if out.place().line() == 0 => return None,
            None => {}
        }
        let (parent, title) = lineage(&meta);
        self.thread.id = Some(id.into());
        self.thread.began = out.time();
        self.thread.is_sub_agent = parent.is_some();
        self.begins_at(&meta);
        let facts = Meta {
            id: meta.id.boxed(),
            title,
            parent,
            ..facts
        };
        out.meta(facts.changes(&mut self.meta));
        let items = prefix(&meta, out);
        if !items.is_empty() {
            out.node(Node::new(Some(prefix_key()), Part::Injected, items));
        }
        Some(())
    }

    /// Takes in the number of the first line that is the thread's own, and whether a history comes before.
    fn begins_at(&mut self, meta: &SessionMeta<'_>) {
        let base = meta.history_base.as_ref();
        let inherited = base.and_then(|base| base.end_ordinal_exclusive.0);
        self.thread.expects_base = inherited.is_some();
        self.thread.has_base |= inherited.is_some();
        self.thread.own_from = meta.subagent_history_start_ordinal.0.or(inherited);
    }
}

/// Returns the system prompt and the tools in a session's first line.
fn prefix(meta: &SessionMeta<'_>, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    if let Some(text) = meta.base_instructions.get() {
        items.push(out.text(Role::Container, Kind::Prompt, text));
    }
    if let Some(tools) = meta.dynamic_tools {
        let item = out.item(Role::Container, Kind::ToolList);
        items.push(lenient::tools(item, tools).done());
    }
    items
}

/// Returns the thread that started a session, and the kind of sub-agent it is. A fork has no parent.
fn lineage(meta: &SessionMeta<'_>) -> (Option<Box<str>>, Option<Box<str>>) {
    let origin = meta.source.0.first();
    let subagent = origin.and_then(|origin| origin.subagent.0.first().cloned());
    let Subagent {
        thread_spawn: spawn,
        other: kind,
    } = subagent.unwrap_or_default();
    let name = meta.agent_nickname.boxed().or(spawn.agent_nickname.boxed());
    let roles = [&meta.agent_role, &spawn.agent_role, &kind];
    let title = match (name, roles.into_iter().find_map(Text::boxed)) {
        (Some(name), Some(role)) => Some(format!("{name} ({role})").into()),
        (name, role) => name.or(role),
    };
    let parents = [&meta.parent_thread_id, &spawn.parent_thread_id];
    (parents.into_iter().find_map(Text::boxed), title)
}
