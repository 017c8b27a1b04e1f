//! The memory of the items and requests.

use super::Ledger;
use crate::history::ItemIx;
use std::collections::{BTreeSet, TryReserveError};

impl Ledger {
    /// Makes room for this many more items and requests.
    pub(crate) fn try_reserve(&mut self, items: usize) -> Result<(), TryReserveError> {
        self.items.try_reserve(items)?;
        if self.requests.is_empty() {
            return Ok(());
        }
        self.requests.try_reserve(items)?;
        self.by_request.try_reserve(items)
    }

    /// Forgets all items but these, by node. Nothing has been reported.
    pub(crate) fn fold(&mut self, kept: Vec<Vec<ItemIx>>) {
        self.newest_input = kept.len().saturating_sub(1);
        self.turns = BTreeSet::new();
        self.items.fold(&kept);
    }
}
