//! The list of sessions for people: a row for each, as wide as the terminal.

use super::totals::AgentTotals;
use super::{Division, Group, SessionList, Spending};
use crate::text::page::Page;
use crate::text::table::{Column, Holds, Table};
use model::gauge::SessionGauge;
use model::prompt_cache::CacheState;
use model::sessions::{Activity, Row};
use model::triggers;
use render::clock::Clock;
use render::number::{age, counted, error, least_usd, percent, tokens, tokens_or_none, usd};
use render::text::{one_line, short_model};
use render::{NONE, OF_WINDOW, live_sign, or_none, triggers as words};
use std::io;

/// Before a number that a report on the whole log may show otherwise.
const ABOUT: &str = "~";
/// Before a headroom that may be less.
const AT_MOST: &str = "≤";
/// Before a cost that lacks the price of some responses, or surcharges.
const AT_LEAST: &str = "≥";

/// The most characters of an id on a terminal: enough to select a session.
const ID_CHARS: usize = 13;

/// The columns. On 80 there is room for what tells sessions apart and how full they are. The title is the last one:
/// in a pipe it is whole, and nothing has to be lined up behind it.
const COLUMNS: [Column; 16] = [
    Column::new("", Holds::Words, 0),
    Column::new("AGE", Holds::Numbers, 0),
    Column::new("AGENT", Holds::Words, 1),
    Column::new("PROJECT", Holds::Text(10), 3),
    Column::new("MODEL", Holds::Words, 4),
    Column::new("CONTEXT", Holds::Numbers, 2),
    Column::new("KNOWN", Holds::Numbers, 8),
    Column::new("ESTIMATED", Holds::Numbers, 7),
    Column::new("TRIGGER", Holds::Numbers, 0),
    Column::new("HEADROOM", Holds::Numbers, 5),
    Column::optional("IF IDLE", Holds::Numbers, 10),
    Column::optional("CACHE", Holds::Numbers, 11),
    Column::new("USED", Holds::Numbers, 9),
    Column::new("COST", Holds::Numbers, 0),
    Column::new("ID", Holds::Words, 6),
    Column::new("TITLE", Holds::Text(28), 0),
];
/// The columns that are shown with totals only: USED and COST.
const OF_TOTALS: [usize; 2] = [12, 13];

/// The columns of what the totals are divided by.
const GROUP_COLUMNS: [Column; 7] = [
    Column::new("", Holds::Text(10), 0),
    Column::new("RESPONSES", Holds::Numbers, 4),
    Column::new("INPUT", Holds::Numbers, 2),
    Column::new("CACHE READ", Holds::Numbers, 1),
    Column::new("CACHE WRITE", Holds::Numbers, 3),
    Column::new("OUTPUT", Holds::Numbers, 0),
    Column::new("COST", Holds::Numbers, 0),
];

pub(super) fn write(page: &mut Page<'_>, sessions: &SessionList) -> io::Result<()> {
    let id_chars = page.columns().map_or(usize::MAX, |_| ID_CHARS);
    let rows = sessions.rows.iter();
    let rows: Vec<_> = rows
        .filter_map(|row| cells(sessions, row, id_chars))
        .collect();
    if !rows.is_empty() {
        let mut signs: Vec<String> = signs(&rows).into_iter().map(Into::into).collect();
        signs.extend(at_least(sessions.spending.values()));
        let mut columns = COLUMNS;
        for at in OF_TOTALS {
            columns[at].is_shown = sessions.totals.is_some();
        }
        write_table(page, columns, rows)?;
        if !signs.is_empty() {
            writeln!(page, "\n{}", signs.join(", "))?;
        }
    }
    let Some(totals) = &sessions.totals else {
        return Ok(());
    };
    writeln!(page, "\ntotals, each response counted once")?;
    for agent in totals.by_agent() {
        let sums = Some(list(&agent.terms)).filter(|sums| !sums.is_empty());
        writeln!(page, "  {}: {}", agent.agent, or_none(sums))?;
        for lack in lack(&agent) {
            writeln!(page, "    {lack}")?;
        }
    }
    if let Some((by, groups)) = &sessions.groups {
        write_groups(page, by, groups)?;
    }
    Ok(())
}

fn write_table<const N: usize>(
    page: &mut Page<'_>,
    columns: [Column; N],
    rows: Vec<[String; N]>,
) -> io::Result<()> {
    let table = Table {
        columns,
        rows,
        indent: 0,
    };
    table.write(page)
}

fn write_groups(page: &mut Page<'_>, division: &Division, groups: &[Group]) -> io::Result<()> {
    let clock = division.clock().map(|zone| format!(", in {zone}"));
    writeln!(
        page,
        "\nby {}{}; input without what was cached",
        division.by.name(),
        clock.unwrap_or_default()
    )?;
    let row = |group: &Group| {
        let spent = &group.spending.spent;
        let name = match &*group.name {
            "" => NONE,
            name => name,
        };
        [
            name.to_owned(),
            group.spending.responses.to_string(),
            tokens(spent.input),
            tokens(spent.cache_read),
            tokens(spent.cache_write),
            tokens(spent.output),
            cost(&group.spending),
        ]
    };
    let rows: Vec<_> = groups.iter().map(row).collect();
    write_table(page, GROUP_COLUMNS, rows)?;
    if let Some(sign) = at_least(groups.iter().map(|group| &group.spending)) {
        writeln!(page, "\n{sign}")?;
    }
    Ok(())
}

