//! Finds the session of a terminal's pane.

use crate::ReportContext;
use crate::session::SessionRequest;
use crate::session::find::find;
use anyhow::Result;
use files::Processes;
use ingest::discover::which::process::{AgentProcesses, RunningAgent, Trace};
use ingest::discover::which::{Glances, with_beginning, with_id};
use ingest::log::LogFile;
use jiff::SignedDuration;
use std::path::PathBuf;

/// A session counts as at work in a folder for so long after its log was written. It is longer than [`ingest::AT_WORK`]: a bar
/// remains of use to a person who pauses.
const LIVE: SignedDuration = SignedDuration::from_hours(1);
/// The most logs whose folders are looked at.
const MOST_LOGS: usize = 64;

/// The session that is asked for.
#[derive(Debug, Clone, Default)]
pub struct Pane {
    /// The session's id, the beginning of it, its name or its title.
    pub session: Option<String>,
    /// A process: the agent, or a shell that has started it.
    pub pid: Option<u32>,
    /// True if the user named the process.
    pub is_pid_named: bool,
    /// The folder, by each of its paths.
    pub folders: Vec<PathBuf>,
}

/// Finds the log of the session that is asked for. Returns it with a sentence on how it was found, or `None` with the
/// reason.
pub fn find_pane(
    context: &ReportContext,
    pane: &Pane,
    processes: &Processes,
) -> (Option<LogFile>, String) {
    if let Some(id) = &pane.session {
        return match of_word(context, id) {
            Ok(log) => (Some(log), format!("the session '{id}', as named")),
            Err(why) => (None, format!("{why:#}")),
        };
    }
    let mut folders = pane.folders.clone();
    let mut why = String::new();
    let is_asked = |pid: &u32| pane.is_pid_named || processes.has_terminal(*pid);
    if let Some(pid) = pane.pid.filter(is_asked) {
        let agents = AgentProcesses {
            all: processes,
            formats: &context.formats,
            user: &context.user,
            roots: &context.roots,
        };
        match agents.below(pid) {
            Some(agent) => {
                let (label, pid) = (agent.format.label, agent.pid);
                let its = format!("the process {pid}, which is {label}");
                let found = of_agent(context, &agent);
                let how = match (&agent.trace, found.is_some()) {
                    (Trace::Folder(_), _) => format!(
                        "the newest session in the folder of {its}: it does not show which one is its own"
                    ),
                    // Another one in its folder is not its own.
                    (Trace::Session(id), false) => {
                        return (None, format!("the session '{id}' of {its}, has no log yet"));
                    }
                    _ => format!("the session of {its}"),
                };
                if found.is_some() {
                    return (found, how);
                }
                why = format!("the process {pid} is {label}, but has no log that is known; ");
            }
            None if pane.is_pid_named => why = format!("no agent runs below the process {pid}; "),
            None => {}
        }
        if pane.is_pid_named && folders.is_empty() {
            folders.extend(processes.cwd(pid));
        }
    }
    match newest_in(context, context.find().files, &folders) {
        Some((log, folder)) => {
            let (named, label) = (super::named(&folder), log.format.label);
            let how = format!("{why}the newest session in {named}, of {label}");
            (Some(log), how)
        }
        None => {
            let named = folders.first().map(|folder| super::named(folder));
            let named = named.unwrap_or_default();
            let how = format!("{why}no session was at work in {named} during the last hour");
            (None, how)
        }
    }
}

/// Finds the session whose id begins with a word, or else the one with this name or title.
fn of_word(context: &ReportContext, word: &str) -> Result<LogFile> {
    if let Some(log) = with_beginning(&context.find().files, word) {
        return Ok(log.clone());
    }
    Ok(find(context, &SessionRequest::named(word))?.0)
}

fn of_agent(context: &ReportContext, agent: &RunningAgent) -> Option<LogFile> {
    let logs = context.find_in(context.roots_of(agent.format)).files;
    match &agent.trace {
        Trace::Session(id) => with_id(&logs, id).cloned(),
        Trace::Log(path) => logs.into_iter().find(|log| *log.facts.path == *path),
        Trace::Folder(folder) => Some(newest_in(context, logs, std::slice::from_ref(folder))?.0),
    }
}

/// Finds the newest of these logs whose session works in one of these folders and was active lately. Returns it with the
/// folder. If there is none, the nearest parent folder with a session counts.
fn newest_in(
    context: &ReportContext,
    logs: Vec<LogFile>,
    folders: &[PathBuf],
) -> Option<(LogFile, PathBuf)> {
    let now = (context.now)();
    let is_live = |log: &&LogFile| {
        let age = log.facts.modified.map(|at| now.duration_since(at));
        log.facts.parent.is_none() && age.is_some_and(|age| age <= LIVE)
    };
    let live = logs.iter().filter(is_live).take(MOST_LOGS);
    let home = context.user.folders.home.as_deref();
    let (log, folder) = Glances::new(&context.rules).newest_in(live, folders, home)?;
    Some((log.clone(), folder))
}
