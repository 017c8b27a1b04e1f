//! The list of sessions for people.

use super::Sessions;
use super::totals::AgentTotals;
use crate::session::text::gauge_line;
use model::fleet::{Fleet, Row};
use render::number::{counted, tokens};
use render::text::{inert, left, width};
use render::{NONE, or_none};
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, sessions: &Sessions) -> io::Result<()> {
    let rows: Vec<[String; 5]> = sessions
        .fleet
        .recent()
        .into_iter()
        .filter_map(|row| columns(&sessions.fleet, row))
        .collect();
    let widths = [0, 1, 2, 3].map(|column| {
        let widths = rows.iter().map(|row| width(&row[column]));
        widths.max().unwrap_or(0)
    });
    for [cells @ .., headroom] in &rows {
        for (cell, width) in cells.iter().zip(widths) {
            write!(out, "{}  ", left(cell, width))?;
        }
        writeln!(out, "headroom {headroom}")?;
    }
    let Some(totals) = &sessions.totals else {
        return Ok(());
    };
    writeln!(out, "\ntotals, each response counted once")?;
    for agent in totals.by_agent() {
        let sums = Some(list(&agent.terms)).filter(|sums| !sums.is_empty());
        writeln!(out, "  {}: {}", agent.agent, or_none(sums))?;
        for lack in lack(&agent) {
            writeln!(out, "    {lack}")?;
        }
    }
    Ok(())
}

/// Numbers with their names.
fn list(terms: &[(&'static str, u64)]) -> String {
    let terms = terms.iter().map(|(name, sum)| format!("{name} {sum}"));
    terms.collect::<Vec<_>>().join(", ")
}

/// What the totals of an agent lack, and which part of them is sums.
fn lack(totals: &AgentTotals) -> Vec<String> {
    let mut lines = Vec::new();
    if !totals.summed.is_empty() {
        let summed = list(&totals.summed);
        lines.push(format!(
            "of these, only as sums of several requests: {summed}"
        ));
    }
    let missing = [
        (totals.without_usage, "response"),
        (totals.compactions, "compaction"),
    ];
    let missing: Vec<String> = missing
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| counted(n, what))
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        lines.push(format!(
            "not counted, since the logs have no usage of them: {missing}"
        ));
    }
    lines
}

/// A session's agent, its name, model, gauge and headroom. The agent of a sub-agent is indented.
fn columns(fleet: &Fleet, row: Row) -> Option<[String; 5]> {
    let (session, facts) = (fleet.get(row.key)?, fleet.facts(row.key)?);
    let (context, limits) = (session.context(), session.limits());
    // An agent's own count may be larger than the end of its log shows.
    let at_most = if session.is_own_count_final() {
        ""
    } else {
        "≤"
    };
    let headroom = limits
        .trigger
        .map(|trigger| format!("{at_most}{}", tokens(context.headroom(trigger))));
    let gauge = gauge_line(session, &context, limits.window);
    let indent = usize::from(row.depth) * 2;
    Some([
        format!("{:indent$}{}", "", facts.label),
        inert(&fleet.name(row.key)).into_owned(),
        inert(session.model().unwrap_or(NONE)).into_owned(),
        if session.is_final(&context) {
            gauge
        } else {
            format!("{gauge} · not counted yet")
        },
        or_none(headroom),
    ])
}
