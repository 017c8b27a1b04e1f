//! Finds the session that a report is on.

use crate::here::meant_by;
use crate::ls::{self, ListOptions};
use crate::patience::BUSY;
use crate::{NO_SESSIONS, ReportContext};
use anyhow::{Context, Result, bail};
use ingest::conversations::LogSessions;
use ingest::log::LogFile;
use ingest::reader::tail_only;
use model::event::Conversation;
use model::gauge::SessionGauge;
use model::sessions::{FileId, SessionKey, Sessions, Update};
use render::text::inert;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The session that the user asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionRequest<'a> {
    /// A log file, a folder, or `-` for standard input; `None`: all logs that there are.
    pub path: Option<&'a Path>,
    /// The session's id, the beginning or the end of it, or a part of its title or name.
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
        Some(wanted) => find_among(&all.sessions, wanted)?,
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

/// The match of a word with a session.
enum Match {
    /// The whole id.
    Whole,
    /// A part that others may have too.
    Part,
}

/// Compares a word, in lower case, with a session. It can be the id, its beginning or end, or a part of the title or
/// the name. `None`: it is none of these.
fn matches(sessions: &Sessions, key: SessionKey, word: &str) -> Option<Match> {
    let id = sessions.gauge(key)?.meta.id.as_deref().unwrap_or_default();
    let id = id.to_lowercase();
    if id == word {
        return Some(Match::Whole);
    }
    let is_named = |name: &str| name.to_lowercase().contains(word);
    let is_part = id.starts_with(word)
        || id.ends_with(word)
        || is_named(&sessions.name(key))
        || sessions.title(key).is_some_and(|title| is_named(&title));
    is_part.then_some(Match::Part)
}

/// Returns the session with this id, or the only one that the word is a part of.
fn select(
    sessions: &Sessions,
    keys: impl Iterator<Item = SessionKey>,
    place: &str,
    wanted: &str,
) -> Result<SessionKey> {
    let word = wanted.to_lowercase();
    let mut matching = Vec::new();
    for key in keys {
        match matches(sessions, key, &word) {
            Some(Match::Whole) => return Ok(key),
            Some(Match::Part) => matching.push(key),
            None => {}
        }
    }
    let id = |key: SessionKey| sessions.gauge(key)?.meta.id.as_deref();
    only_match(&matching, (place, wanted), id)
}

/// Finds a session among all of this machine.
fn find_among(sessions: &Sessions, wanted: &str) -> Result<SessionKey> {
    let newest_first = sessions.recent().into_iter().map(|row| row.key);
    select(sessions, newest_first, "this machine", wanted)
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
) -> Result<SessionKey> {
    let conversation = Conversation::Main;
    let keys = sessions.of_file(file);
    wanted.map_or(Ok(SessionKey { file, conversation }), |wanted| {
        select(sessions, keys, "the file", wanted)
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
    let found = find_session(sessions, log.facts.file, wanted);
    if found.is_ok() || !log.format.holds_several {
        return found;
    }
    let as_listed = || {
        let tail = || tail_only(log, &context.rules);
        let listed = sessions_of(context, log, context.patience.read(log, tail).ok()?);
        let key = find_session(&listed, log.facts.file, wanted).ok()?;
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
        return find_in_several(context, &found.files, wanted);
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
fn find_in_several(context: &ReportContext, logs: &[LogFile], wanted: &str) -> Result<LogFile> {
    let word = wanted.to_lowercase();
    let id = |log: &LogFile| log.facts.id.as_deref().unwrap_or_default().to_lowercase();
    if let Some(log) = logs.iter().find(|log| id(log) == word) {
        return Ok(log.clone());
    }
    let is_named = |log: &&LogFile| {
        let tail = || tail_only(log, &context.rules);
        let Ok(sessions) = context.patience.read(log, tail) else {
            return false;
        };
        let all = sessions_of(context, log, sessions);
        find_session(&all, log.facts.file, Some(wanted)).is_ok()
    };
    let matching: Vec<&LogFile> = logs.iter().filter(is_named).collect();
    only_match(&matching, ("the path", wanted), |log| {
        log.facts.id.as_deref()
    })
    .cloned()
}

/// The most sessions that are named where several match.
const NAMED_SESSIONS: usize = 6;
/// The last characters of an id, by which it is named: those of sessions that began together differ there.
const ID_CHARS: usize = 6;

/// Returns the session that matches `wanted`, which must be the only one. `place` names the place of the search.
fn only_match<'m, T: Copy>(
    matching: &[T],
    (place, wanted): (&str, &str),
    id: impl Fn(T) -> Option<&'m str>,
) -> Result<T> {
    match matching {
        [session] => Ok(*session),
        [] => bail!("{place} has no session '{wanted}'; `ctxgauge ls` lists titles and ids"),
        several => {
            let ids = several.iter().filter_map(|session| id(*session));
            let ends: Vec<String> = ids.take(NAMED_SESSIONS).map(end).collect();
            let more = if several.len() > ends.len() {
                " …"
            } else {
                ""
            };
            bail!(
                "{} sessions of {place} match '{wanted}'; give more of the title, or the end of an id: {}{more}",
                several.len(),
                ends.join(" ")
            )
        }
    }
}

/// Returns the last characters of an id.
fn end(id: &str) -> String {
    let from = id.char_indices().rev().nth(ID_CHARS - 1);
    inert(&id[from.map_or(0, |(at, _)| at)..]).into_owned()
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
