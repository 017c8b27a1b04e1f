//! Finds the log that a client names.

use super::{LineProblem, named as in_words};
use crate::ReportContext;
use formats::Format;
use ingest::discover::roots::SearchRoot;
use ingest::discover::which::with_id;
use ingest::log::LogFile;
use integrations::agent::Agent;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The session that a client names.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionQuery<'i> {
    /// The client; `None`: of no agent that is known.
    pub agent: Option<Agent>,
    /// The path of its log.
    pub log: Option<&'i Path>,
    /// Its id.
    pub session: Option<&'i str>,
    /// True if a prompt was answered: then there is a log.
    pub has_begun: bool,
    /// The path of its log the last time; `None`: not known.
    pub known: Option<&'i Path>,
}

/// Finds the log of the session that a client names: by its path, or else by its id, among the folders of its agent.
/// `None`: there is none, and there need not be, because nothing was said yet.
///
/// # Errors
///
/// If its path is outside the agent's folders, or not that of a log.
pub fn find(
    context: &ReportContext,
    wanted: SessionQuery<'_>,
) -> Result<Option<LogFile>, LineProblem> {
    let Some(format) = wanted.agent.and_then(|agent| named(context, agent.id())) else {
        return Err(LineProblem::new(
            "unknown client",
            "the input is not that of an agent that is known here",
        ));
    };
    let roots = context.roots_of(format);
    if let Some(path) = wanted.log {
        let Some(path) = below(&roots, path) else {
            return Err(LineProblem::new(
                "log outside",
                format!(
                    "{} is outside the folders of {}, so it is not read; `ctxgauge agents {}` lists them",
                    in_words(path),
                    format.label,
                    format.id
                ),
            ));
        };
        return match files::look(&path) {
            Ok(_) => at(context, roots, &path).map(Some),
            Err(error) if files::is_absent(&error) => found(None, wanted),
            // Copilot names the folder of the session.
            Err(_) if wanted.agent == Some(Agent::CopilotCli) && path.is_dir() => {
                let logs = context.find_at(roots, &path).files;
                let named = wanted.session.and_then(|id| with_id(&logs, id));
                found(named.or(logs.first()), wanted)
            }
            Err(error) => Err(LineProblem::new(
                "no log",
                format!("{} cannot be read: {error}", in_words(&path)),
            )),
        };
    }
    let Some(id) = wanted.session else {
        return Err(LineProblem::new(
            "no session",
            "the input names neither a log nor a session's id",
        ));
    };
    if let Some(path) = wanted.known.filter(|path| files::look(path).is_ok())
        && let Ok(log) = at(context, roots.clone(), path)
        && log.facts.id.as_deref() == Some(id)
    {
        return Ok(Some(log));
    }
    found(with_id(&context.find_in(roots).files, id), wanted)
}

/// Returns a path below one of the roots; `None`: it is in none of them, by its name or by the links in it.
fn below(roots: &[SearchRoot], path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    roots.iter().map(SearchRoot::path).find_map(|root| {
        // A client may name the real path of a folder that is reached by a link.
        let real = || fs::canonicalize(root).ok();
        let rest = match path.strip_prefix(root) {
            Ok(rest) => rest,
            Err(_) => path.strip_prefix(real()?).ok()?,
        };
        let path = root.join(rest);
        match files::below(root, &path) {
            Ok(_) => Some(path),
            // A file that does not exist is no link out of the folder.
            Err(error) => files::is_absent(&error).then_some(path),
        }
    })
}

/// Returns the format of an agent.
pub(super) fn named(context: &ReportContext, agent: &str) -> Option<&'static Format> {
    let mut formats = context.formats.iter().copied();
    formats.find(|format| format.id == agent)
}

/// Returns the log of a session. Before the first answer, it is no error that there is none.
fn found(log: Option<&LogFile>, wanted: SessionQuery<'_>) -> Result<Option<LogFile>, LineProblem> {
    if log.is_none() && wanted.has_begun {
        return Err(LineProblem::new(
            "no log",
            "there is no log of this session yet: the numbers are the client's alone",
        ));
    }
    Ok(log.cloned())
}

/// Returns the log at a path below the roots.
fn at(
    context: &ReportContext,
    roots: Vec<SearchRoot>,
    path: &Path,
) -> Result<LogFile, LineProblem> {
    let found = context.find_at(roots, path);
    let log = found.files.into_iter().find(|log| *log.facts.path == *path);
    log.ok_or_else(|| {
        let why = found.problems.into_iter().next().map(|(_, why)| why);
        let why = why.unwrap_or_else(|| "it is not a log of this agent".to_owned());
        LineProblem::new("no log", format!("{}: {why}", in_words(path)))
    })
}
