//! The memory of the items and requests.

use super::Attribution;
use crate::history::ItemIx;
use crate::small::NoMemory;
use std::collections::BTreeSet;

impl Attribution {
    /// Makes room for this many more items and requests.
    pub(crate) fn try_reserve(&mut self, items: usize) -> Result<(), NoMemory> {
        self.items.try_reserve(items)?;
        if self.requests.is_empty() {
            return Ok(());
        }
        self.requests.try_reserve(items)?;
        let requests = &self.requests;
        let key_of = |ix: usize| Some(requests.get(ix)?.key());
        self.by_request.try_reserve(items, key_of)
    }

    /// Forgets all items but these, by node. Nothing has been reported.
    pub(crate) fn fold(&mut self, kept: Vec<Vec<ItemIx>>) {
        self.newest_input = kept.len().saturating_sub(1);
        self.turns = BTreeSet::new();
        self.items.fold(&kept);
    }
}
