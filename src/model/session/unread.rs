//! What the end of a log shows of what comes before it: whether a gauge needs more than was read.

use super::Session;
use crate::event::{Event, Key, Parent, Part};
use crate::history::Coverage;

impl Session {
    /// Whether the output of the newest report was read from its beginning, as far as that shows.
    pub fn has_output_of_report(&self) -> bool {
        let Some(key) = self.anchor().map(|anchor| anchor.key) else {
            return false;
        };
        let mut newest = self.items().iter().rev();
        let is_before = |first| self.chain.live().first().is_some_and(|node| *node < first);
        newest.any(|item| item.output_of == Some(key))
            && self.chain.start_of(key).is_some_and(is_before)
    }

    /// Whether the report before the newest one was read, or the last reset: some logs repeat reports.
    pub fn has_report_before(&self) -> bool {
        self.requests().len() > 1 || !self.resets().is_empty()
    }

    /// Whether all that has left the context since the newest report was read.
    pub fn has_all_that_left(&self) -> bool {
        !self.refers_back
    }

    /// Notes whether an event refers to a record that was not read.
    pub(super) fn note_unread(&mut self, event: &Event) {
        if self.coverage != Coverage::Tail {
            return;
        }
        let is_unread = |key: &Key| self.chain.find(*key).is_none();
        self.refers_back |= match event {
            Event::Node(node) => {
                let follows = match &node.parent {
                    // A session may begin with any record, and what is beside the chain follows none.
                    Parent::Key(key) if !self.chain.is_empty() => {
                        matches!(node.part, Part::Front | Part::Beside) || !is_unread(key)
                    }
                    _ => true,
                };
                !follows || (node.turn && self.ledger.strips_unread_thinking())
            }
            // What leaves with a turn is not all there.
            Event::TurnEnded => !self.ledger.has_turn_of_anchor(),
            Event::BeginningMissing => true,
            Event::Leaf { key, .. } | Event::RewindTo(key) => is_unread(key),
            Event::Rollback { turns } => u64::from(self.turns) < *turns,
            Event::Cleared { nodes, calls } => {
                let items = self.ledger.items_mut();
                let mut has_no_result = |call: &Key| items.results_of(*call).next().is_none();
                nodes.iter().any(is_unread) || calls.iter().any(&mut has_no_result)
            }
            Event::Sent { missing, .. } => missing.iter().any(|item| is_unread(&item.node)),
            _ => false,
        };
    }

    /// Whether its log was read from its beginning, which is that of its conversation.
    pub(crate) fn is_read_from_its_beginning(&self) -> bool {
        self.coverage == Coverage::Whole
            && self.meta.id.is_some()
            && !self.begins_midway
            && !self.ledger.has_no_beginning()
            && self.resets().is_empty()
    }
}
