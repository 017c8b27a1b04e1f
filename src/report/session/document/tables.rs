//! The tables of a session's report.

use crate::output::document::{Block, Line, Row, Section, Table};
use crate::session::{LISTED_ROWS, words};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::cost::calls::Calls;
use model::cost::clearing::clearings;
use model::cost::tools;
use model::event::Cause;
use model::outlook::compaction::{Compaction, unlogged};
use model::outlook::jumps;
use model::session::context::Context;
use model::session::{ItemIx, Session};
use model::window::{Limits, WindowSource};
use model::{Role, Source};
use render::calls::{failed, took};
use render::item::{label, sign};
use render::jump;
use render::number::{counted, tokens, tokens_or_none, usd};
use render::recurring::recurring;
use render::{NONE, or_none};

pub(super) fn roles(context: &Context) -> Section {
    let rows = Role::ALL.map(|role| {
        let part = context.role(role);
        let share = part.tokens as f64 / context.used.max(1) as f64;
        Row {
            role: Some(role),
            share: Some(share),
            cells: vec![
                role.name().into(),
                tokens(part.tokens).into(),
                tokens_or_none(part.known).into(),
                tokens_or_none(part.estimated).into(),
                part.items.to_string().into(),
                format!("{:.1}%", share * 100.0).into(),
            ],
        }
    });
    let headings = "role | #tokens | #known | #estimated | #items | #share";
    let note = "system: the unlogged prefix, and growth that no logged item explains; container: what the agent adds on \
                its own; user: what a person typed; assistant: what the model wrote; tool: what tools returned.";
    Section::new("Who fills it")
        .with(Table::new(headings, rows))
        .with(Block::Note(note.into()))
}

/// Returns a size, after the sign of its source.
fn sized(size: u64, source: Source) -> Line {
    Line::own(format!("{} {}", sign(source), tokens(size)))
}

/// Returns the largest items in the context, the largest first.
pub(super) fn largest_items(session: &Session) -> Vec<ItemIx> {
    let mut largest: Vec<(u64, ItemIx)> = Vec::new();
    for (ix, tokens, _) in session.in_context() {
        let at = largest.partition_point(|(other, _)| *other >= tokens);
        if at < LISTED_ROWS {
            largest.truncate(LISTED_ROWS - 1);
            largest.insert(at, (tokens, ix));
        }
    }
    largest.into_iter().map(|(_, ix)| ix).collect()
}

/// Returns the section on the largest items, with their names if `calls` are given.
pub(super) fn largest(
    session: &Session,
    items: &[ItemIx],
    calls: Option<&Calls>,
) -> Option<Section> {
    let used = session.context().used.max(1);
    let most = items.first().map_or(1, |ix| session.tokens(*ix).0.max(1));
    let rows = items.iter().map(|&ix| {
        let item = &session.items()[ix];
        let (size, source) = session.tokens(ix);
        let share = size as f64 / used as f64;
        let mut cells = vec![
            Line::log(&label(item)),
            sized(size, source),
            format!("{:.1}%", share * 100.0).into(),
            item.role.name().into(),
            item.place.line().to_string().into(),
        ];
        cells.extend(calls.map(|calls| Line::log(&calls.name(session, item))));
        Row {
            role: Some(item.role),
            // Of the largest one: of all, most are too small to be seen.
            share: Some(size as f64 / most as f64),
            cells,
        }
    });
    let headings = "item | #tokens | #share:1 | role | #line | call, or its beginning";
    let table = named(Table::new(headings, rows), calls);
    let recurring = session.recurring().map(recurring);
    let recurring = recurring.map(|part| format!("Unlogged text that comes and goes: {part}."));
    let section = Section::new("Largest items in the context")
        .with_all((!items.is_empty()).then_some(table))
        .with_all(recurring);
    (!section.blocks.is_empty()).then_some(section)
}

/// Returns a table without its last column, which is for names, if there are none.
fn named(mut table: Table, calls: Option<&Calls>) -> Table {
    if calls.is_none() {
        table.columns.pop();
    }
    table
}

pub(super) fn jumps(session: &Session, zone: &TimeZone) -> Option<Section> {
    let jumps = jumps::jumps(session, LISTED_ROWS);
    let most = jumps.first()?.tokens.max(1);
    let calls = Calls::of_items(session, jump::items(&jumps));
    let rows = jumps.iter().map(|found| Row {
        role: None,
        share: Some(found.tokens as f64 / most as f64),
        cells: vec![
            jump::request(found).into(),
            when(found.at, zone),
            jump::size(found).into(),
            Line::log(&jump::parts(session, &calls, found, jump::NAME_COLUMNS)),
        ],
    });
    let table = Table::new("request | when:1 | #growth | what came", rows);
    let note = "From one request to the next, without compactions. What came without an item is text that no log shows, \
                such as thinking or another list of tools.";
    let section = Section::new("Largest growths").with(table);
    Some(section.with(Block::Note(note.into())))
}

