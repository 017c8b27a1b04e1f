//! The registry that an agent keeps of its running sessions: a folder with one small file a process.

use model::values::process_activity::ProcessActivity;

/// The folder of an agent's registry, and the reader of an entry. An entry is named `<pid>.json`; files of other names
/// in the folder are not entries and are not opened.
#[derive(Debug, Clone, Copy)]
pub struct Registry {
    /// The folder below the agent's folder, the one that [`super::Root::logs`] is in.
    pub folder: &'static str,
    /// Reads an entry; `None`: it has no session. Never fails.
    pub read: fn(&[u8]) -> Option<RegistryEntry>,
}

/// A running process and its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryEntry {
    /// The session's id.
    pub session: String,
    /// The time at which the process started, in clock ticks since the boot of the machine, as in `/proc/<pid>/stat` of
    /// Linux. It distinguishes the process from a later one with its id.
    pub started: Option<String>,
    /// The activity of the process.
    pub running: ProcessActivity,
}
