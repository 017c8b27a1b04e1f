//! Detects records that refer to others that were not read.

use super::State;
use crate::event::{Event, Key, Parent, Part};
use crate::history::Coverage;

impl State {
    /// Notes whether an event refers to a record that was not read.
    pub(super) fn note_unread(&mut self, event: &Event) {
        if !matches!(self.coverage, Coverage::Tail | Coverage::Epoch) {
            return;
        }
        self.begins_again = match event {
            Event::Reset(_) => false,
            // A log that is continued may repeat what came before a reset, from the first record on.
            Event::Node(node) if !matches!(node.part, Part::Front | Part::Beside) => {
                self.begins_again || node.parent == Parent::Root
            }
            _ => self.begins_again,
        };
        let is_unread = |key: &Key| self.tree.find(*key).is_none();
        self.refers_back |= match event {
            Event::Node(node) => {
                let follows = match &node.parent {
                    // A session may begin with any record, and what is beside the chain follows none.
                    Parent::Key(key) if !self.tree.is_empty() => {
                        matches!(node.part, Part::Front | Part::Beside) || !is_unread(key)
                    }
                    _ => true,
                };
                !follows || (node.turn && self.attribution.strips_unread_thinking())
            }
            Event::BeginningMissing => true,
            Event::Leaf { key, .. } => is_unread(key),
            Event::Rollback { turns } => u64::from(self.turns) < *turns,
            Event::Cleared { nodes, calls, .. } => {
                let items = self.attribution.items_mut();
                let mut has_no_result = |call: &Key| items.results_of(*call).next().is_none();
                nodes.iter().any(is_unread) || calls.iter().any(&mut has_no_result)
            }
            Event::Sent { missing, .. } => missing.iter().any(|item| is_unread(&item.node)),
            _ => false,
        };
    }
}
