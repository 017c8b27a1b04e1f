//! The system prompt and the tools, which pi logs since about 0.80.
//!
//! A `system` message holds sections of the prompt by name and schemas of tools; what is sent are the
//! sections, joined by blank lines (2,601 of 2,601 characters). Later such messages change single
//! sections and tools (`packages/ai/src/utils/transcript.ts`). A compaction holds the whole again.

use super::record::Message;
use decode::openai::Tool;
use model::event::{Event, EventSink, Key, NewItem, Node, Part};
use model::{Kind, Role};
use std::collections::HashSet;

/// The parts that are sent now.
#[derive(Debug, Default)]
pub(super) struct System {
    nodes: HashSet<Key>,
    /// The messages that added to the base prompt, which has no name.
    base: usize,
}

impl System {
    /// Takes a message that changes the system prompt or the tools.
    pub(super) fn change(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) {
        let content = message
            .content
            .0
            .iter()
            .filter_map(|block| block.text.get());
        for text in content.filter(|text| !text.is_empty()) {
            self.base += 1;
            let key = Key::of_number("pi prompt", self.base as u64);
            let item = out.text(Role::Container, Kind::Prompt, text);
            self.put(key, item, out);
        }
        for (name, text) in &message.sections.0 {
            let key = Key::of_parts(&["pi section", name]);
            match text {
                Some(text) => {
                    let item = out.text(Role::Container, Kind::Prompt, text.or_empty());
                    self.put(key, item, out);
                }
                None => self.remove(key, out),
            }
        }
        for tool in &message.tools_removed {
            self.remove(key_of(tool), out);
        }
        for tool in &message.tools_added {
            let item = tool.item(out).tools(1).done();
            self.put(key_of(tool), item, out);
        }
    }

    /// Takes the whole, which stands in place of all before it.
    pub(super) fn replace(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) {
        let old = std::mem::take(&mut self.nodes);
        self.base = 0;
        self.change(message, out);
        let mut gone: Vec<Key> = old.difference(&self.nodes).copied().collect();
        gone.sort_unstable();
        for key in gone {
            out.emit(Event::cleared_node(key));
        }
    }

    fn put(&mut self, key: Key, item: NewItem, out: &mut EventSink<'_>) {
        self.nodes.insert(key);
        out.node(Node::new(Some(key), Part::Front, vec![item]));
    }

    fn remove(&mut self, key: Key, out: &mut EventSink<'_>) {
        if self.nodes.remove(&key) {
            out.emit(Event::cleared_node(key));
        }
    }
}

fn key_of(tool: &Tool<'_>) -> Key {
    Key::of_parts(&["pi tool", tool.name.or_empty()])
}
