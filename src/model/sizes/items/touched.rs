//! Keeps the items that have changed, for sums that follow them.

use super::Items;
use crate::history::ItemIx;

/// Items that have left, come back or changed.
#[derive(Debug, Clone, Default)]
pub(super) struct TouchedItems {
    /// The newest of them, the newest last.
    newest: Vec<ItemIx>,
    /// The number of items that were forgotten before those.
    forgotten: u64,
}

impl TouchedItems {
    fn note(&mut self, ix: ItemIx) {
        if self.newest.len() == MOST_TOUCHED {
            self.newest.drain(..MOST_TOUCHED / 2);
            self.forgotten += MOST_TOUCHED as u64 / 2;
        }
        self.newest.push(ix);
    }

    /// Returns the number of all, forgotten ones included.
    fn count(&self) -> u64 {
        self.forgotten + self.newest.len() as u64
    }

    /// Returns those after the first `count`; `None` if they are no longer kept.
    fn since(&self, count: u64) -> Option<&[ItemIx]> {
        let from = usize::try_from(count.checked_sub(self.forgotten)?).ok()?;
        self.newest.get(from..)
    }

    /// Notes that any item may have changed: no sums made so far hold.
    pub(super) fn forget_all(&mut self) {
        self.forgotten = self.count() + 1;
        self.newest.clear();
    }
}

impl Items {
    /// Notes that an item has left, come back or changed.
    pub(super) fn touch(&mut self, ix: ItemIx) {
        self.touched.note(ix);
    }

    /// Returns the number of times that items have left, come back or changed.
    pub(crate) fn touches(&self) -> u64 {
        self.touched.count()
    }

    /// Returns the items touched after the first `touches` touches; `None` if those are no longer kept.
    pub(crate) fn touched_since(&self, touches: u64) -> Option<impl Iterator<Item = ItemIx>> {
        Some(self.touched.since(touches)?.iter().copied())
    }

    /// Returns the number of times that all estimates have changed.
    pub(crate) fn estimates(&self) -> u32 {
        self.estimates
    }

    pub(super) fn forget_estimates(&mut self) {
        self.estimated = None;
        self.estimates = self.estimates.wrapping_add(1);
    }
}

/// The most touched items that are kept. Sums that were brought up to date recently need only the newest.
const MOST_TOUCHED: usize = 8_192;
