//! The list of all sessions, and totals over all of them.

mod gather;
mod json;
mod responses;
mod text;
mod totals;

pub use totals::Totals;

use super::json::document;
use super::{Output, Page, ReportContext, Style, print_problems};
use anyhow::Result;
use gather::gather;
use ingest::discover::registry::Registries;
use ingest::discover::settings::SettingsReader;
use ingest::lanes;
use ingest::log::LogFile;
use jiff::Timestamp;
use model::fleet::{FileId, Fleet, Update};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Whether a list ends with totals over all sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// Only the list, from the ends of the logs.
    None,
    /// Reads all logs from beginning to end.
    Totals,
}

/// Whether the titles of sessions from the cache are read where they are too long for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Titles {
    /// They are not needed.
    Skip,
    /// They are read from the beginning of each log.
    Read,
}

/// The sessions that were found.
pub struct Sessions {
    /// The sessions.
    pub fleet: Fleet,
    /// The totals, if they were asked for.
    pub totals: Option<Totals>,
    /// When they were listed.
    pub now: Timestamp,
}

/// What was read of all logs.
pub(crate) struct Read {
    /// The sessions.
    pub(crate) fleet: Fleet,
    /// The log of each file of the fleet.
    pub(crate) logs: HashMap<FileId, LogFile>,
    /// What could not be read.
    problems: Vec<(PathBuf, String)>,
    /// The cache that could not be written, and why.
    unwritten: Option<(PathBuf, io::Error)>,
}

/// Reads the ends of all logs and, for totals, all of them.
pub(crate) fn read(context: &ReportContext, totals: &mut Option<Totals>, titles: Titles) -> Read {
    let found = context.find();
    let mut problems = found.problems;
    let mut fleet = Fleet::new(Arc::clone(&context.rules));
    let sums = if totals.is_some() {
        Sums::Totals
    } else {
        Sums::None
    };
    let mut settings = SettingsReader::new(context.user.clone());
    let mut registries = Registries::default();
    let now = (context.now)();
    let mut read: Vec<Option<io::Result<lanes::Sessions>>> = Vec::new();
    read.resize_with(found.files.len(), || None);
    let mut unread: Vec<(usize, io::Error)> = Vec::new();
    let unwritten = gather(context, (sums, titles), &found.files, |ix, gathered| {
        read[ix] = Some(gathered.map(|gathered| {
            let log = &found.files[ix];
            match (totals.as_mut(), gathered.responses) {
                (Some(totals), Ok(responses)) => totals.add(log.format, responses),
                (_, Ok(_)) => {}
                (_, Err(error)) => unread.push((ix, error)),
            }
            gathered.sessions
        }));
    });
    for (ix, error) in unread {
        let path = found.files[ix].facts.path.to_path_buf();
        problems.push((path, error.to_string()));
    }
    let mut logs = HashMap::new();
    for (log, read) in found.files.into_iter().zip(read) {
        let file = log.facts.file;
        match read {
            Some(Ok(sessions)) => {
                let main = lanes::main_session(&sessions);
                let cwd = main.and_then(|session| session.meta.cwd.as_deref());
                let overrides = settings.of(&log, cwd);
                let running = registries.of(&log);
                fleet.apply(Update::Found(Box::new(log.facts.clone())));
                fleet.apply(Update::Settings { file, overrides });
                fleet.apply(Update::Rebuilt { file, sessions });
                fleet.apply(Update::Running {
                    file,
                    running,
                    at: now,
                });
                logs.insert(file, log);
            }
            Some(Err(error)) => {
                problems.push((log.facts.path.to_path_buf(), error.to_string()));
            }
            None => {}
        }
    }
    Read {
        fleet,
        logs,
        problems,
        unwritten,
    }
}

impl Output for Sessions {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        text::write(page, self)
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.ls/1", json::List::new(self))
    }
}

/// Lists all sessions. Prints what could not be read on `err`.
///
/// # Errors
///
/// If a path that the user named cannot be read, or `out` or `err` cannot be written to.
pub fn run(
    context: &ReportContext,
    style: Style,
    sums: Sums,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let mut totals = (sums == Sums::Totals).then(Totals::default);
    let titles = if style.format.for_people {
        Titles::Read
    } else {
        Titles::Skip
    };
    let Read {
        fleet,
        problems,
        unwritten,
        ..
    } = read(context, &mut totals, titles);
    print_problems(&problems, err)?;
    if let Some((path, error)) = unwritten {
        let what = format!("could not write the cache: {error}");
        print_problems(&[(path, what)], err)?;
    }
    if fleet.is_empty() && problems.is_empty() {
        writeln!(
            err,
            "no sessions found; `ctxgauge agents` lists the folders that are searched"
        )?;
    }
    let sessions = Sessions {
        fleet,
        totals,
        now: (context.now)(),
    };
    style.print(&sessions, out)?;
    context.check(&problems)
}
