//! Settled items share a smaller number, in proportion to their sizes so far.
//!
//! That is a walk through the context each time a reported prompt drops without a compaction. In a log where
//! prompts drop again and again, the sizes in between would not be kept: they are worked out once, when
//! somebody asks, from the ratios of all drops since.

use super::Items;
use crate::Source;
use crate::history::ItemIx;
use crate::history::NodeIx;

/// The tokens that the items before a node share, and the drops that led to them.
#[derive(Debug, Clone, Default)]
pub(super) struct Rescaling {
    /// Each drop since the sizes were worked out. Nodes never fall.
    drops: Vec<PromptDrop>,
    /// The tokens that they have together now.
    tokens: u64,
}

/// A drop of the prompt that the items in it shared.
#[derive(Debug, Clone, Copy)]
struct PromptDrop {
    /// The node before which items shared it.
    start: NodeIx,
    /// The ratio of their tokens after it to those before it.
    ratio: f64,
}

impl Rescaling {
    /// Returns the ratio of what an item at a node has now to what it had when it was attributed.
    fn ratio(&self, node: NodeIx) -> f64 {
        let drops = self.drops[self.after(node)..].iter();
        drops.map(|drop| drop.ratio).product()
    }

    /// Returns the first drop that was after an item at a node.
    fn after(&self, node: NodeIx) -> usize {
        self.drops.partition_point(|drop| drop.start <= node)
    }
}

impl Items {
    /// Shares another number of tokens among all that is attributed before a node, `held` tokens together. `held` is
    /// above 0.
    pub(crate) fn rescale(&mut self, start: NodeIx, held: u64, tokens: u64) {
        self.attributed.all += i128::from(tokens) - i128::from(held);
        let rescaled = self.rescaled.get_or_insert_default();
        rescaled.drops.push(PromptDrop {
            start,
            ratio: tokens as f64 / held as f64,
        });
        rescaled.tokens = tokens;
        if rescaled.drops.len() >= MOST_DROPS.max(self.list.len() / 4) {
            self.apply_rescale();
        }
    }

    /// Returns true if sizes are still to be worked out.
    pub(crate) fn is_late(&self) -> bool {
        self.rescaled.is_some()
    }

    /// Returns true if an item is at a node before which sizes are still to be worked out.
    pub(super) fn is_rescaled(&self, ix: ItemIx) -> bool {
        let drops = self.rescaled.as_ref().and_then(|it| it.drops.last());
        drops.is_some_and(|drop| self.list[ix].node < drop.start)
    }

    /// Returns true if it has a part of the tokens that are to be shared there.
    fn shares(&self, ix: ItemIx) -> bool {
        let item = &self.list[ix];
        self.is_rescaled(ix) && item.in_context() && item.attributed.is_some()
    }

    /// Returns the attributed tokens of an item in the context; `None`: it is not attributed. Not to the token before all
    /// sizes are worked out.
    pub(crate) fn attributed_now(&self, ix: ItemIx) -> Option<f64> {
        let (tokens, _) = self.list[ix].attributed?;
        let tokens = tokens as f64;
        Some(match &self.rescaled {
            Some(rescaled) if self.shares(ix) => {
                (tokens * rescaled.ratio(self.list[ix].node)).round()
            }
            _ => tokens,
        })
    }

    /// Works out the size of an item that is about to leave.
    pub(super) fn apply_rescale_to(&mut self, ix: ItemIx) {
        if !self.shares(ix) {
            return;
        }
        let size = self.attributed_now(ix).unwrap_or(0.0) as u64;
        if let Some(rescaled) = &mut self.rescaled {
            let size = size.min(rescaled.tokens);
            rescaled.tokens -= size;
            self.resize(ix, size);
        }
    }

