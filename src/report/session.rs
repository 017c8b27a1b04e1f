//! Reports on one session: once, or each time that it has changed.

pub(crate) mod json;
pub(crate) mod text;

use super::json::document;
use super::patience::BUSY;
use super::{Output, ReportContext, Style, names};
use anyhow::{Context, Result, bail};
use ingest::cache::earlier;
use ingest::discover::roots::SearchRoot;
use ingest::discover::settings::SettingsReader;
use ingest::lanes::Sessions;
use ingest::log::LogFile;
use ingest::reader::{read_once, tail_only};
use ingest::store::pipe::{self, Piped, STDIN};
use ingest::{self, Delivery, Options};
use model::event::Lane;
use model::fleet::{FileFacts, FileId, Fleet, SessionKey, Update};
use model::forecast::{Forecast, NoForecast, forecast};
use model::session::{Coverage, Session};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;
use tokens::Counter;

/// One session, and what a report shows with it.
pub struct Report<'a> {
    /// The session.
    pub session: &'a Session,
    /// The file it was read from.
    pub facts: &'a FileFacts,
    /// When it will compact.
    pub forecast: Result<Forecast, NoForecast>,
    /// How many other sessions the file holds, if its format allows several.
    pub others: usize,
}

impl<'a> Report<'a> {
    fn new(context: &ReportContext, session: &'a Session, facts: &'a FileFacts) -> Report<'a> {
        Report {
            session,
            facts,
            forecast: forecast(session, Some((context.now)())),
            others: 0,
        }
    }
}

impl Output for Report<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        text::write(out, self)
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.report/1", json::session(self))
    }
}

/// A session that is followed, after a change.
struct Change<'a>(Report<'a>);

impl Output for Change<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let session = self.0.session;
        let (context, limits) = (session.context(), session.limits());
        let gauge = text::gauge_line(session, &context, limits.window);
        writeln!(out, "{gauge}")
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        self.0.json(out)
    }
}

/// Reports on the session of a file, on the newest one of a folder, or on standard input (`-`). `wanted`
/// selects a session of a file that holds several, by its id or its name; without it the first is taken.
///
/// # Errors
///
/// If there is nothing to read, no such session or more than one, or `out` cannot be written to.
pub fn run(
    context: &ReportContext,
    path: &Path,
    wanted: Option<&str>,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let counter = Counter::for_estimator(context.rules.estimator);
    let (log, sessions) = if let Some(piped) = piped(context, path)? {
        let log = pipe::recognise(piped, &context.formats);
        let log = match log.with_context(|| format!("cannot read {}", name(path)))? {
            Ok(log) => log,
            Err(why) => bail!("{}: {why}", name(path)),
        };
        let sessions = read_once(&log, &counter, &context.rules)?;
        (log, sessions)
    } else {
        let log = find_one(context, path, wanted)?;
        let sessions = context
            .patience
            .read(&log, || read_once(&log, &counter, &context.rules))
            .with_context(|| unreadable(&log))?;
        (log, sessions)
    };
    let file = log.facts.file;
    let mut fleet = fleet_of(context, &log, sessions);
    let key = find_session(&fleet, file, wanted)?;
    let others = fleet.of_file(file).count() - 1;
    let session = fleet.get_mut(key).context("the log holds no session")?;
    let cwd = session.meta.cwd.as_deref();
    session.set_overrides(SettingsReader::new(context.user.clone()).of(&log, cwd));
    let mut report = Report::new(context, session, &log.facts);
    if log.format.holds_several {
        report.others = others;
    }
    style.print(&report, out)?;
    if let Some(folder) = &context.cache {
        // Without it, only the guess for the first request of later sessions is worse.
        let _ = earlier::save(folder, &context.rules.earlier);
    }
    Ok(())
}

/// The pipe that a path names.
fn piped(context: &ReportContext, path: &Path) -> Result<Option<Piped>> {
    let piped = pipe::named(path, context.forced);
    piped.with_context(|| format!("cannot read {}", name(path)))
}

/// A path as messages name it.
fn name(path: &Path) -> String {
    if path == Path::new(STDIN) {
        "standard input".to_owned()
    } else {
        format!("'{}'", path.display())
    }
}

