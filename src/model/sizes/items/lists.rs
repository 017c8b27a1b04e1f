//! Defines the entries of the lists of items.

use crate::history::{ItemIx, PreviousSize, RequestIx};

/// The items that a request was the first to send.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstSent {
    pub(super) request: RequestIx,
    pub(super) items: Vec<ItemIx>,
}

/// A size of an item from before its previous size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OlderSize {
    pub(crate) item: ItemIx,
    pub(crate) size: PreviousSize,
}

/// The cost of a content, by a report.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContentSize {
    /// The item that it was reported for.
    pub(super) of: ItemIx,
    pub(super) tokens: u64,
}
