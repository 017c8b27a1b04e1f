//! What clients said of a session that its log does not contain: kept in the folder `clients` of the state folder.

use super::store::Entry;
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
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How much the model is to think, in the agent's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Where the log of the session was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

impl Entry for Kept {
    fn agent(&self) -> &str {
        &self.agent
    }

    fn session(&self) -> &str {
        &self.session
    }
}

/// The folder of what is kept, in the program's own state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("clients")
}
