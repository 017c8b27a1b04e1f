//! Counts the usage of responses in parts that do not overlap and are the same for all providers, so that it can be
//! added up and priced.

use crate::event::BilledUsage;
use serde::{Deserialize, Serialize};

/// The place of cached tokens in a provider's numbers: those that were read from a cache and written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachePlacement {
    /// They are part of the input.
    Within,
    /// They are counted beside the input.
    Beside,
}

/// The way in which an agent's logs count what a response used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Billing {
    /// The place of cached tokens in its numbers, where a report does not show it.
    pub cached: CachePlacement,
    /// True if the output is without reasoning, which is counted beside it.
    pub reasoning_beside_output: bool,
}

impl Default for Billing {
    fn default() -> Billing {
        Billing {
            cached: CachePlacement::Within,
            reasoning_beside_output: false,
        }
    }
}

/// The tokens that responses used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input that no cache had.
    pub input: u64,
    /// Input that was read from a cache.
    pub cache_read: u64,
    /// Input that was written to a cache.
    pub cache_write: u64,
    /// The part of `cache_write` that is kept for an hour: it costs more.
    pub cache_write_hour: u64,
    /// Output, with reasoning.
    pub output: u64,
}

impl CachePlacement {
    /// Returns the way of counting of a report whose prompt is known; `usual` where its numbers do not show it.
    pub fn of(billed: BilledUsage, prompt: u64, usual: CachePlacement) -> CachePlacement {
        let is_beside = prompt == billed.prompt();
        match (is_beside, prompt == billed.input) {
            (true, false) => CachePlacement::Beside,
            (false, true) => CachePlacement::Within,
            // Nothing was cached, or the numbers are of different things.
            _ => usual,
        }
    }
}

impl TokenUsage {
    /// Returns the parts of a response's usage. `beside`: the reasoning that `output` does not hold.
    pub fn of(billed: BilledUsage, cached: CachePlacement, beside: u64) -> TokenUsage {
        let in_cache = billed.cache_read.saturating_add(billed.cache_creation);
        TokenUsage {
            input: match cached {
                CachePlacement::Within => billed.input.saturating_sub(in_cache),
                CachePlacement::Beside => billed.input,
            },
            cache_read: billed.cache_read,
            cache_write: billed.cache_creation,
            cache_write_hour: billed.cache_creation_hour.min(billed.cache_creation),
            output: billed.output.saturating_add(beside),
        }
    }

    /// Returns the whole input.
    pub fn prompt(self) -> u64 {
        let cached = self.cache_read.saturating_add(self.cache_write);
        self.input.saturating_add(cached)
    }

    /// Returns all tokens.
    pub fn all(self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// Returns the sum of each part.
    #[must_use]
    pub fn plus(self, other: TokenUsage) -> TokenUsage {
        TokenUsage {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_write_hour: self.cache_write_hour.saturating_add(other.cache_write_hour),
            output: self.output.saturating_add(other.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_do_not_overlap_however_the_provider_counts() {
        let within = BilledUsage::new(1_000, 50).with_cache(600, 300);
        let beside = BilledUsage::new(100, 50).with_cache(600, 300);
        let parts = TokenUsage {
            input: 100,
            cache_read: 600,
            cache_write: 300,
            cache_write_hour: 0,
            output: 50,
        };
        assert_eq!(TokenUsage::of(within, CachePlacement::Within, 0), parts);
        assert_eq!(TokenUsage::of(beside, CachePlacement::Beside, 0), parts);
        assert_eq!((parts.prompt(), parts.all()), (1_000, 1_050));
        assert_eq!(
            TokenUsage::of(within, CachePlacement::Within, 20).output,
            70
        );
        assert_eq!(
            CachePlacement::of(within, 1_000, CachePlacement::Beside),
            CachePlacement::Within
        );
        assert_eq!(
            CachePlacement::of(beside, 1_000, CachePlacement::Within),
            CachePlacement::Beside
        );
        assert_eq!(
            CachePlacement::of(beside, 7, CachePlacement::Within),
            CachePlacement::Within
        );
        let nothing = BilledUsage::new(1_000, 50);
        assert_eq!(
            CachePlacement::of(nothing, 1_000, CachePlacement::Within),
            CachePlacement::Within
        );
        assert_eq!(
            CachePlacement::of(nothing, 1_000, CachePlacement::Beside),
            CachePlacement::Beside
        );
    }

    #[test]
    fn numbers_that_contradict_each_other_end_at_their_edges() {
        let cached = BilledUsage::new(10, u64::MAX).with_cache(u64::MAX, u64::MAX);
        let spent = TokenUsage::of(cached, CachePlacement::Within, 5);
        assert_eq!((spent.input, spent.output), (0, u64::MAX));
        assert_eq!(spent.plus(spent).all(), u64::MAX);
    }
}
