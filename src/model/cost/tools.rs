//! Computes the cost of each tool at any moment of a session: its results, its calls, and its definition where the log
//! has it.

use crate::cost::carried::CarriedCost;
use crate::event::Key;
use crate::history::{Item, RequestIx, SizedItem};
use crate::session::Session;
use crate::values::median::median;
use crate::{Kind, Role, Source};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// One tool's results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The tool's name, as the log writes it.
    pub name: Box<str>,
    /// The number of its results.
    pub results: usize,
    /// The number of its calls that failed, as far as the log shows that.
    pub failed: usize,
    /// The seconds from a call to its result, the median; `None`: the log shows no times.
    pub median_seconds: Option<f64>,
    /// Their tokens.
    pub tokens: u64,
    /// The part of `tokens` that is in the context.
    pub in_context: u64,
    /// The tokens of its calls in the context.
    pub calls: u64,
    /// The tokens of its definition in the context: name, description and parameters.
    pub schema: u64,
    /// The largest of them; a call or its definition where it has no results.
    pub largest: SizedItem,
    /// Tokens times the requests whose prompts held them.
    pub carried: u64,
    /// The cost of `carried` in US dollars, see [`CarriedCost`]; `None`: not known for all of them.
    pub carried_usd: Option<f64>,
    /// Its part of all tools' tokens, 0 to 1.
    pub share: f64,
}

/// The cost of the tools of an MCP server together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Server {
    /// The server's name.
    pub name: Box<str>,
    /// Its tools of which the log has a definition, calls or results.
    pub tools: usize,
    /// The tokens of their definitions in the context.
    pub schema: u64,
    /// The tokens of their results, in the context or not.
    pub tokens: u64,
    /// The part of `tokens` that is in the context.
    pub in_context: u64,
    /// The tokens of their calls in the context.
    pub calls: u64,
}

impl Tool {
    /// Returns all tokens in the context that are there because of it: its definition, calls and results.
    pub fn held(&self) -> u64 {
        self.schema
            .saturating_add(self.calls)
            .saturating_add(self.in_context)
    }
}

/// Returns the MCP server of a tool: agents name its tools `mcp__<server>__<tool>`.
pub fn server_of(tool: &str) -> Option<&str> {
    Some(server_and_name(tool)?.0)
}

/// Returns the name of a tool on its server; a tool of no server has its whole name.
pub fn short_name(tool: &str) -> &str {
    server_and_name(tool).map_or(tool, |(_, name)| name)
}

fn server_and_name(tool: &str) -> Option<(&str, &str)> {
    let (server, name) = tool.strip_prefix("mcp__")?.split_once("__")?;
    (!name.is_empty()).then_some((server, name))
}

/// Returns the MCP servers of these tools, the largest first.
pub fn servers(tools: &[Tool]) -> Vec<Server> {
    let mut by_name: BTreeMap<&str, Server> = BTreeMap::new();
    for tool in tools {
        let Some(name) = server_of(&tool.name) else {
            continue;
        };
        let server = by_name.entry(name).or_insert_with(|| Server {
            name: name.into(),
            ..Server::default()
        });
        server.tools += 1;
        server.schema = server.schema.saturating_add(tool.schema);
        server.tokens = server.tokens.saturating_add(tool.tokens);
        server.in_context = server.in_context.saturating_add(tool.in_context);
        server.calls = server.calls.saturating_add(tool.calls);
    }
    let mut servers: Vec<Server> = by_name.into_values().collect();
    servers.sort_by_key(|server| std::cmp::Reverse((server.schema, server.tokens)));
    servers
}

