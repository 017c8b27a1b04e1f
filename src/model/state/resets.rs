//! Compactions, clears, and histories that the agent has rewritten.

use super::State;
use crate::event::{Cause, CauseSource, Key, Place, Reset, RetainedItems};
use crate::history::record_tree::BranchChange;
use crate::history::{ItemIx, MOST_COMPACTIONS, PastReset};
use crate::values::hooked::{HookedCompaction, find};
use crate::{Kind, LeaveReason};
use jiff::Timestamp;
use std::collections::HashSet;
use std::sync::Arc;

/// So many compactions at one size are no coincidence.
const SAME_SIZES: usize = 3;

/// Sizes that differ by no more than this factor are one size. Each compaction starts up to a step too late: ten of one
/// session took place at 44,000 to 50,000 of 64,000.
const LIKE_SIZES: f64 = 1.15;

/// A summary in the place of records that the log no longer has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    /// The hash of its text.
    pub(crate) hash: u64,
    pub(crate) place: Place,
    pub(crate) record: u32,
}

impl State {
    /// Keeps only these records in the context. `before` is the context before that, should it turn out to be a
    /// compaction.
    pub(crate) fn retain(&mut self, keys: &[Key], before: PastReset) {
        let why = before.gone;
        let change = self.tree.retain(keys);
        let mut left = change.left.iter();
        let lost = left.any(|node| self.tree.items(*node).next().is_some());
        let is_reset = why == LeaveReason::Compaction && lost;
        if why != LeaveReason::Rewind {
            self.rewritten_at = Some(self.requests().len());
        }
        if is_reset {
            self.add_reset(before, &change);
        }
        self.change_branch(&change, why);
        if is_reset {
            self.attribution.forget_anchor();
        }
    }

    /// Returns true if a reset is an old boundary, written again.
    pub(crate) fn has_boundary(&self, reset: &Reset) -> bool {
        reset.key.is_some_and(|key| self.tree.find(key).is_some())
    }

    /// Returns the tokens of what a reset keeps that its agent wrote once more just before it: no request has sent any
    /// of it, the context holds all of it already, and it is not what a user may say twice.
    pub(crate) fn written_again(&self, kept: &RetainedItems) -> u64 {
        let RetainedItems::Range { first, last: None } = kept else {
            return 0;
        };
        let Some(first) = self.tree.find(*first) else {
            return 0;
        };
        let is_old = |ix: &ItemIx| self.items()[*ix].node < first;
        let (old, again): (Vec<ItemIx>, Vec<ItemIx>) = self.alive_items().partition(is_old);
        let hash = |ix: &ItemIx| self.items()[*ix].hash;
        let held: HashSet<u64> = old.iter().map(hash).collect();
        let is_again =
            |ix: &ItemIx| self.items()[*ix].entered.is_none() && held.contains(&hash(ix));
        let is_result = |ix: &ItemIx| self.items()[*ix].kind == Kind::ToolResult;
        if !again.iter().any(is_result) || !again.iter().all(is_again) {
            return 0;
        }
        let tokens = again.iter().map(|ix| self.tokens(*ix).0);
        tokens.fold(0, u64::saturating_add)
    }

    /// Takes in a compaction or clear; `before` is the context before it.
    pub(crate) fn reset(&mut self, reset: &Reset, before: PastReset) {
        let kept: &[Key] = match &reset.kept {
            RetainedItems::Nodes(keys) => keys,
            RetainedItems::Nothing | RetainedItems::Range { .. } => &[],
        };
        let awaited = kept.iter().filter(|key| self.tree.find(**key).is_none());
        self.awaited = awaited.copied().collect();
        let change = self.tree.reset(reset.key, &reset.kept);
        self.add_reset(before, &change);
        self.change_branch(&change, reset.gone);
        self.attribution.forget_anchor();
    }

    /// Lets the newest reset take effect after the next request, unless one came since.
    pub(crate) fn postpone_reset(&mut self) {
        let next = self.requests().len();
        let newest = self.attribution.resets_mut().last_mut();
        if let Some(reset) = newest.filter(|reset| reset.request >= next) {
            reset.request = next + 1;
        }
    }

