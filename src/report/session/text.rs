//! The report of one session for people.

use super::Report;
use super::words;
use crate::text::page::Page;
use crate::text::table::{Column, Holds, Table};
use crate::text::widest;
use model::calls::Calls;
use model::clearing::clearings;
use model::compaction::{Compaction, compactions, unlogged};
use model::context::{self, Context};
use model::jumps::jumps;
use model::repeats::repeats;
use model::session::{Coverage, ItemIx, Session};
use model::tools::{Tool, servers, tools};
use model::window::Limits;
use model::{LeaveReason, Role, Source};
use render::item::{label, sign};
use render::jump;
use render::number::{counted, error, percent, tokens, tokens_or_none};
use render::own_count::own_count;
use render::recurring::recurring;
use render::text::{inert, left};
use render::{NONE, cause, or_none};
use std::io;

/// The most items and tools that are listed, the largest first.
pub(super) const LISTED_ROWS: usize = 10;

/// The table of tools.
const TOOL_COLUMNS: [Column; 9] = [
    Column::new("tool", Holds::Text(12), 0),
    Column::new("results", Holds::Numbers, 1),
    Column::new("tokens", Holds::Numbers, 0),
    Column::new("share", Holds::Numbers, 4),
    Column::new("now", Holds::Numbers, 3),
    Column::new("schema", Holds::Numbers, 5),
    Column::new("largest", Holds::Numbers, 2),
    Column::new("carried", Holds::Numbers, 0),
    Column::new("re-read", Holds::Numbers, 0),
];

pub(super) fn write(out: &mut Page<'_>, report: &Report<'_>) -> io::Result<()> {
    let session = report.session;
    write_head(out, report)?;
    write_roles(out, session)?;
    let (largest, compactions) = (largest(session), compactions(session));
    write_largest(out, session, &largest)?;
    write_jumps(out, session)?;
    write_tools(out, session)?;
    write_recurring(out, session)?;
    write_repeats(out, session)?;
    write_resets(out, session, compactions)?;
    write_what_if(out, session)?;
    for line in words::not_counted(session) {
        writeln!(out, "\n  {}", line.plain())?;
    }
    if let Some(left_out) = &report.left_out {
        writeln!(out, "\n  {left_out}")?;
    }
    match report.others {
        0 => Ok(()),
        others => writeln!(
            out,
            "\n  the file holds {others} more: `ctxgauge ls` lists them, --session selects one"
        ),
    }
}

fn write_head(out: &mut Page<'_>, report: &Report<'_>) -> io::Result<()> {
    let (session, facts) = (report.session, report.facts);
    let model = inert(session.model().unwrap_or("no model yet"));
    let id = inert(session.meta.id.as_deref().unwrap_or("no id"));
    writeln!(out, "{} · {model} · {id}", inert(session.agent))?;
    writeln!(out, "{}", inert(&facts.path.to_string_lossy()))?;
    if let Some(title) = &report.title {
        let words: Vec<&str> = title.split_whitespace().collect();
        out.row(format_args!("“{}”", inert(&words.join(" "))))?;
    }
    if let Some(cwd) = session.meta.cwd.as_deref() {
        writeln!(out, "in {}", inert(cwd))?;
    }
    if let (Some(version), Some(proven)) = (&session.meta.version, report.gauge.newer_than_proven())
    {
        writeln!(
            out,
            "written by {}; rules as of {}: newer versions may differ",
            inert(version),
            inert(proven)
        )?;
    }
    let (context, limits) = (session.context(), session.limits());
    let gauge = gauge_line(session, &context, &limits);
    writeln!(out, "\n{gauge}")?;
    writeln!(out, "{}", words::limits(&context, &limits))?;
    if let Some(line) = own_count(facts.label, &context, limits.trigger) {
        writeln!(out, "{line}")?;
    }
    if let Some(number) = words::agents_number(session) {
        writeln!(out, "{number}")?;
    }
    if let Some(said) = session.said().and_then(|said| said.breakdown.as_ref()) {
        let parts = said.parts.iter();
        let parts = parts.map(|(name, size)| format!("{} {}", inert(name), tokens(*size)));
        let parts: Vec<String> = parts.collect();
        let (all, at) = (tokens(said.tokens), said.at.strftime("%F %TZ"));
        writeln!(
            out,
            "the agent's client estimated {all} at {at}: {}",
            parts.join(", ")
        )?;
    }
    if let Some(forecast) = words::forecast(report) {
        writeln!(out, "{forecast}")?;
    }
    for line in words::beside_size(report, &report.clock) {
        writeln!(out, "{}", inert(&line))?;
    }
    Ok(())
}