pub(super) fn tools(session: &Session) -> Option<Section> {
    let mut tools = tools::tools(session, session.in_context(), session.requests().len());
    let servers = tools::servers(&tools);
    let all = tools.len();
    if all == 0 {
        return None;
    }
    tools.truncate(LISTED_ROWS);
    let rows = tools.iter().map(|tool| Row {
        role: None,
        share: Some(tool.share),
        cells: vec![
            Line::log(&tool.name),
            tool.results.to_string().into(),
            failed(tool.failed as u64, tool.results as u64).into(),
            took(tool.median_seconds).into(),
            tokens(tool.tokens).into(),
            format!("{:.0}%", tool.share * 100.0).into(),
            tokens_or_none(tool.held()).into(),
            tokens_or_none(tool.schema).into(),
            tokens(tool.largest.1).into(),
            tokens(tool.carried).into(),
            or_none(tool.carried_usd.map(usd)).into(),
        ],
    });
    let headings = "tool | #results:1 | #failed:6 | #took:7 | #result tok | #share:4 | #all now:3 | #schema:5 | #largest:2 | #carried | #re-read";
    let servers = servers.iter().map(|server| {
        let sizes = words::server(server) + ".";
        Line::own("MCP server ").and_log(&server.name).and(sizes)
    });
    let more = (all > LISTED_ROWS).then(|| {
        let more = counted((all - LISTED_ROWS) as u64, "smaller tool");
        format!("{more} not listed.")
    });
    let note = "failed: the share of its calls that failed. took: from a call to its result, the median. result tok: \
                its results, in the context or not. all now: its definition, calls and results in the context. schema: \
                its definition alone. carried: tokens times the requests that had them; re-read: what that costs at \
                least, by the list price of cache reads.";
    let section = Section::new("Tools")
        .with(Table::new(headings, rows))
        .with_all(servers)
        .with_all(more);
    Some(section.with(Block::Note(note.into())))
}

/// Returns the cause of a compaction or clear, in these words.
fn cause(cause: &Cause, words: String) -> Line {
    match cause {
        Cause::Other(_) => Line::log(&words),
        _ => Line::own(words),
    }
}

/// Returns the section on compactions and clears, of which so many earlier ones are not listed. Items have names if
/// `calls` are given.
pub(super) fn compactions(
    session: &Session,
    (done, earlier): (&[Compaction], usize),
    calls: Option<&Calls>,
    zone: &TimeZone,
) -> Option<Section> {
    let named_size = |size, source: Source| format!("{} {}", tokens(size), source.name());
    let cleared = clearings(session).into_iter().map(|clearing| {
        let results = counted(clearing.results as u64, "result");
        let size = named_size(clearing.tokens, clearing.source);
        let request = clearing.request + 1;
        Line::own(format!(
            "{results} cleared before request {request}: {size}"
        ))
    });
    let hooked = unlogged(session).into_iter().map(|hooked| {
        let before = hooked.before.map(|size| named_size(size, Source::Agent));
        let after = hooked.after.map(|size| named_size(size, Source::Estimated));
        let sizes: Vec<String> = before.into_iter().chain(after).collect();
        let sizes = or_none(Some(sizes.join(" → ")).filter(|sizes| !sizes.is_empty()));
        Line::own("compaction (")
            .and_line(cause(&hooked.cause, hooked.cause.name().to_owned()))
            .and(format!(") that only a hook noted: {sizes}"))
    });
    let rows = done.iter().map(|done| compaction(session, done, zone));
    let headings = "what | when:3 | #before | #after | #freed:1 | #kept:2 | #summary:1 | #counted here:4 | dropped:5";
    let left = done.iter().flat_map(|done| left_rows(session, done, calls));
    let left = left.collect::<Vec<_>>();
    let left = (!left.is_empty()).then(|| {
        let headings = "largest that left | #tokens | role | #at line | call, or its beginning";
        named(Table::new(headings, left), calls)
    });
    let note = "kept: tokens and items that stayed. counted here: the size before, where the agent logged another one. \
                dropped: tokens that left, by role.";
    let section = Section::new("Compactions")
        .with_all((!done.is_empty()).then(|| Table::new(headings, rows)))
        .with_all(left)
        .with_all((earlier > 0).then(|| format!("{earlier} earlier ones are not listed.")))
        .with_all(cleared)
        .with_all(hooked);
    (!section.blocks.is_empty()).then(|| section.with(Block::Note(note.into())))
}

fn when(at: Option<Timestamp>, zone: &TimeZone) -> Line {
    at.map_or_else(|| Line::own(NONE), |at| super::time(at, zone).into())
}

