//! Applies a change of the live branch to the items and to the anchor.

use super::Attribution;
use crate::LeaveReason;
use crate::history::NodeIx;
use crate::history::RequestIx;
use crate::history::record_tree::{BranchChange, RecordTree};

impl Attribution {
    /// Changes the live branch: items that are no longer on it leave, items that are on it again come back, and the
    /// anchor is the newest request that is still on it.
    pub(crate) fn change_branch(
        &mut self,
        change: &BranchChange,
        why: LeaveReason,
        tree: &mut RecordTree,
    ) {
        let now = self.requests.len();
        self.forgotten = None;
        for ix in change.left.iter().flat_map(|node| tree.items(*node)) {
            self.items.leave(ix, why, now);
        }
        for ix in change.joined.iter().flat_map(|node| tree.items(*node)) {
            self.items.come_back(ix, now);
        }
        for node in &change.left {
            self.turns.remove(node);
            if let Some(ix) = self.begun_at(*node, tree) {
                self.anchors.remove(&ix);
            }
        }
        for node in &change.joined {
            if tree.begins_turn(*node) {
                self.turns.insert(*node);
            }
            if let Some(ix) = self.begun_at(*node, tree)
                && self.requests[ix].generation == self.generation()
            {
                self.anchors.insert(ix);
            }
        }
        let newest = self.resets.iter().rev().nth(change.undone);
        let after = newest.map_or(0, |reset| reset.request);
        self.anchor = self.anchors.range(after..).next_back().copied();
        if let Some(ix) = self.anchor {
            self.attribute_output(ix, tree);
        }
    }

    /// Returns the request whose output begins with a node.
    fn begun_at(&self, node: NodeIx, tree: &RecordTree) -> Option<RequestIx> {
        let ix = self.request_of(tree.request_of(node)?)?;
        (self.requests[ix].start == node).then_some(ix)
    }
}
