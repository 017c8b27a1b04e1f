//! Holds the statements of an agent's client about a session, which no log of that agent has.

use crate::event::PlanLimits;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The window of a session as its agent's client says it, and more where it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// The window, in tokens.
    pub window: u64,
    /// The model that it is of, as the client writes it; `None`: the client does not say.
    pub model: Option<String>,
    /// The time at which it was first said; `None`: not known.
    pub since: Option<Timestamp>,
    /// The size at which it compacts by itself.
    pub compaction: ClientCompaction,
    /// The breakdown of its context, as the client estimates it.
    pub breakdown: Option<Breakdown>,
    /// The time until which the provider keeps the newest prompt.
    pub cache_until: Option<Timestamp>,
    /// The newest prompt that was not in the cache.
    pub miss: Option<ClientMiss>,
    /// The limits of the user's plan.
    pub plan: PlanLimits,
}

/// The client's word on prompts that were not in the provider's cache. Its causes are not safe to print.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClientMiss {
    /// The number of them in the session so far.
    pub misses: u64,
    /// The time of the newest.
    pub at: Option<Timestamp>,
    /// The likely causes of the newest.
    pub causes: Vec<String>,
    /// The tools that were added before it.
    pub tools_added: u64,
    /// The tools that were removed before it.
    pub tools_removed: u64,
}

/// The size at which a client compacts by itself, in its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ClientCompaction {
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

impl ClientCompaction {
    /// Returns the size at which it compacts.
    pub(super) fn at(self) -> Option<u64> {
        match self {
            ClientCompaction::At(at) => Some(at),
            _ => None,
        }
    }
}

/// The breakdown of a context, as the client estimates it. Its names are not safe to print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// When.
    pub at: Timestamp,
    /// All of it, in tokens.
    pub tokens: u64,
    /// Its parts by name, in tokens.
    pub parts: Vec<(String, u64)>,
}

impl ClientStatus {
    /// Returns a window and nothing more.
    pub fn window(window: u64, model: Option<String>) -> ClientStatus {
        ClientStatus {
            window,
            model,
            since: None,
            compaction: ClientCompaction::Unsaid,
            breakdown: None,
            cache_until: None,
            miss: None,
            plan: PlanLimits::default(),
        }
    }

    /// Returns the model that the client has changed to since the newest response, which was of `model`, at `answered`:
    /// the next one will be of it.
    pub(crate) fn changed_to(
        &self,
        model: Option<&str>,
        answered: Option<Timestamp>,
    ) -> Option<&str> {
        let is_newer = self.since? > answered?;
        let said = self.model.as_deref()?;
        (is_newer && !self.is_of(model)).then_some(said)
    }

    /// Returns true if the statement is about this model. A session may have changed its model since.
    pub(super) fn is_of(&self, model: Option<&str>) -> bool {
        match (&self.model, model) {
            (Some(said), Some(model)) => without_window(said) == without_window(model),
            _ => true,
        }
    }
}

/// Returns a model's id without what is added about its window: `claude-opus-5[1m]` is `claude-opus-5` in most logs.
pub fn without_window(id: &str) -> &str {
    match id.split_once('[') {
        Some((id, added)) if added.ends_with(']') => id,
        _ => id,
    }
}
