//! The headless faces of the model: what the screens show, for scripts and pipes.

pub mod agents;
pub mod audit;
pub mod check;
pub mod json;
pub mod ls;
pub mod models;
pub mod text;

use crate::agents::Format;
use crate::ingest::discover::{LogFile, Scanner};
use crate::ingest::reader::{each_usage, read_stream, read_whole, tail_only};
use crate::ingest::roots::SearchRoot;
use crate::ingest::settings::SettingsReader;
use crate::ingest::spool::{self, Piped, STDIN};
use crate::ingest::{self, Options};
use crate::model::event::Lane;
use crate::model::fleet::{FileId, Fleet, SessionKey, Update};
use crate::model::forecast::forecast;
use crate::model::session::{Coverage, Session};
use crate::model::window::Rules;
use crate::paths;
use crate::tokens::Counter;
use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Whether a list ends with totals over everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// The list alone, from the ends of the logs.
    None,
    /// All logs are read through.
    Totals,
}

/// What reports are made from.
pub struct Ground {
    /// The formats that count.
    pub formats: Vec<&'static Format>,
    /// Whose all files and pipes are that the user names; `None`: their bytes tell.
    pub forced: Option<&'static Format>,
    /// Where the logs are.
    pub roots: Vec<SearchRoot>,
    /// The models table.
    pub rules: Arc<Rules>,
    /// The clock, to tell an idle session from one at work.
    pub now: fn() -> Timestamp,
}

impl Ground {
    /// A file or folder that the user names.
    pub fn given(&self, path: PathBuf) -> SearchRoot {
        match self.forced {
            Some(format) => SearchRoot::Forced(format, path),
            None => SearchRoot::Given(path),
        }
    }
}

