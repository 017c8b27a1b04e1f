//! The records of the tree, in little memory: a log may have millions.

use super::NodeIx;
use crate::event::{Key, Part};
use crate::history::ItemIx;
use crate::small::{MaybeIx, short};
use serde::{Deserialize, Serialize};

/// A record in the tree.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) parent: MaybeIx,
    /// The next node of the same request's output.
    pub(super) next_output: MaybeIx,
    pub(super) part: Part,
    pub(super) request: Option<Key>,
    pub(super) turn: bool,
    /// Whether it is a reset's.
    pub(super) reset: bool,
    pub(super) live: bool,
}

/// The items of each node, all in one list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Held {
    items: Vec<u32>,
    /// By node: where its items begin in the list, and how many there are.
    ranges: Vec<(u32, u32)>,
}

impl Held {
    pub(super) fn of(&self, node: NodeIx) -> impl DoubleEndedIterator<Item = ItemIx> + '_ {
        let (from, count) = self.ranges.get(node).copied().unwrap_or_default();
        let from = from as usize;
        let items = self.items.get(from..from + count as usize);
        items.unwrap_or_default().iter().map(|ix| *ix as ItemIx)
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
        self.items.push(short(item));
        let from = if is_last { from } else { end };
        self.ranges[node] = (short(from), count + 1);
    }
}
