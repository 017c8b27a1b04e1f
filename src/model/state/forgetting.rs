//! Replaces items that were forgotten (see [`ForgottenItems`]).

use super::State;
use crate::event::{Event, Key};
use crate::forgotten::ForgottenItems;

impl State {
    pub(crate) fn folded(&self) -> Option<&ForgottenItems> {
        self.folded.as_deref()
    }

    pub(crate) fn set_forgotten(&mut self, folded: Option<Box<ForgottenItems>>) {
        self.folded = folded;
    }

    pub(crate) fn take_forgotten(&mut self) -> Option<Box<ForgottenItems>> {
        self.folded.take()
    }

    /// Returns true if there is nothing but items: no requests, resets and other numbers.
    pub(crate) fn has_items_alone(&self) -> bool {
        self.requests().is_empty()
            && self.resets().is_empty()
            && self.agent_estimate.is_none()
            && self.summary.is_none()
            && !self.prompts_logged
    }

    /// Notes whether an event needs what was forgotten. Call it before the event is folded.
    pub(crate) fn check_forgotten(&mut self, event: &Event) {
        let Some(folded) = self.folded.as_deref() else {
            return;
        };
        if folded.last.is_some() && folded.concerns(event, self.model()) {
            self.mark_forgotten_needed();
        }
    }

    /// Notes whether what was forgotten has left with its branch. Call it after an event was folded.
    pub(crate) fn check_branch(&mut self) {
        let last = self.folded.as_deref().and_then(|folded| folded.last);
        if last.is_some_and(|last| !self.tree.is_live(last)) {
            self.mark_forgotten_needed();
        }
    }

    fn mark_forgotten_needed(&mut self) {
        if let Some(folded) = &mut self.folded {
            (folded.is_wrong, folded.is_over) = (true, true);
        }
    }

    /// Forgets the items from this node on, but for the last node. Returns the keys of the forgotten records.
    pub(crate) fn forget_items(&mut self, front: usize) -> Vec<Key> {
        let (forgotten, kept) = self.tree.fold(front);
        self.attribution.fold(kept);
        forgotten
    }
}
