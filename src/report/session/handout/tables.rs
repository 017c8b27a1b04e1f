//! The tables of a session's report to hand on.

use crate::handout::{Block, Line, Row, Section, Table};
use crate::session::text::LISTED_ROWS;
use crate::session::words;
use jiff::Timestamp;
use model::calls::Calls;
use model::compaction::{Compaction, unlogged};
use model::context::Context;
use model::estimators::Estimator;
use model::event::{Cause, CauseSource};
use model::jumps;
use model::repeats::repeats;
use model::session::{ItemIx, PastReset, Session};
use model::tools;
use model::window::Limits;
use model::{Role, Source};
use render::item::{label, sign};
use render::jump;
use render::number::{counted, tokens, tokens_or_none};
use render::recurring::recurring;
use render::{NONE, or_none};

/// The most compactions that are listed, the newest ones.
const MOST_COMPACTIONS: usize = 50;
/// The cells of each.
const COMPACTION_CELLS: usize = 9;

pub(super) fn roles(context: &Context) -> Section {
    let rows = Role::ALL.map(|role| {
        let part = context.role(role);
        let share = part.tokens as f64 / context.used.max(1) as f64;
        let about = match role {
            Role::System => "the unlogged prefix, and growth that no logged item explains",
            Role::Container => "what the agent adds on its own",
            Role::User => "what a person typed",
            Role::Assistant => "what the model wrote",
            Role::Tool => "what tools returned",
        };
        Row {
            role: Some(role),
            share: Some(share),
            cells: vec![
                Line::own(role.name()).and(": ").and(about),
                tokens(part.tokens).into(),
                tokens_or_none(part.known).into(),
                tokens_or_none(part.estimated).into(),
                format!("{:.1}%", share * 100.0).into(),
            ],
        }
    });
    let headings = "role | #tokens | #known | #estimated | #share";
    Section::new("Who fills it").with(Table::new(headings, rows))
}

/// Returns a size, after the sign of its source.
fn sized(size: u64, source: Source) -> Line {
    Line::own(format!("{} {}", sign(source), tokens(size)))
}

pub(super) fn largest(session: &Session, items: &[ItemIx], has_texts: bool) -> Option<Section> {
    let used = session.context().used.max(1);
    let most = items.first().map_or(1, |ix| session.tokens(*ix).0.max(1));
    let calls = Calls::of_items(session, items.iter().copied());
    let rows = items.iter().copied().map(|ix| {
        let item = &session.items()[ix];
        let (size, source) = session.tokens(ix);
        let share = size as f64 / used as f64;
        let mut cells = vec![
            Line::log(&label(item)),
            sized(size, source),
            format!("{:.1}%", share * 100.0).into(),
            item.role.name().into(),
            render::item::words(item.kind.name()).into(),
            item.place.line().to_string().into(),
        ];
        if has_texts {
            cells.push(Line::log(&calls.name(session, item)));
        }
        Row {
            role: Some(item.role),
            // Of the largest one: of all, most are too small to be seen.
            share: Some(size as f64 / most as f64),
            cells,
        }
    });
    let headings = if has_texts {
        "item | #tokens | #share | role | kind | #line | call, or its beginning"
    } else {
        "item | #tokens | #share | role | kind | #line"
    };
    let table = Table::new(headings, rows);
    let mut section = Section::new("Largest items in the context").with(table);
    let repeats = repeats(session, session.in_context());
    if repeats.items() > 0 {
        let items = counted(repeats.items() as u64, "item");
        let wasted = tokens(repeats.wasted);
        section = section.with(Line::own(format!(
            "Items with the content of an earlier one in the context: {items}, {wasted} tokens wasted."
        )));
    }
    for part in session.recurring() {
        let part = recurring(part);
        section = section.with(Line::own(format!(
            "Unlogged text that comes and goes: {part}."
        )));
    }
    (!items.is_empty()).then_some(section)
}

pub(super) fn jumps(session: &Session) -> Option<Section> {
    let jumps = jumps::jumps(session, LISTED_ROWS);
    let most = jumps.first()?.tokens.max(1);
    let calls = Calls::of_items(session, jump::items(&jumps));
    let rows = jumps.iter().map(|found| Row {
        role: None,
        share: Some(found.tokens as f64 / most as f64),
        cells: vec![
            jump::request(found).into(),
            when(found.at),
            jump::size(found).into(),
            Line::log(&jump::parts(session, &calls, found, jump::NAME_COLUMNS)),
        ],
    });
    let table = Table::new("request | when | #growth | what came", rows);
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
    let rows = tools.iter().map(|tool| {
        let mut cells = words::tool(String::new(), tool).map(Line::from);
        cells[0] = Line::log(&tool.name);
        Row {
            role: None,
            share: Some(tool.share),
            cells: cells.into(),
        }
    });
    let headings =
        "tool | #results | #tokens | #share | #now | #schema | #largest | #carried | #re-read";
    let mut section = Section::new("Tools").with(Table::new(headings, rows));
    for server in &servers {
        let sizes = words::server(server) + ".";
        section = section.with(Line::own("MCP server ").and_log(&server.name).and(sizes));
    }
    let more = match all.saturating_sub(LISTED_ROWS) {
        0 => String::new(),
        more => format!(" {} not listed.", counted(more as u64, "smaller tool")),
    };
    Some(section.with(Block::Note(Line::own(format!(
        "now: its results in the context. schema: its definition in it. carried: tokens times the requests that had \
         them; re-read: what that costs at least, by the list price of cache reads.{more}"
    )))))
}

