//! Determines whether a count follows the response that it reports, or comes before it.
//!
//! Codex writes a `token_count` after the response's items. 0.64 and 0.65 wrote it before them; there the count is written
//! again when the next response begins. In 1,650 responses of 0.125 to 0.145 no count was repeated between a response's items
//! and its own count. A count may also be of a response without items: histories that were copied lack some.

use model::event::Key;

/// The response that is being written, and its place beside the counts.
#[derive(Debug, Default)]
pub(super) struct OpenResponse {
    /// Its request.
    pub request: Option<Key>,
    /// A request that was reported before any of its items.
    pub awaited: Option<Key>,
    /// True if the open response was reported before its items.
    is_reported: bool,
    /// True if the newest count was repeated since the open response's newest item.
    pub is_over: bool,
    /// True if counts come before their items.
    is_early: bool,
}

impl OpenResponse {
    /// Returns the request that was reported and whose items now begin; it is the open one.
    pub fn claim(&mut self) -> Option<Key> {
        let request = self.awaited.take()?;
        self.begin(request);
        self.is_reported = true;
        Some(request)
    }

    /// Takes in the first item of a response that is not reported yet.
    pub fn begin(&mut self, request: Key) {
        self.end();
        self.request = Some(request);
    }

    /// Nothing that was written or reported goes on.
    pub fn end(&mut self) {
        *self = OpenResponse {
            is_early: self.is_early,
            ..OpenResponse::default()
        };
    }

    /// Takes in the newest count again.
    pub fn is_counted_again(&mut self) {
        self.awaited = None;
        self.is_over = self.request.is_some();
    }

    /// Takes in a new count, and returns the response that it reports.
    pub fn counted(&mut self) -> CountedResponse {
        let open = std::mem::take(self);
        match open.request {
            Some(_) if open.is_over => self.is_early = true,
            // Those items were of this count.
            Some(_) if open.is_reported => {}
            Some(request) => return CountedResponse::Items(request),
            None => self.is_early = open.is_early,
        }
        if self.is_early {
            CountedResponse::Early
        } else {
            CountedResponse::Alone
        }
    }
}

/// The response that a new count reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedResponse {
    /// The response whose items came before it.
    Items(Key),
    /// A response whose items follow.
    Early,
    /// A response without items before it.
    Alone,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_between_two_counts_are_of_the_first_if_it_is_repeated_behind_them() {
        let [a, b, c] = ["a", "b", "c"].map(Key::of);
        let mut open = OpenResponse::default();
        // The beginning was not read: items, the count of theirs again, the next count before its items.
        open.begin(a);
        open.is_counted_again();
        assert_eq!(open.counted(), CountedResponse::Early);
        open.awaited = Some(b);
        assert_eq!(open.claim(), Some(b));
        // The next turn begins.
        open.end();
        assert_eq!(open.counted(), CountedResponse::Early);
        // A newer version goes on: each count follows its items.
        open.awaited = Some(c);
        open.is_counted_again();
        assert_eq!(open.claim(), None);
        open.begin(a);
        assert_eq!(open.counted(), CountedResponse::Items(a));
        assert_eq!(open.counted(), CountedResponse::Alone);
    }

    #[test]
    fn a_response_without_items_does_not_displace_those_after_it() {
        let [a, b] = ["a", "b"].map(Key::of);
        let mut open = OpenResponse::default();
        assert_eq!(open.counted(), CountedResponse::Alone);
        open.awaited = Some(a);
        assert_eq!(open.claim(), Some(a));
        assert_eq!(open.counted(), CountedResponse::Alone);
        assert_eq!(open.claim(), None);
        open.begin(b);
        assert_eq!(open.counted(), CountedResponse::Items(b));
    }
}
