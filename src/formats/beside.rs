//! Defines the files beside a log.

use super::{Registry, SidecarSpec};
use std::path::{Path, PathBuf};

/// The files that an agent keeps beside its logs.
#[derive(Clone, Copy)]
pub struct FilesBeside {
    /// The documents beside the log at this path that say more about it, if they are there; see
    /// [`Decoder::read_state`](super::Decoder::read_state).
    pub states: fn(&Path) -> Vec<PathBuf>,
    /// The files that the agent writes about single requests.
    pub sidecar: Option<&'static SidecarSpec>,
    /// The agent's registry of its running sessions, if it keeps one.
    pub registry: Option<&'static Registry>,
}

impl FilesBeside {
    /// No files.
    pub const NONE: FilesBeside = FilesBeside::states(|_| Vec::new());

    /// Returns documents that say more about a log, from its path.
    pub const fn states(states: fn(&Path) -> Vec<PathBuf>) -> FilesBeside {
        FilesBeside {
            states,
            sidecar: None,
            registry: None,
        }
    }
}
