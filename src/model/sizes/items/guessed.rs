//! Keeps the numbers that depend on sizes that were guessed from the lengths of texts.

use super::Items;
use crate::event::Size;
use crate::history::Item;
use crate::{LeaveReason, Source};

/// The numbers that depend on sizes that were guessed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GuessedSizes {
    /// True if the size of any item was guessed.
    any: bool,
    /// Tokens that have left since the last report, as a share of a sum that was divided by such sizes.
    of_left: u64,
}

impl GuessedSizes {
    /// Adds an item of this size.
    pub(super) fn add(&mut self, size: &Size) {
        self.any |= is_guessed(size);
    }

    /// Takes an item out of the context.
    pub(super) fn leave(&mut self, item: &Item, why: LeaveReason) {
        // Items that leave with a branch are not part of the report that counts then.
        if let Some((tokens, Source::Shared)) = item.attributed
            && !why.is_of_branch()
            && is_guessed(&item.size)
        {
            self.of_left = self.of_left.saturating_add(tokens);
        }
    }
}

impl Items {
    /// Returns true if the tokens of a text were guessed from its length.
    pub(crate) fn have_guessed(&self) -> bool {
        self.guessed.any
    }

    /// Returns the tokens that have left since the last report, as a share of a sum that was divided by the lengths of
    /// texts.
    pub(crate) fn guessed_of_left(&self) -> u64 {
        self.guessed.of_left
    }

    /// Forgets the items that have left: a report came, or a reset, and they do not matter any more.
    pub(crate) fn forget_guessed_of_left(&mut self) {
        self.guessed.of_left = 0;
    }
}

/// Returns true if the tokens of a text are guessed from its length.
fn is_guessed(size: &Size) -> bool {
    !size.counted && size.bytes > 0
}
