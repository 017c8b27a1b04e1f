//! The system prompt and the tools, which pi logs since about 0.80.
//!
//! A `system` message holds sections of the prompt by name and schemas of tools; what is sent are the
//! sections, joined by blank lines (2,601 of 2,601 characters). Later such messages change single
//! sections and tools (`packages/ai/src/utils/transcript.ts`). A compaction holds the whole again.

use super::record::{Message, Tool};
use crate::agents::lenient::Piece;
use crate::model::event::{Event, Key, NewItem, Node, Parent, Part, Sink};
use crate::model::{Kind, Role};
use std::collections::HashMap;

/// The nodes of the parts that are sent now, by kind and name.
#[derive(Debug, Default)]
pub(super) struct System {
    nodes: HashMap<(Kind, Box<str>), Key>,
    made: u64,
}

impl System {
    /// Takes a message that changes the system prompt or the tools. The first node has this parent, each
    /// other follows the one before it.
    pub(super) fn change(&mut self, message: &Message<'_>, parent: Parent, out: &mut Sink<'_>) {
        let mut parts: Vec<(Kind, Box<str>, Option<NewItem>)> = Vec::new();
        let content = message.content.0.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(&**text),
            Piece::Part(block) => block.text.get(),
        });
        for text in content.filter(|text| !text.is_empty()) {
            // The base prompt has no name: what comes later is added to it.
            let item = out.item(Role::Container, Kind::Prompt).text(text).done();
            parts.push((Kind::Prompt, format!(" {}", self.made).into(), Some(item)));
        }
        for (name, text) in &message.sections.0 {
            let item = text.as_ref().map(|text| {
                let item = out.item(Role::Container, Kind::Prompt);
                item.text(text.or_empty()).done()
            });
            parts.push((Kind::Prompt, name.clone(), item));
        }
        let removed = message.tools_removed.iter();
        parts.extend(removed.map(|tool| (Kind::ToolList, tool.name.or_empty().into(), None)));
        for tool in &message.tools_added {
            let item = schema(tool, out);
            parts.push((Kind::ToolList, tool.name.or_empty().into(), Some(item)));
        }
        let mut parent = parent;
        for (kind, name, item) in parts {
            if let Some(old) = self.nodes.remove(&(kind, name.clone())) {
                out.emit(Event::cleared_node(old));
            }
            let Some(item) = item else {
                continue;
            };
            self.made += 1;
            let key = Key::of_number("pi system", self.made);
            out.node(Node {
                parent: std::mem::take(&mut parent),
                ..Node::new(Some(key), Part::Injected, vec![item])
            });
            self.nodes.insert((kind, name), key);
        }
    }

    /// Takes the whole, which stands in place of all before it.
    pub(super) fn replace(&mut self, message: &Message<'_>, out: &mut Sink<'_>) {
        let nodes = self.nodes.drain().map(|(_, node)| node).collect();
        let calls = Vec::new();
        out.emit(Event::Cleared { nodes, calls });
        self.change(message, Parent::Previous, out);
    }
}

/// A tool as the model gets it.
fn schema(tool: &Tool<'_>, out: &mut Sink<'_>) -> NewItem {
    let item = out.item(Role::Container, Kind::ToolList);
    let item = item.tool(tool.name.get()).text(tool.name.or_empty());
    let item = item.text(tool.description.or_empty());
    match tool.parameters {
        Some(parameters) => item.text(parameters.get()).done(),
        None => item.done(),
    }
}