fn compaction(session: &Session, done: &Compaction, zone: &TimeZone) -> Row {
    let reset = &session.resets()[done.reset];
    let none = || Line::own(NONE);
    let dropped = Role::ALL.into_iter().filter_map(|role| {
        let size = reset.dropped[role.index()];
        (size > 0).then(|| Line::own(format!("{} {}", role.name(), tokens(size))))
    });
    let dropped = Line::joined(dropped, ", ");
    let dropped = if done.is_of_earlier_log {
        Line::own("of an earlier log: only the agent's own number is known")
    } else if dropped.is_empty() {
        none()
    } else {
        dropped
    };
    let kept = (done.kept_items > 0)
        .then(|| format!("{} in {}", tokens(done.kept_tokens), done.kept_items));
    Row::from([
        Line::own(format!("{} (", reset.gone.name()))
            .and_line(cause(&reset.cause, render::cause(session, reset)))
            .and(format!(") at line {}", reset.place.line())),
        when(reset.at, zone),
        sized(reset.before, reset.before_source),
        done.after
            .map_or_else(none, |(size, source)| sized(size, source)),
        or_none(done.freed.map(|(freed, _)| tokens(freed))).into(),
        or_none(kept).into(),
        done.summary
            .map_or_else(none, |(_, size, source)| sized(size, source)),
        or_none(done.difference.map(|_| tokens(reset.ours))).into(),
        dropped,
    ])
}

/// Returns the largest items that left with a compaction.
fn left_rows(session: &Session, done: &Compaction, calls: Option<&Calls>) -> Vec<Row> {
    let line = session.resets()[done.reset].place.line();
    let row = |(ix, size, source): &(ItemIx, u64, Source)| {
        let item = &session.items()[*ix];
        let mut cells = vec![
            Line::log(&label(item)),
            sized(*size, *source),
            item.role.name().into(),
            line.to_string().into(),
        ];
        cells.extend(calls.map(|calls| Line::log(&calls.name(session, item))));
        Row {
            role: Some(item.role),
            share: None,
            cells,
        }
    };
    done.largest.iter().map(row).collect()
}

pub(super) fn what_if(session: &Session) -> Option<Section> {
    let policies = words::policies(session);
    let rows = policies.iter().map(|(name, row)| {
        let over = row.over.map_or("", |_| " (over the window)");
        Row::from([
            Line::log(name).and(over),
            or_none(row.trigger.map(tokens)).into(),
            row.compactions.len().to_string().into(),
            tokens_or_none(row.dropped()).into(),
            tokens(row.largest).into(),
            tokens(row.prompts).into(),
            or_none(row.usd.map(usd)).into(),
        ])
    });
    let headings =
        "policy | #compacts at | #times | #dropped | #largest | #all prompts | #list price";
    let note = "The growth of this session under its own rule and under three others: of the rules of other agents, those \
                that send the fewest tokens, the median and the most. It leaves out what cannot be known: an \
                agent that has forgotten more may read things again. The list price is that of the prompts and \
                compactions, as if each prompt found the one before it in the cache.";
    (!policies.is_empty()).then(|| {
        Section::new("What other policies would have done")
            .with(Table::new(headings, rows))
            .with(Block::Note(note.into()))
    })
}

/// Returns the section on the sources of the numbers.
pub(super) fn sources(session: &Session, limits: &Limits) -> Section {
    let mut sums = [(0_u64, 0_usize); Source::ALL.len()];
    for (_, size, source) in session.in_context() {
        if let Some(at) = Source::ALL.iter().position(|it| *it == source) {
            sums[at].0 = sums[at].0.saturating_add(size);
            sums[at].1 += 1;
        }
    }
    let rows = Source::ALL
        .iter()
        .zip(sums)
        .map(|(&source, (size, items))| {
            let about = match source {
                Source::Reported => "the provider reported this item's size",
                Source::Derived => {
                    "what is left of a reported sum in which only this item was unknown"
                }
                Source::Shared => "its part of a reported sum, divided by counts made here",
                Source::Agent => "the agent's own estimate",
                Source::Estimated => "counted here",
            };
            Row::from([
                format!("{} {}", sign(source), source.name()).into(),
                about.into(),
                tokens_or_none(size).into(),
                items.to_string().into(),
            ])
        });
    let window = match limits.window_source {
        WindowSource::SmallerOfTwo => "the smaller of the model's two windows".to_owned(),
        _ => limits.window_from(),
    };
    let trigger = limits.trigger_from();
    Section::new("How the numbers are known")
        .with(Line::own(
            "Known is what the provider reported: the prompt and the output of the last request. Estimated is what came \
             since; the true size is meant to be within ± nine times out of ten.",
        ))
        .with(Line::own(format!(
            "Source of the window: {window}. Source of the trigger: {trigger}."
        )))
        .with(Table::new(
            "source of an item's size | meaning | #in the context | #items",
            rows,
        ))
}
