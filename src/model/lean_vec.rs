//! Long lists: a session may have a million items and requests.

use derive_more::Deref;
use std::slice::Iter;

/// A list that grows by a quarter. By an eighth, a report took 3 to 5 % more memory: each growth leaves a hole.
#[derive(Debug, Clone, PartialEq, Deref)]
#[deref(forward)]
pub struct LeanVec<T>(Vec<T>);

/// A list that is full makes room for at least so many more.
const LEAST_ROOM: usize = 4;

impl<T> LeanVec<T> {
    /// Returns an entry that is there.
    #[inline]
    #[track_caller]
    pub fn at(&self, ix: usize) -> &T {
        &self.0[ix]
    }

    /// Returns the first entries, or all where there are fewer.
    pub fn to(&self, end: usize) -> Iter<'_, T> {
        self.between(0, end)
    }

    /// Returns the entries from one on.
    pub fn from(&self, start: usize) -> Iter<'_, T> {
        self.between(start, self.len())
    }

    /// Returns the entries from one on, up to another one.
    pub fn between(&self, start: usize, end: usize) -> Iter<'_, T> {
        let end = end.min(self.len());
        self.0[start.min(end)..end].iter()
    }

    /// Adds an entry at the end.
    pub(crate) fn push(&mut self, entry: T) {
        if self.0.len() == self.0.capacity() {
            self.0.reserve_exact(LEAST_ROOM.max(self.0.len() / 4));
        }
        self.0.push(entry);
    }

    /// Changes an entry that is there.
    #[track_caller]
    pub(crate) fn change<A>(&mut self, ix: usize, change: impl FnOnce(&mut T) -> A) -> A {
        change(&mut self.0[ix])
    }
}

impl<T> Default for LeanVec<T> {
    fn default() -> LeanVec<T> {
        LeanVec(Vec::new())
    }
}

impl<T> FromIterator<T> for LeanVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> LeanVec<T> {
        LeanVec(entries.into_iter().collect())
    }
}

impl<'a, T> IntoIterator for &'a LeanVec<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
