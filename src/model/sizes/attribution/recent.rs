//! Keeps the items that each request attributed, in one list: a log may have many requests and never compact.

use crate::history::{ItemIx, RequestIx, narrow};

/// The items that each request since the last reset attributed. Indices have 32 bits, as in [`crate::history::Item`].
#[derive(Debug, Clone, Default)]
pub(super) struct RecentAttributions {
    /// Each request that attributed items. Requests rise.
    requests: Vec<AttributedRequest>,
    items: Vec<u32>,
}

/// A request that attributed items.
#[derive(Debug, Clone, Copy)]
struct AttributedRequest {
    request: u32,
    /// The end of its items in the list of all.
    end: u32,
}

impl RecentAttributions {
    /// Notes that a request attributed these items; earlier items of it or of later ones no longer count.
    pub(super) fn put(&mut self, request: RequestIx, items: &[ItemIx]) {
        let request = narrow(request);
        let older = self
            .requests
            .partition_point(|attributed| attributed.request < request);
        self.requests.truncate(older);
        self.items.truncate(self.start(older));
        self.items.extend(items.iter().map(|ix| narrow(*ix)));
        self.requests.push(AttributedRequest {
            request,
            end: narrow(self.items.len()),
        });
    }

    /// Returns the items of a request; `None`: it attributed none since the last reset.
    pub(super) fn of(&self, request: RequestIx) -> Option<impl Iterator<Item = ItemIx>> {
        let request = narrow(request);
        let at = self
            .requests
            .binary_search_by_key(&request, |attributed| attributed.request);
        let at = at.ok()?;
        let items = &self.items[self.start(at)..self.start(at + 1)];
        Some(items.iter().map(|ix| *ix as ItemIx))
    }

    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.items.clear();
    }

    /// Returns the start of the items of the request at a position.
    fn start(&self, at: usize) -> usize {
        let before = at.checked_sub(1).map(|at| self.requests[at].end as usize);
        before.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn each_request_has_its_own_items(
            puts in prop::collection::vec((0_usize..9, prop::collection::vec(0_usize..99, 0..4)), 0..12)
        ) {
            let (mut fresh, mut expected) = (RecentAttributions::default(), BTreeMap::new());
            for (request, items) in puts {
                fresh.put(request, &items);
                expected.split_off(&request);
                expected.insert(request, items);
                for request in 0..9 {
                    let items: Option<Vec<ItemIx>> = fresh.of(request).map(Iterator::collect);
                    prop_assert_eq!(items.as_ref(), expected.get(&request));
                }
            }
        }
    }
}
