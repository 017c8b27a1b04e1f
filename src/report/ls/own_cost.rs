//! Reads the agent's own count of the cost of a session.

use hashbrown::HashMap;
use model::event::Key;

/// The numbers of a session, in billionths of a US dollar.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnCost {
    /// Of each response.
    responses: HashMap<Key, u64>,
    /// Of the whole session so far.
    whole: Option<u64>,
    /// Of the whole session before its count began again.
    before: u64,
}

impl OwnCost {
    /// Takes in a number. The last one of a response holds. A count of the whole session that is smaller than
    /// the one before began again: a resumed session that did not find its earlier count.
    pub(super) fn add(&mut self, of: Option<Key>, nanodollars: u64) {
        let Some(response) = of else {
            let earlier = self.whole.replace(nanodollars);
            let lost = earlier.filter(|earlier| nanodollars < *earlier);
            self.before = self.before.saturating_add(lost.unwrap_or(0));
            return;
        };
        self.responses.insert(response, nanodollars);
    }

    /// Returns the cost of the session, in billionths of a US dollar. The count of the whole session includes helpers
    /// and sub-agents, which no response of the log has.
    pub(super) fn sum(&self) -> u64 {
        match self.whole {
            Some(whole) => self.before.saturating_add(whole),
            None => self
                .responses
                .values()
                .fold(0, |sum, one| sum.saturating_add(*one)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_of_a_response_holds() {
        let mut own = OwnCost::default();
        for (response, nanodollars) in [("a", 10), ("b", 5), ("a", 12)] {
            own.add(Some(Key::of(response)), nanodollars);
        }
        assert_eq!(own.sum(), 17);
    }

    #[test]
    fn a_count_of_the_session_that_began_again_is_added() {
        let mut own = OwnCost::default();
        own.add(Some(Key::of("a")), 1_000);
        for nanodollars in [10, 30, 30, 5, 8] {
            own.add(None, nanodollars);
        }
        assert_eq!(own.sum(), 38);
        own.add(None, 0);
        own.add(None, u64::MAX);
        assert_eq!(own.sum(), u64::MAX);
    }
}
