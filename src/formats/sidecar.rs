//! Describes the files that agents keep beside their logs about single requests.

use super::database::DatabaseSpec;
use jiff::Timestamp;
use model::event::{Key, Meta, Usage};
use std::path::{Path, PathBuf};

/// Files of lines that an agent writes beside its logs, each about any of its sessions.
#[derive(Debug)]
pub struct SidecarSpec {
    /// The environment variable that names one such file, if there is any.
    pub env: Option<&'static str>,
    /// The folder of such files (`*.jsonl`), from the path of a log.
    pub folder: fn(&Path) -> Option<PathBuf>,
    /// Reads a line; `None`: nothing of use. Never fails, whatever the bytes.
    pub read: fn(&[u8]) -> Option<SidecarRecord>,
    /// A database beside the logs, if the agent keeps one.
    pub database: Option<&'static SidecarDatabase>,
}

/// A database that an agent keeps beside its logs, with rows about single requests.
#[derive(Debug)]
pub struct SidecarDatabase {
    /// Its path, from the path of a log.
    pub path: fn(&Path) -> Option<PathBuf>,
    /// Its tables. Rows are only added, or the last one is rewritten.
    pub spec: DatabaseSpec,
    /// True if it is of one session, whatever its id there.
    pub holds_one: bool,
    /// Reads the line of a row; `None`: nothing of use. Never fails, whatever the bytes.
    pub read: fn(&[u8]) -> Option<SidecarRecord>,
}

/// A line of a sidecar file, about one request.
#[derive(Debug, Clone, PartialEq)]
pub struct SidecarRecord {
    /// The session's id.
    pub session: Box<str>,
    /// Names that the session's log may have for the request, the most reliable first.
    pub keys: Vec<Key>,
    /// The time at which the request ended, where no name of it is known: `keys` are those of its conversation.
    pub at: Option<Timestamp>,
    /// The window at that time, in tokens.
    pub window: Option<u64>,
    /// The facts about the session.
    pub about: Option<Meta>,
    /// The numbers. `request` identifies the record; it is replaced by the log's own name for the request
    /// when the numbers are passed on.
    pub usage: Usage,
}
