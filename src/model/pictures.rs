//! Whether a model gets the pictures and documents that its log holds.

use serde::{Deserialize, Serialize};

/// What becomes of pictures and documents. OpenCode sends a model that reads nothing but text a note in their place, and
/// logs what it did not send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pictures {
    /// Neither the models table nor a report has shown it: taken for sent, with an interval that reaches down to
    /// the note.
    #[default]
    Unknown,
    /// The model gets them.
    Sent,
    /// It gets a note in the place of each.
    Replaced,
}

impl Pictures {
    /// What pictures cost that have `tokens` by formula.
    pub(super) fn cost(self, tokens: u64) -> f64 {
        match self {
            Pictures::Replaced if tokens > 0 => tokens.min(NOTE) as f64,
            _ => tokens as f64,
        }
    }

    /// What of that cost is in doubt.
    pub(super) fn doubt(self, tokens: u64) -> u64 {
        match self {
            Pictures::Unknown => tokens.saturating_sub(NOTE),
            Pictures::Sent | Pictures::Replaced => 0,
        }
    }
}

/// The note in a picture's place, in tokens: OpenCode's has 18 to 28.
const NOTE: u64 = 24;