    /// Sets the cause of the newest reset, as a record shows it, unless a request came since.
    pub(crate) fn set_reset_cause(&mut self, cause: Cause) {
        let next = self.requests().len();
        let newest = self.attribution.resets_mut().last_mut();
        if let Some(reset) = newest.filter(|reset| reset.request >= next) {
            (reset.cause, reset.cause_source) = (cause, CauseSource::Log);
        }
    }

    /// Works out what would be computed again and again, before somebody asks for sizes.
    pub(crate) fn apply_rescale(&mut self) {
        self.attribution.items_mut().apply_rescale();
    }

    /// Takes over what hooks noted of the resets so far, where the log lacks it.
    pub(crate) fn note_hooked(&mut self) {
        let set = Arc::clone(&self.overrides);
        if set.hooked.is_empty() {
            return;
        }
        let mut since = None;
        for reset in self.attribution.resets_mut() {
            add_hooked(reset, &set.hooked, since);
            since = reset.at.or(since);
        }
    }

    /// Notes a reset, before anything leaves.
    fn add_reset(&mut self, mut reset: PastReset, change: &BranchChange) {
        let mut newest_first = self.resets().iter().rev().take(MOST_COMPACTIONS);
        let since = newest_first.find_map(|reset| reset.at);
        add_hooked(&mut reset, &self.overrides.hooked, since);
        for ix in change.left.iter().flat_map(|node| self.tree.items(*node)) {
            let item = &self.items()[ix];
            if item.in_context() {
                let (tokens, _) = self.attribution.items().tokens(ix);
                reset.dropped[item.role.index()] += tokens;
            }
        }
        self.attribution.add_reset(reset);
        self.cache_clock.forget_prompt();
        self.leave_out(0);
        self.judge_causes();
    }

    /// Corrects the causes of resets: if an agent compacted again and again at one size, that is its trigger, whatever
    /// its rule is thought to be. No user asks for all of them at the same size.
    fn judge_causes(&mut self) {
        let Some(newest) = self.resets().last() else {
            return;
        };
        let (model, at) = (newest.model.clone(), newest.size());
        let count = self.resets().len();
        let resets = self.attribution.resets_mut().iter_mut().rev();
        let resets = resets.take(MOST_COMPACTIONS);
        let of_model = resets.filter(|reset| {
            let is_inferred = reset.cause_source == CauseSource::Inferred;
            is_inferred && reset.gone == LeaveReason::Compaction && reset.model == model
        });
        let is_like = |reset: &&mut PastReset| {
            let (less, more) = (reset.size().min(at), reset.size().max(at));
            more as f64 <= less as f64 * LIKE_SIZES
        };
        let alike: Vec<&mut PastReset> = of_model.take_while(is_like).collect();
        if alike.len() >= SAME_SIZES {
            let asked_for = alike.into_iter().filter(|reset| !reset.is_automatic());
            asked_for.for_each(|reset| {
                (reset.cause, reset.cause_shown_by) = (Cause::Automatic, count);
            });
        }
    }

    /// Returns the first summary of the log. Without a reset, it took the place of records that were there before.
    pub(crate) fn summary(&self) -> Option<Summary> {
        let mut items = self.items().iter();
        let first = items.find(|item| item.kind == Kind::Summary)?;
        Some(Summary {
            hash: first.hash,
            place: first.place,
            record: first.record,
        })
    }

    /// Takes the resets of an earlier reading, which took place before a summary. There are none so far.
    pub(crate) fn inherit(&mut self, resets: Vec<PastReset>, summary: Summary) {
        self.past
            .add_resets(resets.len(), summary.record, summary.place);
        self.attribution.inherit(resets);
    }
}

/// Takes over what a hook noted of a reset, where the log lacks it. `since` is when the log has the reset before.
fn add_hooked(reset: &mut PastReset, hooked: &[HookedCompaction], since: Option<Timestamp>) {
    let is_asked_for = !hooked.is_empty() && reset.gone == LeaveReason::Compaction;
    if !is_asked_for || reset.cause_source == CauseSource::Log {
        return;
    }
    if let Some(hooked) = reset.at.and_then(|at| find(hooked, since, at)) {
        (reset.cause, reset.cause_source) = (hooked.cause.clone(), CauseSource::Hook);
    }
}
