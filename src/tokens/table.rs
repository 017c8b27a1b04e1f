//! A vocabulary as a table: the rank of each token by the hash of its bytes. `build.rs` makes it from a vocabulary of
//! tiktoken-rs, and the program reads it where it is: nothing is built at run time, and pages come as they are needed.
//!
//! A slot is a number of eight bytes, least significant first: the upper bits of the hash, and the rank + 1; 0 is an
//! empty slot. The number of slots is a power of two. A token is in the slot that the lower bits of its hash name, or in
//! the next that was free. The 46 bits that are compared differ between all tokens (`build.rs` checks it); bytes that
//! are no token are mistaken for one once in 10^13 times.

use xxhash_rust::xxh3::xxh3_64;

pub const SLOT_BYTES: usize = 8;
/// The bits of a rank + 1: o200k has 199,998 tokens.
pub const RANK_MASK: u64 = (1 << 18) - 1;

/// The multipliers of the hash: odd and without a pattern, from the fractions of the golden ratio and of e.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND_MULTIPLIER: u64 = 0xb7e1_5162_8aed_2a6b;

/// Returns the rank of the token with this hash.
#[inline]
pub fn rank(table: &[u8], hash: u64) -> Option<u32> {
    let mask = table.len() / SLOT_BYTES - 1;
    let mut slot = hash as usize & mask;
    loop {
        let held = held(table, slot)?;
        if held == 0 {
            return None;
        }
        if (held ^ hash) & !RANK_MASK == 0 {
            return u32::try_from((held & RANK_MASK) - 1).ok();
        }
        slot = (slot + 1) & mask;
    }
}

/// Returns what a slot holds. A table of another size has no such slot.
#[inline]
pub fn held(table: &[u8], slot: usize) -> Option<u64> {
    let bytes = table.get(slot * SLOT_BYTES..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

/// Returns the hash of the word in these bytes. Words of up to seven bytes have hashes of their own; for longer ones it
/// is as good as 64 bits can be.
#[inline]
pub fn hash(bytes: &[u8], from: usize, to: usize) -> u64 {
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
