//! Finds the sessions that have passed the bounds that a user sets: for scripts, hooks and CI.

mod document;
mod github;
mod json;

use crate::output::json::document;
use crate::output::redact::Reader;
use crate::reading::sessions_builder::SessionsBuilder;
use crate::session::{SessionRequest, find, unreadable};
use crate::{
    Charset, Document, HTML, JSON, MARKDOWN, NO_SESSIONS, Output, OutputFormat, ReportContext,
    Style, TEXT, print_problems,
};
use anyhow::{Context, Result, bail};
use ingest::log::LogFile;
use ingest::log::reader::read_once;
use jiff::Timestamp;
use model::due::bounds::{Bounds, Violation, passed};
use model::lists::sessions::{SessionKey, Sessions};
use model::outlook::forecast::forecast;
use std::io::Write;
use std::path::PathBuf;
use tokens::Counter;

/// The number of logs that are read ahead of the one that is checked.
const AHEAD: usize = 4;

/// The choice of the sessions that are checked.
#[derive(Debug, Clone, Copy)]
pub enum SessionChoice<'a> {
    /// All of the logs that were written to since this time; `None`: all.
    All(Option<Timestamp>),
    /// One.
    One(SessionRequest<'a>),
}

/// The formats of a check, the default first.
pub static FORMATS: [OutputFormat; 5] = [
    OutputFormat {
        help: "For people: a line for each limit that was passed",
        ..TEXT
    },
    JSON,
    HTML,
    MARKDOWN,
    OutputFormat {
        name: "github",
        help: "Annotations of a GitHub workflow",
        for_people: false,
        write: |output, style, out| output.github(style.charset, out),
        ..TEXT
    },
];

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No bound was passed.
    Fine,
    /// A bound was passed.
    Passed,
}

/// The result of a check.
#[derive(Default)]
pub struct Check {
    /// The number of sessions that were checked.
    pub sessions: usize,
    /// The number of logs that could not be read.
    pub unreadable: usize,
    /// The bounds that were passed, in the order of the logs.
    pub passed: Vec<SessionViolation>,
}

/// A bound that a session has passed. Its texts are those of the log: not safe to print.
pub struct SessionViolation {
    /// The agent's id.
    pub agent: &'static str,
    /// The path of its log.
    pub path: String,
    /// The session's id.
    pub id: Option<String>,
    /// The session's name, as the screens show it.
    pub name: String,
    /// The bound that it has passed, with the value.
    pub passed: Violation,
    /// The largest item that is beyond, if items are bounded: its line in the log, and its tool or kind.
    pub item: Option<(u64, String)>,
}

impl Output for Check {
    fn document(&self) -> Option<Document> {
        Some(document::document(self))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.bounds/1", json::Body::new(self))
    }

    fn github(&self, charset: Charset, out: &mut dyn Write) -> Result<()> {
        github::write(out, self, charset)
    }
}

/// Checks sessions. Prints the logs that could not be read on `err`.
///
/// # Errors
///
/// If there is no session, a path that the user named cannot be read, or `out` or `err` cannot be written to.
pub fn run(
    context: &ReportContext,
    bounds: &Bounds,
    which: SessionChoice<'_>,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Verdict> {
    let reader = Reader::new(context, Counter::new());
    let read = |log: &LogFile| {
        let read = || read_once(log, &reader, &context.rules);
        context.patience.read(log, read)
    };
    let mut whole = SessionsBuilder::new(context);
    let mut check = Check::default();
    let mut problems: Vec<(PathBuf, String)> = Vec::new();
    match which {
        SessionChoice::One(asked) => {
            let (log, wanted) = find::find(context, &asked)?;
            let sessions = read(&log).with_context(|| unreadable(&log))?;
            let all = whole.sessions(&log, sessions);
            let key = find::find_in_log(context, &log, &all, wanted.as_deref())?;
            check.add(context, bounds, &log, &all, key);
        }
        SessionChoice::All(since) => {
            let found = context.find_since(since);
            problems = found.problems;
            context.read_each(&found.files, AHEAD, &mut problems, read, |log, sessions| {
                let all = whole.sessions(log, sessions);
                for row in all.recent() {
                    check.add(context, bounds, log, &all, row.key);
                }
                Ok(())
            })?;
            check.unreadable = problems.len();
            print_problems(&problems, err)?;
            if found.files.is_empty() && problems.is_empty() && since.is_none() {
                bail!(NO_SESSIONS);
            }
        }
    }
    let printed = style.print(&check, out).and_then(|()| Ok(out.flush()?));
    if !check.passed.is_empty() {
        // Also if nobody reads which.
        return Ok(Verdict::Passed);
    }
    printed?;
    context.check(&problems)?;
    if check.sessions == 0 && !problems.is_empty() {
        bail!("none of the logs could be read, see above");
    }
    Ok(Verdict::Fine)
}

impl Check {
    fn add(
        &mut self,
        context: &ReportContext,
        bounds: &Bounds,
        log: &LogFile,
        sessions: &Sessions,
        key: SessionKey,
    ) {
        let Some(session) = sessions.get(key).filter(|session| !session.limits().ends) else {
            return;
        };
        self.sessions += 1;
        let now = (context.now)();
        let forecast = forecast(session, Some(now));
        for passed in passed(bounds, session, &forecast, now) {
            let item = passed.item.map(|ix| {
                let item = &session.items()[ix];
                (item.place.line(), render::item::label(item).into_owned())
            });
            self.passed.push(SessionViolation {
                agent: session.agent,
                path: log.facts.path.to_string_lossy().into_owned(),
                id: session.meta.id.as_deref().map(str::to_owned),
                name: sessions.name(key),
                passed,
                item,
            });
        }
    }
}
