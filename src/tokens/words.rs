//! Remembers how many tokens a word has: most of a text consists of a few words.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of words that are remembered. They take 512 kB, most of a core's second cache.
const SLOTS: usize = 1 << 16;
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
    /// Returns the count of the word with this hash, if it is remembered.
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
