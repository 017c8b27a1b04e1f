//! Forgets the parts of the state that nobody will ask for.

use super::State;

impl State {
    /// Forgets what only the records that follow would need. None does: nothing can be applied afterwards.
    pub fn end(&mut self) {
        self.tree.forget_keys();
    }

    /// Keeps no earlier states from here on: nobody will ask for them.
    pub fn forget_past(&mut self) {
        self.past.forget();
        self.attribution.items_mut().forget_sizes();
    }
}
