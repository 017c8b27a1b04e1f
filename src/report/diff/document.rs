//! The differences for people.

use super::parts::{Amount, ChangeKind, Row, change};
use super::{Diff, DiffSubject, Side};
use crate::output::document::{self, Document, Line, Section, Table};
use crate::output::text::table::{Column, Holds};
use render::NONE;
use render::number::{error, tokens, usd};

/// The fewest columns of a name on a narrow terminal.
const LEAST_NAME: usize = 20;

/// A way to write the size of a part.
type WriteSize = fn(Amount) -> String;

/// Puts a comparison together.
pub(super) fn document(diff: &Diff) -> Document {
    let sides = vec![("before", who(&diff.before)), ("after", who(&diff.after))];
    let mut section = Section::default()
        .with(sides)
        .with_all(table("", totals(diff)));
    let parts = [
        ("First request", &diff.first, size as WriteSize),
        ("Role", &diff.roles, size),
        ("MCP server", &diff.servers, size),
        ("Tool, all results", &diff.tools, size_in),
    ];
    let is_first_left_out = usize::from(diff.is_of_moment);
    for (heading, rows, size) in parts.into_iter().skip(is_first_left_out) {
        let rows = rows.iter().filter(|it| it.changed() != ChangeKind::Same);
        let rows = rows.map(|it| row(it, size));
        section = section.with_all(table(heading, rows.collect()));
    }
    let items = [
        ("Items that are new", ChangeKind::New),
        ("Items that are gone", ChangeKind::Gone),
        ("Items that grew", ChangeKind::Grew),
        ("Items that shrank", ChangeKind::Shrank),
    ];
    for (heading, how) in items {
        let rows = diff.items.iter().filter(|row| row.changed() == how);
        let more = rows.clone().count().saturating_sub(diff.most_items);
        let rows = rows.take(diff.most_items).map(|it| row(it, size));
        section = section
            .with_all(table(heading, rows.collect()))
            .with_all((more > 0).then(|| format!("and {more} more: --items N names more of them")));
    }
    let [words, cause, by] = headline(diff);
    Document {
        title: Line::own(words).and_log(&cause).and(by),
        sections: vec![section.with_all(diff.left_out.map(|it| it.to_string()))],
    }
}

/// Returns a table of both sides; `None`: it has no rows.
fn table(heading: &'static str, rows: Vec<document::Row>) -> Option<Table> {
    let mut table = Table::new("#before | #after | #change", rows);
    table
        .columns
        .insert(0, Column::new(heading, Holds::Text(LEAST_NAME), 0));
    (!table.rows.is_empty()).then_some(table)
}

/// Returns the most important fact, in one sentence: its words, the name of its cause, which is text of the log, and the
/// change by it.
pub(super) fn headline(diff: &Diff) -> [String; 3] {
    let (before, after) = (&diff.before, &diff.after);
    let words = match diff.about {
        DiffSubject::FirstRequest => {
            let size = |side: &Side| side.first.unwrap_or_default();
            sentence("First request", size(before), size(after), 0)
        }
        DiffSubject::Context => {
            let (was, is) = (before.context.used, after.context.used);
            let error = before.error().saturating_add(after.error());
            let same = match (before.first, after.first) {
                (Some(first), Some(_)) if !diff.is_of_moment => {
                    format!("First request: {} in both. ", tokens(first))
                }
                _ => String::new(),
            };
            same + &sentence("Context", was, is, error)
        }
    };
    let Some(cause) = diff.cause() else {
        return [words, String::new(), String::new()];
    };
    let is_in = |rows: &[Row]| rows.iter().any(|it| std::ptr::eq(it, cause));
    let kind = if is_in(&diff.servers) {
        "MCP server "
    } else if is_in(&diff.tools) {
        "tool "
    } else {
        ""
    };
    let by = format!(" {}", changed(cause.change(), cause.error));
    [format!("{words}: {kind}"), cause.part.name.clone(), by]
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

/// Returns the numbers of both sides.
fn totals(diff: &Diff) -> Vec<document::Row> {
    let (before, after) = (&diff.before, &diff.after);
    let row = |what: &'static str, was: String, is: String, by: String| {
        document::Row::from([what.into(), was.into(), is.into(), by.into()])
    };
    let mut rows = Vec::new();
    if !diff.is_of_moment {
        let of = |first: Option<u64>| first.map_or(NONE.to_owned(), tokens);
        let both = before.first.zip(after.first);
        let by = both.map_or(String::new(), |(was, is)| changed(change(was, is), 0));
        rows.push(row("first request", of(before.first), of(after.first), by));
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
    rows.push(row("context", size(before), size(after), by));
    for (what, was, is) in [
        ("requests", before.requests, after.requests),
        ("compactions", before.compactions, after.compactions),
    ] {
        let by = changed(change(was as u64, is as u64), 0);
        rows.push(row(what, was.to_string(), is.to_string(), by));
    }
    let by = dearer(before.spending.usd(), after.spending.usd());
    rows.push(row("cost", cost(before), cost(after), by));
    let own = [before, after].map(|side| side.spending.own_usd());
    if own.iter().any(Option::is_some) {
        let [was, is] = own.map(|own| own.map_or(NONE.to_owned(), usd));
        let by = own[0].zip(own[1]);
        let by = by.map_or(String::new(), |(was, is)| dearer(was, is));
        rows.push(row("cost, by the agent", was, is, by));
    }
    rows
}

/// Returns the change of a cost; empty: it is too small to be shown.
fn dearer(was: f64, is: f64) -> String {
    match (is - was).abs() {
        same if same < 0.000_5 => String::new(),
        by if is > was => format!("+{}", usd(by)),
        by => format!("-{}", usd(by)),
    }
}

/// Returns the cost of a side, with `+` if some of its responses have no price or surcharges are missing.
fn cost(side: &Side) -> String {
    let of = &side.spending;
    if of.is_empty() || of.is_unpriced() {
        return NONE.to_owned();
    }
    let more = if of.is_least() { "+" } else { "" };
    format!("{}{more}", usd(of.usd()))
}

fn size(amount: Amount) -> String {
    tokens(amount.tokens)
}

fn size_in(amount: Amount) -> String {
    format!("{} in {}", tokens(amount.tokens), amount.count)
}

/// Returns the row of a part, whose sizes are written so.
fn row(row: &Row, size: WriteSize) -> document::Row {
    let size = |amount: Option<Amount>| Line::from(amount.map_or(NONE.to_owned(), size));
    let name = Line::log(&row.part.name);
    let name = match &row.part.server {
        Some(server) => name.and(" (").and_log(server).and(")"),
        None => name,
    };
    document::Row::from([
        name,
        size(row.before),
        size(row.after),
        changed(row.change(), row.error).into(),
    ])
}

/// Returns the names of a side: agent, name, the beginning of its id, the model, and the request.
fn who(side: &Side) -> Line {
    let id: Option<String> = side.id.as_ref().map(|id| id.chars().take(13).collect());
    let names = [Some(&side.name), id.as_ref(), side.model.as_ref()];
    let names = names.into_iter().flatten().map(|name| Line::log(name));
    let request = side.request.map(|n| format!("at request {n}").into());
    let parts = [side.agent.into()].into_iter().chain(names).chain(request);
    Line::joined(parts.filter(|part| !part.is_empty()), " · ")
}
