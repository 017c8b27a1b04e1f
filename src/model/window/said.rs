//! What an agent's client says of a session, which no log of that agent has.

use jiff::Timestamp;

/// The window of a session as its agent's client says it, and more where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The window, in tokens.
    pub window: u64,
    /// The model that it is of, as logs write it; `None`: the client does not say.
    pub model: Option<String>,
    /// When it compacts by itself.
    pub compaction: SaidCompaction,
    /// What fills its context, as it estimates that.
    pub breakdown: Option<Breakdown>,
}

/// When a client compacts by itself, in its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SaidCompaction {
    /// It does not say.
    #[default]
    Unsaid,
    /// At this size, in tokens.
    At(u64),
    /// At no size: when the provider refuses a prompt as too long.
    Refused,
    /// Never: it is switched off.
    Off,
}

impl SaidCompaction {
    /// The size at which it compacts.
    pub(super) fn at(self) -> Option<u64> {
        match self {
            SaidCompaction::At(at) => Some(at),
            _ => None,
        }
    }
}

/// What fills a context, as the client estimates it. Its names are not safe to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakdown {
    /// When.
    pub at: Timestamp,
    /// All of it, in tokens.
    pub tokens: u64,
    /// Its parts by name, in tokens.
    pub parts: Vec<(String, u64)>,
}

impl Said {
    /// A window and nothing more.
    pub fn window(window: u64, model: Option<String>) -> Said {
        Said {
            window,
            model,
            compaction: SaidCompaction::Unsaid,
            breakdown: None,
        }
    }

    /// Whether it is of this model. A session may have changed its model since.
    pub(super) fn is_of(&self, model: Option<&str>) -> bool {
        match (&self.model, model) {
            (Some(said), Some(model)) => said == model,
            _ => true,
        }
    }
}
