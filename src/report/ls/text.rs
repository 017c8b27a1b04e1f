//! The list of sessions for people: a row for each, as wide as the terminal.

use super::columns::{COLUMNS, Cells, Entry, signs};
use super::money::at_least;
use super::totals::AgentTotals;
use super::{Division, Group, Part, SessionList, Spending};
use crate::output::text::page::Page;
use crate::output::text::table::{Column, Holds, Table};
use model::why::{UseKind, Uses};
use render::NONE;
use render::calls::{failed, took};
use render::number::{cents, counted, tokens};
use render::spending::cost_in;
use render::sure::AT_LEAST;
use std::io;

/// The most characters of an id on a terminal: enough to select a session.
const ID_CHARS: usize = 13;

/// A way to write a number.
type Number = fn(u64) -> String;

/// Writes the cell of a group.
type GroupCell = fn(&Group, Number) -> String;

/// The columns of what the totals are divided by, each with the cell of a group.
const GROUP_COLUMNS: [(Column, GroupCell); 7] = [
    (Column::new("", Holds::Text(12), 0), |group, _| {
        match &*group.name {
            "" => NONE,
            name => name,
        }
        .to_owned()
    }),
    (
        Column::new("RESPONSES", Holds::Numbers, 4),
        |group, number| number(group.spending.responses),
    ),
    (Column::new("INPUT", Holds::Numbers, 2), |group, number| {
        number(group.spending.spent.input)
    }),
    (
        Column::new("CACHE READ", Holds::Numbers, 1),
        |group, number| number(group.spending.spent.cache_read),
    ),
    (
        Column::new("CACHE WRITE", Holds::Numbers, 3),
        |group, number| number(group.spending.spent.cache_write),
    ),
    (Column::new("OUTPUT", Holds::Numbers, 0), |group, number| {
        number(group.spending.spent.output)
    }),
    (Column::new("COST", Holds::Numbers, 0), |group, _| {
        cost_in(&group.spending, cents)
    }),
];

/// Writes the totals, with what they are divided by first, and then the sessions.
pub(super) fn write(page: &mut Page<'_>, sessions: &SessionList) -> io::Result<()> {
    if let Some((by, groups)) = &sessions.groups {
        write_groups(page, by, groups)?;
    }
    if let Some((kind, calls)) = &sessions.calls {
        write_calls(page, *kind, calls)?;
    }
    if let Some((totals, agents)) = &sessions.totals {
        writeln!(
            page,
            "totals, each response counted once; input without what was cached"
        )?;
        write_table_of_groups(page, agents)?;
        for agent in totals {
            for lack in lack(agent) {
                writeln!(page, "{}: {lack}", agent.agent)?;
            }
        }
    }
    if sessions.rows.is_empty() || sessions.part == Part::Totals {
        return Ok(());
    }
    write_sessions(page, sessions)
}

fn write_sessions(page: &mut Page<'_>, sessions: &SessionList) -> io::Result<()> {
    let id_chars = page.columns().map_or(usize::MAX, |_| ID_CHARS);
    let rows = sessions.rows.iter();
    let entries = rows.filter_map(|row| Entry::new(sessions, row, id_chars));
    let rows: Vec<Cells> = entries.map(|entry| entry.cells()).collect();
    let mut signs: Vec<String> = signs(&rows).into_iter().map(Into::into).collect();
    signs.extend(at_least(sessions.spending.values()));
    let mut columns: Vec<Column> = COLUMNS.iter().map(|of| of.column).collect();
    for (column, of) in columns.iter_mut().zip(COLUMNS) {
        column.is_shown = sessions.totals.is_some() || !of.of_totals;
    }
    if sessions.totals.is_some() {
        writeln!(page)?;
    }
    Table::new(columns, rows).write(page)?;
    if !signs.is_empty() {
        writeln!(page, "\n{}", signs.join(", "))?;
    }
    Ok(())
}

/// Writes a row for each tool, command, server or skill.
fn write_calls(page: &mut Page<'_>, kind: UseKind, calls: &Uses) -> io::Result<()> {
    let number = number_in(page.columns());
    writeln!(
        page,
        "by {}; carried: tokens of results times the requests that sent them; the cost is that of cached input",
        kind.name()
    )?;
    let columns = [
        Column::new("", Holds::Text(12), 0),
        Column::new("CALLS", Holds::Numbers, 0),
        Column::new("FAILED", Holds::Numbers, 2),
        Column::new("TIME", Holds::Numbers, 3),
        Column::new("TOKENS", Holds::Numbers, 1),
        Column::new("CARRIED", Holds::Numbers, 0),
        Column::new("COST", Holds::Numbers, 0),
    ];
    let rows = calls.by(kind).into_iter().map(|(name, of)| {
        [
            name.to_owned(),
            number(of.calls),
            failed(of.failed, of.calls),
            took(of.median_seconds()),
            number(of.tokens),
            number(of.carried),
            match of.unpriced {
                0 => cents(of.usd),
                _ => format!("{AT_LEAST}{}", cents(of.usd)),
            },
        ]
    });
    Table::new(columns, rows).write(page)?;
    writeln!(page)
}

fn write_groups(page: &mut Page<'_>, division: &Division, groups: &[Group]) -> io::Result<()> {
    let clock = division.clock().map(|zone| format!(", in {zone}"));
    writeln!(
        page,
        "by {}{}; input without what was cached",
        division.by.name(),
        clock.unwrap_or_default()
    )?;
    write_table_of_groups(page, groups)?;
    writeln!(page)
}

/// Writes a row for each group, and one for all of them.
fn write_table_of_groups(page: &mut Page<'_>, groups: &[Group]) -> io::Result<()> {
    let number = number_in(page.columns());
    let mut all = Spending::default();
    groups.iter().for_each(|group| all.add(group.spending));
    let all = Group {
        name: "all".to_owned(),
        folder: None,
        spending: all,
    };
    let cells = |group| GROUP_COLUMNS.map(|(_, cell)| cell(group, number));
    let rows = groups.iter().chain([&all]).map(cells);
    Table::new(GROUP_COLUMNS.map(|(column, _)| column), rows).write(page)?;
    if let Some(sign) = at_least(groups.iter().map(|group| &group.spending)) {
        writeln!(page, "\n{sign}")?;
    }
    Ok(())
}

/// Returns the way in which a table of sums writes numbers: in a pipe in full, and on a terminal as the sessions have them.
fn number_in(columns: Option<usize>) -> Number {
    match columns {
        None => |n| n.to_string(),
        Some(_) => tokens,
    }
}

/// Returns numbers with their names.
fn list(terms: &[(&'static str, u64)]) -> String {
    let terms = terms.iter().map(|(name, sum)| format!("{name} {sum}"));
    terms.collect::<Vec<_>>().join(", ")
}

/// Returns the gaps in the totals of an agent, and the part of them that is sums.
fn lack(totals: &AgentTotals) -> Vec<String> {
    let mut lines = Vec::new();
    if !totals.summed.is_empty() {
        let summed = list(&totals.summed);
        lines.push(format!(
            "of these, only as sums of several requests: {summed}"
        ));
    }
    if totals.without_input > 0 {
        let responses = counted(totals.without_input, "response");
        lines.push(format!("only the output is in the logs: {responses}"));
    }
    if totals.unreadable > 0 {
        let records = counted(totals.unreadable, "record");
        lines.push(format!("could not be read, so it may be more: {records}"));
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
