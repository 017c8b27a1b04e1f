//! Where the tokens and the money of all sessions went, and what to change: the dearest findings of all sessions.

mod document;
mod json;
mod lines;
mod measured;

use crate::ls::{self, ListOptions, Sort, Spending, Sums};
use crate::output::json::document;
use crate::session::parts::{Texts, object};
use crate::{Document, NO_SESSIONS, Output, ReportContext, Style, print_problems};
use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use lines::Line;
use measured::ProjectMeasured;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{SessionKey, Sessions};
use model::why::{Finding, FindingDetail, SessionFindings};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The most findings that people read.
const MOST_LINES: usize = 10;

/// The findings.
pub struct Why {
    /// The sessions.
    sessions: Sessions,
    /// How many of them were looked at.
    looked_at: u64,
    /// The tokens and dollars that all have spent, each response once, as in the totals of a list.
    spent: Spending,
    /// The findings of all of them, the dearest first.
    lines: Vec<Line>,
    /// The measurements once findings were acted on.
    measured: Vec<ProjectMeasured>,
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

/// Returns the findings of one session, which its log alone shows, the dearest first.
///
/// # Errors
///
/// If the log cannot be read, or does not have the session.
pub fn in_session(
    mut context: ReportContext,
    log: &Path,
    session: SessionKey,
) -> Result<Vec<Finding>> {
    context.roots = vec![context.given(log.to_path_buf())];
    let options = ListOptions {
        sums: Sums::Findings,
        ..ListOptions::default()
    };
    let mut read = ls::read(&context, &options);
    if let Some((_, why)) = read.problems.into_iter().next() {
        bail!(why);
    }
    let found = read.findings.remove(&session);
    let found = found.context("its log no longer has it, or came through a pipe")?;
    Ok(found.findings)
}

/// Looks for findings in all sessions, and prints the dearest. Prints what could not be read on `err`.
///
/// # Errors
///
/// If there is no session, a path that the user named cannot be read, or `out` or `err` cannot be written to.
pub fn run(
    context: &ReportContext,
    wanted: &ListOptions,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let (why, problems) = find(context, wanted);
    print_problems(&problems, err)?;
    if why.sessions.is_empty() && problems.is_empty() {
        bail!(NO_SESSIONS);
    }
    if why.looked_at > 0 || (!style.format.for_people && problems.is_empty()) {
        style.print(&why, out)?;
    } else if !why.sessions.is_empty() {
        writeln!(err, "{}", wanted.no_match(&context.clock()))?;
    }
    context.check(&problems)
}

/// Returns the findings of all sessions for programs, as in `ctxgauge.why/1`, at most so many. Without texts it has no
/// text of logs but the names of tools.
///
/// # Errors
///
/// If there is no session.
pub fn part(
    context: &ReportContext,
    wanted: &ListOptions,
    most: usize,
    texts: Texts,
) -> Result<Map<String, Value>> {
    let (mut why, _) = find(context, wanted);
    if why.sessions.is_empty() {
        bail!(NO_SESSIONS);
    }
    why.lines.truncate(most);
    if texts == Texts::Off {
        // They are about names in folders.
        why.measured.clear();
        for line in &mut why.lines {
            line.folder = None;
            if let FindingDetail::Listed(of) = &mut line.finding.detail {
                of.unused.clear();
            }
        }
    }
    let mut part = object(&json::WhyPart::new(&why));
    let findings = part.get_mut("findings").and_then(Value::as_array_mut);
    for finding in findings
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        // Indexes into another session are of no use.
        finding.remove("places");
        let session = finding.get_mut("session").filter(|_| texts == Texts::Off);
        if let Some(session) = session.and_then(Value::as_object_mut) {
            session.retain(|key, _| key == "id");
        }
    }
    Ok(part)
}

/// A session with findings.
struct Found<'a> {
    key: SessionKey,
    gauge: &'a SessionGauge,
    findings: &'a SessionFindings,
}

/// The sessions of each agent and project, the dearest first.
type Projects<'a> = BTreeMap<(&'static str, &'a str), Vec<&'a Found<'a>>>;

/// Looks for findings in all sessions. Returns the paths that could not be read too.
fn find(context: &ReportContext, wanted: &ListOptions) -> (Why, Vec<(PathBuf, String)>) {
    let options = ListOptions {
        sums: Sums::Findings,
        sort: Sort::Cost,
        ..wanted.clone()
    };
    let read = ls::read(context, &options);
    let sessions = &read.sessions;
    let rows = options.rows(sessions, &read.spending, context.clock().now);
    let agents = read
        .totals
        .as_ref()
        .map(|totals| totals.agents(&context.rules, sessions.projects()));
    let mut spent = Spending::default();
    for agent in agents.iter().flatten() {
        spent.add(agent.spending);
    }
    let found = rows.iter().filter_map(|row| {
        let (key, gauge) = (row.key, sessions.gauge(row.key)?);
        Some(Found {
            key,
            gauge,
            findings: read.findings.get(&key)?,
        })
    });
    let found: Vec<Found<'_>> = found.collect();
    let mut projects = Projects::new();
    for of in &found {
        let project = (of.gauge.agent, of.gauge.folder());
        projects.entry(project).or_default().push(of);
    }
    let why = Why {
        looked_at: rows.len() as u64,
        lines: lines::lines(&found, &projects),
        measured: measured::all(&projects),
        sessions: read.sessions,
        spent,
        since: wanted.since,
    };
    (why, read.problems)
}