/// Returns the cost of each tool's results, the largest sum first, then tools that are on offer or called only. `context`
/// holds the items in the context at that moment, `requests` is the number of requests by then. Results that had left by then
/// count too.
pub fn tools(
    session: &Session,
    context: impl IntoIterator<Item = SizedItem, IntoIter: Clone>,
    requests: RequestIx,
) -> Vec<Tool> {
    let carried = CarriedCost::by(session, requests);
    let context = context.into_iter();
    let mut held = vec![false; session.items().len()];
    context.clone().for_each(|(ix, ..)| held[ix] = true);
    let is_live = requests >= session.requests().len();
    let gone = session.items().iter().enumerate().filter(|(ix, item)| {
        item.role == Role::Tool
            && !held[*ix]
            // An item that came and left before the next request may belong to the time after.
            && item.left.is_some_and(|left| left.request <= requests)
            && (is_live || item.entered.is_some_and(|from| from < requests))
    });
    let gone = gone.map(|(ix, _)| (session.sized(ix), 0));
    let here = context.map(|item| (item, item.1));

    let called = call_times(session);
    let mut seconds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut by_name: BTreeMap<&str, Tool> = BTreeMap::new();
    for ((ix, tokens, source), in_context) in gone.chain(here) {
        let item = &session.items()[ix];
        let is_named = |kind| item.kind == kind && item.tool.is_some();
        let [is_schema, is_call] = [Kind::ToolList, Kind::ToolCall].map(is_named);
        if item.role != Role::Tool && !is_schema && !is_call {
            continue;
        }
        let name = item.tool.as_deref().unwrap_or("unknown");
        let tool = by_name.entry(name).or_insert(Tool {
            name: name.into(),
            results: 0,
            failed: 0,
            median_seconds: None,
            tokens: 0,
            in_context: 0,
            calls: 0,
            schema: 0,
            largest: (ix, 0, Source::Estimated),
            carried: 0,
            carried_usd: Some(0.0),
            share: 0.0,
        });
        if is_schema {
            tool.schema = tool.schema.saturating_add(in_context);
            continue;
        }
        if is_call {
            tool.calls = tool.calls.saturating_add(in_context);
            continue;
        }
        tool.results += 1;
        tool.failed += usize::from(item.is_failed);
        let took = seconds_of(item, &called);
        seconds.entry(name).or_default().extend(took);
        tool.tokens = tool.tokens.saturating_add(tokens);
        tool.in_context = tool.in_context.saturating_add(in_context);
        if tool.results == 1 || (tokens, ix) > (tool.largest.1, tool.largest.0) {
            tool.largest = (ix, tokens, source);
        }
        tool.carried = tool.carried.saturating_add(carried.tokens(ix, tokens));
        let usd = carried.usd(ix, tokens);
        tool.carried_usd = tool.carried_usd.zip(usd).map(|(sum, usd)| sum + usd);
    }
    for (name, tool) in &mut by_name {
        tool.median_seconds = seconds.remove(name).and_then(median);
    }
    let mut tools: Vec<Tool> = by_name.into_values().collect();
    let all: f64 = tools.iter().map(|tool| tool.tokens as f64).sum();
    for tool in &mut tools {
        tool.share = tool.tokens as f64 / all.max(1.0);
    }
    tools.sort_by(|a, b| {
        let sizes = (b.tokens, b.schema).cmp(&(a.tokens, a.schema));
        sizes.then_with(|| a.name.cmp(&b.name))
    });
    tools
}

/// Returns the times of the calls of a session.
pub(crate) fn call_times(session: &Session) -> HashMap<Key, Timestamp> {
    let items = session.items().iter();
    let calls = items.filter(|item| item.kind == Kind::ToolCall);
    calls
        .filter_map(|item| Some((item.call?, item.at?)))
        .collect()
}

