//! Keeps the statements of clients about a session that its log does not contain, in the folder `clients` of the state
//! folder.

use super::store::Entry;
use jiff::Timestamp;
use model::event::PlanLimits;
use model::window::{Breakdown, ClientMiss};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The statements of a client about a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientRecord {
    /// The agent's id.
    pub agent: String,
    /// The session's id.
    pub session: String,
    /// The window, in tokens.
    pub window: Option<u64>,
    /// The model's id when the window was said, as the client writes it.
    pub model: Option<String>,
    /// The time at which this window was first said with this model.
    pub since: Option<Timestamp>,
    /// The agent's version.
    pub version: Option<String>,
    /// The effort with which the model is to think, in the agent's word.
    pub effort: Option<String>,
    /// The size at which it compacts by itself; `None`: the client did not say.
    pub compaction: Option<RecordedCompaction>,
    /// The content of its context, as the client estimates it.
    pub breakdown: Option<Breakdown>,
    /// The time until which the provider keeps the newest prompt in its cache.
    pub cache_until: Option<Timestamp>,
    /// The newest prompt that was not in the cache.
    pub miss: Option<ClientMiss>,
    /// The limits of the user's plan.
    pub plan: PlanLimits,
    /// The path at which the log of the session was found.
    pub log: Option<PathBuf>,
}

/// The size at which a client compacts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedCompaction {
    /// At this size, in tokens.
    At(u64),
    /// It compacts when the provider refuses a prompt.
    WhenRefused,
    /// Never.
    Off,
}

impl ClientRecord {
    /// Returns the statements with the time since which they hold: that of `known`, the earlier ones, if the window and
    /// the model are the same, else now.
    #[must_use]
    pub fn said(self, now: Timestamp, known: Option<&ClientRecord>) -> ClientRecord {
        let is_same =
            |known: &&ClientRecord| (known.window, &known.model) == (self.window, &self.model);
        let since = known.filter(is_same).and_then(|known| known.since);
        ClientRecord {
            since: since.or(Some(now)),
            ..self
        }
    }
}

impl Entry for ClientRecord {
    fn whose(&self) -> (&str, &str) {
        (&self.agent, &self.session)
    }
}

/// Returns the folder of the kept data, in the program's own state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("clients")
}
