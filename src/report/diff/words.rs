//! Words that text and Markdown have in common.

use super::parts::{ChangeKind, Row, change};
use super::{Diff, DiffSubject, Side};
use render::NONE;
use render::number::{error, tokens, usd};

/// Returns the most important fact, in one sentence.
pub(super) fn headline(diff: &Diff) -> String {
    let cause = diff.cause().map_or(String::new(), |row| {
        format!(
            ": {} {}",
            cause_name(diff, row),
            changed(row.change(), row.error)
        )
    });
    let (before, after) = (&diff.before, &diff.after);
    match diff.about {
        DiffSubject::FirstRequest => {
            let size = |side: &Side| side.first.unwrap_or_default();
            sentence("First request", size(before), size(after), 0) + &cause
        }
        DiffSubject::Context => {
            let (was, is) = (before.context.used, after.context.used);
            let error = before.error().saturating_add(after.error());
            let same = match (before.first, after.first) {
                (Some(first), Some(_)) if !diff.is_of_moment() => {
                    format!("First request: {} in both. ", tokens(first))
                }
                _ => String::new(),
            };
            same + &sentence("Context", was, is, error) + &cause
        }
    }
}

fn sentence(what: &str, before: u64, after: u64, error: u64) -> String {
    if before == after {
        return format!("{what}: {} in both", tokens(after));
    }
    let change = changed(change(before, after), error);
    format!(
        "{what}: {}, then {} ({change})",
        tokens(before),
        tokens(after)
    )
}

/// Returns the name of a row outside of its table.
fn cause_name(diff: &Diff, row: &Row) -> String {
    let is_in = |rows: &[Row]| rows.iter().any(|it| std::ptr::eq(it, row));
    if is_in(&diff.servers) {
        format!("MCP server {}", row.part.name)
    } else if is_in(&diff.tools) {
        format!("tool {}", row.part.name)
    } else {
        row.part.name.clone()
    }
}