    /// Works out all sizes. Costs a walk through the items, if there is anything to work out.
    pub(crate) fn apply_rescale(&mut self) {
        let Some(rescaled) = &self.rescaled else {
            return;
        };
        let all = 0..self.list.len();
        let items: Vec<ItemIx> = all.filter(|ix| self.shares(*ix)).collect();
        // The ratios of each drop and all after it.
        let mut ratios: Vec<f64> = rescaled.drops.iter().map(|drop| drop.ratio).collect();
        for drop in (1..ratios.len()).rev() {
            ratios[drop - 1] *= ratios[drop];
        }
        let weight = |ix: &ItemIx| {
            let item = &self.list[*ix];
            let first = rescaled.after(item.node);
            let ratio = ratios.get(first).copied().unwrap_or(1.0);
            item.attributed
                .map_or(0.0, |(tokens, _)| tokens as f64 * ratio)
        };
        let weights: Vec<f64> = items.iter().map(weight).collect();
        let sizes = parts(&weights, rescaled.tokens);
        self.rescaled = None;
        for (ix, size) in items.into_iter().zip(sizes) {
            self.keep_previous(ix);
            self.resize(ix, size);
        }
    }

    /// Gives an item its part of a sum that counts already.
    fn resize(&mut self, ix: ItemIx, size: u64) {
        let item = &self.list[ix];
        let (before, is_prefix) = (item.attributed, item.is_prefix());
        let attributed = Some((size, Source::Shared));
        self.list[ix].attributed = attributed;
        if is_prefix {
            let before = before.map_or(0, |(tokens, _)| i128::from(tokens));
            self.attributed.prefix += i128::from(size) - before;
        }
    }
}

/// The most drops that are kept of a session with few items: the size of one item that leaves is worked out from all since it came.
const MOST_DROPS: usize = 4_096;

/// Divides a sum in proportion to weights, to the token: each part is rounded down, and the tokens that are left go
/// to the parts that lost most by it (the largest remainder). So a part does not depend on the order of the others,
/// which is another one when a log is followed while a file beside it comes late.
pub(crate) fn parts(weights: &[f64], sum: u64) -> Vec<u64> {
    let total: f64 = weights.iter().sum();
    let share = |weight: &f64| {
        if total > 0.0 {
            sum as f64 * (weight / total)
        } else {
            sum as f64 / weights.len() as f64
        }
    };
    let shares: Vec<f64> = weights.iter().map(share).collect();
    // Floats may round the last tokens of a large sum up: no part is above what is left.
    let mut left = sum;
    let round_down = |share: &f64| {
        let part = (share.floor() as u64).min(left);
        left -= part;
        part
    };
    let mut parts: Vec<u64> = shares.iter().map(round_down).collect();
    let mut most_lost: Vec<usize> = (0..parts.len()).collect();
    // Of those that lost as much, the larger first.
    most_lost.sort_by(|a, b| {
        let by_lost = shares[*b].fract().total_cmp(&shares[*a].fract());
        by_lost.then(shares[*b].total_cmp(&shares[*a]))
    });
    let count = parts.len().max(1) as u64;
    let (each, more) = (left / count, left % count);
    for (rank, ix) in (0..).zip(most_lost) {
        parts[ix] += each + u64::from(rank < more);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::parts;
    use proptest::prelude::*;

    #[test]
    fn what_rounding_leaves_goes_to_the_parts_that_lost_most() {
        assert_eq!(parts(&[16.0, 3.0, 3.0], 10), [7, 2, 1]);
        assert_eq!(parts(&[0.0, 0.0], 3), [2, 1]);
        assert_eq!(parts(&[], 3), [0; 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up(
            weights in prop::collection::vec(0.0..1e6, 1..40),
            sum in prop_oneof![0..1_000_u64, 0..u64::MAX],
        ) {
            let parts = parts(&weights, sum);
            prop_assert_eq!(parts.into_iter().map(u128::from).sum::<u128>(), u128::from(sum));
        }

        #[test]
        fn parts_do_not_depend_on_their_order(
            weights in prop::collection::btree_set(0..100_000_u32, 1..40),
            sum in 0..1_000_000_u64,
        ) {
            let mut weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let ascending = parts(&weights, sum);
            prop_assert!(ascending.is_sorted(), "a larger weight has no smaller part");
            weights.reverse();
            let mut descending = parts(&weights, sum);
            descending.reverse();
            prop_assert_eq!(ascending, descending);
        }
    }
}
