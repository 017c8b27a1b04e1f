//! Defines the entries of the lists of items.

use crate::history::{Item, ItemIx, PreviousSize, RequestIx};
use crate::small::short;

/// An item of a node: ordered by node, then by item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeItem {
    pub(super) node: u32,
    pub(super) item: u32,
}

impl NodeItem {
    pub(super) fn new(ix: ItemIx, item: &Item) -> NodeItem {
        NodeItem {
            node: short(item.node()),
            item: short(ix),
        }
    }

    /// Returns the place before all items of a node.
    pub(super) fn first(node: u32) -> NodeItem {
        NodeItem { node, item: 0 }
    }
}

/// The items that a request was the first to send.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstSent {
    pub(super) request: RequestIx,
    pub(super) items: Vec<ItemIx>,
}

/// A size of an item from before its previous size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OlderSize {
    pub(crate) item: u32,
    pub(crate) size: PreviousSize,
}

/// The cost of a content, by a report.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContentSize {
    /// The item that it was reported for.
    pub(super) of: ItemIx,
    pub(super) tokens: u64,
}
