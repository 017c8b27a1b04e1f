//! Reports on one session: once, or each time that it has changed.

pub(crate) mod find;
mod handout;
pub(crate) mod json;
pub mod parts;
pub(crate) mod text;
mod words;

use super::handout::{HTML, MARKDOWN, html, markdown};
use super::json::document;
use super::redact::{LeftOut, Reader};
use super::whole::Whole;
use super::{Charset, JSON, Output, OutputFormat, Page, ReportContext, Style, TEXT, audit};
use anyhow::{Context, Result, bail};
pub use find::Asked;
pub(crate) use find::find_one;
use find::{find, find_in_log, find_session, wait_for_one};
use handout::Checked;
use ingest::discover::roots::SearchRoot;
use ingest::index::earlier;
use ingest::log::LogFile;
use ingest::reader::{read_once, read_whole};
use ingest::store::pipe::{self, Piped, STDIN};
use ingest::{self, Delivery, Options};
use model::fleet::{FileFacts, FileId, Fleet, Update};
use model::forecast::{Forecast, NoForecast};
use model::gauge::Gauge;
use model::session::{Coverage, Session};
use model::triggers::{self, Next};
use render::clock::Clock;
use std::borrow::Cow;
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
    /// Its entry in a list.
    pub gauge: Gauge,
    /// The file it was read from.
    pub facts: &'a FileFacts,
    /// The title, which identifies it among the sessions of its project; `None`: not known.
    pub title: Option<String>,
    /// The forecast of the next compaction.
    pub forecast: Result<Forecast, NoForecast>,
    /// The possible next compactions, the nearest first.
    pub next: Vec<Next>,
    /// The user's clock.
    pub clock: Clock,
    /// The number of other sessions in the file, if its format allows several.
    pub others: usize,
    /// The counts of what was left out; `None`: texts are shown.
    pub left_out: Option<LeftOut>,
    checked: Checked,
}

impl<'a> Report<'a> {
    fn new(context: &ReportContext, session: &'a Session, facts: &'a FileFacts) -> Report<'a> {
        let clock = context.clock();
        let gauge = session.gauge();
        let forecast = gauge.forecast(clock.now);
        Report {
            session,
            facts,
            title: None,
            next: triggers::next(&gauge, &forecast, clock.now),
            gauge,
            forecast,
            clock,
            others: 0,
            left_out: context.left_out(),
            checked: Checked::default(),
        }
    }
}

impl Output for Report<'_> {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        text::write(page, self)
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.report/1", json::session(self))
    }

    fn markdown(&self, charset: Charset, out: &mut dyn Write) -> Result<()> {
        markdown::write(&handout::handout(self), charset, out)
    }

    fn html(&self, out: &mut dyn Write) -> Result<()> {
        html::write(&handout::handout(self), out)
    }
}

/// A session that is followed, after a change.
struct Change<'a>(Report<'a>);

impl Output for Change<'_> {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let session = self.0.session;
        let (context, limits) = (session.context(), session.limits());
        page.row(text::gauge_line(session, &context, &limits))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        self.0.json(out)
    }
}

/// The formats of a report on a session, the default first.
pub static FORMATS: [OutputFormat; 4] = [TEXT, JSON, HTML, MARKDOWN];

/// Reports on the session that is asked for.
///
/// # Errors
///
/// If there is nothing to read, no such session or more than one, or `out` cannot be written to.
pub fn run(
    context: &ReportContext,
    asked: &Asked<'_>,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let reader = Reader::counting(context);
    let piped = piped(context, asked)?;
    let is_piped = piped.is_some();
    let (log, wanted, sessions) = if let Some((path, piped)) = piped {
        let log = pipe::recognise(piped, &context.formats);
        let log = match log.with_context(|| format!("cannot read {}", name(path)))? {
            Ok(log) => log,
            Err(why) => bail!("{}: {why}", name(path)),
        };
        let sessions = read_once(&log, &reader, &context.rules)?;
        (log, asked.session.map(str::to_owned), sessions)
    } else {
        let (log, wanted) = find(context, asked)?;
        let read = || {
            if style.format.to_hand_on {
                read_whole(&log, &reader, &context.rules)
            } else {
                read_once(&log, &reader, &context.rules)
            }
        };
        let sessions = context.patience.read(&log, read);
        let sessions = sessions.with_context(|| unreadable(&log))?;
        (log, wanted, sessions)
    };
    let mut whole = Whole::new(context);
    let mut fleet = whole.named(&log, sessions);
    let key = if is_piped {
        find_session(&fleet, log.facts.file, wanted.as_deref())
    } else {
        find_in_log(context, &log, &fleet, wanted.as_deref())
    }?;
    whole.redact(&log, &mut fleet);
    if let (Some(window), Some(session)) = (asked.window, fleet.get_mut(key)) {
        session.set_window(Some(window));
    }
    let title = fleet.title(key).map(Cow::into_owned);
    let others = fleet.of_file(log.facts.file).count() - 1;
    let found = fleet.get(key).zip(fleet.facts(key));
    let (session, facts) = found.context("the log holds no session")?;
    let mut report = Report::new(context, session, facts);
    report.title = title;
    if log.format.holds_several {
        report.others = others;
    }
    if style.format.to_hand_on && !is_piped {
        report.checked = match audit::of_session(context, &log, key.lane) {
            Ok(Some(found)) => Checked::Audited(found),
            Ok(None) | Err(_) => Checked::Unread,
        };
    }
    style.print(&report, out)?;
    if let Some(folder) = context
        .cache
        .as_ref()
        .filter(|_| context.redactor.is_none())
    {
        // Without it, only the guess for the first request of later sessions is worse.
        let _ = earlier::save(folder, &context.rules.earlier);
    }
    Ok(())
}

/// Opens the pipe that the user names; `None`: the path is no pipe.
fn piped<'a>(context: &ReportContext, asked: &Asked<'a>) -> Result<Option<(&'a Path, Piped)>> {
    let Some(path) = asked.path else {
        return Ok(None);
    };
    let piped = pipe::named(path, context.forced);
    let piped = piped.with_context(|| format!("cannot read {}", name(path)))?;
    Ok(piped.map(|piped| (path, piped)))
}

/// Returns a path as messages have it.
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
    asked: &Asked<'_>,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    if let Some((path, piped)) = piped(context, asked)? {
        return follow_pipe(context, piped, path, asked.session, style, out);
    }
    if let Some(path) = asked.path {
        wait_for_one(context, path, asked.session)?;
    }
    let (log, wanted) = find(context, asked)?;
    let wanted = wanted.as_deref();
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
        rules: Arc::clone(&context.rules),
        counter: Arc::new(Counter::new()),
        // It is opened at once.
        cache: None,
    };
    let handle = ingest::start(options, None, sink)?;
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
        let found = if log.facts.file == followed.file {
            find_in_log(context, &log, &fleet, wanted)
        } else {
            find_session(&fleet, followed.file, wanted)
        };
        let key = match found {
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
    let counter = Counter::new();
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
            // The line about a file that is gone is written once, above.
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

/// The most updates that wait to be printed. With more, the reading of logs waits.
const WAITING_UPDATES: usize = 256;
/// After this long without an update, it is checked whether anybody still reads the reports.
const READER_CHECK: Duration = Duration::from_secs(1);

/// Returns the message for a log that was found and cannot be read.
pub(crate) fn unreadable(log: &LogFile) -> String {
    let path = log.facts.path.display();
    format!("cannot read '{path}'; check that it still exists and that you may read it")
}
