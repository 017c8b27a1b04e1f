//! The records of the tree, in little memory: a log may have millions.

use super::NodeIx;
use crate::event::{Key, Part};
use crate::history::ItemIx;
use crate::small::{MaybeIx, short};
use serde::{Deserialize, Serialize};
use std::ops::Range;

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
    /// Where the items of each node are in the list.
    ranges: Vec<Stretch>,
}

/// A stretch of a list.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Stretch {
    start: u32,
    len: u32,
}

impl Stretch {
    fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

impl Held {
    pub(super) fn of(&self, node: NodeIx) -> impl DoubleEndedIterator<Item = ItemIx> + '_ {
        let stretch = self.ranges.get(node).copied().unwrap_or_default();
        let items = self.items.get(stretch.range());
        items.unwrap_or_default().iter().map(|ix| *ix as ItemIx)
    }

    /// Adds an item to a node. Items of an older node move to the end of the list.
    pub(super) fn add(&mut self, node: NodeIx, item: ItemIx) {
        if self.ranges.len() <= node {
            self.ranges.resize(node + 1, Stretch::default());
        }
        let held = self.ranges[node].range();
        let end = self.items.len();
        let mut start = held.start;
        if held.end != end {
            start = end;
            self.items.extend_from_within(held);
        }
        self.items.push(short(item));
        let stretch = &mut self.ranges[node];
        stretch.start = short(start);
        stretch.len += 1;
    }
}
