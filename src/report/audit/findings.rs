//! The audit of findings: those of the first half of each session, compared with its second half.

use super::{each_log, share};
use crate::output::document::{Row, Section, Table};
use crate::output::json::document;
use crate::{Document, Output, ReportContext, Style};
use anyhow::Result;
use ingest::log::LogFile;
use ingest::log::reader::{read_once, read_until};
use model::cost::texts::TextReader;
use model::event::{ByLength, Conversation};
use model::session::Session;
use model::why::{FindingKind, Outcome, SessionFindings, WindowPromise, backtest, window_promises};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A half of fewer requests shows nothing.
const LEAST_REQUESTS: usize = 10;

/// How the findings of all first halves held: the schema `ctxgauge.audit-why/1`.
#[derive(Debug, Default, Serialize)]
struct FindingsAudit {
    /// The number of logs that were found.
    logs: usize,
    /// The sessions with two halves that are long enough.
    sessions: u64,
    /// The findings by kind.
    kinds: BTreeMap<FindingKind, Outcome>,
    /// The smaller windows.
    windows: Vec<WindowPromise>,
}

/// Compares the findings of the first half of each session with its second half. Prints the logs that could not be read
/// on `err`.
///
/// # Errors
///
/// If there is no log, a path that the user named cannot be read, or `out` or `err` cannot be written to.
pub fn run(
    context: &ReportContext,
    style: Style,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let mut audit = FindingsAudit::default();
    let compare = |log: &LogFile| compare(context, log);
    let found = each_log(context, err, compare, |_, compared| {
        compared
            .into_iter()
            .for_each(|compared| audit.add(compared));
    })?;
    audit.logs = found.files.len();
    style.print(&audit, out)?;
    context.check(&found.problems)
}

/// How the findings of a session held.
struct Compared {
    outcomes: Vec<(FindingKind, Outcome)>,
    windows: Vec<WindowPromise>,
}

/// Returns how the findings of a log's main session held; `None`: it is too short, or the log cannot be read in part.
fn compare(context: &ReportContext, log: &LogFile) -> io::Result<Option<Compared>> {
    let reader = TextReader::new(&ByLength);
    let mut all = read_once(log, &reader, &context.rules)?;
    context.retain_wanted(&mut all);
    let main =
        |(of, session): (Conversation, Session)| (of == Conversation::Main).then_some(session);
    let Some(whole) = all.into_iter().find_map(main) else {
        return Ok(None);
    };
    let found = SessionFindings::of(&whole, &reader.into_texts());
    let requests = whole.requests().len();
    let is_other = |of: &Session| of.meta.id.is_some() && of.meta.id != whole.meta.id;
    let is_half = |of: &Session| is_other(of) || of.requests().len() >= requests / 2;
    let reader = TextReader::new(&ByLength);
    let halves = read_until(log, &reader, &context.rules, is_half)?;
    let Some(half) = halves.into_iter().find_map(main) else {
        return Ok(None);
    };
    let before = half.requests().len();
    if before < LEAST_REQUESTS || requests.saturating_sub(before) < LEAST_REQUESTS {
        return Ok(None);
    }
    let begun = SessionFindings::of(&half, &reader.into_texts());
    Ok(Some(Compared {
        outcomes: backtest(&begun, &found),
        windows: window_promises(&half, &whole),
    }))
}

impl FindingsAudit {
    fn add(&mut self, compared: Compared) {
        self.sessions += 1;
        self.windows.extend(compared.windows);
        for (kind, outcome) in compared.outcomes {
            let sum = self.kinds.entry(kind).or_default();
            sum.found += outcome.found;
            sum.held += outcome.held;
        }
    }
}

impl Output for FindingsAudit {
    fn document(&self) -> Option<Document> {
        let rows = self.kinds.iter().map(|(kind, of)| {
            let right = share(of.held as f64 / of.found as f64);
            Row::from([
                kind.name().into(),
                held(*kind).into(),
                of.found.to_string().into(),
                of.held.to_string().into(),
                right.into(),
            ])
        });
        let kinds = Table::new("kind | it held if | #found | #held | #share", rows);
        let windows = self.windows.iter().map(|of| {
            let [promised, rest] = [of.promised, of.rest].map(|of| share(of).into());
            Row::from([of.window.to_string().into(), promised, rest])
        });
        let windows = Table::new("#window | #promised | #in the rest", windows);
        let title = format!(
            "findings at the half of {} sessions, against the rest of each ({} logs read)",
            self.sessions, self.logs
        );
        let windows = Section::new("input that a smaller window saves").with(windows);
        let mut sections = vec![Section::default().with(kinds)];
        sections.extend((!self.windows.is_empty()).then_some(windows));
        let title = title.into();
        Some(Document { title, sections })
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.audit-why/1", self)
    }
}

/// Returns the condition under which a finding of a kind held.
fn held(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Listings => "the name stayed unused",
        FindingKind::Window => "the whole session has it too",
        _ => "it came again",
    }
}
