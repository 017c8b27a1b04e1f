//! The part of the state that stays in memory while nobody looks at the session or writes to it.

use super::State;
use crate::history::ItemRef;

impl State {
    /// Forgets every item that does not stay, and earlier states. Nothing can be applied afterwards.
    pub(crate) fn keep(&mut self, stays: impl Fn(&ItemRef<'_>) -> bool) {
        let request = self.agent_estimate.map(|logged| logged.request);
        let nodes = self.ledger.keep(&self.chain, request, stays);
        self.chain.keep_only_live(nodes.into_iter());
        self.past.forget();
    }

    /// Forgets by which keys records are found: none will follow.
    pub(crate) fn forget_keys(&mut self) {
        self.chain.forget_keys();
    }

    /// Keeps no earlier states from here on.
    pub(crate) fn forget_past_states(&mut self) {
        self.past.forget();
        self.ledger.items_mut().forget_sizes();
    }

    /// Leaves the previews of most items of a long log there.
    pub(crate) fn leave_previews(&mut self) {
        self.ledger.items_mut().leave_previews();
    }

    /// Makes bytes of the parts that lists do not show, but for the ledger.
    pub(crate) fn pack(&mut self) {
        self.chain.pack(false);
        self.past.pack(false);
    }

    /// Makes bytes of the ledger, its texts included.
    pub(crate) fn pack_ledger(&mut self) {
        self.ledger.pack(true);
    }
}
