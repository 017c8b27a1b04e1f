//! The branch on which a conversation continues: which events are in the context.
//!
//! Events name their parents since conversations became trees, and follow the one before otherwise.

use model::event::{Key, Parent};
use std::collections::{HashMap, HashSet};

/// The parent of an event that begins a new conversation.
const ROOT: &str = "__root__";

/// Returns the parent of an event that names this one.
pub(super) fn parent(named: Option<&str>) -> Parent {
    match named {
        None | Some("") => Parent::Previous,
        Some(ROOT) => Parent::Root,
        Some(id) => Parent::Key(Key::of(id)),
    }
}

/// The live branch, and the way back from any other event.
#[derive(Default)]
pub(super) struct Branch {
    /// From the oldest event on.
    live: Vec<Key>,
    parents: HashMap<Key, Option<Key>>,
    /// The live branch after each condensation.
    left: HashMap<Key, Vec<Key>>,
}

impl Branch {
    /// Adds an event.
    pub(super) fn add(&mut self, key: Key, parent: Parent) {
        let last = self.live.last().copied();
        let parent = match parent {
            Parent::Root => None,
            // One that was not seen precedes all that was read.
            Parent::Key(parent) if self.parents.contains_key(&parent) => Some(parent),
            Parent::Key(_) | Parent::Previous => last,
        };
        if parent != last {
            self.live = parent.map_or_else(Vec::new, |parent| self.up_to(parent));
        }
        // An event that is written again has its place.
        if self.parents.insert(key, parent).is_none() {
            self.live.push(key);
        }
    }

    /// Returns all that was in the context after this event.
    fn up_to(&self, event: Key) -> Vec<Key> {
        let mut path = Vec::new();
        let mut seen = HashSet::new();
        let mut at = Some(event);
        while let Some(key) = at.filter(|key| seen.insert(*key)) {
            if let Some(left) = self.left.get(&key) {
                path.extend(left.iter().rev());
                break;
            }
            path.push(key);
            at = self.parents.get(&key).copied().flatten();
        }
        path.reverse();
        path
    }

    /// Takes away what a condensation forgets, of this key, and returns what stays.
    pub(super) fn forget(&mut self, forgotten: &HashSet<Key>, condensation: Key) -> Vec<Key> {
        self.live.retain(|key| !forgotten.contains(key));
        let stays = self.live.clone();
        let last = stays.last().copied();
        self.live.push(condensation);
        self.parents.insert(condensation, last);
        self.left.insert(condensation, self.live.clone());
        stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(branch: &Branch) -> Vec<u64> {
        branch.live.iter().map(|key| key.get()).collect()
    }

    #[test]
    fn an_event_that_names_an_older_parent_leaves_what_came_since() {
        let mut branch = Branch::default();
        for key in 0..4 {
            branch.add(Key::new(key), Parent::Previous);
        }
        branch.add(Key::new(4), Parent::Key(Key::new(1)));
        assert_eq!(live(&branch), [0, 1, 4]);
        branch.add(Key::new(5), Parent::Key(Key::new(3)));
        assert_eq!(live(&branch), [0, 1, 2, 3, 5]);
        branch.add(Key::new(6), Parent::Key(Key::new(99)));
        assert_eq!(live(&branch), [0, 1, 2, 3, 5, 6]);
        branch.add(Key::new(7), Parent::Root);
        assert_eq!(live(&branch), [7]);
        branch.add(Key::new(7), Parent::Key(Key::new(7)));
        assert_eq!(live(&branch), [7]);
    }

    #[test]
    fn a_condensation_holds_on_its_branch_alone() {
        let mut branch = Branch::default();
        for key in 0..4 {
            branch.add(Key::new(key), Parent::Previous);
        }
        let stays = branch.forget(&HashSet::from([Key::new(1), Key::new(2)]), Key::new(10));
        assert_eq!(stays, [Key::new(0), Key::new(3)]);
        branch.add(Key::new(11), Parent::Key(Key::new(10)));
        assert_eq!(live(&branch), [0, 3, 10, 11]);
        branch.add(Key::new(12), Parent::Key(Key::new(2)));
        assert_eq!(live(&branch), [0, 1, 2, 12]);
        branch.add(Key::new(13), Parent::Key(Key::new(11)));
        assert_eq!(live(&branch), [0, 3, 10, 11, 13]);
    }

    #[test]
    fn parents_by_name() {
        assert_eq!(parent(None), Parent::Previous);
        assert_eq!(parent(Some("__root__")), Parent::Root);
        assert_eq!(parent(Some("a")), Parent::Key(Key::of("a")));
    }
}
