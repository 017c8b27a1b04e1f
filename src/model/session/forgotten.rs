//! What a session leaves out or forgets, where nobody will ask for it.

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
