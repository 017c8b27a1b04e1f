//! The list of sessions for people.

use super::Sessions;
use crate::session::text::gauge_line;
use model::fleet::{Fleet, Row};
use render::number::tokens;
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
    for (agent, terms) in totals.by_agent() {
        let terms = terms.iter().map(|(name, sum)| format!("{name} {sum}"));
        writeln!(out, "  {agent}: {}", terms.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
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
