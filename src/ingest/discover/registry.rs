//! Reads the registries that agents keep of their running sessions. Nothing is written, and no signal is
//! sent: processes are looked up. Where they cannot be, an entry counts for as long as its session is at work after it was last
//! written.

use super::origin::{Origins, agent_folder};
use crate::AT_WORK;
use crate::log::LogFile;
use files::paths::User;
use files::{Process, Processes};
use formats::{Registry, RegistryEntry};
use model::values::process_activity::ProcessActivity;
use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The largest entry, in bytes.
const LARGEST_ENTRY: u64 = 64 << 10;
/// The most files of a folder that are looked at.
const MOST_FILES: usize = 4096;
/// The most entries of a folder that are read.
const MOST_ENTRIES: usize = 256;

/// The running sessions by registry folder and id, each folder read once.
pub struct Registries<'u> {
    user: &'u User,
    origins: Origins,
    known: HashMap<PathBuf, HashMap<String, ProcessActivity>>,
}

impl Registries<'_> {
    /// Returns the registries that this user can read, none of which was read yet.
    pub fn new(user: &User) -> Registries<'_> {
        Registries {
            user,
            origins: Origins::default(),
            known: HashMap::new(),
        }
    }

    /// Returns the activity of the session of a log; `None`: no running process has it.
    pub fn of(&mut self, log: &LogFile) -> Option<ProcessActivity> {
        let registry = log.format.beside.registry?;
        let id = log.facts.id.as_deref().filter(|_| log.system.is_here())?;
        let agent = agent_folder(log.format, &log.facts.path)?;
        let origin = self.origins.of(log.format, Some(&agent), self.user);
        let sessions = self
            .known
            .entry(agent.join(registry.folder))
            .or_insert_with_key(|folder| {
                let real = log.system.place(folder);
                read(registry, real, &origin.processes())
            });
        sessions.get(id).copied()
    }
}

fn read(
    registry: &Registry,
    folder: io::Result<PathBuf>,
    processes: &Processes,
) -> HashMap<String, ProcessActivity> {
    let mut sessions = HashMap::new();
    let files = folder
        .and_then(fs::read_dir)
        .into_iter()
        .flatten()
        .take(MOST_FILES)
        .flatten();
    let entries = files.filter_map(|file| {
        let process = processes.look_up(pid(&file)?)?;
        Some((file, process))
    });
    for (file, process) in entries.take(MOST_ENTRIES) {
        if let Some(entry) = read_entry(registry, &file.path(), &process) {
            let known = sessions.entry(entry.session).or_insert(entry.running);
            *known = entry.running.max(*known);
        }
    }
    sessions
}

/// Returns the process of an entry, from its name.
fn pid(file: &DirEntry) -> Option<u32> {
    let name = file.file_name();
    let name = name.to_str()?.strip_suffix(".json")?;
    let is_number = name.bytes().all(|b| b.is_ascii_digit());
    name.parse().ok().filter(|_| is_number)
}

/// Returns the session of a process, by the registry in this folder; `None`: the process has none, or has ended.
pub(crate) fn session_of(registry: &Registry, folder: &Path, pid: u32) -> Option<String> {
    let process = Processes::default().look_up(pid)?;
    let entry = read_entry(registry, &folder.join(format!("{pid}.json")), &process);
    entry.map(|entry| entry.session)
}

/// Reads the entry of a process from a file that is not reached by a link; `None`: another process wrote it.
fn read_entry(registry: &Registry, path: &Path, process: &Process) -> Option<RegistryEntry> {
    let file = files::open_itself(path).ok()?;
    let bytes = files::read_all(file, LARGEST_ENTRY).ok()?;
    let entry = (registry.read)(&bytes)?;
    wrote(process, entry.started.as_deref(), path).then_some(entry)
}

/// Returns true if this process wrote the entry in `file`, if it started then.
fn wrote(process: &Process, started: Option<&str>, file: &Path) -> bool {
    match process {
        Process::Exists(start) => started.is_none_or(|started| started == start),
        Process::Unknown => {
            let written = file.metadata().and_then(|meta| meta.modified()).ok();
            let age = written.and_then(|at| SystemTime::now().duration_since(at).ok());
            // One from the future is new.
            age.is_none_or(|age| age < AT_WORK)
        }
    }
}
