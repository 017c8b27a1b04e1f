//! Counts the tokens of a word: byte pairs are merged as long as a pair is a token, the pair of the lowest rank first and
//! of these the first.

use crate::table::{hash, rank};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The longest word whose pairs are looked through for the lowest rank: they need no memory but an array. A longer one has
/// its pairs in a heap, since each search would take as long as the word.
const SEARCHED_BYTES: usize = 64;
/// The rank of a pair that is no token.
const NONE: u32 = u32::MAX;

/// Returns the tokens of a word by a table of ranks.
pub(super) fn tokens(table: &[u8], word: &[u8]) -> u32 {
    let count = if word.len() < 2 || rank(table, hash(word, 0, word.len())).is_some() {
        word.len().min(1)
    } else if word.len() <= SEARCHED_BYTES {
        by_search(table, word)
    } else {
        by_heap(table, word)
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn rank_of(table: &[u8], word: &[u8], from: usize, to: usize) -> u32 {
    rank(table, hash(word, from, to)).unwrap_or(NONE)
}

fn by_search(table: &[u8], word: &[u8]) -> usize {
    // Where each part begins, and the rank of it with the next one. The end is a part too, which is empty.
    let mut parts = [(0_usize, NONE); SEARCHED_BYTES + 1];
    let mut count = word.len();
    for (at, part) in parts[..=count].iter_mut().enumerate() {
        let pair = (at + 2 <= count).then(|| rank_of(table, word, at, at + 2));
        *part = (at, pair.unwrap_or(NONE));
    }
    loop {
        let pairs = parts[..count].iter().enumerate();
        let Some((at, _)) = pairs
            .min_by_key(|(_, part)| part.1)
            .filter(|(_, part)| part.1 != NONE)
        else {
            return count;
        };
        parts.copy_within(at + 2..=count, at + 1);
        count -= 1;
        for at in at.saturating_sub(1)..=at {
            let pair =
                (at + 2 <= count).then(|| rank_of(table, word, parts[at].0, parts[at + 2].0));
            parts[at].1 = pair.unwrap_or(NONE);
        }
    }
}

fn by_heap(table: &[u8], word: &[u8]) -> usize {
    let len = word.len();
    // Of each part by its beginning: where the next one begins (0: it is no part any more), and the one before.
    let mut next: Vec<usize> = (1..=len).collect();
    let mut previous: Vec<usize> = (0..len).map(|at| at.saturating_sub(1)).collect();
    let mut pairs: BinaryHeap<_> = (0..len - 1)
        .map(|at| (rank_of(table, word, at, at + 2), at, at + 2))
        .filter(|(rank, ..)| *rank != NONE)
        .map(Reverse)
        .collect();
    let mut count = len;
    while let Some(Reverse((_, at, end))) = pairs.pop() {
        let middle = next[at];
        // Parts only grow: a pair that ends elsewhere now was another one.
        if middle == 0 || middle >= len || next[middle] != end {
            continue;
        }
        (next[at], next[middle]) = (end, 0);
        count -= 1;
        if end < len {
            previous[end] = at;
        }
        let mut add = |at: usize| {
            let end = next.get(next[at]).copied();
            let pair = end.map(|end| (rank_of(table, word, at, end), at, end));
            pairs.extend(pair.filter(|(rank, ..)| *rank != NONE).map(Reverse));
        };
        add(at);
        if at > 0 {
            add(previous[at]);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::O200K;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_count_alike(word in prop::collection::vec(prop::sample::select(b"aabcdeinst \n=\xc3\xa9".to_vec()), 2..=SEARCHED_BYTES)) {
            prop_assert_eq!(by_search(O200K, &word), by_heap(O200K, &word));
        }
    }
}
