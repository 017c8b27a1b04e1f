//! What the results of each tool cost, and its definition where the log has it; and the sums for each MCP server.
//!
//! ```text
//!    TOKENS SHARE RESULTS  IN CONTEXT  LARGEST CARRIED     COST  TOOL
//! ▌   87.7k   71%      14       61.1k    61.0k    1.1M    $0.33  Read
//! ```

use super::{Column, List, ListSource, Row, Target, View, counted, right, table};
use crate::paint::{Pieces, Tone, piece, plain};
use model::tools::{Server, Tool, server_of, servers, tools};
use render::{self, number};

/// The tools, the most tokens first.
pub(super) fn list(source: &ListSource<'_>) -> Box<dyn List> {
    let state = &source.page.state;
    let tools = tools(source.session, state.items.iter().copied(), state.requests);
    let sum = |server: Server| {
        let is_its = |tool: &&Tool| server_of(&tool.name) == Some(&*server.name);
        let mut own = tools.iter().filter(is_its);
        let first = own.next()?;
        let share = first.share + own.map(|tool| tool.share).sum::<f64>();
        Some(Tool {
            name: format!("mcp__{}__*", server.name).into(),
            results: 0,
            tokens: server.tokens,
            in_context: server.in_context,
            schema: server.schema,
            share,
            carried: 0,
            carried_usd: None,
            ..first.clone()
        })
    };
    let sums: Vec<Tool> = servers(&tools).into_iter().filter_map(sum).collect();
    let rows: Vec<Tool> = tools.into_iter().chain(sums).collect();
    table(rows, |tool| tool.name.clone())
}

impl Row for Tool {
    const COLUMNS: &'static [Column<Tool>] = &[
        right("TOKENS", [8; 3], |view, tool| {
            view.number(number::tokens(tool.tokens), Tone::Strong)
        }),
        right("SHARE", [6; 3], |view, tool| {
            view.number(format!("{:.0}%", tool.share * 100.0), Tone::Quiet)
        }),
        right("SCHEMA", [8; 3], |view, tool| {
            view.number(number::tokens_or_none(tool.schema), Tone::Plain)
        }),
        right("RESULTS", [8; 3], |_, tool| plain(tool.results.to_string())),
        right("IN CONTEXT", [0, 12, 12], |view, tool| {
            view.number(number::tokens_or_none(tool.in_context), Tone::Plain)
        }),
        right("LARGEST", [0, 0, 9], |view, tool| {
            view.number(number::tokens(tool.largest.1), Tone::Plain)
        }),
        right("CARRIED", [0, 8, 8], |view, tool| {
            view.number(number::short_or_none(tool.carried), Tone::Plain)
        }),
        right("COST", [0, 0, 9], |view, tool| {
            let usd = render::or_none(tool.carried_usd.map(number::usd));
            view.number(usd, Tone::Quiet)
        }),
    ];
    const TEXT: &'static str = "TOOL";

    fn text(&self, _: &View<'_>) -> Pieces {
        vec![piece(&self.name, Tone::Text)]
    }

    fn empty(_: &View<'_>) -> Vec<String> {
        vec!["no tool results yet".to_owned()]
    }

    fn caption(rows: &[Tool], _: &View<'_>) -> String {
        counted(rows.len(), ", by tokens")
    }

    fn target(&self) -> Target {
        Target::Tool(self.name.trim_end_matches('*').to_owned())
    }
}
