//! Results with lines that the context has already: a file that is read again whole after a change of one line.

use super::{Finding, FindingKind, Group, Inputs};
use crate::history::Item;
use crate::{Kind, Role};
use std::collections::BTreeMap;

/// Smaller results are none, in tokens.
const LEAST_TOKENS: u64 = 500;
/// The least share of the lines of a result that the context has already.
const LEAST_SHARE: f64 = 0.8;
/// Fewer lines show nothing.
const LEAST_LINES: usize = 5;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let mut groups: BTreeMap<&str, (Group, usize)> = BTreeMap::new();
    let overlaps = of.texts.overlaps(of.session);
    for (ix, item) in of.session.items().iter().enumerate() {
        let has_lines = |item| {
            of.texts
                .of(item)
                .is_some_and(|text| text.line_count() >= LEAST_LINES)
        };
        let Some(share) = overlaps[ix].filter(|_| is_read(item) && has_lines(item)) else {
            continue;
        };
        let (tokens, _) = of.session.tokens(ix);
        if share < LEAST_SHARE || tokens < LEAST_TOKENS {
            continue;
        }
        let tool = item.tool.as_deref().unwrap_or("unknown");
        let group = groups.entry(tool);
        let (group, count) = group.or_insert_with(|| (Group::new(FindingKind::Repeated, tool), 0));
        group.add(of, ix, (tokens as f64 * share) as u64);
        *count += 1;
    }
    let groups = groups.into_values();
    groups
        .map(|(group, count)| group.finding(count))
        .filter(|finding| finding.tokens > 0)
        .collect()
}

/// Returns true if an item is the result of a call that reads something. A client that puts in a file again was not asked
/// to, and the result of an edit is no reading.
fn is_read(item: &Item) -> bool {
    let tool = item
        .tool
        .as_deref()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_edit = ["edit", "patch", "write_file"]
        .iter()
        .any(|word| tool.contains(word));
    let is_edit = is_edit || tool == "write";
    item.role == Role::Tool && item.kind == Kind::ToolResult && item.call.is_some() && !is_edit
}
