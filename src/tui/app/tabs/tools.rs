//! Lists the tokens of each tool's results, and of its definition where the log has it. Each MCP server has the sums of
//! its tools.
//!
//! ```text
//!    RESULT TOK SHARE  SCHEMA RESULTS  ALL NOW  LARGEST CARRIED  CARRIED $  TOOL
//! ▌       87.7k   71%       —      14    61.1k    61.0k    1.1M      $0.33  Read
//!         30.2k   24%    9.1k       6    30.2k    12.2k    310k      $0.10  MCP server docs, 2 tools
//!         18.0k          4.0k       4    18.0k    12.2k    200k      $0.06  └ search
//! ```

use super::{Column, Row, TabList, Target, View, columns, counted, table};
use crate::app::layout::WidthClass;
use crate::paint::{Pieces, Tone, piece, plain, quiet};
use model::cost::tools::{Tool, server_of, servers, short_name, tools};
use render::calls::{failed, took};
use render::{self, number};
use std::cmp::Reverse;

/// A tool, or all tools of a server.
#[derive(Debug)]
struct Line {
    /// The tool; of a server its name and the sums of its tools.
    tool: Tool,
    /// The number of a server's tools; `None`: it is a tool.
    tools: Option<usize>,
    /// Its server's size, by which it is sorted; of others their own.
    group: (u64, u64),
}

/// Returns the tools and the servers, the most tokens first. A server's tools are below it, since its sums are theirs.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    let state = &view.page.state;
    let tools = tools(view.session, state.items.iter().copied(), state.requests);
    let servers = servers(&tools).into_iter().filter_map(|server| {
        let own = tools
            .iter()
            .filter(|tool| server_of(&tool.name) == Some(&*server.name));
        let mut sum = own.cloned().reduce(add)?;
        sum.name = server.name;
        Some(Line {
            group: (sum.tokens, sum.schema),
            tool: sum,
            tools: Some(server.tools),
        })
    });
    let mut lines: Vec<Line> = servers.collect();
    let of_servers = lines.len();
    for tool in tools {
        let own = (tool.tokens, tool.schema);
        let server = lines.iter().take(of_servers);
        let mut server = server.filter(|line| server_of(&tool.name) == Some(&*line.tool.name));
        lines.push(Line {
            group: server.next().map_or(own, |line| line.group),
            tool,
            tools: None,
        });
    }
    lines.sort_by(|a, b| {
        let size =
            |line: &Line| Reverse((line.tools.is_some(), line.tool.tokens, line.tool.schema));
        let groups = b
            .group
            .cmp(&a.group)
            .then_with(|| a.server().cmp(&b.server()));
        groups.then_with(|| size(a).cmp(&size(b)))
    });
    table(lines, |line| (line.tool.name.clone(), line.tools.is_some()))
}

impl Line {
    /// Returns the server that it is, or is of.
    fn server(&self) -> Option<&str> {
        match self.tools {
            Some(_) => Some(&self.tool.name),
            None => server_of(&self.tool.name),
        }
    }
}

/// Returns the sums of two tools.
fn add(a: Tool, b: Tool) -> Tool {
    Tool {
        name: a.name,
        results: a.results + b.results,
        failed: a.failed + b.failed,
        // That of tools together is not known.
        median_seconds: None,
        tokens: a.tokens.saturating_add(b.tokens),
        in_context: a.in_context.saturating_add(b.in_context),
        calls: a.calls.saturating_add(b.calls),
        schema: a.schema.saturating_add(b.schema),
        largest: std::cmp::max_by_key(a.largest, b.largest, |(_, tokens, _)| *tokens),
        carried: a.carried.saturating_add(b.carried),
        carried_usd: a.carried_usd.zip(b.carried_usd).map(|(a, b)| a + b),
        share: a.share + b.share,
    }
}

impl Row for Line {
    const COLUMNS: &'static [Column<Line>] = columns! { Line;
        right "RESULT TOK" [11; 3] |view, line| view.number(number::tokens(line.tool.tokens), Tone::Strong),
            means "tokens of its results, in the context or not";
        right "SHARE" [6; 3] |view, line| match line.tools.or(line.server().map(|_| 0)) {
            // It is part of its server's.
            Some(0) => plain(""),
            _ => view.number(format!("{:.0}%", line.tool.share * 100.0), Tone::Quiet),
        }, means "of the results of all tools; a server's is that of its tools together";
        right "SCHEMA" [8; 3] |view, line| view.number(number::tokens_or_none(line.tool.schema), Tone::Plain),
            means "its definition in the context";
        right "RESULTS" [8; 3] |_, line| plain(line.tool.results.to_string()), means "how many";
        right "FAILED" [0, 0, 8] |_, line| plain(failed(line.tool.failed as u64, line.tool.results as u64)), means "the share of its calls that failed";
        right "TOOK" [0, 0, 8] |view, line| view.number(took(line.tool.median_seconds), Tone::Quiet),
            means "from a call to its result, the median";
        right "CALL TOK" [0, 0, 10] |view, line| view.number(number::tokens_or_none(line.tool.calls), Tone::Plain),
            means "tokens of its calls in the context";
        right "ALL NOW" [0, 9, 9] |view, line| view.number(number::tokens_or_none(line.tool.held()), Tone::Plain),
            means "tokens of its definition, calls and results in the context";
        right "LARGEST" [0, 0, 9] |view, line| view.number(number::tokens_or_none(line.tool.largest.1), Tone::Plain),
            means "its largest result";
        right "CARRIED" [0, 8, 8] |view, line| view.number(number::short_or_none(line.tool.carried), Tone::Plain),
            means "tokens sent so far: each result times the requests whose prompts held it";
        right "CARRIED $" [0, 0, 11] |view, line| {
            let usd = line.tool.carried_usd.filter(|_| line.tool.carried > 0);
            view.number(render::or_none(usd.map(number::usd)), Tone::Quiet)
        }, means "the least that CARRIED has cost: the list price of cache reads";
    };
    const TEXT: &'static str = "TOOL";

    fn text(&self, _: &View<'_>) -> Pieces {
        let name = |name: &str| piece(name, Tone::Text);
        match (self.tools, server_of(&self.tool.name)) {
            (None, None) => vec![name(&self.tool.name)],
            (None, Some(_)) => vec![quiet("└ "), name(short_name(&self.tool.name))],
            (Some(tools), _) => {
                let tools = quiet(format!(", {}", number::counted(tools as u64, "tool")));
                vec![quiet("MCP server "), name(&self.tool.name), tools]
            }
        }
    }

    fn empty(_: &View<'_>) -> Vec<String> {
        vec!["no tool results yet".to_owned()]
    }

    fn captions(lines: &[Line], view: &View<'_>) -> [String; 2] {
        let servers = lines.iter().filter(|line| line.tools.is_some()).count();
        let [mut tools, brief] = counted(lines.len() - servers, ", by tokens");
        if servers > 0 && view.fold() == WidthClass::Wide {
            tools += &format!(", {}", number::counted(servers as u64, "server"));
        }
        [tools, brief]
    }

    fn target(&self) -> Target {
        Target::Tool(match self.tools {
            Some(_) => format!("mcp__{}__", self.tool.name),
            None => self.tool.name.to_string(),
        })
    }
}
