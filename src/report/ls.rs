//! The list of all sessions, and totals over all of them.

mod columns;
mod cost;
mod format;
mod gather;
pub(crate) mod json;
mod money;
mod options;
mod own_cost;
mod responses;
mod row;
mod text;
mod totals;

pub(crate) use cost::Cost;
pub use format::LineFormat;
pub(crate) use options::is_part;
pub use options::{DivideBy, Division, ListOptions, Rows, Sort};
pub(crate) use responses::Responses;
pub(crate) use totals::in_all_logs;
pub use totals::{AgentTotals, Group, Totals};

use crate::output::json::document;
use crate::{NO_SESSIONS, Output, Page, ReportContext, Style, print_problems};
use anyhow::Result;
use gather::gather;
use ingest::discover::ScanResult;
use ingest::discover::registry::Registries;
use ingest::log::LogFile;
use ingest::log::conversations::LogSummaries;
pub(crate) use model::cost::spending::PriceList;
pub use model::cost::spending::Spending;
use model::event::Conversation;
use model::lists::sessions::{FileId, Row, SessionKey, Sessions, Update};
use model::values::project::Projects;
use model::why::{SessionFindings, UseKind, Uses};
use model::window::Overrides;
use render::clock::Clock;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// The choice of totals over all sessions at the end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sums {
    /// Only the list, from the ends of the logs.
    #[default]
    None,
    /// Reads all logs from beginning to end.
    Totals,
    /// Reads all logs with their texts, for what can be changed.
    Findings,
}

/// The part of each log that is read for its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// The end. What depends on more of the log has a sign.
    #[default]
    Ends,
    /// All of it: its row shows what a report does.
    Whole,
}

/// The part of a list that people are shown. Programs get all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// The sessions, below the totals if these were asked for.
    #[default]
    Sessions,
    /// The totals alone.
    Totals,
}

/// The sessions that were found.
pub struct SessionList {
    /// The sessions.
    pub sessions: Sessions,
    /// The sessions that are listed, in order.
    pub rows: Vec<Row>,
    /// The part of it that people are shown.
    pub part: Part,
    /// The totals of each agent, and its usage with the cost, if they were asked for.
    pub totals: Option<(Vec<AgentTotals>, Vec<Group>)>,
    /// The parts of the totals, and what they are divided by.
    pub groups: Option<(Division, Vec<Group>)>,
    /// The calls of the sessions, and what they are grouped by.
    pub calls: Option<(UseKind, Uses)>,
    /// The usage of each session; empty: no totals were asked for.
    pub spending: HashMap<SessionKey, Spending>,
    /// The user's clock when they were listed.
    pub clock: Clock,
}

/// The result of reading all logs.
pub(crate) struct ReadResult {
    /// The sessions.
    pub(crate) sessions: Sessions,
    /// The log of each file of the sessions.
    pub(crate) logs: HashMap<FileId, LogFile>,
    /// The totals, if they were asked for.
    pub(crate) totals: Option<Totals>,
    /// The usage of each session; empty: no totals were asked for.
    pub(crate) spending: HashMap<SessionKey, Spending>,
    /// The findings of each session; empty: they were not asked for.
    pub(crate) findings: HashMap<SessionKey, SessionFindings>,
    /// The paths that could not be read, each with the reason.
    pub(crate) problems: Vec<(PathBuf, String)>,
    /// The cache that could not be written, and why.
    unwritten: Option<(PathBuf, io::Error)>,
}

/// Reads the ends of all logs and, for totals, all of them.
pub(crate) fn read(context: &ReportContext, wanted: &ListOptions) -> ReadResult {
    read_found(context, wanted, context.find())
}

/// Like [`read`], but of logs that were found before.
pub(crate) fn read_found(
    context: &ReportContext,
    wanted: &ListOptions,
    found: ScanResult,
) -> ReadResult {
    let mut totals = (wanted.sums != Sums::None || wanted.by.is_some())
        .then(totals::CollectedResponses::default);
    let mut spending = HashMap::new();
    let mut findings = HashMap::new();
    let mut prices = PriceList::new(&context.rules);
    let mut problems = found.problems;
    let mut sessions = Sessions::new(Arc::clone(&context.rules));
    let mut registries = Registries::new(&context.user);
    let now = (context.now)();
    let mut unread: Vec<(usize, io::Error)> = Vec::new();
    let parts = (wanted.sums, wanted.depth);
    let unwritten = gather(context, parts, &found.files, &mut |ix, gathered| {
        let log = &found.files[ix];
        let file = log.facts.file;
        let mut read = match gathered {
            Ok(read) => read,
            Err(error) => return unread.push((ix, error)),
        };
        if let Some(only) = &context.only {
            read.summaries.retain(|(conversation, summary)| {
                only.is(*conversation, summary.meta.id.as_deref())
            });
        }
        let is_wanted = |conversation| {
            let mut all = read.summaries.iter();
            context.only.is_none() || all.any(|(of, _)| *of == conversation)
        };
        let key = |conversation| SessionKey { file, conversation };
        let found = read.findings.into_iter();
        findings.extend(found.map(|(conversation, found)| (key(conversation), found)));
        match read.responses {
            Ok(responses) => {
                let of_log = responses.spending(&mut prices, log.format).into_iter();
                spending.extend(of_log.map(|(conversation, of)| (key(conversation), of)));
                if let Some(totals) = &mut totals {
                    totals.add(log.format, &responses, wanted, |conversation| {
                        is_wanted(conversation)
                            .then(|| folder(&read.summaries, &read.overrides, conversation))
                    });
                }
            }
            Err(error) => unread.push((ix, error)),
        }
        let running = registries.of(log);
        sessions.apply(Update::Found(Box::new(log.facts.clone())));
        let (overrides, summaries) = (read.overrides, read.summaries);
        sessions.apply(Update::Settings { file, overrides });
        sessions.apply(Update::Summaries { file, summaries });
        sessions.apply(Update::Running {
            file,
            running,
            at: now,
        });
    });
    // They were read in any order.
    unread.sort_by_key(|(ix, _)| *ix);
    for (ix, error) in unread {
        let path = found.files[ix].facts.path.to_path_buf();
        problems.push((path, error.to_string()));
    }
    let unwritten = match totals.as_mut() {
        Some(totals) if !found.archives.is_empty() && context.only.is_none() => {
            let failed = count(context, wanted, &found.archives, totals, &mut problems);
            unwritten.or(failed)
        }
        _ => unwritten,
    };
    let files = found.files.into_iter();
    let logs = files.map(|log| (log.facts.file, log));
    ReadResult {
        sessions,
        logs: logs.collect(),
        totals: totals.map(totals::CollectedResponses::merged),
        spending,
        findings,
        problems,
        unwritten,
    }
}