/// Reports on the session of a file, on the newest one of a folder, or on standard input (`-`). Of a file
/// that holds several on the one that is wanted, by its id or its name; else on the first.
///
/// # Errors
///
/// Where there is nothing to read, no such session or more than one, or `out` cannot be written to.
pub fn session(
    ground: &Ground,
    path: &Path,
    wanted: Option<&str>,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let counter = Counter::new();
    let (log, sessions) = if path == Path::new(STDIN) {
        let piped = Piped {
            source: Box::new(std::io::stdin()),
            format: ground.forced,
        };
        let spool =
            spool::recognise(piped, &ground.formats).context("cannot read standard input")?;
        let mut spool = match spool {
            Ok(spool) => spool,
            Err(why) => bail!("standard input: {why}"),
        };
        let sessions = read_stream(&mut spool.source, &spool.log, &counter, &ground.rules)?;
        (spool.log, sessions)
    } else {
        let log = find_one(ground, path)?;
        let sessions = read_whole(&log, &counter, &ground.rules).with_context(|| {
            format!(
                "cannot read '{}'; check that it is still there and may be read",
                log.facts.path.display()
            )
        })?;
        (log, sessions)
    };
    let file = log.facts.file;
    let mut fleet = Fleet::new(Arc::clone(&ground.rules));
    fleet.apply(Update::Found(Box::new(log.facts.clone())));
    fleet.apply(Update::Rebuilt { file, sessions });
    let key = one_of(&fleet, file, wanted)?;
    let others = fleet.of_file(file).count() - 1;
    let session = fleet.get_mut(key).context("there is no session in it")?;
    let cwd = session.meta.cwd.as_deref();
    session.set_overrides(SettingsReader::new(paths::env).of(&log, cwd));
    let left = forecast(session, Some((ground.now)()));
    match style {
        Style::Text => {
            text::write(out, session, &log.facts, &left)?;
            if others > 0 && log.format.holds_several {
                writeln!(
                    out,
                    "\n  the file holds {others} more: `ctxgauge ls` lists them, --session reports on one"
                )?;
            }
        }
        Style::Json => {
            let report = json::Report::new(session, &log.facts, &left);
            serde_json::to_writer(&mut *out, &report)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The session of a file that is wanted: the one of this id, or whose id begins so or whose name says
/// so; none wanted: the one that the file is named for.
fn one_of(fleet: &Fleet, file: FileId, wanted: Option<&str>) -> Result<SessionKey> {
    let Some(wanted) = wanted else {
        let lane = Lane::Main;
        return Ok(SessionKey { file, lane });
    };
    let word = wanted.to_lowercase();
    let id = |session: &Session| {
        session
            .meta
            .id
            .as_deref()
            .unwrap_or_default()
            .to_lowercase()
    };
    let mut exactly = fleet
        .of_file(file)
        .filter(|(_, session)| id(session) == word);
    if let Some((key, _)) = exactly.next() {
        return Ok(key);
    }
    let says_so = |key: SessionKey, session: &Session| {
        id(session).starts_with(&word) || fleet.name(key).to_lowercase().contains(&word)
    };
    let all = fleet.of_file(file);
    let found: Vec<SessionKey> = all
        .filter(|(key, session)| says_so(*key, session))
        .map(|(key, _)| key)
        .collect();
    match &found[..] {
        [key] => Ok(*key),
        [] => bail!("no session of the file is called '{wanted}'; `ctxgauge ls` names them"),
        several => bail!(
            "'{wanted}' may be any of {} sessions of the file; say more of its name, or its id",
            several.len()
        ),
    }
}

/// Follows the session of a file and reports whenever it has changed, until whoever reads has enough:
/// as JSON a report a line, as text the gauge's line.
///
/// # Errors
///
/// As of [`session`].
pub fn follow(
    ground: &Ground,
    path: &Path,
    wanted: Option<&str>,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let log = find_one(ground, path)?;
    let file = log.facts.file;
    let (sender, updates) = sync_channel(UPDATES);
    let sink = move |update| match sender.send(update) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let options = Options {
        formats: vec![log.format],
        roots: vec![SearchRoot::Forced(log.format, log.facts.path.to_path_buf())],
        stdin: None,
        rules: Arc::clone(&ground.rules),
        counter: Arc::new(Counter::new()),
    };
    let handle = ingest::start(options, sink)?;
    handle.look_at(file);
    let mut fleet = Fleet::new(Arc::clone(&ground.rules));
    while let Ok(update) = updates.recv() {
        let mut changed = is_news(&update);
        fleet.apply(update);
        // What waits belongs to the same change.
        while let Ok(update) = updates.try_recv() {
            changed |= is_news(&update);
            fleet.apply(update);
        }
        let key = match one_of(&fleet, file, wanted) {
            Ok(key) => key,
            // It may come yet.
            Err(_) if !fleet.caught_up => continue,
            Err(why) => return Err(why),
        };
        let Some(session) = fleet.get(key).filter(|_| changed) else {
            continue;
        };
        if session.coverage != Coverage::Whole {
            continue;
        }
        match style {
            Style::Text => writeln!(out, "{}", text::gauge_line(session))?,
            Style::Json => {
                let left = forecast(session, Some((ground.now)()));
                let report = json::Report::new(session, &log.facts, &left);
                serde_json::to_writer(&mut *out, &report)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
    }
    Ok(())
}

fn is_news(update: &Update) -> bool {
    matches!(
        update,
        Update::Rebuilt { .. } | Update::Appended { .. } | Update::Settings { .. }
    )
}

/// Updates that may wait for a reader; beyond, the reading of logs waits.
const UPDATES: usize = 256;

/// The log at a path; in a folder, the newest that is no sub-agent's.
fn find_one(ground: &Ground, path: &Path) -> Result<LogFile> {
    if !path.exists() {
        bail!("there is no '{}'; check the path", path.display());
    }
    let roots = vec![ground.given(path.to_path_buf())];
    let found = Scanner::new(roots, ground.formats.clone(), paths::env).look();
    let newest = found
        .files
        .iter()
        .find(|log| log.facts.parent.is_none())
        .or(found.files.first());
    match (newest, found.problems.first()) {
        (Some(log), _) => Ok(log.clone()),
        (None, Some((at, what))) => bail!("'{}': {what}", at.display()),
        (None, None) => bail!(
            "'{}' holds no log that can be read here; known are: {}",
            path.display(),
            names(&ground.formats)
        ),
    }
}

/// The ids of formats, for a sentence.
pub fn names(formats: &[&'static Format]) -> String {
    let names: Vec<&str> = formats.iter().map(|format| format.id).collect();
    names.join(", ")
}

/// Lists all sessions. What could not be read is told on `err`.
pub fn list(
    ground: &Ground,
    style: Style,
    sums: Sums,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let found = Scanner::new(ground.roots.clone(), ground.formats.clone(), paths::env).look();
    let mut problems: Vec<(PathBuf, String)> = found.problems;
    let mut fleet = Fleet::new(Arc::clone(&ground.rules));
    let mut totals = (sums == Sums::Totals).then(ls::Totals::default);
    let mut settings = SettingsReader::new(paths::env);
    for log in found.files {
        let file = log.facts.file;
        let read = tail_only(&log, &ground.rules).and_then(|sessions| {
            let main = sessions.iter().find(|(lane, _)| *lane == Lane::Main);
            let cwd = main.and_then(|(_, session)| session.meta.cwd.as_deref());
            let overrides = settings.of(&log, cwd);
            fleet.apply(Update::Found(Box::new(log.facts.clone())));
            fleet.apply(Update::Settings { file, overrides });
            fleet.apply(Update::Rebuilt { file, sessions });
            match &mut totals {
                Some(totals) => each_usage(&log, &mut |entry| totals.add(log.format, &entry)),
                None => Ok(()),
            }
        });
        if let Err(error) = read {
            problems.push((log.facts.path.to_path_buf(), error.to_string()));
        }
    }
    for (path, what) in &problems {
        writeln!(err, "{}: {what}", text::clean(&path.display().to_string()))?;
    }
    if fleet.is_empty() && problems.is_empty() {
        writeln!(
            err,
            "no sessions found; `ctxgauge agents` tells where they are looked for"
        )?;
    }
    match style {
        Style::Text => ls::write(out, &fleet, totals.as_ref())?,
        Style::Json => {
            serde_json::to_writer(&mut *out, &ls::List::new(&fleet, totals.as_ref()))?;
            writeln!(out)?;
        }
    }
    all_named_were_read(ground, &problems)
}

/// An error where a path that the user named is among the problems, which were told already.
fn all_named_were_read(ground: &Ground, problems: &[(PathBuf, String)]) -> Result<()> {
    let is_named = |path: &Path| ground.roots.iter().any(|root| root.names(path));
    match problems.iter().filter(|(path, _)| is_named(path)).count() {
        0 => Ok(()),
        unread => bail!("{unread} of the paths given could not be read, see above"),
    }
}
