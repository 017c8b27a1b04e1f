//! Leaves out or forgets the parts of the state that nobody will ask for.

use super::State;

impl State {
    /// Forgets by which keys records are found: none will follow.
    pub(crate) fn forget_keys(&mut self) {
        self.tree.forget_keys();
    }

    /// Keeps no earlier states from here on.
    pub(crate) fn forget_past_states(&mut self) {
        self.past.forget();
        self.attribution.items_mut().forget_sizes();
    }
}
