//! Defines the treatments of a model's thinking: whether it is part of the prompts after it.

use serde::{Deserialize, Serialize};

/// The treatment of a model's thinking after its response. It depends on the model, the provider's API and the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// It stays in the context.
    #[default]
    Stays,
    /// It leaves when a new user turn begins.
    Leaves,
    /// It is never sent back: it leaves with the first item after its response.
    Never,
}

impl Thinking {
    /// All of them.
    pub const ALL: [Thinking; 3] = [Thinking::Stays, Thinking::Leaves, Thinking::Never];

    /// Returns its index in [`Thinking::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}
