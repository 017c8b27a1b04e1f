//! The list of all sessions, and totals over all of them.

mod gather;
mod json;
mod responses;
mod text;
mod totals;

pub use totals::Totals;

use super::json::document;
use super::{Output, ReportContext, Style, print_problems};
use anyhow::Result;
use gather::gather;
use ingest::discover::settings::SettingsReader;
use ingest::lanes;
use model::fleet::{Fleet, Update};
use std::io::{self, Write};
use std::sync::Arc;

/// Whether a list ends with totals over all sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// Only the list, from the ends of the logs.
    None,
    /// Reads all logs from beginning to end.
    Totals,
}

/// The sessions that were found.
pub struct Sessions {
    /// The sessions.
    pub fleet: Fleet,
    /// The totals, if they were asked for.
    pub totals: Option<Totals>,
}

impl Output for Sessions {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        text::write(out, self)
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
    let found = context.find();
    let mut problems = found.problems;
    let mut fleet = Fleet::new(Arc::clone(&context.rules));
    let mut totals = (sums == Sums::Totals).then(Totals::default);
    let mut settings = SettingsReader::new(context.user.clone());
    let mut read: Vec<Option<io::Result<lanes::Sessions>>> = Vec::new();
    read.resize_with(found.files.len(), || None);
    let mut unread: Vec<(usize, io::Error)> = Vec::new();
    let unwritten = gather(context, sums, &found.files, |ix, gathered| {
        read[ix] = Some(gathered.map(|gathered| {
            let log = &found.files[ix];
            match (&mut totals, gathered.responses) {
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
    for (log, read) in found.files.into_iter().zip(read) {
        let file = log.facts.file;
        match read {
            Some(Ok(sessions)) => {
                let main = lanes::main_session(&sessions);
                let cwd = main.and_then(|session| session.meta.cwd.as_deref());
                let overrides = settings.of(&log, cwd);
                fleet.apply(Update::Found(Box::new(log.facts)));
                fleet.apply(Update::Settings { file, overrides });
                fleet.apply(Update::Rebuilt { file, sessions });
            }
            Some(Err(error)) => {
                problems.push((log.facts.path.to_path_buf(), error.to_string()));
            }
            None => {}
        }
    }
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
    style.print(&Sessions { fleet, totals }, out)?;
    context.check(&problems)
}
