//! Applies a change of the live branch to the items and to the anchor.

use super::Attribution;
use crate::Gone;
use crate::chain::{BranchChange, Chain, NodeIx};
use crate::history::RequestIx;

impl Attribution {
    /// Changes the live branch: items that are no longer on it leave, items that are on it again come back, and the
    /// anchor is the newest request that is still on it.
    pub(crate) fn change_branch(&mut self, change: &BranchChange, why: Gone, chain: &mut Chain) {
        let now = self.requests.len();
        for ix in change.left.iter().flat_map(|node| chain.items(*node)) {
            self.items.leave(ix, why, now);
        }
        for ix in change.joined.iter().flat_map(|node| chain.items(*node)) {
            self.items.come_back(ix, now);
        }
        for node in &change.left {
            self.turns.remove(node);
            if let Some(ix) = self.begun_at(*node, chain) {
                self.anchors.remove(&ix);
            }
        }
        for node in &change.joined {
            if chain.begins_turn(*node) {
                self.turns.insert(*node);
            }
            if let Some(ix) = self.begun_at(*node, chain)
                && self.requests.at(ix).generation == self.generation()
            {
                self.anchors.insert(ix);
            }
        }
        let after = self.resets.last().map_or(0, |reset| reset.request);
        self.anchor = self.anchors.range(after..).next_back().copied();
        if let Some(ix) = self.anchor {
            self.attribute_output(ix, chain);
        }
    }

    /// Returns the request whose output begins with a node.
    fn begun_at(&self, node: NodeIx, chain: &Chain) -> Option<RequestIx> {
        let ix = self.request_of(chain.request_of(node)?)?;
        (self.requests.at(ix).start() == node).then_some(ix)
    }
}
