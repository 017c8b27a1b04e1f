//! The records of the tree, in little memory: a log may have millions.

use super::NodeIx;
use crate::event::{Key, Part};
use crate::history::ItemIx;
use crate::lean_vec::LeanVec;
use crate::small::{MaybeIx, short};
use std::collections::HashMap;
use std::ops::Range;

/// A record in the tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Link {
    pub(super) key: Option<Key>,
    pub(super) parent: MaybeIx,
    /// The response whose output it is, by its index in [`super::RecordTree::responses`].
    pub(super) response: MaybeIx,
    /// The next node of the same response.
    pub(super) next_output: MaybeIx,
    pub(super) held: NodeItems,
    pub(super) part: Part,
    pub(super) turn: bool,
    /// True if it is the record of a reset.
    pub(super) reset: bool,
    pub(super) live: bool,
}

/// The items of a node, which follow each other mostly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct NodeItems {
    first: u32,
    /// [`LISTED`]: they are in a list.
    count: u32,
}

/// Stands for a number of items that do not follow each other.
const LISTED: u32 = u32::MAX;

impl NodeItems {
    fn range(self) -> Range<ItemIx> {
        let (first, count) = (self.first as ItemIx, self.count as ItemIx);
        match self.count {
            LISTED => 0..0,
            _ => first..first + count,
        }
    }
}

impl Link {
    pub(super) fn parent(&self) -> Option<NodeIx> {
        self.parent.get()
    }

    /// Returns the response whose output it is, by its index.
    pub(super) fn response(&self) -> Option<usize> {
        self.response.get()
    }
}

impl LeanVec<Link> {
    pub(super) fn set_live(&mut self, node: NodeIx, live: bool) {
        self.change(node, |link| link.live = live);
    }

    /// Returns the items of a node. `listed`: those of nodes whose items do not follow each other.
    pub(super) fn items<'l>(
        &self,
        node: NodeIx,
        listed: &'l ItemLists,
    ) -> impl DoubleEndedIterator<Item = ItemIx> + Clone + use<'l> {
        let held = self.get(node).map(|link| link.held).unwrap_or_default();
        let list = match held.count {
            LISTED => listed.get(&short(node)).map_or(&[][..], |list| list),
            _ => &[],
        };
        held.range().chain(list.iter().map(|ix| *ix as ItemIx))
    }

    /// Adds an item to a node.
    pub(super) fn hold(&mut self, node: NodeIx, item: ItemIx, listed: &mut ItemLists) {
        let held = self.at(node).held;
        let held = match held.count {
            LISTED => held,
            0 => NodeItems {
                first: short(item),
                count: 1,
            },
            count if held.range().end == item => NodeItems {
                count: count + 1,
                ..held
            },
            _ => NodeItems {
                count: LISTED,
                ..held
            },
        };
        if held.count == LISTED {
            let before = self.at(node).held.range();
            let list = listed.entry(short(node));
            let list = list.or_insert_with(|| before.map(short).collect());
            list.push(short(item));
        }
        self.change(node, |link| link.held = held);
    }
}

/// The items of nodes whose items do not follow each other.
pub(super) type ItemLists = HashMap<u32, Vec<u32>>;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_node_has_the_items_that_were_added(
            added in prop::collection::vec(0..12_usize, 0..60),
        ) {
            let mut nodes: LeanVec<Link> = vec![Link::default(); 12].into_iter().collect();
            let (mut listed, mut expected) = (ItemLists::default(), vec![Vec::new(); 12]);
            for (item, node) in added.into_iter().enumerate() {
                nodes.hold(node, item, &mut listed);
                expected[node].push(item);
            }
            for (node, expected) in expected.into_iter().enumerate() {
                let items = nodes.items(node, &listed);
                prop_assert_eq!(items.clone().collect::<Vec<_>>(), expected.clone());
                prop_assert!(items.rev().eq(expected.into_iter().rev()));
            }
        }
    }
}
