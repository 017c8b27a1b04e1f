//! What a session leaves out or forgets, where nobody will ask for it.

use super::Session;

impl Session {
    /// Forgets what only the records that follow would need. None does: nothing can be applied afterwards.
    pub fn end(&mut self) {
        self.state.forget_keys();
    }

    /// Leaves the previews of most items of a long log there, so that they must be read again where they are shown.
    pub fn leave_previews(&mut self) {
        self.state.leave_previews();
    }

    /// Whether it left some.
    pub fn has_left_previews(&self) -> bool {
        self.items().iter().any(|item| item.leaves_preview())
    }

    /// Keeps no earlier states from here on: nobody will ask for them.
    pub fn forget_past(&mut self) {
        self.state.forget_past_states();
    }
}

#[cfg(test)]
mod tests {
    use crate::estimator::Estimator;
    use crate::properties::{entry, events, session};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_session_that_leaves_previews_says_the_same_but_for_them(events in events()) {
            let mut both = [(); 2].map(|()| session(Estimator::Calibrated));
            both[1].leave_previews();
            for event in events {
                for session in &mut both {
                    session.apply(entry(event.clone()));
                }
            }
            let [whole, left] = &both;
            prop_assert_eq!(whole.context(), left.context());
            prop_assert_eq!(whole.requests(), left.requests());
            prop_assert!(!whole.has_left_previews());
            prop_assert!(left.items().len() < 60 || left.has_left_previews());
            for (whole, left) in whole.items().iter().zip(left.items()) {
                let preview = if left.leaves_preview() { "" } else { whole.preview() };
                prop_assert_eq!(left.preview(), preview);
                let mut left = left.clone();
                left.set_preview(whole.preview());
                prop_assert_eq!(&left, whole);
            }
        }
    }
}
