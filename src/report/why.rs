//! Where the tokens and the money of all sessions went, and what to change: the dearest findings of all sessions.

mod document;
mod json;
mod lines;

use crate::ls::{self, ListOptions, ReadResult, Sort, Spending, Sums};
use crate::output::finding::FindingPart;
use crate::output::json::document;
use crate::{Document, NO_SESSIONS, Output, ReportContext, Style, print_problems};
use anyhow::{Result, bail};
use jiff::Timestamp;
use lines::Line;
use model::lists::sessions::{SessionKey, Sessions};
use std::io::Write;

/// The most findings that people read.
const MOST_LINES: usize = 10;

/// The sessions that are looked at.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only sessions that were active since then.
    pub since: Option<Timestamp>,
    /// Only sessions with this in the name of their project; with a separator, in the path of its folder.
    pub project: Option<String>,
}

/// The findings.
pub struct Why {
    /// The sessions.
    sessions: Sessions,
    /// How many of them were looked at.
    looked_at: u64,
    /// The tokens and dollars that they have spent.
    spent: Spending,
    /// The findings of all of them, the dearest first.
    lines: Vec<Line>,
    since: Option<Timestamp>,
}

impl Output for Why {
    fn document(&self) -> Option<Document> {
        Some(document::document(self))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.why/1", json::WhyPart::new(self))
    }
}

/// Looks for findings in all sessions, and prints the dearest. Prints what could not be read on `err`.
///
/// # Errors
///
/// If there is no session, a path that the user named cannot be read, or `out` or `err` cannot be written to.
pub fn run(
    context: &ReportContext,
    wanted: &Wanted,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let options = ListOptions {
        sums: Sums::Findings,
        since: wanted.since,
        project: wanted.project.clone(),
        sort: Sort::Cost,
        ..ListOptions::default()
    };
    let read = ls::read(context, &options);
    print_problems(&read.problems, err)?;
    if read.sessions.is_empty() && read.problems.is_empty() {
        bail!(NO_SESSIONS);
    }
    let ReadResult {
        sessions,
        spending,
        findings,
        problems,
        ..
    } = read;
    let rows = options.rows(&sessions, &spending);
    let keys: Vec<SessionKey> = rows.iter().map(|row| row.key).collect();
    let mut spent = Spending::default();
    for of in keys.iter().filter_map(|key| spending.get(key)) {
        spent.add(*of);
    }
    let why = Why {
        looked_at: keys.len() as u64,
        lines: lines::lines(&sessions, &keys, &findings),
        sessions,
        spent,
        since: wanted.since,
    };
    style.print(&why, out)?;
    context.check(&problems)
}
