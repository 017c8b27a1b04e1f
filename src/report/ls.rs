//! All sessions with their gauges, and totals over all of them.

use super::json::ContextPart;
use super::text::{clean, gauge_line, padded, tokens};
use crate::agents::Format;
use crate::model::event::{Billed, Entry, Event, Key};
use crate::model::fleet::{Fleet, Row};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// The list: the schema `ctxgauge.ls/1`.
#[derive(Debug, Serialize)]
pub struct List<'a> {
    schema: &'static str,
    sessions: Vec<SessionPart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<BTreeMap<&'static str, BTreeMap<&'static str, u64>>>,
}

#[derive(Debug, Serialize)]
struct SessionPart<'a> {
    id: Option<&'a str>,
    agent: &'a str,
    path: &'a str,
    /// What the screens call it.
    name: String,
    parent: Option<&'a str>,
    project: &'a str,
    model: Option<&'a str>,
    updated_at: Option<Timestamp>,
    context: ContextPart,
    trigger: Option<u64>,
    headroom: Option<u64>,
}

impl<'a> List<'a> {
    /// The list of a fleet, newest first.
    pub fn new(fleet: &'a Fleet, totals: Option<&Totals>) -> List<'a> {
        let rows = fleet.recent();
        List {
            schema: "ctxgauge.ls/1",
            sessions: rows.iter().filter_map(|row| part(fleet, row)).collect(),
            totals: totals.map(Totals::by_agent),
        }
    }
}

fn part<'a>(fleet: &'a Fleet, row: &Row) -> Option<SessionPart<'a>> {
    let session = fleet.get(row.key)?;
    let facts = fleet.facts(row.key)?;
    let context = session.context();
    let trigger = session.limits().trigger;
    Some(SessionPart {
        id: session.meta.id.as_deref(),
        agent: session.agent,
        path: facts.path.to_str().unwrap_or_default(),
        name: fleet.name(row.key),
        parent: session.meta.parent.as_deref(),
        project: session.project(),
        model: session.model(),
        updated_at: fleet.newest_record(row.key),
        context: ContextPart::new(session, &context),
        trigger,
        headroom: trigger.map(|t| t.saturating_sub(context.used)),
    })
}

/// Every response's usage, each counted once however many lines and files repeat it.
#[derive(Debug, Default)]
pub struct Totals {
    /// By agent: the names of its numbers, and each response's.
    agents: BTreeMap<&'static str, Responses>,
}

#[derive(Default)]
struct Responses {
    terms: &'static [crate::agents::Term],
    by_request: HashMap<Key, Billed>,
}

impl std::fmt::Debug for Responses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} responses", self.by_request.len())
    }
}

impl Totals {
    /// Takes in an entry of a log of this format.
    pub fn add(&mut self, format: &'static Format, entry: &Entry) {
        let Event::Usage(usage) = &entry.event else {
            return;
        };
        if !usage.source.is_known() {
            return;
        }
        let agent = self.agents.entry(format.id).or_insert(Responses {
            terms: format.terms,
            by_request: HashMap::new(),
        });
        let billed = agent.by_request.entry(usage.request).or_default();
        *billed = billed.max(usage.billed);
    }

    /// The sums, by agent, in the provider's own terms.
    pub fn by_agent(&self) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
        let sum = |responses: &Responses| {
            let sum_of = |read: fn(&Billed) -> u64| {
                responses
                    .by_request
                    .values()
                    .fold(0u64, |sum, billed| sum.saturating_add(read(billed)))
            };
            let terms = responses.terms.iter();
            terms.map(|(name, read)| (*name, sum_of(*read))).collect()
        };
        self.agents
            .iter()
            .map(|(agent, responses)| (*agent, sum(responses)))
            .collect()
    }
}

/// Writes the list for people.
pub fn write(out: &mut dyn Write, fleet: &Fleet, totals: Option<&Totals>) -> io::Result<()> {
    let rows: Vec<[String; 5]> = fleet
        .recent()
        .into_iter()
        .filter_map(|row| columns(fleet, row))
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].width());
        widths.max().unwrap_or(0)
    };
    let [agent, name, model, gauge] = [0, 1, 2, 3].map(width);
    for [a, n, m, g, headroom] in &rows {
        writeln!(
            out,
            "{}  {}  {}  {}  headroom {headroom}",
            padded(a, agent),
            padded(n, name),
            padded(m, model),
            padded(g, gauge),
        )?;
    }
    let Some(totals) = totals else {
        return Ok(());
    };
    writeln!(out, "\nin all, every response once")?;
    for (agent, terms) in totals.by_agent() {
        let list: Vec<String> = terms
            .iter()
            .map(|(name, sum)| format!("{name} {sum}"))
            .collect();
        writeln!(out, "  {agent}: {}", list.join(", "))?;
    }
    Ok(())
}

/// A session's agent, indented below its parent's, its name, its model, its gauge, its headroom.
fn columns(fleet: &Fleet, row: Row) -> Option<[String; 5]> {
    let (session, facts) = (fleet.get(row.key)?, fleet.facts(row.key)?);
    let (limits, context) = (session.limits(), session.context());
    let headroom = limits.trigger.map_or_else(
        || "—".to_owned(),
        |trigger| tokens(trigger.saturating_sub(context.used)),
    );
    let indent = " ".repeat(usize::from(row.depth) * 2);
    Some([
        format!("{indent}{}", facts.label),
        clean(&fleet.name(row.key)),
        clean(session.model().unwrap_or("—")),
        gauge_line(session),
        headroom,
    ])
}