/// Returns the line on the size of the context, in percent of the trigger as on the screens. It has the same shape for
/// all sessions.
pub(crate) fn gauge_line(session: &Session, context: &Context, limits: &Limits) -> String {
    let known = match session.coverage {
        Coverage::Unread => return format!("{NONE} not read yet"),
        _ if context.known > 0 => format!("{} known", tokens(context.known)),
        _ if session.requests().is_empty() => format!("{NONE} known (no usage report)"),
        _ => format!("{NONE} known (no usage report since the last reset)"),
    };
    let estimated = match context.estimated {
        0 => String::new(),
        estimated => {
            let half = (context.high - context.used).max(context.used - context.low);
            format!(" + {} ±{} est", tokens(estimated), error(half, estimated))
        }
    };
    let (counted, end) = context.filled(limits);
    let share = or_none(percent(counted, end).map(|p| p.to_string()));
    let (end, name) = (tokens(end), limits.end_name());
    format!("{known}{estimated} · {share}% of {end} {name}")
}

fn write_roles(out: &mut Page<'_>, session: &Session) -> io::Result<()> {
    let context = session.context();
    out.row("\n  role       tokens   known     est.  items")?;
    for role in Role::ALL {
        let context::Share {
            tokens: all,
            known,
            estimated,
            items,
        } = *context.role(role);
        let share = crate::percent(all, context.used);
        let [all, known, estimated] = [
            tokens(all),
            tokens_or_none(known),
            tokens_or_none(estimated),
        ];
        let role = role.name();
        out.row(format_args!(
            "  {role:<9} {all:>7} {known:>7} {estimated:>8} {items:>6}  {share:>5.1}%"
        ))?;
    }
    Ok(())
}