/// Returns a change in tokens with its sign and, if it is estimated, its error.
pub(super) fn changed(change: i64, half: u64) -> String {
    let sign = match change {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    let size = tokens(change.unsigned_abs());
    match half {
        0 => format!("{sign}{size}"),
        half => format!("{sign}{size} ±{}", error(half, change.unsigned_abs())),
    }
}

/// A line of numbers: what it is, before, after, and the change.
pub(super) type Line = [String; 4];

/// Returns the numbers of both sides.
pub(super) fn totals(diff: &Diff) -> Vec<Line> {
    let (before, after) = (&diff.before, &diff.after);
    let mut lines = Vec::new();
    if !diff.is_of_moment() {
        let of = |first: Option<u64>| first.map_or(NONE.to_owned(), tokens);
        let both = before.first.zip(after.first);
        let by = both.map_or(String::new(), |(was, is)| changed(change(was, is), 0));
        lines.push(line("first request", of(before.first), of(after.first), by));
    }
    let size = |side: &Side| match side.error() {
        0 => tokens(side.context.used),
        half => format!(
            "{} ±{}",
            tokens(side.context.used),
            error(half, side.context.used)
        ),
    };
    let half = before.error().saturating_add(after.error());
    let by = changed(change(before.context.used, after.context.used), half);
    lines.push(line("context", size(before), size(after), by));
    for (what, was, is) in [
        ("requests", before.requests, after.requests),
        ("compactions", before.compactions, after.compactions),
    ] {
        let by = changed(change(was as u64, is as u64), 0);
        lines.push(line(what, was.to_string(), is.to_string(), by));
    }
    let by = dearer(before.spending.usd(), after.spending.usd());
    lines.push(line("cost", cost(before), cost(after), by));
    let own = [before, after].map(|side| side.spending.own_usd());
    if own.iter().any(Option::is_some) {
        let [was, is] = own.map(|own| own.map_or(NONE.to_owned(), usd));
        let by = own[0].zip(own[1]);
        let by = by.map_or(String::new(), |(was, is)| dearer(was, is));
        lines.push(line("cost, by the agent", was, is, by));
    }
    lines
}

/// Returns the change of a cost; empty: it is too small to be shown.
fn dearer(was: f64, is: f64) -> String {
    match (is - was).abs() {
        same if same < 0.000_5 => String::new(),
        by if is > was => format!("+{}", usd(by)),
        by => format!("-{}", usd(by)),
    }
}

fn line(what: &str, before: String, after: String, by: String) -> Line {
    [what.to_owned(), before, after, by]
}

/// Returns the cost of a side, with `+` if some of its responses have no price or surcharges are missing.
fn cost(side: &Side) -> String {
    let of = &side.spending;
    if of.responses == of.unpriced {
        return NONE.to_owned();
    }
    let more = if of.is_least() { "+" } else { "" };
    format!("{}{more}", usd(of.usd()))
}

/// A heading in text, and in Markdown.
pub(super) type Heading = [&'static str; 2];

/// Returns the tables of parts that have changed.
pub(super) fn tables(diff: &Diff) -> Vec<(Heading, Vec<Line>)> {
    let first = (["FIRST REQUEST", "First request"], &diff.first, false);
    let first = (!diff.is_of_moment()).then_some(first);
    let others = [
        (["ROLE", "Role"], &diff.roles, false),
        (["MCP SERVER", "MCP server"], &diff.servers, false),
        (
            ["TOOL, ALL RESULTS", "Tool, all results"],
            &diff.tools,
            true,
        ),
    ];
    let tables = first.into_iter().chain(others);
    let tables = tables.map(|(heading, rows, counts)| (heading, lines(rows, counts)));
    tables.filter(|(_, lines)| !lines.is_empty()).collect()
}

/// Returns the lines of a table of parts. Unchanged parts are left out.
fn lines(rows: &[Row], counts: bool) -> Vec<Line> {
    let rows = rows.iter().filter(|row| row.changed() != ChangeKind::Same);
    rows.map(|row| {
        let size = |amount: Option<super::Amount>| match amount {
            None => NONE.to_owned(),
            Some(amount) if counts => format!("{} in {}", tokens(amount.tokens), amount.count),
            Some(amount) => tokens(amount.tokens),
        };
        let server = row.part.server.as_deref();
        let server = server.map_or(String::new(), |server| format!(" ({server})"));
        line(
            &format!("{}{server}", row.part.name),
            size(row.before),
            size(row.after),
            changed(row.change(), row.error),
        )
    })
    .collect()
}

/// Returns the items by how they changed: the heading, the lines of the largest, and the number of the others.
pub(super) fn items(diff: &Diff) -> Vec<(&'static str, Vec<Line>, usize)> {
    [
        ("ITEMS THAT ARE NEW", ChangeKind::New),
        ("ITEMS THAT ARE GONE", ChangeKind::Gone),
        ("ITEMS THAT GREW", ChangeKind::Grew),
        ("ITEMS THAT SHRANK", ChangeKind::Shrank),
    ]
    .into_iter()
    .filter_map(|(heading, how)| {
        let of: Vec<Row> = diff
            .items
            .iter()
            .filter(|row| row.changed() == how)
            .cloned()
            .collect();
        let shown = lines(&of[..of.len().min(diff.most_items)], false);
        let more = of.len() - shown.len();
        (!of.is_empty()).then_some((heading, shown, more))
    })
    .collect()
}

/// Returns the names of a side: agent, name, the beginning of its id, the model, and the request.
pub(super) fn who(side: &Side) -> String {
    let id: Option<String> = side.id.as_ref().map(|id| id.chars().take(13).collect());
    let request = side.request.map(|n| format!("at request {n}"));
    let parts = [
        Some(side.agent.to_owned()),
        Some(side.name.clone()),
        id,
        side.model.clone(),
        request,
    ];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ")
}
