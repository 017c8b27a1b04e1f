//! Finds what has a key, in little memory: the keys are where they belong.

use crate::event::Key;
use crate::small::short;
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};

/// The indices of things by their keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyIndex {
    table: HashTable<u32>,
    /// A log may choose its keys so that they would collide.
    state: RandomState,
}

impl KeyIndex {
    /// Returns the index of a key. `key_of` is the key of an index.
    pub(crate) fn find(&self, key: Key, key_of: impl Fn(usize) -> Option<Key>) -> Option<usize> {
        let hash = self.state.hash_one(key);
        let is_it = |ix: &u32| key_of(*ix as usize) == Some(key);
        self.table.find(hash, is_it).map(|ix| *ix as usize)
    }

    /// Adds an index, in the place of another one of the same key.
    pub(crate) fn insert(&mut self, key: Key, ix: usize, key_of: impl Fn(usize) -> Option<Key>) {
        let KeyIndex { table, state } = self;
        let is_it = |ix: &u32| key_of(*ix as usize) == Some(key);
        let hash_of = |ix: &u32| state.hash_one(key_of(*ix as usize).unwrap_or(key));
        let entry = table.entry(state.hash_one(key), is_it, hash_of);
        *entry.or_insert(0).get_mut() = short(ix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn the_newest_of_a_key_is_found(numbers in prop::collection::vec(0_u64..60, 0..99)) {
            let (mut index, mut expected) = (KeyIndex::default(), HashMap::new());
            let keys: Vec<Key> = numbers.into_iter().map(Key::new).collect();
            let key_of = |ix: usize| keys.get(ix).copied();
            for (ix, key) in keys.iter().enumerate() {
                prop_assert_eq!(index.find(*key, key_of), expected.get(key).copied());
                index.insert(*key, ix, key_of);
                expected.insert(*key, ix);
            }
            for (key, ix) in expected {
                prop_assert_eq!(index.find(key, key_of), Some(ix));
            }
        }
    }
}
