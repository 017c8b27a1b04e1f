//! Represents the cost of a response.

use super::surcharge::Surcharges;
use serde::{Deserialize, Serialize};
use std::array;

/// A response's usage in the provider's own terms: whether `input` holds the cached part differs.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BilledUsage {
    /// Input, with or without the cached part as the provider counts.
    pub input: u64,
    /// Input that was written to a cache.
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for an hour.
    pub cache_creation_hour: u64,
    /// Input that was read from a cache.
    pub cache_read: u64,
    /// Output.
    pub output: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
    /// Other circumstances that change its price.
    pub surcharges: Surcharges,
}

impl BilledUsage {
    /// Returns a usage of this input and output, in tokens.
    pub fn new(input: u64, output: u64) -> BilledUsage {
        BilledUsage {
            input,
            output,
            ..BilledUsage::default()
        }
    }

    /// Returns the usage with these numbers, in the order of the fields.
    pub fn of_counts(counts: [u64; 6], surcharges: Surcharges) -> BilledUsage {
        let [
            input,
            cache_creation,
            cache_creation_hour,
            cache_read,
            output,
            reasoning,
        ] = counts;
        BilledUsage {
            input,
            cache_creation,
            cache_creation_hour,
            cache_read,
            output,
            reasoning,
            surcharges,
        }
    }

    /// Returns its numbers, in the order of the fields.
    pub fn counts(self) -> [u64; 6] {
        [
            self.input,
            self.cache_creation,
            self.cache_creation_hour,
            self.cache_read,
            self.output,
            self.reasoning,
        ]
    }

    /// Returns this usage with the tokens of the input that were read from a cache and written to it.
    pub fn with_cache(self, read: u64, creation: u64) -> BilledUsage {
        BilledUsage {
            cache_read: read,
            cache_creation: creation,
            ..self
        }
    }

    /// Returns this usage with the tokens of `cache_creation` that are kept for an hour.
    pub fn with_hour(self, creation: u64) -> BilledUsage {
        BilledUsage {
            cache_creation_hour: creation,
            ..self
        }
    }

    /// Returns this usage with tokens of reasoning.
    pub fn with_reasoning(self, reasoning: u64) -> BilledUsage {
        BilledUsage { reasoning, ..self }
    }

    /// Returns this usage with other circumstances that change its price.
    pub fn with_surcharges(self, surcharges: Surcharges) -> BilledUsage {
        BilledUsage { surcharges, ..self }
    }

    /// Returns the sum of each number.
    pub fn plus(self, other: BilledUsage) -> BilledUsage {
        self.with(other, u64::saturating_add)
    }

    /// Subtracts each number of `other`. No result is below 0.
    pub fn saturating_sub(self, other: BilledUsage) -> BilledUsage {
        self.with(other, u64::saturating_sub)
    }

    /// Subtracts each number of `other`. Returns `None` where one of them is larger.
    pub fn checked_sub(self, other: BilledUsage) -> Option<BilledUsage> {
        let mut pairs = self.counts().into_iter().zip(other.counts());
        pairs.all(|(own, other)| own >= other).then(|| BilledUsage {
            surcharges: self.surcharges,
            ..self.saturating_sub(other)
        })
    }

    /// Returns the prompt, where `input` does not hold the cached part.
    pub fn prompt(self) -> u64 {
        let cached = self.cache_creation.saturating_add(self.cache_read);
        self.input.saturating_add(cached)
    }

    /// Returns the larger of each number.
    pub fn max(self, other: BilledUsage) -> BilledUsage {
        self.with(other, u64::max)
    }

    /// Returns the cost of a response by two of its lines, of which this one is the earlier. The input is from the
    /// later line, since some endpoints begin with an estimate of it; the output only rises while it streams.
    pub fn followed_by(self, later: BilledUsage) -> BilledUsage {
        let input = if later.prompt() > 0 { later } else { self };
        BilledUsage {
            output: self.output.max(later.output),
            reasoning: self.reasoning.max(later.reasoning),
            surcharges: self.surcharges.and(later.surcharges),
            ..input
        }
    }

    fn with(self, other: BilledUsage, one: fn(u64, u64) -> u64) -> BilledUsage {
        let (own, others) = (self.counts(), other.counts());
        let counts = array::from_fn(|at| one(own[at], others[at]));
        BilledUsage::of_counts(counts, self.surcharges.and(other.surcharges))
    }
}
