//! The size of a context at every moment at once.

use super::Timeline;
use super::role_sizes::{RoleSizes, narrow};
use crate::Role;
use crate::sizes::items::OlderSize;
use crate::state::State;
use std::collections::HashMap;

impl Timeline {
    /// Returns the size of the context at each moment, in tokens, as items were known then. For sessions without a usage
    /// report; those of others have the sizes in them.
    pub fn sizes(&self, state: &State) -> Vec<u64> {
        self.stacks(state).map(|sizes| sum(&sizes)).collect()
    }

    /// Returns those sizes by role.
    pub fn role_sizes(&self, state: &State) -> Vec<RoleSizes> {
        self.stacks(state).map(|sizes| sizes.map(narrow)).collect()
    }

    /// Returns the tokens at each moment by role, the unlogged prefix among those of the system. Linear in moments and
    /// items.
    fn stacks(&self, state: &State) -> impl Iterator<Item = [u64; 5]> {
        // The tokens that come and go with each moment: by role, and those of system prompt and tools.
        let mut changes = vec![([0_i128; 5], 0_i128); self.moments.len()];
        let older = older_sizes(state);
        for (ix, item) in state.items().iter().enumerate() {
            // Its sizes, each with the record that changed it.
            let mut sizes: Vec<(u32, u64)> = older.get(&ix).cloned().unwrap_or_default();
            sizes.extend(item.previous.map(|size| (size.until, size.tokens)));
            sizes.sort_unstable();
            let role = item.role.index();
            let size_at = |record: u32| {
                let then = sizes.iter().find(|(until, _)| *until > record);
                then.map_or(state.tokens(ix).0, |(_, tokens)| *tokens)
            };
            let mut at = |record: u32, sign: i128, tokens: u64| {
                let tokens = sign * i128::from(tokens);
                let moment = self.at_record(record).unwrap_or(self.moments.len());
                if let Some(change) = changes.get_mut(moment) {
                    change.0[role] += tokens;
                    change.1 += if item.is_prefix() { tokens } else { 0 };
                }
            };
            let left = item.left.map_or(u32::MAX, |left| left.record);
            let ends = item.away.iter().map(|away| away.gone).chain([left]);
            let begins = item.away.iter().map(|away| away.back);
            for (begin, end) in [item.record].into_iter().chain(begins).zip(ends) {
                at(begin, 1, size_at(begin));
                let mut last = begin;
                for (until, _) in sizes
                    .iter()
                    .filter(|(until, _)| (begin + 1..end).contains(until))
                {
                    at(*until, -1, size_at(last));
                    at(*until, 1, size_at(*until));
                    last = *until;
                }
                at(end, -1, size_at(last));
            }
        }
        let whole = |tokens: i128| u64::try_from(tokens).unwrap_or(0);
        let mut held = ([0; 5], 0);
        self.moments
            .iter()
            .zip(changes)
            .map(move |(moment, (tokens, shown))| {
                for (held, tokens) in held.0.iter_mut().zip(tokens) {
                    *held += tokens;
                }
                held.1 += shown;
                let mut sizes = held.0.map(whole);
                let inputs = state.inputs_at(moment.record);
                let (unlogged, _) = state.expected_prefix(&inputs, sum(&sizes), whole(held.1));
                let system = &mut sizes[Role::System.index()];
                *system = system.saturating_add(unlogged);
                sizes
            })
    }
}

fn sum(sizes: &[u64; 5]) -> u64 {
    sizes.iter().copied().fold(0, u64::saturating_add)
}

/// Returns the sizes of items before their previous size, by item, each with the record that changed it.
fn older_sizes(state: &State) -> HashMap<usize, Vec<(u32, u64)>> {
    let mut sizes: HashMap<usize, Vec<(u32, u64)>> = HashMap::new();
    for OlderSize { item, size } in &state.attribution().items().older_sizes {
        let of_item = sizes.entry(*item).or_default();
        of_item.push((size.until, size.tokens));
    }
    sizes
}
