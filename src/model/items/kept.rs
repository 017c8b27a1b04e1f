//! The items that stay in memory when others are folded into sums.

use super::Items;
use crate::small::NoMemory;

impl Items {
    /// Makes room for this many more items.
    pub(crate) fn try_reserve(&mut self, items: usize) -> Result<(), NoMemory> {
        self.list.try_reserve(items)
    }
}