/// Returns the cost of responses; [`NONE`] if none of them has a price.
fn cost(of: &Spending) -> String {
    if of.unpriced > 0 && of.unpriced == of.responses {
        return NONE.to_owned();
    }
    if !of.is_least() {
        return usd(of.usd());
    }
    let least = least_usd(of.usd()).unwrap_or_else(|| usd(0.0));
    format!("{AT_LEAST}{least}")
}

/// Returns the meaning of the sign before some of these costs; `None`: none of them has it.
fn at_least<'s>(all: impl Iterator<Item = &'s Spending>) -> Option<String> {
    let signed = all.filter(|of| cost(of).starts_with(AT_LEAST));
    let mut sum = Spending::default();
    signed.for_each(|of| sum.add(*of));
    let mut why = Vec::new();
    if sum.unpriced > 0 {
        why.push("some responses have no price".to_owned());
    }
    if !sum.lacking.is_empty() {
        let names = sum.lacking.names().join(", ").replace('_', " ");
        why.push(format!("the price does not contain: {names}"));
    }
    (!why.is_empty()).then(|| format!("{AT_LEAST} at least: {}", why.join("; ")))
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

/// Returns a session's cells. The title of a sub-agent is indented.
fn cells(sessions: &SessionList, row: &Row, id_chars: usize) -> Option<[String; 16]> {
    let all_sessions = &sessions.sessions;
    let (gauge, facts) = (all_sessions.gauge(row.key)?, all_sessions.facts(row.key)?);
    let (context, limits) = (&gauge.context, gauge.limits());
    let live = all_sessions
        .live(row.key, sessions.clock.now)
        .map(live_sign);
    let active = all_sessions.activity_of(row.key);
    let age = active.map(|at| age(sessions.clock.now.duration_since(at).as_secs()));
    let about_if = |is_provisional| if is_provisional { ABOUT } else { "" };
    let about = about_if(!gauge.is_final);
    let about_end = about_if(!gauge.is_final || limits.is_end_provisional());
    let half = (context.high - context.used).max(context.used - context.low);
    let estimated = match context.estimated {
        0 => NONE.to_owned(),
        estimated => format!("{} ±{}", tokens(estimated), error(half)),
    };
    let (filled, end) = context.filled(limits);
    let of = match limits.trigger {
        Some(_) => ' ',
        None => OF_WINDOW,
    };
    // An agent's own count may be larger than the end of its log shows.
    let at_most = if gauge.is_own_count_whole {
        about_end
    } else {
        AT_MOST
    };
    let headroom = limits
        .trigger
        .map(|trigger| format!("{at_most}{}", tokens(context.headroom(trigger))));
    let project = all_sessions.project_of(gauge);
    let title = all_sessions
        .title(row.key)
        .unwrap_or_else(|| match project {
            "" => all_sessions.name(row.key).into(),
            _ => NONE.into(),
        });
    let id = gauge.meta.id.as_deref().unwrap_or(NONE);
    let indent = usize::from(row.depth) * 2;
    let spending = sessions.spending.get(&row.key).copied().unwrap_or_default();
    Some([
        live.unwrap_or_default().to_owned(),
        or_none(age),
        facts.label.to_owned(),
        project.to_owned(),
        short_model(gauge.model().unwrap_or(NONE)).to_owned(),
        format!("{about}{}", tokens(context.used)),
        tokens_or_none(context.known),
        estimated,
        percent(filled, end).map_or_else(
            || NONE.to_owned(),
            |percent| format!("{about_end}{percent}%{of}"),
        ),
        or_none(headroom),
        or_none(if_idle(gauge, &sessions.clock)),
        or_none(cache(gauge, &sessions.clock)),
        tokens_or_none(spending.spent.all()),
        cost(&spending),
        id.chars().take(id_chars).collect(),
        format!("{:indent$}{}", "", one_line(&title)),
    ])
}

/// Returns the time at which a session compacts if nobody types.
fn if_idle(gauge: &SessionGauge, clock: &Clock) -> Option<String> {
    let at = triggers::idle_at(gauge, clock.now)?;
    Some(format!("at {}", clock.time(at)))
}

/// Returns the time until which the provider keeps the prompt; `None`: it is cold, or not known.
fn cache(gauge: &SessionGauge, clock: &Clock) -> Option<String> {
    let state = gauge.prompt_cache()?.state(clock.now);
    matches!(state, CacheState::Warm(_)).then(|| words::cache_cell(state, clock))
}

/// Returns the meanings of the signs in the rows.
fn signs(rows: &[[String; 16]]) -> Vec<&'static str> {
    let has = |column: usize, sign: &str| rows.iter().any(|row| row[column].contains(sign));
    let live = |live| has(0, live_sign(live));
    let all = [
        (live(Activity::Working), "● works"),
        (live(Activity::Waiting), "○ waits for you"),
        (live(Activity::Written), "· written just now"),
        (
            has(5, ABOUT) || has(8, ABOUT),
            "~ may change when the whole log is read and counted",
        ),
        (
            has(8, &OF_WINDOW.to_string()),
            "w of the window: no trigger is known, or nothing fires at one",
        ),
        (has(9, AT_MOST), "≤ at most"),
    ];
    let shown = all.into_iter().filter(|(is_there, _)| *is_there);
    shown.map(|(_, sign)| sign).collect()
}
