//! Finds the blocks that a new request no longer carries, and the cause.

use super::super::block::Block;
use super::super::context_block::ContextBlock;
use super::{Prompt, PromptHistory, Step};
use model::LeaveReason;
use model::event::{Event, EventSink, Key};
use std::collections::{HashMap, HashSet};

/// The way in which the cause is inferred when blocks have left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LossInference {
    /// The summary that takes their place shows it.
    #[default]
    FromSummary,
    /// The size of what is left shows it: texts may not be logged, nor answers.
    FromSize,
}

impl PromptHistory {
    /// Returns the starts of responses that stay, each with the index of the block before which it stays. A start stays
    /// where some of its output stays, or where output that no line has shown takes its place.
    pub(super) fn starts_that_stay(
        &self,
        kept: usize,
        new: &[ContextBlock],
    ) -> Vec<(usize, ContextBlock)> {
        let at: HashMap<Key, usize> = (0..).zip(new).map(|(n, held)| (held.key, n)).collect();
        let is_lost = |held: &ContextBlock| !held.is_start() && !at.contains_key(&held.key);
        let loses_talk = self
            .live
            .iter()
            .any(|held| is_lost(held) && !held.is_thinking());
        let stays_anyway = self.losses == LossInference::FromSize && !loses_talk;
        let mut stay = Vec::new();
        let mut before = Some(0);
        for (ix, held) in self.live.iter().enumerate().skip(kept) {
            if !held.is_start() {
                before = at.get(&held.key).map(|n| n + 1);
                continue;
            }
            let rest = &self.live[ix + 1..];
            let own = |other: &&ContextBlock| !other.is_start() && other.request == held.request;
            let first_output = rest
                .iter()
                .take_while(|held| !held.is_start())
                .filter(own)
                .find_map(|held| at.get(&held.key).copied());
            let is_output = |n: &usize| {
                new.get(*n)
                    .is_some_and(|held| held.is_output() && !self.emitted.contains(&held.key))
            };
            let next = rest.iter().find_map(|held| at.get(&held.key).copied());
            let end = match self.losses {
                LossInference::FromSize => {
                    next.or(stays_anyway.then(|| before.unwrap_or(new.len())))
                }
                LossInference::FromSummary => None,
            };
            let place = first_output.or(before.filter(is_output)).or(end);
            stay.extend(place.map(|n| (n, held.clone())));
        }
        stay
    }

    /// Returns the cause for which blocks leave that a request does not carry, and the index of the summary that takes their
    /// place.
    pub(super) fn loss(
        &self,
        prompt: &Prompt<'_, '_>,
        kept: usize,
        new: &[ContextBlock],
    ) -> (LeaveReason, Option<usize>) {
        let is_by_size = self.losses == LossInference::FromSize;
        let summary = if is_by_size {
            None
        } else {
            self.summary_at(kept, new, prompt.blocks)
        };
        let cause = match prompt.step {
            Step::Replace => LeaveReason::Clear,
            Step::Continue if is_by_size => self.cause_by_size(kept, new),
            Step::Continue if summary.is_some() => LeaveReason::Compaction,
            Step::Continue if self.lost_its_beginning(kept, new) => LeaveReason::Cleared,
            Step::Continue => LeaveReason::Rewind,
        };
        (cause, summary)
    }

