//! Results that were too large. Size alone says little: a file that is worked on may be large. A result that the agent
//! had to cut, or that has a line which no person reads, was not what the call was meant to find.

use super::{Finding, FindingKind, Inputs, by_subject};
use crate::Kind;
use crate::cost::tools::server_of;
use crate::history::Item;

/// Smaller results are none, in tokens.
const LEAST_TOKENS: u64 = 2_000;
/// The least share of all prompts that a result carried.
const LEAST_SHARE: f64 = 0.003;
/// A longer line is not text that is read, in characters.
const LONG_LINE: u32 = 1_500;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let items = of.session.items().iter().enumerate();
    let parts = items.filter_map(|(ix, item)| {
        let tool = item.tool.as_deref().filter(|tool| is_asked(item, tool))?;
        let (tokens, _) = of.session.tokens(ix);
        let text = of.texts.of(item).filter(|_| tokens >= LEAST_TOKENS)?;
        let part = of.part(ix, tokens);
        let is_share = of.is_share(part.tokens, LEAST_SHARE);
        let is_much = text.cut.is_some() || text.longest_line >= LONG_LINE;
        (is_share && is_much).then_some((tool, part))
    });
    by_subject(FindingKind::Oversized, parts)
}

/// Returns true if an item is the result of a command, a search, a fetch or a server's tool: a narrower call would have
/// had a smaller one.
fn is_asked(item: &Item, tool: &str) -> bool {
    item.kind == Kind::ToolResult && (server_of(tool).is_some() || ToolClass::of(tool).is_some())
}

/// The kind of a tool, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolClass {
    /// It runs a command.
    Command,
    /// It searches.
    Search,
    /// It reads a page.
    Fetch,
}

impl ToolClass {
    /// Returns the class of a tool; `None`: another, or not known.
    pub fn of(tool: &str) -> Option<ToolClass> {
        let name = tool.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match () {
            () if has(&["bash", "shell", "exec", "command", "terminal"]) => {
                Some(ToolClass::Command)
            }
            () if has(&["grep", "glob", "search", "find", "list"]) => Some(ToolClass::Search),
            () if has(&["fetch", "browse", "url"]) => Some(ToolClass::Fetch),
            () => None,
        }
    }
}
