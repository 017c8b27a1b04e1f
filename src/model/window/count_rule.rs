//! Defines the rules by which agents count their contexts, by the models table.

use serde::{Deserialize, Serialize};

/// The rule by which an agent counts its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountRule {
    /// The number that the count begins with.
    pub base: Base,
    /// Bytes a token of what came since the last report, rounded up for each item; 0: not counted.
    #[serde(default)]
    pub bytes_per_token: u64,
    /// True if the tokenizer's [`agent_bytes`](crate::sizes::calibration::Tokenizer::agent_bytes) take the place of
    /// `bytes_per_token`.
    #[serde(default)]
    pub by_model: bool,
    /// True if it adds the reasoning of the turns before the last user message, since the last compaction.
    #[serde(default)]
    pub earlier_reasoning: bool,
    /// Tokens of its system prompt and tools, for [`Base::Text`], which leaves them out.
    #[serde(default)]
    pub prefix: u64,
    /// True if the last prompt and what came since take the place of the count where they are more.
    #[serde(default)]
    pub or_prompt: bool,
    /// Bytes a token of all text in the context, which is its count from when it rewrites its history
    /// until the next report; 0: it does not do so.
    #[serde(default)]
    pub anew_bytes_per_token: u64,
}

/// The number that an agent's count begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Base {
    /// The last prompt that was reported.
    Prompt,
    /// The last prompt and its output.
    Total,
    /// The agent's own number in its log.
    Logged,
    /// o200k tokens of all text in the context.
    O200k,
    /// All text in the conversation, in `bytes_per_token`.
    Text,
}
