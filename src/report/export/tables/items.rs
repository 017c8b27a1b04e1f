//! The table of items.

use super::{SessionRows, Take, table};
use crate::output::json::dollars;
use anyhow::Result;
use model::cost::calls::Calls;
use model::cost::carried::CarriedCost;
use model::cost::texts::{CutText, TextFacts};
use model::cost::tools::server_of;
use model::event::Key;
use model::session::{Item, ItemIx};
use model::{Kind, Source};
use std::borrow::Cow;

/// The facts that all rows of a session use.
struct Common<'a> {
    carried: CarriedCost<'a>,
    calls: Calls,
    requests: usize,
    /// By item.
    overlaps: Vec<Option<f64>>,
}

/// A row.
struct Row<'a> {
    ix: ItemIx,
    item: &'a Item,
    tokens: u64,
    source: Source,
    text: Option<&'a TextFacts>,
}

pub(super) fn rows(of: &SessionRows<'_>, take: &mut Take<'_>) -> Result<()> {
    let session = of.session;
    let requests = session.requests().len();
    let common = Common {
        carried: CarriedCost::by(session, requests),
        calls: Calls::of(session),
        requests,
        overlaps: of
            .log
            .texts
            .map(|texts| texts.overlaps(session))
            .unwrap_or_default(),
    };
    for (ix, item) in session.items().iter().enumerate() {
        let (tokens, source) = session.tokens(ix);
        let row = Row {
            ix,
            item,
            tokens,
            source,
            text: of.log.texts.and_then(|texts| texts.of(item)),
        };
        take(row.item.at, &cells(of, &common, &row))?;
    }
    Ok(())
}

impl Row<'_> {
    fn stated(&self) -> Option<(u64, &'static str)> {
        let CutText { stated } = self.text?.cut?;
        stated
    }

    fn names(&self) -> Option<String> {
        let names = &self.text?.names;
        (!names.is_empty()).then(|| names.join(" "))
    }
}

impl Common<'_> {
    fn subject<'a>(&self, of: &SessionRows<'a>, row: &Row<'a>) -> Option<Cow<'a, str>> {
        let item = row.item;
        let is_of_call = matches!(item.kind, Kind::ToolCall | Kind::ToolResult);
        is_of_call.then(|| self.calls.arguments_at(of.session, row.ix))?
    }
}

fn id(key: Key) -> String {
    format!("{:016x}", key.get())
}

/// Rounds a share to a thousandth.
fn rounded(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}

table! { (of: &'a SessionRows<'_>, common: &Common<'_>, row: &Row<'a>) {
    session: Text = &*of.name, "The session, the same in all tables.";
    agent: Text = of.session.agent, "The agent's id.";
    item: Int = row.ix, "Its number in the session, from 0.";
    line: Int = row.item.place.line(), "The line of the log on which it begins.";
    time: Time = row.item.at, "When it was written.";
    role: Text = row.item.role.name(), "`system`, `container`, `user`, `assistant` or `tool`.";
    kind: Text = row.item.kind.name(), "Its kind, such as `text`, `thinking`, `tool_call` or `tool_result`.";
    tool: Text = row.item.tool.as_deref(), "The tool that was called.";
    server: Text = row.item.tool.as_deref().and_then(server_of), "The MCP server of that tool.";
    subject: Text = common.subject(of, row), "The main argument of the call: the file, the command. At most 120 bytes, the same for a call and its result.";
    preview: Text = Some(&*row.item.preview).filter(|text| !text.is_empty()), "Its beginning, at most 120 bytes.";
    tokens: Int = row.tokens, "Its size.";
    source: Text = row.source.name(), "The source of its size.";
    in_context: Bool = row.item.in_context(), "Whether it is in the context now.";
    entered_request: Int = row.item.entered, "The first request whose prompt contained it, from 0: #1 on the screens is 0.";
    left_request: Int = row.item.left.map(|left| left.request), "The first request whose prompt no longer contained it, from 0.";
    left_because: Text = row.item.left.map(|left| left.why.name()), "Why it left.";
    prompts: Int = row.item.requests_held(common.requests), "The number of prompts that contained it.";
    carried: Int = common.carried.tokens(row.ix, row.tokens), "Its tokens times those prompts.";
    carried_usd: Float = common.carried.usd(row.ix, row.tokens).map(dollars), "The same at the list price of cached input; empty: not known.";
    call: Text = row.item.call.map(id), "The call that it is or belongs to: a hash of its id.";
    cut: Bool = row.text.map(|text| text.cut.is_some()), "Whether the result says that the agent cut it.";
    cut_stated: Int = row.stated().map(|(number, _)| number), "The size of the whole result, or of the missing part, if the agent states it.";
    cut_unit: Text = row.stated().map(|(_, unit)| unit), "`tokens`, `characters` or `lines` of that.";
    longest_line: Int = row.text.map(|text| u64::from(text.longest_line)), "The characters of its longest line.";
    names: Text = row.names(), "The names in a list of tools, skills or agents, with a space between them.";
    overlap: Float = common.overlaps.get(row.ix).copied().flatten().map(rounded), "The share of its text, in lines of more than 15 characters, that the context already contained.";
    pictures: Int = Some(u64::from(row.item.size.fixed)).filter(|tokens| *tokens > 0), "The tokens of images and documents in it, by formula.";
}}