    /// Emits what is no longer in the context, and why: thinking that is not sent again and results that
    /// were cleared leave for good, whatever happens to the rest.
    pub(super) fn drop_missing(
        &mut self,
        stays: &[Key],
        new: &[ContextBlock],
        cause: LeaveReason,
        out: &mut EventSink<'_>,
    ) {
        let staying: HashSet<Key> = stays.iter().copied().collect();
        let results: HashSet<Key> = new.iter().filter_map(ContextBlock::result_of).collect();
        let is_whole = matches!(cause, LeaveReason::Compaction | LeaveReason::Clear);
        let cause_of = |held: &ContextBlock| match held.result_of() {
            _ if is_whole => cause,
            _ if held.is_thinking() => LeaveReason::Stripped,
            Some(call) if results.contains(&call) => LeaveReason::Cleared,
            _ => cause,
        };
        let front = self
            .front
            .iter()
            .map(|(key, _)| (*key, LeaveReason::Replaced));
        let lost = self.live.iter().map(|held| (held.key, cause_of(held)));
        let lost: Vec<(Key, LeaveReason)> = front
            .chain(lost)
            .filter(|(key, _)| !staying.contains(key))
            .collect();
        self.loss_count += u64::from(!lost.is_empty());

        let mut held: Vec<Key> = self.keys().collect();
        for cause in [
            LeaveReason::Replaced,
            LeaveReason::Stripped,
            LeaveReason::Cleared,
        ] {
            let of_cause = lost.iter().filter(|(_, why)| *why == cause);
            let of_cause: HashSet<Key> = of_cause.map(|(key, _)| *key).collect();
            if !of_cause.is_empty() {
                held.retain(|key| !of_cause.contains(key));
                let keys = held.clone();
                out.emit(Event::Retain { keys, cause });
                self.emptied.extend(of_cause);
            }
        }
        let more = held.iter().any(|key| !staying.contains(key));
        let held: HashSet<Key> = held.into_iter().collect();
        let returns = |key: &Key| self.emitted.contains(key) && !held.contains(key);
        if more || stays.iter().any(returns) {
            let keys = stays.to_vec();
            let cause = if more { cause } else { LeaveReason::Rewind };
            out.emit(Event::Retain { keys, cause });
        }
    }

    /// Returns the index of the summary that took the place of the blocks that left, if the conversation was compacted:
    /// it reads like one, or a shorter history begins with something new though the old one continues behind it.
    fn summary_at(&self, kept: usize, new: &[ContextBlock], blocks: &[Block<'_>]) -> Option<usize> {
        let is_new = |held: &ContextBlock| !self.emitted.contains(&held.key);
        let (before, after) = (size(&self.live[kept..]), size(new));
        let mut old = self.live[kept..].iter().filter(|held| !held.is_start());
        let is_lost = |held: &ContextBlock| !new.iter().any(|other| other.key == held.key);
        let oldest = old.clone().next()?;
        let mut pairs = new.iter().zip(blocks);
        let like_one = pairs.position(|(held, block)| is_new(held) && block.is_like_a_summary());
        if like_one.is_some() {
            return like_one.filter(|_| old.any(is_lost) && after < before);
        }
        let first = new.first()?;
        let continues = new.iter().any(|held| !is_new(held));
        (is_new(first) && is_lost(oldest) && continues && after * 2 < before).then_some(0)
    }

    /// Returns true if the oldest blocks are missing, and nothing has taken their place.
    fn lost_its_beginning(&self, kept: usize, new: &[ContextBlock]) -> bool {
        let is_held = |held: &ContextBlock| self.live.iter().any(|old| old.key == held.key);
        let oldest = self.live[kept..].iter().find(|held| !held.is_start());
        let (Some(oldest), Some(first)) = (oldest, new.first()) else {
            return false;
        };
        oldest.key != first.key && is_held(first)
    }

    /// Returns the cause for which blocks have left, where their texts may not be logged: a rewind cuts off the end, a
    /// compaction leaves less than there was.
    fn cause_by_size(&self, kept: usize, new: &[ContextBlock]) -> LeaveReason {
        let carried: HashSet<Key> = new.iter().map(|held| held.key).collect();
        let is_carried = |held: &ContextBlock| carried.contains(&held.key);
        let is_lost = |held: &ContextBlock| !held.is_start() && !is_carried(held);
        let live = &self.live[kept..];
        let mut lost = live.iter().filter(|held| is_lost(held));
        if lost.all(ContextBlock::is_thinking) {
            return LeaveReason::Stripped;
        }
        let first_lost = live.iter().position(is_lost);
        match live.iter().rposition(is_carried) {
            Some(kept) if Some(kept) < first_lost => LeaveReason::Rewind,
            _ if size(new) < size(live) => LeaveReason::Compaction,
            _ => LeaveReason::Cleared,
        }
    }
}

fn size(held: &[ContextBlock]) -> u64 {
    held.iter().map(|held| held.bytes).sum()
}