/// Returns the largest items in the context, the largest first.
pub(super) fn largest(session: &Session) -> Vec<ItemIx> {
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

fn write_largest(out: &mut Page<'_>, session: &Session, items: &[ItemIx]) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let labels = items
        .iter()
        .map(|ix| inert(&label(&session.items()[*ix])).into_owned());
    let width = widest(labels);
    writeln!(out, "\n  largest in context")?;
    let calls = Calls::of_items(session, items.iter().copied());
    for ix in items.iter().copied() {
        let item = &session.items()[ix];
        let (size, source) = session.tokens(ix);
        let (size, sign, role) = (tokens(size), sign(source), item.role.name());
        let (label, line) = (left(&label(item), width), item.place.line());
        let name = calls.name(session, item);
        let name = inert(&name);
        out.row(format_args!(
            "  {size:>7} {sign:<2} {role:<9} {label} line {line:<6} {name}"
        ))?;
    }
    Ok(())
}

fn write_jumps(out: &mut Page<'_>, session: &Session) -> io::Result<()> {
    let jumps = jumps(session, LISTED_ROWS);
    if jumps.is_empty() {
        return Ok(());
    }
    let calls = Calls::of_items(session, jump::items(&jumps));
    let growths: Vec<String> = jumps.iter().map(jump::growth).collect();
    let width = widest(growths.iter().cloned());
    writeln!(out, "\n  largest growths")?;
    for (jump, growth) in jumps.iter().zip(growths) {
        let parts = jump::parts(session, &calls, jump, jump::NAME_COLUMNS);
        out.row(format_args!("  {}  {parts}", left(&growth, width)))?;
    }
    Ok(())
}

fn write_tools(out: &mut Page<'_>, session: &Session) -> io::Result<()> {
    let mut tools = tools(session, session.in_context(), session.requests().len());
    let servers = servers(&tools);
    tools.truncate(LISTED_ROWS);
    if tools.is_empty() {
        return Ok(());
    }
    let row = |tool: &Tool| words::tool(inert(&tool.name).into_owned(), tool);
    let table = Table {
        columns: TOOL_COLUMNS,
        rows: tools.iter().map(row).collect(),
        indent: 2,
    };
    writeln!(out)?;
    table.write(out)?;
    for server in &servers {
        let name = inert(&server.name);
        writeln!(out, "  MCP server {name}{}", words::server(server))?;
    }
    Ok(())
}

fn write_recurring(out: &mut Page<'_>, session: &Session) -> io::Result<()> {
    for part in session.recurring() {
        let part = recurring(part);
        writeln!(out, "\n  unlogged text that comes and goes: {part}")?;
    }
    Ok(())
}

fn write_repeats(out: &mut Page<'_>, session: &Session) -> io::Result<()> {
    let repeats = repeats(session, session.in_context());
    let verb = match repeats.items() {
        0 => return Ok(()),
        1 => "repeats another one",
        _ => "repeat others",
    };
    let items = counted(repeats.items() as u64, "item");
    let wasted = tokens(repeats.wasted);
    writeln!(
        out,
        "\n  {items} in the context {verb}: {wasted} tokens wasted"
    )
}

fn write_resets(
    out: &mut Page<'_>,
    session: &Session,
    compactions: Vec<Compaction>,
) -> io::Result<()> {
    let sized = |size: u64, source: Source| format!("{} {}", tokens(size), source.name());
    let left = compactions.iter().flat_map(|done| &done.largest);
    let calls = Calls::of_items(session, left.map(|(ix, ..)| *ix));
    for done in compactions {
        let reset = &session.resets()[done.reset];
        let (kind, cause, line) = (reset.gone.name(), cause(session, reset), reset.place.line());
        let before = sized(reset.before, reset.before_source);
        let after = done
            .after
            .map(|(after, source)| format!(" → {}", sized(after, source)))
            .unwrap_or_default();
        writeln!(out, "\n  {kind} ({cause}) at line {line}: {before}{after}")?;
        let kept = (done.kept_items > 0).then(|| {
            let items = counted(done.kept_items as u64, "item");
            format!("kept {items}, {}", tokens(done.kept_tokens))
        });
        let parts: Vec<String> = [
            done.is_of_earlier_log
                .then(|| "of an earlier log: only the agent's own number is known".to_owned()),
            done.freed
                .map(|(freed, _)| format!("freed {}", tokens(freed))),
            kept,
            match (done.summary, reset.gone) {
                (Some((_, size, _)), _) => Some(format!("summary {}", tokens(size))),
                (None, LeaveReason::Compaction) => Some("no summary".to_owned()),
                (None, _) => None,
            },
            done.difference
                .map(|_| format!("counted here {}", tokens(reset.ours))),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !parts.is_empty() {
            writeln!(out, "    {}", parts.join(" · "))?;
        }
        for (ix, size, source) in done.largest {
            let item = &session.items()[ix];
            let (size, sign, role) = (tokens(size), sign(source), item.role.name());
            out.row(format_args!(
                "    left {size:>7} {sign:<2} {role:<9} {} {}",
                inert(&label(item)),
                inert(&calls.name(session, item))
            ))?;
        }
    }
    for clearing in clearings(session) {
        let results = counted(clearing.results as u64, "result");
        let tokens = sized(clearing.tokens, clearing.source);
        let request = clearing.request + 1;
        writeln!(
            out,
            "\n  {results} cleared before request {request}: {tokens}"
        )?;
    }
    for hooked in unlogged(session) {
        let cause = inert(hooked.cause.name());
        let before = hooked.before.map(|before| sized(before, Source::Agent));
        let after = hooked.after.map(|after| sized(after, Source::Estimated));
        let sizes: Vec<String> = before.into_iter().chain(after).collect();
        let sizes = or_none(Some(sizes.join(" → ")).filter(|sizes| !sizes.is_empty()));
        writeln!(
            out,
            "\n  compaction ({cause}) that only a hook noted: {sizes}"
        )?;
    }
    Ok(())
}

fn write_what_if(out: &mut Page<'_>, session: &Session) -> io::Result<()> {
    let policies = words::policies(session);
    if policies.is_empty() {
        return Ok(());
    }
    out.row("\n       at  times  dropped  largest  prompts  policy")?;
    for (name, row) in policies {
        let (at, times) = (or_none(row.trigger.map(tokens)), row.compactions.len());
        let dropped = tokens_or_none(row.dropped());
        let [largest, prompts] = [row.largest, row.prompts].map(tokens);
        let over = row.over.map_or("", |_| " (over the window)");
        let name = inert(&name);
        out.row(format_args!(
            "  {at:>7} {times:>6} {dropped:>8} {largest:>8} {prompts:>8}  {name}{over}"
        ))?;
    }
    Ok(())
}
