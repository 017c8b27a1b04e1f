//! Answers that are kept, so that the next one takes less.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The data that a session keeps of an answer, to give it sooner the next time.
pub(super) struct Memo<T>(Mutex<Option<Box<T>>>);

impl<T> Memo<T> {
    /// Calls `with` with what is kept, or with what `make` makes where nothing is or `follow` fails.
    pub(super) fn get<A>(
        &self,
        follow: impl FnOnce(&mut T) -> bool,
        make: impl FnOnce() -> T,
        with: impl FnOnce(&mut T) -> A,
    ) -> A {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept
            .take()
            .and_then(|mut known| follow(&mut known).then_some(known));
        with(kept.insert(known.unwrap_or_else(|| Box::new(make()))))
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(Mutex::new(None))
    }
}

impl<T> Clone for Memo<T> {
    /// Returns an empty memo: a copy has to find out by itself.
    fn clone(&self) -> Memo<T> {
        Memo::default()
    }
}

impl<T> fmt::Debug for Memo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}
