//! The items that stay in memory when others are folded into sums.

use super::Items;
use crate::history::ItemIx;
use crate::small::{NoMemory, short};

impl Items {
    /// Makes room for this many more items.
    pub(crate) fn try_reserve(&mut self, items: usize) -> Result<(), NoMemory> {
        self.list.try_reserve(items)
    }

    /// Forgets all items but these, by node, none of which was attributed.
    pub(crate) fn fold(&mut self, kept: &[Vec<ItemIx>]) {
        let old = std::mem::take(self);
        *self = Items {
            record: old.record,
            changes: old.changes,
            names: old.names,
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
                    self.register(ix);
                }
            }
        }
    }
}
