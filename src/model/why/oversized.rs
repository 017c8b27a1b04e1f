//! Results that were too large. Size alone says little: a file that is worked on may be large. A result that the agent
//! had to cut, or that has a line which no person reads, was not what the call was meant to find.

use super::{Finding, FindingKind, Group, Inputs};
use crate::Kind;
use crate::cost::tools::server_of;
use crate::history::Item;
use std::collections::BTreeMap;

/// Smaller results are none, in tokens.
const LEAST_TOKENS: u64 = 2_000;
/// The least share of all prompts that a result carried.
const LEAST_SHARE: f64 = 0.003;
/// A longer line is not text that is read, in characters.
const LONG_LINE: u32 = 1_500;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for (ix, item) in of.session.items().iter().enumerate() {
        let Some(tool) = item.tool.as_deref().filter(|tool| is_asked(item, tool)) else {
            continue;
        };
        let (tokens, _) = of.session.tokens(ix);
        let is_large = tokens >= LEAST_TOKENS
            && of.is_share(of.carried.tokens(ix, tokens), LEAST_SHARE)
            && of
                .texts
                .of(item)
                .is_some_and(|text| text.cut.is_some() || text.longest_line >= LONG_LINE);
        if is_large {
            let group = groups.entry(tool);
            let group = group.or_insert_with(|| Group::new(FindingKind::Oversized, tool));
            group.add(of, ix, tokens);
        }
    }
    let groups = groups.into_values();
    groups
        .map(|group| {
            let count = group.items.len();
            group.finding(count)
        })
        .collect()
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