/// Follows the session of a file and reports each time that it has changed, until the reader of `out` has gone. If the
/// file goes away, `err` gets a line, and the file is followed again when it is back. Problems with it go to `err` too.
/// A pipe, or standard input (`-`), is followed until it ends.
///
/// # Errors
///
/// As [`run`].
pub fn follow(
    context: &ReportContext,
    path: &Path,
    wanted: Option<&str>,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    if let Some(piped) = piped(context, path)? {
        return follow_pipe(context, piped, path, wanted, style, out);
    }
    let log = wait_for_one(context, path, wanted)?;
    let mut followed = Followed {
        file: log.facts.file,
        log: &log,
        is_gone: false,
    };
    let (sender, updates) = sync_channel(WAITING_UPDATES);
    let sink = move |delivery| match sender.send(delivery) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let options = Options {
        formats: vec![log.format],
        roots: vec![SearchRoot::of(&log)],
        user: context.user.clone(),
        stdin: None,
        rules: Arc::clone(&context.rules),
        counter: Arc::new(Counter::for_estimator(context.rules.estimator)),
        // It is opened at once.
        cache: None,
    };
    let handle = ingest::start(options, sink)?;
    handle.look_at(followed.file);
    let mut fleet = Fleet::new(Arc::clone(&context.rules));
    loop {
        let first = match updates.recv_timeout(READER_CHECK) {
            Ok(delivery) => delivery,
            // The reader of `out` may have gone meanwhile.
            Err(RecvTimeoutError::Timeout) => {
                out.flush()?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let before = followed.file;
        let mut changed = false;
        let mut next = Some(first);
        while let Some(delivery) = next {
            followed.note(&delivery, err)?;
            if let Delivery::Fleet(update) = delivery {
                changed |= is_change(&update);
                fleet.apply(update);
            }
            // Updates that are waiting are part of the same change.
            next = updates.try_recv().ok();
        }
        if followed.file != before {
            handle.look_at(followed.file);
        }
        let key = match find_session(&fleet, followed.file, wanted) {
            Ok(key) => key,
            // It may be found later.
            Err(_) if !fleet.caught_up || followed.is_gone => continue,
            Err(why) => return Err(why),
        };
        if let Some(session) = fleet.get(key)
            && session.coverage == Coverage::Whole
            && changed
        {
            print_change(context, session, &log.facts, style, out)?;
        }
    }
    Ok(())
}

fn follow_pipe(
    context: &ReportContext,
    piped: Piped,
    path: &Path,
    wanted: Option<&str>,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let counter = Counter::for_estimator(context.rules.estimator);
    let mut fleet = Fleet::new(Arc::clone(&context.rules));
    let mut facts = None;
    let mut printed = Ok(());
    let give = |delivery| {
        let update = match delivery {
            Delivery::Fleet(update) => update,
            Delivery::Problem { what, .. } => {
                printed = Err(anyhow::anyhow!("{}: {what}", name(path)));
                return ControlFlow::Break(());
            }
            Delivery::Text(_) | Delivery::Banner(_) => return ControlFlow::Continue(()),
        };
        if let Update::Found(found) = &update {
            facts = Some((**found).clone());
        }
        let changed = matches!(update, Update::Appended { .. });
        fleet.apply(update);
        let Some(facts) = facts.as_ref().filter(|_| changed) else {
            return ControlFlow::Continue(());
        };
        printed = find_session(&fleet, facts.file, wanted).and_then(|key| {
            let session = fleet.get(key);
            session.map_or(Ok(()), |it| print_change(context, it, facts, style, out))
        });
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    pipe::follow(piped, &context.formats, &counter, &context.rules, give);
    printed
}

/// Prints a followed session after a change.
fn print_change(
    context: &ReportContext,
    session: &Session,
    facts: &FileFacts,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let report = Report::new(context, session, facts);
    style.print(&Change(report), out)?;
    Ok(out.flush()?)
}

/// The file that is followed.
struct Followed<'a> {
    log: &'a LogFile,
    file: FileId,
    is_gone: bool,
}

impl Followed<'_> {
    /// Writes a line if the file has gone, is back or cannot be read.
    fn note(&mut self, delivery: &Delivery, err: &mut dyn Write) -> Result<()> {
        let path = self.log.facts.path.as_path();
        match delivery {
            Delivery::Fleet(Update::Vanished(file)) if *file == self.file => {
                self.is_gone = true;
                writeln!(
                    err,
                    "'{}' is gone: it is followed again when it is back",
                    path.display()
                )?;
            }
            Delivery::Fleet(Update::Found(facts)) if self.is_gone => {
                // A link may lead to another file now.
                if !self.log.is_one_of_several() {
                    self.file = facts.file;
                }
                if facts.file == self.file {
                    self.is_gone = false;
                    writeln!(err, "'{}' is back", path.display())?;
                }
            }
            // That the file is gone is written once, above.
            Delivery::Problem { path: of, .. }
                if of == path && self.log.system.stat(path).is_err() => {}
            Delivery::Problem { path: of, what } => writeln!(err, "'{}': {what}", of.display())?,
            _ => {}
        }
        Ok(())
    }
}

fn is_change(update: &Update) -> bool {
    matches!(
        update,
        Update::Rebuilt { .. } | Update::Appended { .. } | Update::Settings { .. }
    )
}

/// How many updates may wait to be printed; if there are more, the reading of logs waits.
const WAITING_UPDATES: usize = 256;
/// After this long without an update, it is checked whether anybody still reads the reports.
const READER_CHECK: Duration = Duration::from_secs(1);

/// The session of a file whose id is `wanted` or begins with it, or whose name contains it. Without `wanted`, the main
/// session of the file.
fn find_session(fleet: &Fleet, file: FileId, wanted: Option<&str>) -> Result<SessionKey> {
    let Some(wanted) = wanted else {
        let lane = Lane::Main;
        return Ok(SessionKey { file, lane });
    };
    let word = wanted.to_lowercase();
    let mut matching = Vec::new();
    for (key, session) in fleet.of_file(file) {
        let id = session.meta.id.as_deref().unwrap_or_default();
        let id = id.to_lowercase();
        if id == word {
            return Ok(key);
        }
        if id.starts_with(&word) || fleet.name(key).to_lowercase().contains(&word) {
            matching.push(key);
        }
    }
    only_match(&matching, "file", wanted)
}

/// The log at a path. In a folder, it is the newest that does not belong to a sub-agent; in a database, the session
/// that is wanted or, without one, the newest.
pub(super) fn find_one(
    context: &ReportContext,
    path: &Path,
    wanted: Option<&str>,
) -> Result<LogFile> {
    match look_for_one(context, path, wanted)? {
        Some(log) => Ok(log),
        None => bail!(
            "no log found in '{}'; known agents: {}",
            path.display(),
            names(&context.formats)
        ),
    }
}

/// The log at a path, as [`find_one`] finds it. Waits until a database has a session.
fn wait_for_one(context: &ReportContext, path: &Path, wanted: Option<&str>) -> Result<LogFile> {
    while path.is_file() {
        if let Some(log) = look_for_one(context, path, wanted)? {
            return Ok(log);
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    find_one(context, path, wanted)
}

/// The time between two looks into a database that has no session yet.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

fn look_for_one(
    context: &ReportContext,
    path: &Path,
    wanted: Option<&str>,
) -> Result<Option<LogFile>> {
    if !path.exists() {
        bail!("'{}' does not exist; check the path", path.display());
    }
    let roots = vec![context.given(path.to_path_buf())];
    let found = context.find_in(roots);
    if found.files.is_empty() && !found.locked.is_empty() {
        let busy = io::Error::new(io::ErrorKind::ResourceBusy, BUSY);
        return Err(busy).with_context(|| format!("cannot read '{}'", path.display()));
    }
    if let Some(wanted) = wanted
        && found.files.iter().any(LogFile::is_one_of_several)
    {
        return find_in_database(context, &found.files, wanted).map(Some);
    }
    let is_main = |log: &&LogFile| log.facts.parent.is_none();
    let newest = found.files.iter().find(is_main).or(found.files.first());
    match (newest, found.problems.first()) {
        (None, Some((at, what))) => bail!("'{}': {what}", at.display()),
        (log, _) => Ok(log.cloned()),
    }
}

/// The session of a database whose id is `wanted` or begins with it, or whose name contains it.
fn find_in_database(context: &ReportContext, logs: &[LogFile], wanted: &str) -> Result<LogFile> {
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
        let fleet = fleet_of(context, log, sessions);
        find_session(&fleet, log.facts.file, Some(wanted)).is_ok()
    };
    let matching: Vec<&LogFile> = logs.iter().filter(is_named).collect();
    only_match(&matching, "database", wanted).cloned()
}

/// A fleet of the sessions of one log.
fn fleet_of(context: &ReportContext, log: &LogFile, sessions: Sessions) -> Fleet {
    let mut fleet = Fleet::new(Arc::clone(&context.rules));
    fleet.apply(Update::Found(Box::new(log.facts.clone())));
    fleet.apply(Update::Rebuilt {
        file: log.facts.file,
        sessions,
    });
    fleet
}

/// The session that matches `wanted`, which must be the only one. `place` is what holds the sessions.
fn only_match<T: Copy>(matching: &[T], place: &str, wanted: &str) -> Result<T> {
    match matching {
        [session] => Ok(*session),
        [] => bail!("the {place} has no session '{wanted}'; `ctxgauge ls` lists the names"),
        several => bail!(
            "{} sessions of the {place} match '{wanted}'; give more of the name, or the id",
            several.len()
        ),
    }
}

/// The message for a log that was found and cannot be read.
pub(super) fn unreadable(log: &LogFile) -> String {
    let path = log.facts.path.display();
    format!("cannot read '{path}'; check that it still exists and that you may read it")
}
