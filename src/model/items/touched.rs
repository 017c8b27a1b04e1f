//! Which items have changed, for sums that follow them.

use super::Items;
use crate::history::ItemIx;

impl Items {
    /// Notes that an item is not what it was.
    pub(super) fn touch(&mut self, ix: ItemIx) {
        let (touched, forgotten) = &mut self.touched;
        if touched.len() == MOST_TOUCHED {
            touched.drain(..MOST_TOUCHED / 2);
            *forgotten += MOST_TOUCHED as u64 / 2;
        }
        touched.push(ix);
    }

    /// How often items have left, come back or changed.
    pub(crate) fn touches(&self) -> u64 {
        self.touched.1 + self.touched.0.len() as u64
    }

    /// The items that have since there were so many touches; `None`: they were forgotten.
    pub(crate) fn touched_since(&self, touches: u64) -> Option<impl Iterator<Item = ItemIx>> {
        let from = usize::try_from(touches.checked_sub(self.touched.1)?).ok()?;
        Some(self.touched.0.get(from..)?.iter().copied())
    }

    /// How often all estimates have changed.
    pub(crate) fn estimates(&self) -> u32 {
        self.estimates
    }

    pub(super) fn forget_estimates(&mut self) {
        self.estimated = None;
        self.estimates = self.estimates.wrapping_add(1);
    }
}

/// So many touched items are noted, for whoever asks again soon.
const MOST_TOUCHED: usize = 8_192;
