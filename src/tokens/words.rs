//! Remembers how many tokens a word has: most of a text consists of a few words.

use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// How many words are remembered. They take 512 kB, most of a core's second cache.
const SLOTS: usize = 1 << 16;
/// The multipliers of the hash: odd and without a pattern, from the fractions of the golden ratio and of e.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND_MULTIPLIER: u64 = 0xb7e1_5162_8aed_2a6b;

/// The counts of words by their hash, in pairs of slots. A slot is one number, so threads share it without a lock. It
/// has the hash in its upper bits and the count in its lowest eight: the slot's place implies those of the hash.
pub(super) struct Words {
    slots: Box<[AtomicU64]>,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Words {
    /// The count of the word with this hash, if it is remembered.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> Option<u32> {
        for slot in self.pair(hash) {
            let held = slot.load(Ordering::Relaxed);
            if (held ^ hash) & !0xff == 0 {
                // An empty slot may look like a match; its count is 0.
                return Some((held & 0xff) as u32).filter(|count| *count > 0);
            }
        }
        None
    }

    /// Remembers a count in place of the older one of the pair. Counts above 255 are not remembered.
    pub(super) fn put(&self, hash: u64, count: u32) {
        if let ([young, old], 1..=255) = (self.pair(hash), count) {
            old.store(young.load(Ordering::Relaxed), Ordering::Relaxed);
            young.store(hash & !0xff | u64::from(count), Ordering::Relaxed);
        }
    }

    #[inline]
    fn pair(&self, hash: u64) -> &[AtomicU64] {
        let at = 2 * (hash as usize & (SLOTS / 2 - 1));
        &self.slots[at..at + 2]
    }
}

/// The hash of the word in these bytes. Words of up to seven bytes have hashes of their own; for longer ones it is as
/// good as 64 bits can be.
#[inline]
pub(super) fn hash(bytes: &[u8], from: usize, to: usize) -> u64 {
    let len = to - from;
    if len > 7 {
        return xxh3_64(&bytes[from..to]);
    }
    let word = match bytes.get(from..from + 8) {
        Some(eight) => eight.try_into().map_or(0, u64::from_le_bytes) & ((1 << (8 * len)) - 1),
        None => {
            let mut eight = [0; 8];
            eight[..len].copy_from_slice(&bytes[from..to]);
            u64::from_le_bytes(eight)
        }
    };
    // Each step can be undone, so no two words have the same hash.
    let word = (word | (len as u64) << 56).wrapping_mul(MULTIPLIER);
    let word = (word ^ word >> 32).wrapping_mul(SECOND_MULTIPLIER);
    word ^ word >> 32
}
