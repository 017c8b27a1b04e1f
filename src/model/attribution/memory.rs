//! The memory of the items and requests.

use super::Attribution;
use crate::small::NoMemory;

impl Attribution {
    /// Makes room for this many more items and requests.
    pub(crate) fn try_reserve(&mut self, items: usize) -> Result<(), NoMemory> {
        self.items.try_reserve(items)?;
        if self.requests.is_empty() {
            return Ok(());
        }
        self.requests.try_reserve(items)?;
        let requests = &self.requests;
        let key_of = |ix: usize| Some(requests.get(ix)?.key());
        self.by_request.try_reserve(items, key_of)
    }
}
