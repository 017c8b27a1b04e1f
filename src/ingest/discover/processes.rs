//! Finds the agents among the processes of a terminal, in `/proc`. Nothing is found where there is none, or where the
//! system does not show the processes of this user.

use super::registry::session_of;
use super::roots::{SearchRoot, agent_folders};
use files::paths::User;
use format::Format;
use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// The most processes below one that are looked at, and the most open files of each.
const MOST_PROCESSES: usize = 256;
const MOST_OPEN_FILES: usize = 512;
/// The largest file of `/proc` that is read, in bytes.
const LARGEST: u64 = 256 << 10;

/// Where the system shows its processes.
#[derive(Debug, Clone)]
pub struct Processes {
    folder: PathBuf,
}

/// What leads from a process to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// The session's id, in the agent's registry of its running sessions.
    Session(String),
    /// A log that it has open.
    Log(PathBuf),
    /// The folder in which it works.
    Folder(PathBuf),
}

/// An agent that runs.
pub struct RunningAgent {
    /// Its process.
    pub pid: u32,
    /// The agent.
    pub format: &'static Format,
    /// What leads to its session.
    pub trace: Trace,
}

impl Default for Processes {
    fn default() -> Processes {
        Processes {
            folder: PathBuf::from("/proc"),
        }
    }
}

impl Processes {
    fn of(&self, pid: u32) -> PathBuf {
        self.folder.join(pid.to_string())
    }

    /// The folder in which a process works.
    pub fn cwd(&self, pid: u32) -> Option<PathBuf> {
        fs::read_link(self.of(pid).join("cwd")).ok()
    }

