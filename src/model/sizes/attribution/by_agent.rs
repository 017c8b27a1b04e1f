//! The agent's own number where nothing was reported: what is in the context shares it.

use super::{Attribution, alive};
use crate::Source;
use crate::history::ItemIx;
use crate::history::record_tree::RecordTree;

impl Attribution {
    /// Shares the agent's own number for the whole context among the items, if it is less than their count and nothing
    /// was reported. A larger number leaves them as they are, and a part of it unlogged.
    pub(crate) fn share_own_count(&mut self, tokens: u64, tree: &RecordTree) {
        if self.anchor.is_some() || self.prefix.is_some() {
            return;
        }
        self.forgotten = None;
        if self.items.may_resize_by_walk(tree.live().len()) {
            self.share_own_count_now(tokens, tree)
        } else {
            self.deferred.agents = Some(tokens);
        }
    }

    pub(super) fn share_own_count_now(&mut self, tokens: u64, tree: &RecordTree) {
        let items: Vec<ItemIx> = alive(tree, &self.items).collect();
        let sizes = self.sizes(&items);
        if sizes.iter().sum::<f64>() > tokens as f64 {
            self.apportion(&items, &sizes, tokens, Source::Agent);
            self.sized_by_own_count = items;
        }
    }

    /// Takes back what items have of the agent's own number: another one came, or a report.
    pub(crate) fn undo_own_count(&mut self) {
        self.deferred.agents = None;
        for ix in std::mem::take(&mut self.sized_by_own_count) {
            if let Some((_, Source::Agent)) = self.items.all()[ix].attributed {
                self.items.set_attributed(ix, None);
            }
        }
    }
}
