//! Finds the session that a report is on.

use super::select::select;
use crate::here::meant_by;
use crate::ls::{self, ListOptions};
use crate::patience::BUSY;
use crate::{NO_SESSIONS, ReportContext};
use anyhow::{Context, Result, bail};
use ingest::conversations::LogSessions;
use ingest::log::LogFile;
use ingest::reader::tail_only;
use jiff::Timestamp;
use model::event::Conversation;
use model::gauge::SessionGauge;
use model::sessions::{FileId, SessionKey, Sessions, Update};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The session that the user asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionRequest<'a> {
    /// A log file, a folder, or `-` for standard input; `None`: all logs that there are.
    pub path: Option<&'a Path>,
    /// The session's id, the beginning or the end of it, its name or title, or a part of these.
    pub session: Option<&'a str>,
    /// The working directory, by each of its paths: whose newest session is meant if nothing else is given.
    pub here: &'a [PathBuf],
    /// The window that the user has set for it on screen.
    pub window: Option<u64>,
}

impl SessionRequest<'_> {
    /// Asks for the session of a file, or the newest of a folder.
    pub fn at(path: &Path) -> SessionRequest<'_> {
        SessionRequest {
            path: Some(path),
            ..SessionRequest::default()
        }
    }
}

/// Finds the log of the session that is asked for. Returns it with the word that selects the session in the log.
pub(crate) fn find(
    context: &ReportContext,
    asked: &SessionRequest<'_>,
) -> Result<(LogFile, Option<String>)> {
    if let Some(path) = asked.path {
        let log = find_one(context, path, asked.session)?;
        return Ok((log, asked.session.map(str::to_owned)));
    }
    let mut all = ls::read(context, &ListOptions::default());
    let key = match asked.session {
        Some(wanted) => find_among(context, &all.sessions, ("this machine", wanted))?,
        None => newest_of(context, &all.sessions, asked.here)?,
    };
    let log = all.logs.remove(&key.file);
    let log = log.context("the session has no log")?;
    // The first session at the end of a log with several is not always its main session.
    let is_one =
        |_: &&SessionGauge| key.conversation != Conversation::Main || log.format.holds_several;
    let gauge = all.sessions.gauge(key).filter(is_one);
    let id = gauge.and_then(|gauge| gauge.meta.id.as_deref().map(str::to_owned));
    Ok((log, id))
}

/// Returns the id of the session with this id, name or title; `None`: it has none.
///
/// # Errors
///
/// If there is no such session, or more than one.
pub fn id_of(context: &ReportContext, wanted: &str) -> Result<Option<String>> {
    let all = ls::read(context, &ListOptions::default());
    let key = find_among(context, &all.sessions, ("this machine", wanted))?;
    let gauge = all.sessions.gauge(key);
    let id = gauge.and_then(|gauge| gauge.meta.id.as_deref());
    Ok(id.map(str::to_owned))
}

/// Returns the log of the session with this id, name or title; and its id, if its log has several sessions.
///
/// # Errors
///
/// If there is no such session, or more than one.
pub fn place_of(context: &ReportContext, wanted: &str) -> Result<(PathBuf, Option<String>)> {
    let asked = SessionRequest {
        session: Some(wanted),
        ..SessionRequest::default()
    };
    let (log, id) = find(context, &asked)?;
    let own = || log.facts.id.clone().filter(|_| log.is_one_of_several());
    Ok((log.facts.path.to_path_buf(), id.or_else(own)))
}

/// Finds a session among all of a place.
fn find_among(
    context: &ReportContext,
    sessions: &Sessions,
    wanted: (&str, &str),
) -> Result<SessionKey> {
    let newest_first = sessions.recent().into_iter().map(|row| row.key);
    select(sessions, newest_first, wanted, (context.now)())
}

/// Finds the newest session that worked in a folder or, if there is none, in its nearest parent folder below the user's
/// home.
fn newest_of(context: &ReportContext, sessions: &Sessions, here: &[PathBuf]) -> Result<SessionKey> {
    let rows = sessions.recent();
    let newest_in = |folder: &Path| {
        let mut own = rows.iter().filter(|row| row.depth == 0);
        let is_there = |key: SessionKey| {
            let cwd = sessions
                .gauge(key)
                .and_then(|gauge| gauge.meta.cwd.as_deref());
            cwd.is_some_and(|cwd| Path::new(cwd) == folder)
        };
        own.find(|row| is_there(row.key)).map(|row| row.key)
    };
    let folders = meant_by(here, context.user.folders.home.as_deref());
    match folders.into_iter().find_map(|folder| newest_in(&folder)) {
        Some(key) => Ok(key),
        None if sessions.is_empty() => bail!(NO_SESSIONS),
        None => bail!(
            "no session worked in this folder; `ctxgauge ls` lists all, and `ctxgauge report --session ID` or \
             `ctxgauge report PATH` reports on one"
        ),
    }
}

