//! Finds the session of a terminal's pane.

use super::find::of_id;
use crate::ReportContext;
use crate::here::meant_by;
use crate::session::SessionRequest;
use crate::session::find::find;
use anyhow::Result;
use files::Processes;
use ingest::conversations::main_of;
use ingest::discover::processes::{RunningAgent, Trace, agent_below};
use ingest::log::LogFile;
use ingest::reader::glance;
use jiff::SignedDuration;
use std::path::PathBuf;

/// A session counts as at work in a folder for so long after its log was written.
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
        return match of_beginning(context, id).map_or_else(|| of_name(context, id), Ok) {
            Ok(log) => (Some(log), format!("the session '{id}', as named")),
            Err(why) => (None, format!("{why:#}")),
        };
    }
    let mut folders = pane.folders.clone();
    let mut why = String::new();
    if let Some(pid) = pane
        .pid
        .filter(|pid| pane.is_pid_named || processes.has_terminal(*pid))
    {
        let ReportContext {
            formats,
            user,
            roots,
            ..
        } = context;
        match agent_below(processes, pid, formats, user, roots) {
            Some(agent) => {
                let found = of_agent(context, &agent);
                let (label, pid) = (agent.format.label, agent.pid);
                let its = format!("the process {pid}, which is {label}");
                match (&agent.trace, found) {
                    (Trace::Session(_) | Trace::Log(_), Some(log)) => {
                        return (Some(log), format!("the session of {its}"));
                    }
                    (Trace::Folder(_), Some(log)) => {
                        let how = format!(
                            "the newest session in the folder of {its}: it does not show which one is its own"
                        );
                        return (Some(log), how);
                    }
                    // Another one in its folder is not its own.
                    (Trace::Session(id), None) => {
                        return (None, format!("the session '{id}' of {its}, has no log yet"));
                    }
                    (Trace::Log(_) | Trace::Folder(_), None) => {}
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
    match newest_in(context, None, &folders) {
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

/// Finds the session with this name or title.
fn of_name(context: &ReportContext, name: &str) -> Result<LogFile> {
    let asked = SessionRequest {
        session: Some(name),
        ..SessionRequest::default()
    };
    Ok(find(context, &asked)?.0)
}

/// Finds the newest session whose id begins with this text.
fn of_beginning(context: &ReportContext, id: &str) -> Option<LogFile> {
    let word = id.to_lowercase();
    let found = context.find().files;
    let is_its = |log: &LogFile, whole: bool| {
        let id = log.facts.id.as_deref().unwrap_or_default().to_lowercase();
        if whole {
            id == word
        } else {
            id.starts_with(&word)
        }
    };
    let exact = found.iter().find(|log| is_its(log, true));
    exact
        .or_else(|| found.iter().find(|log| is_its(log, false)))
        .cloned()
}

fn of_agent(context: &ReportContext, agent: &RunningAgent) -> Option<LogFile> {
    let own = context
        .roots
        .iter()
        .filter(|root| root.agent().is_none_or(|of| of.id == agent.format.id));
    let roots = own.cloned().collect();
    match &agent.trace {
        Trace::Session(id) => of_id(context, roots, id),
        Trace::Log(path) => {
            let found = context.find_at(roots, path).files;
            found.into_iter().find(|log| *log.facts.path == *path)
        }
        Trace::Folder(folder) => {
            let folders = std::slice::from_ref(folder);
            let (log, _) = newest_in(context, Some(agent.format.id), folders)?;
            Some(log)
        }
    }
}

/// Finds the newest session that works in one of these folders and was active lately, of one agent if it is named.
/// Returns its log and the folder. If there is none, the nearest parent folder with a session counts.
fn newest_in(
    context: &ReportContext,
    agent: Option<&str>,
    folders: &[PathBuf],
) -> Option<(LogFile, PathBuf)> {
    if folders.is_empty() {
        return None;
    }
    let now = (context.now)();
    let roots = context
        .roots
        .iter()
        .filter(|root| agent.is_none_or(|agent| root.agent().is_none_or(|of| of.id == agent)));
    let found = context.find_in(roots.cloned().collect());
    let is_live = |log: &LogFile| {
        log.facts.parent.is_none()
            && log
                .facts
                .modified
                .is_some_and(|at| now.duration_since(at) <= LIVE)
    };
    let live = found.files.into_iter().filter(is_live).take(MOST_LOGS);
    let mut others: Vec<(LogFile, PathBuf)> = Vec::new();
    for log in live {
        let sessions = context.patience.read(&log, || glance(&log, &context.rules));
        let sessions = sessions.unwrap_or_default();
        let cwd = main_of(&sessions).and_then(|session| session.meta.cwd.as_deref());
        let Some(cwd) = cwd.map(PathBuf::from) else {
            continue;
        };
        if folders.contains(&cwd) {
            return Some((log, cwd));
        }
        others.push((log, cwd));
    }
    let mut around = meant_by(folders, context.user.folders.home.as_deref()).into_iter();
    let nearest = around.find_map(|folder| others.iter().position(|(_, cwd)| *cwd == folder))?;
    Some(others.swap_remove(nearest))
}