    /// Whether a process has a terminal: tmux and its like start programs without one.
    pub fn has_terminal(&self, pid: u32) -> bool {
        let stat = files::read(&self.of(pid).join("stat"), LARGEST).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat);
        // The second field is a name in parentheses that may contain anything; the terminal is the seventh.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
        let terminal = fields.and_then(|fields| fields.split_ascii_whitespace().nth(4));
        terminal.is_some_and(|number| number != "0")
    }

    /// The nearest agent among a process and those that it has started.
    pub fn agent_below(
        &self,
        pid: u32,
        formats: &[&'static Format],
        user: &User,
        roots: &[SearchRoot],
    ) -> Option<RunningAgent> {
        let mut next = VecDeque::from([pid]);
        let mut seen = HashSet::new();
        while let Some(pid) = next.pop_front() {
            if !seen.insert(pid) || seen.len() > MOST_PROCESSES {
                continue;
            }
            if let Some(agent) = self.agent(pid, formats, user, roots) {
                return Some(agent);
            }
            next.extend(self.children(pid));
        }
        None
    }

    fn children(&self, pid: u32) -> Vec<u32> {
        let tasks = fs::read_dir(self.of(pid).join("task"));
        let tasks = tasks.into_iter().flatten().flatten().take(MOST_PROCESSES);
        let lists = tasks.filter_map(|task| {
            let list = files::read_text(&task.path().join("children"), LARGEST).ok()?;
            Some(
                list.split_ascii_whitespace()
                    .filter_map(|pid| pid.parse().ok())
                    .collect(),
            )
        });
        lists.flat_map(|list: Vec<u32>| list).collect()
    }

    fn agent(
        &self,
        pid: u32,
        formats: &[&'static Format],
        user: &User,
        roots: &[SearchRoot],
    ) -> Option<RunningAgent> {
        let is = |format, trace| RunningAgent { pid, format, trace };
        if let Some((format, session)) = registered(pid, formats, user) {
            return Some(is(format, Trace::Session(session)));
        }
        let command = self.command(pid);
        let format = formats
            .iter()
            .copied()
            .find(|format| is_program(format, &command))?;
        let own = || {
            roots
                .iter()
                .filter(|root| root.agent().is_some_and(|of| of.id == format.id))
        };
        let open = self.open_files(pid).into_iter().find(|path| {
            let claim = format.claims(path);
            claim.is_some_and(|claim| claim.parent.is_none())
                && own().any(|root| path.starts_with(root.path()))
        });
        let trace = match open {
            Some(log) => Trace::Log(log),
            None => Trace::Folder(self.cwd(pid)?),
        };
        Some(is(format, trace))
    }

    /// The names of the program and of the first arguments: an interpreter's first argument is the program.
    fn command(&self, pid: u32) -> Vec<String> {
        let line = files::read(&self.of(pid).join("cmdline"), LARGEST).unwrap_or_default();
        let words = line
            .split(|byte| *byte == 0)
            .take(3)
            .map(String::from_utf8_lossy);
        let name = |word: &str| {
            let name = Path::new(word).file_stem().and_then(|name| name.to_str());
            name.map(str::to_owned)
        };
        words.filter_map(|word| name(&word)).collect()
    }

    fn open_files(&self, pid: u32) -> Vec<PathBuf> {
        let open = fs::read_dir(self.of(pid).join("fd"));
        let open = open.into_iter().flatten().flatten().take(MOST_OPEN_FILES);
        open.filter_map(|file| fs::read_link(file.path()).ok())
            .collect()
    }
}

/// The session of a process by the registry of its agent.
fn registered(
    pid: u32,
    formats: &[&'static Format],
    user: &User,
) -> Option<(&'static Format, String)> {
    formats.iter().copied().find_map(|format| {
        let registry = format.registry?;
        let folders = format
            .roots
            .iter()
            .flat_map(|root| agent_folders(root, user));
        let session = folders
            .into_iter()
            .find_map(|folder| session_of(registry, &folder.join(registry.folder), pid))?;
        Some((format, session))
    })
}

/// Whether a program of these names is the agent. Programs are named as agents are, without what says that they are some.
fn is_program(format: &Format, names: &[String]) -> bool {
    let short = ["-cli", "-code", "-agent"]
        .iter()
        .find_map(|end| format.id.strip_suffix(end));
    let is_its = |name: &String| name == format.id || Some(name.as_str()) == short;
    names.iter().any(is_its)
        || (format.id == "cursor" && names.iter().any(|name| name == "cursor-agent"))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::roots::usual;
    use std::os::unix::fs::symlink;

    /// A process of a made-up `/proc`.
    fn process(proc: &Path, pid: u32, command: &str, children: &str, cwd: &Path) {
        let of = proc.join(pid.to_string());
        fs::create_dir_all(of.join(format!("task/{pid}"))).unwrap();
        fs::create_dir_all(of.join("fd")).unwrap();
        fs::write(of.join("cmdline"), command.replace(' ', "\0")).unwrap();
        fs::write(of.join(format!("task/{pid}/children")), children).unwrap();
        fs::write(of.join("stat"), format!("{pid} (a) b) S 1 1 1 34817 1")).unwrap();
        symlink(cwd, of.join("cwd")).unwrap();
    }

    fn user(home: &Path) -> User {
        let mut user = User::default();
        user.folders.home = Some(home.to_path_buf());
        user
    }

    #[test]
    fn the_agent_of_a_pane_is_the_nearest_below_its_shell() {
        let dir = tempfile::tempdir().unwrap();
        let (proc, home) = (dir.path().join("proc"), dir.path().join("home"));
        process(&proc, 10, "bash", "11 12", &home);
        process(&proc, 11, "vim", "", &home);
        process(&proc, 12, "node /usr/bin/gemini", "13", &home.join("shop"));
        process(&proc, 13, "codex", "", &home);
        process(&proc, 20, "bash", "21", &home);
        process(&proc, 21, "codex resume", "", &home);
        let log = home.join(".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-3f2a1b00-0000-4000-8000-000000000001.jsonl");
        symlink(&log, proc.join("21/fd/9")).unwrap();
        let formats = agents::ALL.to_vec();
        let user = user(&home);
        let roots = usual(&formats, &user);
        let processes = Processes { folder: proc };
        let of = |pid| {
            let agent = processes.agent_below(pid, &formats, &user, &roots);
            agent.map(|agent| (agent.pid, agent.format.id, agent.trace))
        };
        assert_eq!(
            of(10),
            Some((12, "gemini-cli", Trace::Folder(home.join("shop"))))
        );
        assert_eq!(of(20), Some((21, "codex", Trace::Log(log))));
        assert_eq!(of(11), None);
        assert_eq!(of(99), None);
        assert!(processes.has_terminal(10) && !processes.has_terminal(99));
    }

    #[test]
    fn a_circle_of_processes_ends() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), 10, "bash", "11", dir.path());
        process(dir.path(), 11, "bash", "10 11", dir.path());
        let folder = dir.path().to_owned();
        let processes = Processes { folder };
        assert!(
            processes
                .agent_below(10, agents::ALL, &User::default(), &[])
                .is_none()
        );
    }

    #[test]
    fn the_registry_of_an_agent_names_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let pid = std::process::id();
        let folder = home.join(".claude/sessions");
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join(format!("{pid}.json")),
            r#"{"sessionId":"3f2a"}"#,
        )
        .unwrap();
        let processes = Processes::default();
        let agent = processes.agent_below(pid, agents::ALL, &user(home), &[]);
        let trace = agent.map(|agent| agent.trace);
        let expected = Path::new("/proc/self").exists();
        assert_eq!(trace, expected.then(|| Trace::Session("3f2a".to_owned())));
    }
}
