//! What clients said of a session that its log does not contain: kept in the folder `clients` of the state folder.

use super::store::Entry;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a client said of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The agent's id.
    pub agent: String,
    /// The session's id.
    pub session: String,
    /// The window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The model's id when the window was said, as the client writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When this window was first said with this model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How much the model is to think, in the agent's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// When it compacts by itself; `None`: the client did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<KeptCompaction>,
    /// What fills its context, as the client estimates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<KeptBreakdown>,
    /// How long the provider keeps the newest prompt in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_until: Option<Timestamp>,
    /// Where the log of the session was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

/// When a client compacts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptCompaction {
    /// At this size, in tokens.
    At(u64),
    /// When the provider refuses a prompt.
    WhenRefused,
    /// Never.
    Off,
}

/// What fills a context, as the client estimates it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBreakdown {
    /// When.
    pub at: Timestamp,
    /// All of it, in tokens.
    pub tokens: u64,
    /// Its parts by name, in tokens.
    pub parts: Vec<(String, u64)>,
}

impl Kept {
    /// The same, said now; `known` is what was said before.
    #[must_use]
    pub fn said(self, now: Timestamp, known: Option<&Kept>) -> Kept {
        let is_same = |known: &&Kept| (known.window, &known.model) == (self.window, &self.model);
        let since = known.filter(is_same).and_then(|known| known.since);
        Kept {
            since: since.or(Some(now)),
            ..self
        }
    }
}

impl Entry for Kept {
    fn whose(&self) -> (&str, &str) {
        (&self.agent, &self.session)
    }
}

/// The folder of what is kept, in the program's own state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("clients")
}
