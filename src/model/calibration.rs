//! From a local count to an estimate, with its error.
//!
//! An estimate is `per_token · local + per_item` plus images by their formula, with the numbers of the
//! model's tokenizer from the models table. Its spread is the share by which nine of ten settled
//! deltas stayed off it.

use super::event::{NewItem, Size};
use super::{Kind, Role};
use serde::{Deserialize, Serialize};

/// How a provider's tokenizer relates to the local count: a row of the models table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokenizer {
    /// Provider tokens a local token.
    pub per_token: f64,
    /// Provider tokens that frame one item of a user, a tool or the harness.
    pub per_item: f64,
    /// Provider tokens that frame one piece of the model's own output.
    #[serde(default)]
    pub per_output: f64,
    /// Tokens a byte of hidden content: signatures, encrypted reasoning.
    #[serde(default)]
    pub per_opaque_byte: f64,
    /// Bytes of hidden content that stand for nothing.
    #[serde(default)]
    pub opaque_overhead: f64,
    /// Half the width of the 90 % interval, as a share of the estimate.
    pub spread: f64,
    /// Half the width of the 90 % interval that even the smallest estimate has, in tokens.
    pub spread_floor: f64,
    /// Where these numbers are from.
    pub source: String,
}

impl Tokenizer {
    /// For models that no table knows: the local count as it is, and little trust in it.
    pub fn unknown() -> Tokenizer {
        Tokenizer {
            per_token: 1.1,
            per_item: 12.0,
            per_output: 0.0,
            per_opaque_byte: 0.15,
            opaque_overhead: 0.0,
            spread: 0.35,
            spread_floor: 40.0,
            source: String::new(),
        }
    }

    /// What an item is expected to cost, in provider tokens.
    pub fn estimate(&self, role: Role, kind: Kind, size: &Size) -> f64 {
        let text = self.per_token * size.local as f64 + size.fixed as f64;
        let hidden = (size.opaque as f64 - self.opaque_overhead).max(0.0) * self.per_opaque_byte;
        match (role, kind) {
            // Readable thinking may be a summary of what is hidden: the larger of the two.
            (_, Kind::Thinking) => text.max(hidden),
            (Role::Assistant, _) => text + hidden + self.per_output,
            _ => text + hidden + self.per_item,
        }
    }

    /// What a new item is expected to cost, in provider tokens.
    pub fn estimate_new(&self, item: &NewItem) -> f64 {
        self.estimate(item.role, item.kind, &item.size)
    }

    /// Half the width of the 90 % interval around a sum of estimates.
    pub fn error(&self, estimate: f64, items: usize) -> f64 {
        if items == 0 {
            0.0
        } else {
            self.spread * estimate + self.spread_floor * (items as f64).sqrt()
        }
    }
}

/// An expected number of tokens with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Expected {
    /// The best guess.
    pub tokens: u64,
    /// One in twenty is below.
    pub low: u64,
    /// One in twenty is above.
    pub high: u64,
}

impl Expected {
    /// A known base with an estimate on top of it.
    pub fn around(base: u64, estimate: f64, error: f64) -> Expected {
        let at = |x: f64| base + x.max(0.0).round() as u64;
        Expected {
            tokens: at(estimate),
            low: at(estimate - error),
            high: at(estimate + error),
        }
    }
}
