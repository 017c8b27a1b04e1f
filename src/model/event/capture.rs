//! Catches the text of one item as its line is decoded again.

use super::{NewItem, Place};

/// Waits for the item of this hash in this place.
pub(super) struct Capture {
    pub(super) place: Place,
    pub(super) hash: u64,
    /// Hashes and texts of the items that were finished since the last event.
    pub(super) finished: Vec<(u64, String)>,
    pub(super) text: Option<String>,
}

impl Capture {
    /// Whether an item that is being told is the one; takes its text if so.
    pub(super) fn look_at(&mut self, place: Place, item: &NewItem) {
        if place != self.place || item.hash != self.hash {
            return;
        }
        let at = self
            .finished
            .iter()
            .position(|(hash, _)| *hash == item.hash);
        if let Some(at) = at {
            self.text = Some(self.finished.swap_remove(at).1);
        }
    }
}