/// Returns the seconds from the call of a result, at one of these times, to the result; `None`: the log does not show
/// them, or the clock was set back.
pub(crate) fn seconds_of(result: &Item, called: &HashMap<Key, Timestamp>) -> Option<f64> {
    let took = result.at?.duration_since(*called.get(&result.call?)?);
    Some(took.as_secs_f64()).filter(|seconds| *seconds >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NewItem;
    use crate::testing::{Log, new_item};

    #[test]
    fn what_was_dropped_still_counts_but_is_not_in_the_context() {
        let log = Log::new()
            .result("a", "Read", 4_000)
            .result("b", "Read", 1_000)
            .report(9_000)
            .report(9_100)
            .compact(9_500)
            .result("c", "Bash", 500)
            .report(3_000);
        let session = &log.session;
        let now = tools(session, session.in_context(), session.requests().len());
        let rows: Vec<_> = now
            .iter()
            .map(|t| (&*t.name, t.results, t.in_context > 0, t.largest.0))
            .collect();
        assert_eq!(rows, [("Read", 2, false, 0), ("Bash", 1, true, 2)]);
        assert_eq!(now[0].carried, 2 * now[0].tokens);
        assert_eq!(now[1].in_context, now[1].tokens);
        assert!((now.iter().map(|t| t.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn failed_calls_and_their_times_count_by_tool() {
        let piece = |kind, is_failed, id: &str| NewItem {
            tool: Some("Bash".into()),
            call: Some(Key::of(id)),
            is_failed,
            ..new_item(
                if kind == Kind::ToolCall {
                    Role::Assistant
                } else {
                    Role::Tool
                },
                kind,
                10,
            )
        };
        let mut log = Log::new().timed();
        for (id, is_failed) in [("a", false), ("b", true), ("c", false)] {
            log = log.node(
                &format!("{id}-call"),
                vec![piece(Kind::ToolCall, false, id)],
            );
            log = log.node(id, vec![piece(Kind::ToolResult, is_failed, id)]);
        }
        let now = tools(&log.session, log.session.in_context(), 0);
        assert_eq!((now[0].results, now[0].failed), (3, 1));
        assert!(
            now[0].median_seconds.is_some_and(|seconds| seconds > 0.0),
            "{now:?}"
        );
    }

    #[test]
    fn definitions_count_by_tool_and_by_server() {
        let schema = |tool: &str, tokens| NewItem {
            tool: Some(tool.into()),
            ..new_item(Role::Container, Kind::ToolList, tokens)
        };
        let names = [
            "Read",
            "mcp__docs__search",
            "mcp__docs__page",
            "mcp__git__log",
        ];
        let items = (1..).zip(names).map(|(n, name)| schema(name, n * 100));
        let log = Log::new()
            .node("front", items.collect())
            .result("a", "mcp__docs__page", 1_000)
            .item("list", Role::Container, Kind::ToolList, 50);
        let session = &log.session;
        let now = tools(session, session.in_context(), 0);
        let names: Vec<&str> = now.iter().map(|tool| &*tool.name).collect();
        assert_eq!(
            names,
            [
                "mcp__docs__page",
                "mcp__git__log",
                "mcp__docs__search",
                "Read"
            ]
        );
        assert!(now.iter().all(|tool| tool.schema > 0));
        assert_eq!((now[0].results, now[1].results), (1, 0));
        let servers = servers(&now);
        let rows: Vec<_> = servers.iter().map(|s| (&*s.name, s.tools)).collect();
        assert_eq!(rows, [("docs", 2), ("git", 1)]);
        assert_eq!(servers[0].schema, now[0].schema + now[2].schema);
        assert_eq!(servers[0].tokens, now[0].tokens);
    }

    #[test]
    fn at_an_earlier_moment_nothing_of_later_counts() {
        let log = Log::new()
            .result("a", "Read", 4_000)
            .report(9_000)
            .result("b", "Bash", 1_000)
            .report(9_100)
            .compact(9_500)
            .report(3_000);
        let then = [(0, 4_000, Source::Shared)];
        let then = tools(&log.session, then, 1);
        assert_eq!(then.len(), 1);
        assert_eq!((then[0].results, then[0].in_context), (1, 4_000));
        assert_eq!(then[0].carried, 4_000);
    }
}
