//! The processes of the machine, in `/proc`. Nothing is found where there is none, or where the system does not show the
//! processes of this user.

use std::fs;
use std::path::{Path, PathBuf};

/// The most tasks and the most open files of a process that are looked at.
const MOST_TASKS: usize = 256;
const MOST_OPEN_FILES: usize = 512;
/// The number of parents that are followed from a process upwards: an agent may start a shell that starts the program.
const MOST_PARENTS: usize = 4;
/// The largest file of `/proc` that is read, in bytes.
const LARGEST: u64 = 256 << 10;

/// The folder in which the system shows its processes.
#[derive(Debug, Clone)]
pub struct Processes {
    folder: PathBuf,
}

/// The result of looking up a process that exists or may exist.
pub enum Process {
    /// It exists; the time at which it started is as in `/proc/<pid>/stat`.
    Exists(String),
    /// Processes cannot be looked up.
    Unknown,
}

impl Default for Processes {
    fn default() -> Processes {
        Processes::in_folder("/proc".into())
    }
}

impl Processes {
    /// Returns the processes that a folder such as `/proc` shows.
    pub fn in_folder(folder: PathBuf) -> Processes {
        Processes { folder }
    }

    fn of(&self, pid: u32) -> PathBuf {
        self.folder.join(pid.to_string())
    }

    /// Returns the folder in which a process works.
    pub fn cwd(&self, pid: u32) -> Option<PathBuf> {
        fs::read_link(self.of(pid).join("cwd")).ok()
    }

    /// Returns true if a process has a terminal: tmux and its like start programs without one.
    pub fn has_terminal(&self, pid: u32) -> bool {
        let stat = read_stat(&self.of(pid));
        let fields = stat.as_deref().and_then(fields);
        let terminal = fields.and_then(|mut fields| fields.nth(4));
        terminal.is_some_and(|number| number != "0")
    }

    /// Returns the processes that a process has started.
    pub fn children(&self, pid: u32) -> Vec<u32> {
        let tasks = fs::read_dir(self.of(pid).join("task"));
        let tasks = tasks.into_iter().flatten().flatten().take(MOST_TASKS);
        let mut children = Vec::new();
        for task in tasks {
            let list = crate::read_text(&task.path().join("children"), LARGEST);
            let list = list.unwrap_or_default();
            children.extend(list.split_ascii_whitespace().flat_map(str::parse::<u32>));
        }
        children
    }

    /// Returns the program of a process and its arguments, each of which ends with a zero.
    pub fn command(&self, pid: u32) -> Vec<u8> {
        crate::read(&self.of(pid).join("cmdline"), LARGEST).unwrap_or_default()
    }

    /// Returns the paths of the files that a process has open.
    pub fn open_files(&self, pid: u32) -> Vec<PathBuf> {
        let open = fs::read_dir(self.of(pid).join("fd"));
        let open = open.into_iter().flatten().flatten().take(MOST_OPEN_FILES);
        open.filter_map(|file| fs::read_link(file.path()).ok())
            .collect()
    }

    /// Returns the process that has started this one, and those that have started it, the nearest first.
    pub fn parents(&self) -> Vec<u32> {
        let parent = |of: PathBuf| parent(&read_stat(&of)?);
        let first = parent(self.folder.join("self"));
        let parents = std::iter::successors(first, |pid| parent(self.of(*pid)));
        parents.take(MOST_PARENTS).collect()
    }

    /// Looks up a process; `None`: there is no such process, or it has ended.
    pub fn look_up(&self, pid: u32) -> Option<Process> {
        let process = self.of(pid);
        // The folder may be somebody else's.
        if fs::symlink_metadata(&process).is_ok_and(|meta| meta.is_symlink()) {
            return None;
        }
        match read_stat(&process) {
            Some(stat) => started(&stat).map(Process::Exists),
            None if self.folder.join("self/stat").exists() => None,
            None => Some(Process::Unknown),
        }
    }
}

fn read_stat(process: &Path) -> Option<String> {
    let file = crate::open_itself(&process.join("stat")).ok()?;
    let stat = crate::read_all(file, LARGEST).ok()?;
    Some(String::from_utf8_lossy(&stat).into_owned())
}

/// Returns the fields of a `stat` from the third on. The second is a name in parentheses that may contain anything.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_ascii_whitespace())
}

/// Returns the process that has started another one, the 4th field of its `stat`.
fn parent(stat: &str) -> Option<u32> {
    let parent = fields(stat)?.nth(1)?;
    parent.parse().ok().filter(|pid| *pid > 1)
}

/// Returns the time at which a process started, the 22nd field of its `stat`; `None`: it has ended.
fn started(stat: &str) -> Option<String> {
    let mut fields = fields(stat)?;
    let state = fields.next()?;
    let start = fields.nth(18)?;
    (!matches!(state, "Z" | "X" | "x")).then(|| start.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_identified_by_its_start() {
        let stat = |state| {
            format!("7 (a) b) {state} 1 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 1863031 5854 1 2\n")
        };
        assert_eq!(started(&stat("S")).as_deref(), Some("1863031"));
        assert_eq!(started(&stat("Z")), None);
        assert_eq!(started("7 (a) S 1"), None);
        assert_eq!(parent("7 (a) b) S 4711 7 7"), Some(4711));
        assert_eq!(parent("7 (a) S 1 7"), None, "the first of all");
        assert_eq!(parent("7 (a) S"), None);
        assert_eq!(started(""), None);
    }
}
