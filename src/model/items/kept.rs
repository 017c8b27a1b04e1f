//! The items that stay in memory while nobody looks at their session.

use super::{Items, OfNode};
use crate::chain::Chain;
use crate::history::{ItemIx, ItemList, ItemRef};
use crate::small::{NoMemory, short};
use std::collections::HashSet;
use std::ops::Range;

impl Items {
    /// Makes room for this many more items.
    pub(crate) fn try_reserve(&mut self, items: usize) -> Result<(), NoMemory> {
        self.list.try_reserve(items)
    }

    /// Forgets all items but these, by node, none of which was settled.
    pub(crate) fn fold(&mut self, kept: &[Vec<ItemIx>]) {
        let old = std::mem::take(self);
        *self = Items {
            record: old.record,
            changes: old.changes,
            newest_forgotten: old.newest_forgotten,
            resized_by_walk: old.resized_by_walk,
            guessed: old.guessed,
            ..Items::new(old.calibrations)
        };
        for (node, items) in kept.iter().enumerate() {
            for old_ix in items {
                let ix = self.list.len();
                let mut item = old.list.at(*old_ix).clone();
                item.node = short(node);
                self.list.push(item);
                if self.list.at(ix).in_context() {
                    self.enlist(ix);
                }
            }
        }
    }

    /// Forgets the items that do not stay. Returns the indices of those that stay, by live node. Nothing can be
    /// added afterwards.
    pub(crate) fn keep(
        &mut self,
        chain: &Chain,
        stays: impl Fn(&ItemRef<'_>) -> bool,
    ) -> Vec<Range<ItemIx>> {
        self.work_out();
        let newest_forgotten = self.newest_record(self.list.len());
        let mut kept: Vec<ItemIx> = Vec::new();
        let mut nodes = Vec::with_capacity(chain.live().len());
        for (node, old) in chain.live().enumerate() {
            let from = kept.len();
            let items = chain.items(old);
            kept.extend(items.filter(|ix| stays(&self.list.at(*ix))));
            for ix in &kept[from..] {
                self.list.change(*ix, |item| item.node = short(node));
            }
            nodes.push(from..kept.len());
        }
        let kept = only(std::mem::take(&mut self.list), &kept);
        let mut calibrations = std::mem::take(&mut self.calibrations);
        calibrations.forget_deltas();
        let mut sizes_by_hash = std::mem::take(&mut self.sizes_by_hash);
        let unsettled: HashSet<u64> = kept
            .iter()
            .filter(|item| item.settled().is_none())
            .map(|item| item.hash())
            .collect();
        // No item that is left has the index of the one that was settled.
        sizes_by_hash.retain(|hash, known| {
            known.of = ItemIx::MAX;
            unsettled.contains(hash)
        });
        sizes_by_hash.shrink_to_fit();
        let in_context = kept
            .iter()
            .enumerate()
            .filter(|(_, item)| item.in_context());
        let pending =
            in_context.filter(|(_, item)| item.settled().is_none() || item.entered().is_none());
        *self = Items {
            pending: pending.map(|(ix, item)| OfNode::new(ix, &item)).collect(),
            list: kept,
            record: self.record,
            changes: self.changes,
            newest_forgotten,
            settled: self.settled,
            guessed: self.guessed,
            sizes_by_hash,
            ..Items::new(calibrations)
        };
        nodes
    }
}

/// Only these of the items, in this order. In the order of the list, as they mostly are, no others are held beside
/// them.
fn only(mut list: ItemList, these: &[ItemIx]) -> ItemList {
    if !these.is_sorted_by(|a, b| a < b) {
        return these.iter().map(|ix| list.at(*ix).clone()).collect();
    }
    let mut these = these.iter().peekable();
    list.retain(|ix| these.next_if(|kept| **kept == ix).is_some());
    list.shrink_to_fit();
    list
}