/// Returns the cause of a compaction or clear.
fn cause(cause: &Cause, source: CauseSource) -> Line {
    let name = match cause {
        Cause::Other(name) => Line::log(name),
        other => Line::own(other.name().to_owned()),
    };
    match source {
        CauseSource::Hook => name.and(", hook"),
        CauseSource::Log | CauseSource::Inferred => name,
    }
}

pub(super) fn compactions(
    session: &Session,
    done: &[Compaction],
    has_texts: bool,
) -> Option<Section> {
    let unlogged = unlogged(session);
    if done.is_empty() && unlogged.is_empty() {
        return None;
    }
    let earlier = done.len().saturating_sub(MOST_COMPACTIONS);
    let left = done[earlier..].iter().flat_map(|done| &done.largest);
    let left = left.map(|(ix, ..)| *ix).filter(|_| has_texts);
    let calls = Calls::of_items(session, left);
    let rows = done[earlier..].iter().map(|done| {
        let reset = &session.resets()[done.reset];
        compaction_row(session, done, reset, has_texts.then_some(&calls))
    });
    let hooked = unlogged.iter().map(|hooked| {
        let none = || Line::own(NONE);
        let mut cells = vec![
            Line::own("compaction (")
                .and_line(cause(&hooked.cause, CauseSource::Hook))
                .and(")"),
            when(Some(hooked.at)),
            none(),
            hooked
                .before
                .map_or_else(none, |size| sized(size, Source::Agent)),
            hooked
                .after
                .map_or_else(none, |size| sized(size, Source::Estimated)),
        ];
        cells.resize_with(COMPACTION_CELLS, none);
        Row {
            cells,
            ..Row::default()
        }
    });
    let headings =
        "what | when | #line | #before | #after | #kept | #summary | dropped | largest dropped";
    let table = Table::new(headings, rows.chain(hooked));
    let note = match earlier {
        0 => String::new(),
        n => format!(" {} not listed.", counted(n as u64, "earlier one")),
    };
    let note =
        format!("dropped: tokens that left, by role. Then the largest items among them.{note}");
    let section = Section::new("Compactions").with(table);
    Some(section.with(Block::Note(note.into())))
}

fn when(at: Option<Timestamp>) -> Line {
    at.map_or_else(|| Line::own(NONE), |at| super::time(at).into())
}

/// Returns the row of a compaction. Its items have names only where `calls` are given.
fn compaction_row(
    session: &Session,
    done: &Compaction,
    reset: &PastReset,
    calls: Option<&Calls>,
) -> Row {
    let none = || Line::own(NONE);
    let dropped = Role::ALL.into_iter().filter_map(|role| {
        let size = reset.dropped[role.index()];
        (size > 0).then(|| Line::own(format!("{} {}", role.name(), tokens(size))))
    });
    let largest = done.largest.iter().map(|(ix, size, source)| {
        let item = &session.items()[*ix];
        let name = calls.map(|calls| calls.name(session, item));
        let name = name.filter(|name| !name.is_empty());
        let line = name
            .into_iter()
            .fold(Line::log(&label(item)), |line, name| {
                line.and(" ").and_log(&name)
            });
        line.and(" ").and_line(sized(*size, *source))
    });
    let largest = if done.is_of_earlier_log {
        Line::own("not in this log: it compacted an earlier one")
    } else {
        Line::joined(largest, ", ").or_none()
    };
    let what = Line::own(format!("{} (", reset.gone.name()));
    let cells: [Line; COMPACTION_CELLS] = [
        what.and_line(cause(&reset.cause, reset.cause_source))
            .and(")"),
        when(reset.at),
        reset.place.line().to_string().into(),
        sized(reset.before, reset.before_source),
        done.after
            .map_or_else(none, |(size, source)| sized(size, source)),
        tokens_or_none(done.kept_tokens).into(),
        done.summary
            .map_or_else(none, |(_, size, source)| sized(size, source)),
        Line::joined(dropped, ", ").or_none(),
        largest,
    ];
    Row::from(cells)
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
        ])
    });
    let headings = "policy | #compacts at | #times | #dropped | #largest | #all prompts";
    let note = "The growth of this session under the rules of other agents. It leaves out what cannot be known: an \
                agent that has forgotten more may read things again.";
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
    let (window, trigger) = (limits.window_from(), limits.trigger_from());
    Section::new("How the numbers are known")
        .with(Line::own(
            "Known is what the provider reported: the prompt and the output of the last request. Estimated is what came \
             since; the true size is meant to be within ± nine times out of ten.",
        ))
        .with(Line::own(format!(
            "The window is from: {window}. The trigger is from: {trigger}. Estimates are by {}: {}.",
            Estimator::Calibrated.name(),
            Estimator::Calibrated.rule()
        )))
        .with(Table::new(
            "source of an item's size | meaning | #in the context | #items",
            rows,
        ))
}
