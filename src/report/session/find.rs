//! Finds the session that a report is on.

use super::select::select;
use crate::ls::{self, ListOptions};
use crate::reading::patience::BUSY;
use crate::reading::sessions_builder::SessionsBuilder;
use crate::{NO_SESSIONS, ReportContext};
use anyhow::{Context, Result, bail};
use ingest::discover::ScanResult;
use ingest::discover::which::{folder, with_id};
use ingest::log::LogFile;
use ingest::log::reader::tail_only;
use jiff::Timestamp;
use model::event::Conversation;
use model::lists::sessions::{FileId, SessionKey, Sessions};
use std::io;
use std::path::{Path, PathBuf};

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
    /// Asks for the session with this id, name or title.
    pub fn named(session: &str) -> SessionRequest<'_> {
        SessionRequest {
            session: Some(session),
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
    let (log, conversation, id) = find_listed(context, "this machine", asked, context.find())?;
    // The first session at the end of a log with several is not always its main session.
    let is_one = conversation != Conversation::Main || log.format.recognition.holds_several;
    Ok((log, id.filter(|_| is_one)))
}

/// Returns the id of the session with this id, name or title; `None`: it has none.
///
/// # Errors
///
/// If there is no such session, or more than one.
pub fn id_of(context: &ReportContext, wanted: &str) -> Result<Option<String>> {
    let asked = SessionRequest::named(wanted);
    let (_, _, id) = find_listed(context, "this machine", &asked, context.find())?;
    Ok(id)
}

/// Returns the log of the session with this id, name or title; and its id, if its log has several sessions.
///
/// # Errors
///
/// If there is no such session, or more than one.
pub fn place_of(context: &ReportContext, wanted: &str) -> Result<(PathBuf, Option<String>)> {
    let (log, id) = find(context, &SessionRequest::named(wanted))?;
    let own = || log.facts.id.clone().filter(|_| log.is_one_of_several());
    Ok((log.facts.path.to_path_buf(), id.or_else(own)))
}

/// Finds a session among all of a place. Returns its log, its conversation in the log, and its id.
fn find_listed(
    context: &ReportContext,
    place: &str,
    asked: &SessionRequest<'_>,
    found: ScanResult,
) -> Result<(LogFile, Conversation, Option<String>)> {
    // No log has to be read to find one that has the id in its name.
    if let Some(log) = asked.session.and_then(|id| with_id(&found.files, id))
        && !log.format.recognition.holds_several
    {
        return Ok((log.clone(), Conversation::Main, log.facts.id.clone()));
    }
    let mut all = ls::read_found(context, &ListOptions::default(), found);
    let sessions = &all.sessions;
    let key = match asked.session {
        Some(wanted) => {
            let newest_first = sessions.recent().into_iter().map(|row| row.key);
            select(sessions, newest_first, (place, wanted), (context.now)())?
        }
        None => newest_of(context, sessions, asked.here)?,
    };
    let id = sessions
        .gauge(key)
        .and_then(|gauge| gauge.meta.id.as_deref());
    let id = id.map(str::to_owned);
    let log = all.logs.remove(&key.file);
    let log = log.context("the session has no log")?;
    Ok((log, key.conversation, id))
}

/// Finds the newest session that worked in a folder or, if there is none, in its nearest parent folder below the user's
/// home.
fn newest_of(context: &ReportContext, sessions: &Sessions, here: &[PathBuf]) -> Result<SessionKey> {
    let rows = sessions.recent().into_iter().filter(|row| row.depth == 0);
    let own = rows.filter_map(|row| {
        let cwd = sessions.gauge(row.key)?.meta.cwd.as_deref()?;
        Some((row.key, PathBuf::from(cwd)))
    });
    match folder::newest(own, here, context.user.folders.home.as_deref()) {
        Some((key, _)) => Ok(key),
        None if sessions.is_empty() => bail!(NO_SESSIONS),
        None => bail!(
            "no session worked in this folder; `ctxgauge ls` lists all, and `--session ID` or a path chooses one"
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
    if found.is_ok() || !log.format.recognition.holds_several {
        return found;
    }
    let as_listed = || {
        let tail = || tail_only(log, &context.rules);
        let read = context.patience.read(log, tail).ok()?;
        let listed = SessionsBuilder::new(context).named(log, read);
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

/// Describes a path at which nothing is, and what may have been meant.
pub fn no_such_path(path: &Path) -> String {
    let shown = path.display();
    let is_id =
        |id: &str| id.len() >= 4 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match path.to_str() {
        Some(host) if host.starts_with("ssh://") => format!(
            "only the monitor reads other machines: `ctxgauge {shown}`, or run ctxgauge there by `ssh`"
        ),
        Some(id) if is_id(id) => {
            format!("'{shown}' does not exist; `--session {shown}` chooses a session by its id")
        }
        _ => format!("'{shown}' does not exist; check the path"),
    }
}

/// Finds the log at a path. In a folder or a database, it is the log of the wanted session or, without one, the newest
/// log that does not belong to a sub-agent.
pub(crate) fn find_one(
    context: &ReportContext,
    path: &Path,
    wanted: Option<&str>,
) -> Result<LogFile> {
    if !path.exists() {
        bail!(no_such_path(path));
    }
    let there = ReportContext {
        roots: vec![context.given(path.to_path_buf())],
        ..context.beside()
    };
    let found = there.find();
    if found.files.is_empty() && !found.locked.is_empty() {
        let busy = io::Error::new(io::ErrorKind::ResourceBusy, BUSY);
        return Err(busy).with_context(|| format!("cannot read '{}'", path.display()));
    }
    let are_several = found.files.len() > 1 || found.files.iter().any(LogFile::is_one_of_several);
    if let Some(wanted) = wanted.filter(|_| are_several) {
        let asked = SessionRequest::named(wanted);
        return Ok(find_listed(&there, "the path", &asked, found)?.0);
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
