//! The thinking among the items: what of it is in the context, and what was stripped.

use super::Items;
use crate::LeaveReason;
use crate::history::NodeIx;
use crate::history::{Departure, ItemIx, RequestIx};

impl Items {
    /// Returns the part of it from one node up to another.
    pub(crate) fn thoughts_between(&self, from: NodeIx, to: NodeIx) -> &[ItemIx] {
        let (from, to) = (self.thoughts_before(from), self.thoughts_before(to));
        &self.thoughts[from.min(to)..to]
    }

    pub(super) fn thoughts_before(&self, node: NodeIx) -> usize {
        let is_before = |ix: &ItemIx| self.list[*ix].node < node;
        match self.thoughts.last() {
            Some(last) if is_before(last) => self.thoughts.len(),
            _ => self.thoughts.partition_point(is_before),
        }
    }

    /// Forgets the thoughts that a reset did not keep.
    pub(crate) fn forget_thoughts(&mut self) {
        let list = &self.list;
        self.thoughts.retain(|ix| list[*ix].in_context());
        self.stripped.clear();
    }

    /// Takes the thinking before this node out of the context.
    pub(crate) fn strip_thinking(&mut self, before: NodeIx, request: RequestIx) {
        let later = match self.thinking.first() {
            Some((first, _)) if *first < before => self.thinking.split_off(&(before, 0)),
            _ => return,
        };
        for (_, ix) in std::mem::replace(&mut self.thinking, later) {
            self.strip(ix, request);
        }
    }

    fn strip(&mut self, ix: ItemIx, request: RequestIx) {
        if self.list[ix].in_context() {
            self.leave(ix, LeaveReason::Stripped, request);
            self.stripped.insert(ix);
        }
    }

    /// Returns true if thinking is in the context, or would be if it were not stripped.
    pub(crate) fn is_thought_of(&self, ix: ItemIx) -> bool {
        self.list[ix].in_context() || self.stripped.contains(&ix)
    }

    /// Notes that thinking was in other prompts than was believed: the first one that held it is `entered`, the first
    /// one without it `left`.
    pub(crate) fn revise_thinking(
        &mut self,
        ix: ItemIx,
        entered: Option<RequestIx>,
        left: Option<RequestIx>,
    ) {
        if self.list[ix].entered.is_none() {
            self.list[ix].entered = entered;
        }
        match (self.list[ix].left, left) {
            (None, None) => {}
            (None, Some(request)) => self.strip(ix, request),
            (Some(old), Some(request)) => {
                let left = Departure { request, ..old };
                self.list[ix].left = Some(left);
            }
            (Some(old), None) => self.restore(ix, old.request),
        }
    }
}
