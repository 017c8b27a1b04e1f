//! The records of the tree, in little memory: a log may have millions.

use super::NodeIx;
use crate::model::event::{Key, Part};
use crate::model::history::ItemIx;
use serde::{Deserialize, Serialize};

/// A record in the tree.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) parent: MaybeNode,
    /// The next node of the same request's output.
    pub(super) next_output: MaybeNode,
    pub(super) part: Part,
    pub(super) request: Option<Key>,
    pub(super) turn: bool,
    /// Set on a reset's node: the nodes that it kept. No other earlier node is in the context.
    pub(super) reset: Option<Box<[NodeIx]>>,
    pub(super) live: bool,
}

/// A node or none, in a quarter of the memory of an `Option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MaybeNode(u32);

impl MaybeNode {
    const NONE: MaybeNode = MaybeNode(u32::MAX);

    pub(super) fn get(self) -> Option<NodeIx> {
        (self != MaybeNode::NONE).then_some(self.0 as NodeIx)
    }
}

impl Default for MaybeNode {
    fn default() -> MaybeNode {
        MaybeNode::NONE
    }
}

impl From<Option<NodeIx>> for MaybeNode {
    fn from(node: Option<NodeIx>) -> MaybeNode {
        let node = node.and_then(|node| u32::try_from(node).ok());
        node.map_or(MaybeNode::NONE, MaybeNode)
    }
}

/// The items of each node, all in one list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Held {
    items: Vec<ItemIx>,
    /// By node: where its items begin in the list, and how many there are.
    ranges: Vec<(u32, u32)>,
}

impl Held {
    pub(super) fn of(&self, node: NodeIx) -> &[ItemIx] {
        let (from, count) = self.ranges.get(node).copied().unwrap_or_default();
        let from = from as usize;
        self.items
            .get(from..from + count as usize)
            .unwrap_or_default()
    }

    /// Adds an item to a node. Items of an older node move to the end of the list.
    pub(super) fn add(&mut self, node: NodeIx, item: ItemIx) {
        if self.ranges.len() <= node {
            self.ranges.resize(node + 1, (0, 0));
        }
        let (from, count) = self.ranges[node];
        let (from, len) = (from as usize, count as usize);
        let end = self.items.len();
        let is_last = from + len == end;
        if !is_last {
            self.items.extend_from_within(from..from + len);
        }
        self.items.push(item);
        let from = if is_last { from } else { end };
        self.ranges[node] = (u32::try_from(from).unwrap_or(u32::MAX), count + 1);
    }
}