/// Finds the session of a file whose id is `wanted` or begins or ends with it, or whose name contains it. Without
/// `wanted`, it is the main session of the file.
pub(crate) fn find_session(
    sessions: &Sessions,
    file: FileId,
    wanted: Option<&str>,
    now: Timestamp,
) -> Result<SessionKey> {
    let conversation = Conversation::Main;
    let keys = sessions.of_file(file);
    wanted.map_or(Ok(SessionKey { file, conversation }), |wanted| {
        select(sessions, keys, ("the file", wanted), now)
    })
}

/// Finds the session in a log that was read through. A list reads only the end of a log, where a conversation may have
/// another id than at its beginning. `wanted` may be that id.
pub(crate) fn find_in_log(
    context: &ReportContext,
    log: &LogFile,
    sessions: &Sessions,
    wanted: Option<&str>,
) -> Result<SessionKey> {
    let found = find_session(sessions, log.facts.file, wanted, (context.now)());
    if found.is_ok() || !log.format.holds_several {
        return found;
    }
    let as_listed = || {
        let tail = || tail_only(log, &context.rules);
        let listed = sessions_of(context, log, context.patience.read(log, tail).ok()?);
        let key = find_session(&listed, log.facts.file, wanted, (context.now)()).ok()?;
        let newest = listed.get(key)?.requests().last()?.key();
        let has_it = |key: &SessionKey| {
            let requests = sessions.get(*key).map(|session| session.requests());
            requests.is_some_and(|all| all.iter().any(|request| request.key() == newest))
        };
        sessions.of_file(log.facts.file).find(has_it)
    };
    as_listed().map_or(found, Ok)
}

/// Finds the log at a path. In a folder or a database, it is the log of the wanted session or, without one, the newest
/// log that does not belong to a sub-agent.
pub(crate) fn find_one(
    context: &ReportContext,
    path: &Path,
    wanted: Option<&str>,
) -> Result<LogFile> {
    if !path.exists() {
        bail!("'{}' does not exist; check the path", path.display());
    }
    let roots = vec![context.given(path.to_path_buf())];
    let found = context.find_in(roots);
    if found.files.is_empty() && !found.locked.is_empty() {
        let busy = io::Error::new(io::ErrorKind::ResourceBusy, BUSY);
        return Err(busy).with_context(|| format!("cannot read '{}'", path.display()));
    }
    let are_several = found.files.len() > 1 || found.files.iter().any(LogFile::is_one_of_several);
    if let Some(wanted) = wanted.filter(|_| are_several) {
        return find_in_several(context, path, wanted);
    }
    let is_main = |log: &&LogFile| log.facts.parent.is_none();
    let newest = found.files.iter().find(is_main).or(found.files.first());
    match (newest, found.problems.first()) {
        (Some(log), _) => Ok(log.clone()),
        (None, Some((at, what))) => bail!("'{}': {what}", at.display()),
        (None, None) => bail!(
            "no log found in '{}'; `ctxgauge agents` lists the agents whose logs can be read",
            path.display()
        ),
    }
}

/// Finds the log of the wanted session among those in a folder or a database.
fn find_in_several(context: &ReportContext, path: &Path, wanted: &str) -> Result<LogFile> {
    let there = ReportContext {
        roots: vec![context.given(path.to_path_buf())],
        forced: context.forced,
        ..context.beside()
    };
    let mut all = ls::read(&there, &ListOptions::default());
    let key = find_among(context, &all.sessions, ("the path", wanted))?;
    let log = all.logs.remove(&key.file);
    log.context("the session has no log")
}

/// Makes a set of the sessions of one log.
fn sessions_of(context: &ReportContext, log: &LogFile, sessions: LogSessions) -> Sessions {
    let mut all = Sessions::new(Arc::clone(&context.rules));
    all.apply(Update::Found(Box::new(log.facts.clone())));
    all.apply(Update::Rebuilt {
        file: log.facts.file,
        sessions,
    });
    all
}
