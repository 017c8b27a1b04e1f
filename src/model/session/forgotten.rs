//! Leaves out or forgets the parts of a session that nobody will ask for.

use super::Session;

impl Session {
    /// Forgets what only the records that follow would need. None does: nothing can be applied afterwards.
    pub fn end(&mut self) {
        self.state.forget_keys();
    }

    /// Keeps no earlier states from here on: nobody will ask for them.
    pub fn forget_past(&mut self) {
        self.state.forget_past_states();
    }
}
