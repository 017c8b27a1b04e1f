//! The table of items.

use super::{SessionRows, Take, table};
use crate::session::json::dollars;
use anyhow::Result;
use model::Source;
use model::cost::calls::Calls;
use model::cost::carried::CarriedCost;
use model::cost::repeats::{Repeats, repeats};
use model::cost::tools::server_of;
use model::session::{Item, ItemIx};

/// The facts that all rows of a session use.
struct Common<'a> {
    carried: CarriedCost<'a>,
    repeats: Repeats,
    calls: Calls,
    requests: usize,
}

/// A row.
struct Row<'a> {
    ix: ItemIx,
    item: &'a Item,
    tokens: u64,
    source: Source,
}

pub(super) fn rows(of: &SessionRows<'_>, take: &mut Take<'_>) -> Result<()> {
    let session = of.session;
    let requests = session.requests().len();
    let common = Common {
        carried: CarriedCost::by(session, requests),
        repeats: repeats(session, session.in_context()),
        calls: Calls::of(session),
        requests,
    };
    for (ix, item) in session.items().iter().enumerate() {
        let (tokens, source) = session.tokens(ix);
        let row = Row {
            ix,
            item,
            tokens,
            source,
        };
        take(row.item.at, &cells(of, &common, &row))?;
    }
    Ok(())
}

table! { (of: &'a SessionRows<'_>, common: &Common<'_>, row: &Row<'a>) {
    session: Text = &*of.name, "The session, the same in all tables.";
    agent: Text = of.session.agent, "The agent's id.";
    item: Int = row.ix, "Its number in the session, from 0.";
    line: Int = row.item.place.line(), "The line of the log on which it begins.";
    time: Time = row.item.at, "When it was written.";
    role: Text = row.item.role.name(), "`system`, `container`, `user`, `assistant` or `tool`.";
    kind: Text = row.item.kind.name(), "What it is, such as `text`, `thinking`, `tool_call` or `tool_result`.";
    tool: Text = row.item.tool.as_deref(), "The tool that was called.";
    server: Text = row.item.tool.as_deref().and_then(server_of), "The MCP server of that tool.";
    subject: Text = common.calls.subject(of.session, row.item), "What the tool was called with: the file, the command. At most 120 bytes.";
    preview: Text = Some(&*row.item.preview).filter(|text| !text.is_empty()), "Its beginning, at most 120 bytes.";
    tokens: Int = row.tokens, "Its size.";
    source: Text = row.source.name(), "How its size is known.";
    in_context: Bool = row.item.in_context(), "Whether it is in the context now.";
    entered_request: Int = row.item.entered(), "The first request whose prompt held it, from 0: the #1 of screens is 0.";
    left_request: Int = row.item.left.map(|left| left.request), "The first request whose prompt held it no more, from 0.";
    left_because: Text = row.item.left.map(|left| left.why.name()), "Why it left.";
    prompts: Int = row.item.requests_held(common.requests), "How many prompts held it.";
    carried: Int = common.carried.tokens(row.ix, row.tokens), "Its tokens times those prompts.";
    carried_usd: Float = common.carried.usd(row.ix, row.tokens).map(dollars), "The same at the list price of cached input; empty: not known.";
    repeats: Int = common.repeats.of.get(&row.ix).copied(), "The earlier item in the context that has the same content.";
}}
