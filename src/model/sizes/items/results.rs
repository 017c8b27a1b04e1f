//! The results of tool calls.

use super::Items;
use crate::Kind;
use crate::event::Key;
use crate::history::ItemIx;
use std::collections::BTreeSet;

/// Tool results by their calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Results {
    by_call: BTreeSet<(Key, ItemIx)>,
    /// The items that were looked through.
    seen: usize,
}

impl Items {
    /// Returns the results of a call, in the context or not. The first time, costs a walk through all items.
    pub(crate) fn results_of(&mut self, call: Key) -> impl Iterator<Item = ItemIx> + '_ {
        let Results { by_call, seen } = &mut self.results;
        for (ix, item) in (*seen..).zip(self.list.iter().skip(*seen)) {
            if let (Kind::ToolResult, Some(call)) = (item.kind, item.call) {
                by_call.insert((call, ix));
            }
        }
        *seen = self.list.len();
        let results = by_call.range((call, 0)..=(call, ItemIx::MAX));
        results.map(|(_, ix)| *ix)
    }
}
