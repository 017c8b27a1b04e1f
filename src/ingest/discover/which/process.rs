//! Finds the agents among the processes of a terminal, where the system shows them.

use crate::discover::registry::session_of;
use crate::discover::roots::{SearchRoot, agent_folders};
use files::Processes;
use files::paths::User;
use formats::Format;
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// The most processes below one that are looked at.
const MOST_PROCESSES: usize = 256;

/// The trace that leads from a process to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// The session's id, in the agent's registry of its running sessions.
    Session(String),
    /// The only log that it has open.
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
    /// The trace that leads to its session.
    pub trace: Trace,
}

/// The processes of a system, and what agents among them are recognised by.
#[derive(Clone, Copy)]
pub struct AgentProcesses<'a> {
    /// The processes.
    pub all: &'a Processes,
    /// The agents.
    pub formats: &'a [&'static Format],
    /// The user whose agents they are.
    pub user: &'a User,
    /// The places of the agents' logs.
    pub roots: &'a [SearchRoot],
}

impl AgentProcesses<'_> {
    /// Returns the nearest agent among a process and those that it has started.
    pub fn below(self, pid: u32) -> Option<RunningAgent> {
        let mut next = VecDeque::from([pid]);
        let mut seen = HashSet::new();
        while let Some(pid) = next.pop_front() {
            if !seen.insert(pid) || seen.len() > MOST_PROCESSES {
                continue;
            }
            if let Some(agent) = self.agent(pid) {
                return Some(agent);
            }
            next.extend(self.all.children(pid));
        }
        None
    }

    fn agent(self, pid: u32) -> Option<RunningAgent> {
        let is = |format, trace| RunningAgent { pid, format, trace };
        if let Some((format, session)) = registered(pid, self.formats, self.user) {
            return Some(is(format, Trace::Session(session)));
        }
        let names = names(&self.all.command(pid));
        let mut formats = self.formats.iter().copied();
        let format = formats.find(|format| is_program(format, &names))?;
        let own = || {
            let roots = self.roots.iter();
            roots.filter(|root| root.agent().is_some_and(|of| of.id == format.id))
        };
        let open = self.all.open_files(pid).into_iter().filter(|path| {
            let claim = format.claims(path);
            claim.is_some_and(|claim| claim.parent.is_none())
                && own().any(|root| path.starts_with(root.path()))
        });
        let open: HashSet<PathBuf> = open.collect();
        let mut open = open.into_iter();
        let trace = match (open.next(), open.next()) {
            (Some(log), None) => Trace::Log(log),
            // Codex has the logs of all its windows open in one process.
            _ => Trace::Folder(self.all.cwd(pid)?),
        };
        Some(is(format, trace))
    }
}

/// Returns the names of the program and of the first arguments: an interpreter's first argument is the program.
fn names(command: &[u8]) -> Vec<String> {
    let words = command
        .split(|byte| *byte == 0)
        .take(3)
        .map(String::from_utf8_lossy);
    let name = |word: &str| {
        let name = Path::new(word).file_stem().and_then(|name| name.to_str());
        name.map(str::to_owned)
    };
    words.filter_map(|word| name(&word)).collect()
}

/// Returns the agent and the session of a process, by the registry of its agent.
pub fn registered(
    pid: u32,
    formats: &[&'static Format],
    user: &User,
) -> Option<(&'static Format, String)> {
    formats.iter().copied().find_map(|format| {
        let registry = format.beside.registry?;
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

/// Returns true if a program of these names is the agent. Programs are named as agents are, without endings such as
/// `-cli` and `-agent`.
fn is_program(format: &Format, names: &[String]) -> bool {
    let short = ["-cli", "-code", "-agent"]
        .iter()
        .find_map(|end| format.id.strip_suffix(end));
    let is_its = |name: &String| name == format.id || Some(name.as_str()) == short;
    names.iter().any(is_its)
        || (format.id == "cursor" && names.iter().any(|name| name == "cursor-agent"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::discover::roots::usual;
    use std::fs;
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

    fn agent_below(all: &Processes, home: &Path, pid: u32) -> Option<RunningAgent> {
        let mut user = User::default();
        user.folders.home = Some(home.to_path_buf());
        let roots = usual(&agents::ALL, &user);
        let (formats, user, roots) = (&agents::ALL, &user, &roots);
        AgentProcesses {
            all,
            formats,
            user,
            roots,
        }
        .below(pid)
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
        let processes = Processes::in_folder(proc);
        let of = |pid| {
            let agent = agent_below(&processes, &home, pid);
            agent.map(|agent| (agent.pid, agent.format.id, agent.trace))
        };
        assert_eq!(
            of(10),
            Some((12, "gemini-cli", Trace::Folder(home.join("shop"))))
        );
        assert_eq!(of(20), Some((21, "codex", Trace::Log(log.clone()))));
        symlink(&log, dir.path().join("proc/21/fd/10")).unwrap();
        assert_eq!(
            of(20),
            Some((21, "codex", Trace::Log(log.clone()))),
            "twice"
        );
        let other = log.with_file_name(
            "rollout-2026-05-01T11-00-00-3f2a1b00-0000-4000-8000-000000000002.jsonl",
        );
        symlink(&other, dir.path().join("proc/21/fd/11")).unwrap();
        assert_eq!(
            of(20),
            Some((21, "codex", Trace::Folder(home.clone()))),
            "either"
        );
        assert_eq!(of(11), None);
        assert_eq!(of(99), None);
        assert!(processes.has_terminal(10) && !processes.has_terminal(99));
    }

    #[test]
    fn a_circle_of_processes_ends() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), 10, "bash", "11", dir.path());
        process(dir.path(), 11, "bash", "10 11", dir.path());
        let processes = Processes::in_folder(dir.path().to_owned());
        assert!(agent_below(&processes, dir.path(), 10).is_none());
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
        let agent = agent_below(&processes, home, pid);
        let trace = agent.map(|agent| agent.trace);
        let expected = Path::new("/proc/self").exists();
        assert_eq!(trace, expected.then(|| Trace::Session("3f2a".to_owned())));
    }
}
