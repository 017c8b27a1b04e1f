//! Compactions, clears, and histories that the agent has written anew.

use super::Session;
use crate::chain::BranchChange;
use crate::event::{Cause, Kept, Key, Place, Reset};
use crate::history::PastReset;
use crate::{Gone, Source};
use jiff::Timestamp;

impl Session {
    pub(super) fn retain(&mut self, keys: &[Key], why: Gone, place: Place, at: Option<Timestamp>) {
        self.ledger.items_mut().work_out();
        let reset = Reset::new(why, Cause::Automatic, Kept::Nothing);
        let before = self.before_reset(&reset, place, at);
        let change = self.chain.retain(keys);
        let mut left = change.left.iter();
        let lost = left.any(|node| self.chain.items(*node).next().is_some());
        let is_reset = why == Gone::Compaction && lost;
        if why != Gone::Rewind {
            self.written_anew = Some(self.requests().len());
        }
        if is_reset {
            self.add_reset(before, &change);
        }
        self.change_branch(&change, why);
        if is_reset {
            self.ledger.forget_anchor();
        }
    }

    pub(super) fn reset(&mut self, reset: Reset, place: Place, at: Option<Timestamp>) {
        if reset.key.is_some_and(|key| self.chain.find(key).is_some()) {
            return; // an old boundary, written again
        }
        self.ledger.items_mut().work_out();
        let before = self.before_reset(&reset, place, at);
        let change = self.chain.reset(reset.key, &reset.kept);
        self.add_reset(before, &change);
        self.change_branch(&change, reset.gone);
        self.ledger.forget_anchor();
    }

    /// A reset as it will be noted, but for what it drops; the chain is not changed yet.
    pub(super) fn before_reset(
        &self,
        reset: &Reset,
        place: Place,
        at: Option<Timestamp>,
    ) -> PastReset {
        let used = self.calibrated_context();
        let (before, before_source) = match reset.before {
            Some(size) => (size, Source::Agent),
            None if used.estimated == 0 => (used.used, Source::Reported),
            None => (used.used, Source::Estimated),
        };
        let counted = self.counted_at_reset(reset);
        PastReset {
            place,
            at,
            gone: reset.gone,
            cause: self.cause_of(reset, counted, before),
            model: self.model_shared().cloned(),
            before,
            before_source,
            ours: used.used,
            counted,
            after: reset.after,
            after_source: Source::Agent,
            request: self.requests().len(),
            record: self.ledger.items().record(),
            dropped: [0; 5],
        }
    }

    /// Notes a reset, before anything leaves.
    fn add_reset(&mut self, mut reset: PastReset, change: &BranchChange) {
        for ix in change.left.iter().flat_map(|node| self.chain.items(*node)) {
            let item = &self.items()[ix];
            if item.in_context() {
                reset.dropped[item.role.index()] += self.tokens(ix).0;
            }
        }
        self.ledger.add_reset(reset);
    }
}
