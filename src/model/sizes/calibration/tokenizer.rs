//! Relates a provider's tokenizer to the local count.

use super::{Class, Parts};
use crate::Kind;
use crate::sizes::pictures::Pictures;
use crate::sizes::thinking::Thinking;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The relation of a provider's tokenizer to the local count: a row of the models table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokenizer {
    /// Bytes of text a token, by the estimate of an agent that distinguishes models; 0: as for any model.
    #[serde(default)]
    pub agent_bytes: u64,
    /// Provider tokens a local token.
    pub per_token: f64,
    /// Provider tokens that frame one item of a user, a tool or the harness.
    pub per_item: f64,
    /// Provider tokens that frame one tool call of the model's.
    #[serde(default)]
    pub per_call: f64,
    /// The cost of a digit beyond its part of the local count.
    #[serde(default)]
    pub per_digit: f64,
    /// The cost of a character outside ASCII that is no letter, beyond its part of the local count.
    #[serde(default)]
    pub per_mark: f64,
    /// Tokens a byte of hidden content: signatures, encrypted reasoning.
    #[serde(default)]
    pub per_opaque_byte: f64,
    /// Bytes of hidden content that cost nothing.
    #[serde(default)]
    pub opaque_overhead: f64,
    /// The growth of thinking relative to its readable summary: the exponent of their ratio beyond 100 tokens; 0 where
    /// the text is whole.
    #[serde(skip)]
    pub thinking_growth: f64,
    /// The treatment of the model's thinking.
    #[serde(skip)]
    pub thinking: Thinking,
    /// The treatment of pictures; `Unknown`: the reports of a session show it.
    #[serde(default)]
    pub pictures: Pictures,
    /// The treatment of documents by the agent; `Unknown`: the reports of a session show it.
    #[serde(skip)]
    pub documents: Pictures,
    /// The cost of a tool's call and result beyond the usual framing, by tool: reminders that no log shows.
    #[serde(default)]
    pub per_tool: BTreeMap<String, f64>,
    /// Half the width of the 90 % interval, as a share of the estimate.
    pub spread: f64,
    /// Half the width of the 90 % interval that even the smallest estimate has, in tokens.
    pub spread_floor: f64,
    /// The source of these numbers.
    #[serde(default)]
    pub source: String,
}

impl Tokenizer {
    /// Returns the price where all text costs `scale` times as much; framing costs the same.
    pub(super) fn price_times(&self, scale: f64) -> Parts {
        [
            self.per_token * scale,
            self.per_item,
            self.per_call,
            self.per_digit * scale,
            0.0,
            self.per_mark * scale,
        ]
    }

    pub(super) fn extra(&self) -> BTreeMap<Class, f64> {
        let result = |name: &str| Class::of(Kind::ToolResult, Some(name));
        let extras = self.per_tool.iter();
        extras.map(|(name, extra)| (result(name), *extra)).collect()
    }

    /// Returns the tokens of thinking whose readable text has `text` tokens. Some models show a summary, which is
    /// relatively shorter for longer thinking.
    pub(super) fn whole_thinking(&self, text: f64) -> f64 {
        if self.thinking_growth == 0.0 || text <= SUMMARISED_ABOVE {
            text
        } else {
            text * (text / SUMMARISED_ABOVE).powf(self.thinking_growth)
        }
    }
}

impl Default for Tokenizer {
    /// Returns the tokenizer of models without a row in the table: close to the local count, with a wide error.
    fn default() -> Tokenizer {
        Tokenizer {
            agent_bytes: 0,
            per_token: 1.1,
            per_item: 12.0,
            per_call: 20.0,
            per_digit: 0.0,
            per_mark: 0.0,
            per_opaque_byte: 0.15,
            opaque_overhead: 0.0,
            thinking_growth: 0.0,
            thinking: Thinking::Stays,
            pictures: Pictures::Unknown,
            documents: Pictures::Unknown,
            per_tool: BTreeMap::new(),
            spread: 0.35,
            spread_floor: 40.0,
            source: String::new(),
        }
    }
}

/// Readable thinking up to this many tokens counts as complete.
const SUMMARISED_ABOVE: f64 = 100.0;