/// Returns the projects of the sessions of these logs, from their ends. Logs that cannot be read have none.
pub(crate) fn projects(context: &ReportContext, logs: &[LogFile]) -> Projects {
    let mut projects = Projects::default();
    // A cache that cannot be written only takes time.
    let ends = (Sums::None, Depth::Ends);
    let _ = gather(context, ends, logs, &mut |_, gathered| {
        let Ok(gathered) = gathered else {
            return;
        };
        for (_, summary) in &gathered.summaries {
            projects.add(gathered.overrides.folder(summary.meta.cwd.as_deref()));
        }
    });
    projects
}

/// Counts the responses of logs that are no sessions. Returns the cache that could not be written, and why.
fn count(
    context: &ReportContext,
    wanted: &ListOptions,
    logs: &[LogFile],
    totals: &mut totals::CollectedResponses,
    problems: &mut Vec<(PathBuf, String)>,
) -> Option<(PathBuf, io::Error)> {
    let totals_alone = (Sums::Totals, Depth::Ends);
    gather(context, totals_alone, logs, &mut |ix, gathered| {
        let log = &logs[ix];
        let read = gathered.and_then(|read| Ok((read.summaries, read.overrides, read.responses?)));
        match read {
            Ok((summaries, overrides, responses)) => {
                totals.add(log.format, &responses, wanted, |conversation| {
                    Some(folder(&summaries, &overrides, conversation))
                });
            }
            Err(error) => problems.push((log.facts.path.to_path_buf(), error.to_string())),
        }
    })
}

/// Returns the folder of the project of a session of a log; of a sub-agent without one, the folder of the main session.
fn folder<'s>(
    summaries: &'s LogSummaries,
    overrides: &'s Overrides,
    conversation: Conversation,
) -> &'s str {
    let of = |conversation| {
        let summary = summaries.iter().find(|(of, _)| *of == conversation);
        summary.map_or("", |(_, summary)| {
            overrides.folder(summary.meta.cwd.as_deref())
        })
    };
    match of(conversation) {
        "" => of(Conversation::Main),
        folder => folder,
    }
}

impl Output for SessionList {
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
    wanted: &ListOptions,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let read = read(context, wanted);
    let (all, totals, problems) = (read.sessions, read.totals, read.problems);
    print_problems(&problems, err)?;
    if let Some((path, error)) = read.unwritten {
        let what = format!("could not write the index: {error}");
        print_problems(&[(path, what)], err)?;
    }
    if all.is_empty() && problems.is_empty() {
        writeln!(err, "{NO_SESSIONS}")?;
    }
    let groups = totals.as_ref().zip(wanted.division());
    let groups = groups.map(|(totals, by)| {
        let groups = totals.groups(&by, &context.rules, all.projects());
        (by, groups)
    });
    let totals = totals.map(|totals| {
        let agents = totals.agents(&context.rules, all.projects());
        (totals.by_agent(), agents)
    });
    let mut rows = wanted.rows(&all, &read.spending, context.clock().now);
    let calls = wanted.by.and_then(DivideBy::of_calls).map(|kind| {
        let mut uses = Uses::default();
        let found = rows.iter().filter_map(|row| read.findings.get(&row.key));
        found.for_each(|found| uses.add(&found.uses));
        (kind, uses)
    });
    if rows.is_empty() && !all.is_empty() {
        writeln!(err, "{}", wanted.no_match(&context.clock()))?;
    }
    rows.truncate(wanted.limit.unwrap_or(usize::MAX));
    let sessions = SessionList {
        calls,
        rows,
        part: wanted.part,
        sessions: all,
        totals,
        groups,
        spending: read.spending,
        clock: context.clock(),
    };
    match &wanted.format {
        Some(format) => {
            for row in &sessions.rows {
                let lines = format.lines(&sessions, row).unwrap_or_default();
                writeln!(out, "{}", style.in_charset(&lines))?;
            }
        }
        None => style.print(&sessions, out)?,
    }
    context.check(&problems)
}
