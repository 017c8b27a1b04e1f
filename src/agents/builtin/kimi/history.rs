//! The messages of a conversation in their order, which compactions and undos count by.

use model::event::Key;

/// The author of a message, as far as it decides which messages stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A person's.
    Person,
    /// The model's.
    Model,
    /// A tool's, with its call and Kimi's estimate of its tokens.
    Tool(Option<(Key, u64)>),
    /// A note of the harness that outlives an undo.
    Injection,
    /// A summary.
    Summary,
    /// Anything else that is sent as the user's.
    Other,
}

/// One message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) author: Author,
    /// The nodes it consists of.
    keys: Vec<Key>,
}

/// The messages so far.
#[derive(Debug, Default)]
pub(super) struct History(pub(super) Vec<Message>);

impl History {
    /// Adds a message.
    pub(super) fn add(&mut self, author: Author, key: Key) {
        let keys = vec![key];
        self.0.push(Message { author, keys });
    }

    /// Adds to the model's newest message.
    pub(super) fn add_to_model(&mut self, key: Key) {
        let mut newest = self.0.iter_mut().rev();
        match newest.find(|message| message.author == Author::Model) {
            Some(message) => message.keys.push(key),
            None => self.add(Author::Model, key),
        }
    }

    /// Returns the nodes of all messages.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        let messages = self.0.iter();
        messages.flat_map(|message| message.keys.iter().copied())
    }

    /// Keeps at most `limit` messages of persons: the first `first`, then the newest.
    pub(super) fn retain_human_messages(&mut self, limit: usize, first: usize) {
        self.0.retain(|message| message.author == Author::Person);
        let from = self.0.len().saturating_sub(limit.saturating_sub(first));
        let first = first.min(from);
        self.0.drain(first..from);
    }

    /// Removes the first `count` messages.
    pub(super) fn keep_after(&mut self, count: usize) {
        self.0.drain(..count.min(self.0.len()));
    }

    /// Keeps only the last two messages that are not results, and what follows the first of them.
    /// Returns whether anything left.
    pub(super) fn keep_last_two(&mut self) -> bool {
        let messages = self.0.iter().enumerate().rev();
        let mut messages = messages.filter(|(_, of)| !matches!(of.author, Author::Tool(_)));
        let from = messages.nth(1).map_or(0, |(at, _)| at);
        self.keep_after(from);
        from > 0
    }

    /// Puts a summary without a node before all messages.
    pub(super) fn summarised(&mut self) {
        let (author, keys) = (Author::Summary, Vec::new());
        self.0.insert(0, Message { author, keys });
    }

    /// Removes the last `count` messages of persons, and all that came after the first of these except notes.
    /// Returns `false`, and removes nothing, if fewer have come since the last summary.
    pub(super) fn undo(&mut self, count: usize) -> bool {
        let mut persons = Vec::new();
        for (at, message) in self.0.iter().enumerate().rev() {
            match message.author {
                Author::Summary => break,
                Author::Person => persons.push(at),
                _ => {}
            }
        }
        let Some(cut) = count.checked_sub(1).and_then(|nth| persons.get(nth)) else {
            return false;
        };
        let notes = self.0.split_off(*cut).into_iter();
        self.0
            .extend(notes.filter(|message| message.author == Author::Injection));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn history(authors: &[Author]) -> History {
        let mut history = History::default();
        for (n, author) in (0..).zip(authors) {
            history.add(*author, Key::new(n));
        }
        history
    }

    fn left(history: &History) -> Vec<u64> {
        history.keys().map(|key| key.get()).collect()
    }

    use Author::{Injection, Model, Other, Person, Summary, Tool};

    #[test]
    fn a_compaction_keeps_persons_from_both_ends() {
        let all = [Person, Model, Person, Other, Tool(None), Person, Person];
        let kept = |all_of: usize, first| {
            let mut history = history(&all);
            history.retain_human_messages(all_of, first);
            left(&history)
        };
        assert_eq!(kept(4, 0), [0, 2, 5, 6]);
        assert_eq!(kept(2, 0), [5, 6]);
        assert_eq!(kept(2, 1), [0, 6]);
        assert_eq!(kept(0, 0), Vec::<u64>::new());
        assert_eq!(kept(9, 5), [0, 2, 5, 6]);
    }

    #[test]
    fn the_last_two_messages_stay_with_their_results() {
        let mut history = history(&[Person, Model, Tool(None), Tool(None), Model, Tool(None)]);
        assert!(history.keep_last_two());
        assert_eq!(left(&history), [1, 2, 3, 4, 5]);
        assert!(!history.keep_last_two());
        history.summarised();
        assert!(history.keep_last_two(), "the summary is a message too");
        assert_eq!(left(&history), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn an_undo_stops_at_a_summary_and_leaves_notes() {
        let mut history = history(&[Person, Summary, Person, Model, Person, Injection, Model]);
        assert!(!history.undo(3), "the first is beyond the summary");
        assert!(history.undo(1));
        assert_eq!(left(&history), [0, 1, 2, 3, 5]);
        assert!(history.undo(1));
        assert_eq!(left(&history), [0, 1, 5]);
        assert!(!history.undo(1) && !history.undo(0));
    }

    proptest! {
        #[test]
        fn nothing_is_kept_twice(
            who in prop::collection::vec(
                prop::sample::select(vec![Person, Model, Tool(None), Injection, Summary, Other]), 0..20),
            all in 0_usize..30,
            first in 0_usize..30,
        ) {
            let mut history = history(&who);
            history.retain_human_messages(all, first);
            let kept = left(&history);
            prop_assert!(kept.windows(2).all(|two| two[0] < two[1]));
            prop_assert!(kept.len() <= all.max(first));
        }
    }
}
