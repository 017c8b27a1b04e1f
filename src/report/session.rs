//! Reports on one session.

mod document;
pub(crate) mod find;
pub(crate) mod json;
pub(crate) mod only;
pub mod parts;
pub mod records;
mod select;
mod words;

use crate::output::json::document;
use crate::output::redact::{OmittedCounts, Reader};
use crate::reading::sessions_builder::SessionsBuilder;
use crate::{Document, Output, ReportContext, Style, audit};
use anyhow::{Context, Result, bail};
use document::AuditResult;
pub(crate) use find::find_one;
pub use find::{SessionRequest, id_of, no_such_path, place_of};
use find::{find, find_in_log, find_session};
use ingest::index::earlier;
use ingest::log::LogFile;
use ingest::log::reader::{read_once, read_whole};
use ingest::store::pipe::{self, PipeInput, STDIN};
use model::due::triggers::{self, NextTrigger};
use model::lists::gauge::SessionGauge;
use model::lists::sessions::FileFacts;
use model::outlook::forecast::{Forecast, NoForecast};
use model::session::Session;
use render::clock::Clock;
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
use tokens::Counter;

/// One session, and what a report shows with it.
pub struct Report<'a> {
    /// The session.
    pub session: &'a Session,
    /// Its entry in a list.
    pub gauge: SessionGauge,
    /// The file it was read from.
    pub facts: &'a FileFacts,
    /// The title, which identifies it among the sessions of its project; `None`: not known.
    pub title: Option<String>,
    /// The forecast of the next compaction.
    pub forecast: Result<Forecast, NoForecast>,
    /// The possible next compactions, the nearest first.
    pub next: Vec<NextTrigger>,
    /// The user's clock.
    pub clock: Clock,
    /// The number of other sessions in the file, if its format allows several.
    pub others: usize,
    /// The counts of what was left out; `None`: texts are shown.
    pub left_out: Option<OmittedCounts>,
    /// The audit of a report to share; `None`: it is for the user.
    checked: Option<AuditResult>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(clock: Clock, session: &'a Session, facts: &'a FileFacts) -> Report<'a> {
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
            left_out: None,
            checked: None,
        }
    }
}

impl Output for Report<'_> {
    fn document(&self) -> Option<Document> {
        Some(document::document(self))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.report/1", json::session(self))
    }
}

/// The most items, growths and tools that are listed, the largest first.
const LISTED_ROWS: usize = 10;

/// Reports on the session that is asked for.
///
/// # Errors
///
/// If there is nothing to read, no such session or more than one, or `out` cannot be written to.
pub fn run(
    context: &ReportContext,
    asked: &SessionRequest<'_>,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let reader = Reader::new(context, Counter::new());
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
    let mut whole = SessionsBuilder::new(context);
    let mut all = whole.named(&log, sessions);
    let key = if is_piped {
        find_session(&all, log.facts.file, wanted.as_deref(), (context.now)())
    } else {
        find_in_log(context, &log, &all, wanted.as_deref())
    }?;
    whole.redact(&log, &mut all);
    if let (Some(window), Some(session)) = (asked.window, all.get_mut(key)) {
        session.set_window(Some(window));
    }
    let title = all.title(key).map(Cow::into_owned);
    let others = all.of_file(log.facts.file).count() - 1;
    let found = all.get(key).zip(all.facts(key));
    let (session, facts) = found.context("the log holds no session")?;
    let mut report = Report::new(context.clock(), session, facts);
    report.title = title;
    report.left_out = context.left_out();
    if log.format.recognition.holds_several {
        report.others = others;
    }
    if style.format.to_hand_on {
        let audit = || audit::of_session(context, &log, key.conversation);
        report.checked = Some(match (!is_piped).then(audit) {
            Some(Ok(Some(found))) => AuditResult::Audited(found),
            Some(Ok(None) | Err(_)) => AuditResult::Unread,
            None => AuditResult::Piped,
        });
    }
    style.print(&report, out)?;
    if let Some(folder) = context
        .cache
        .as_ref()
        .filter(|_| context.redaction.redactor().is_none())
    {
        // Without it, only the guess for the first request of later sessions is worse.
        let _ = earlier::save(folder, &context.rules.earlier);
    }
    Ok(())
}

/// Opens the pipe that the user names; `None`: the path is no pipe.
fn piped<'a>(
    context: &ReportContext,
    asked: &SessionRequest<'a>,
) -> Result<Option<(&'a Path, PipeInput)>> {
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

/// The message for a log that was found and cannot be read.
pub(crate) fn unreadable(log: &LogFile) -> String {
    let path = log.facts.path.display();
    format!("cannot read '{path}'; check that it still exists and that you may read it")
}
