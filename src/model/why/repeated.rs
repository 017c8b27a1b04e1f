//! Results with lines that the context has already: a file that is read again whole after a change of one line.

use super::{Finding, FindingKind, Group, Inputs};
use crate::history::{Item, ItemIx};
use crate::{Kind, Role};
use std::collections::{BTreeMap, HashMap};

/// Smaller results are none, in tokens.
const LEAST_TOKENS: u64 = 500;
/// The least share of the lines of a result that the context has already.
const LEAST_SHARE: f64 = 0.8;
/// Fewer lines show nothing.
const LEAST_LINES: usize = 5;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let mut groups: BTreeMap<&str, (Group, usize)> = BTreeMap::new();
    for (ix, share) in overlaps(of) {
        let item = &of.session.items()[ix];
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

/// Returns the results of tools, each with the share of its lines that an item before it has which was in the context
/// with it.
fn overlaps(of: &Inputs<'_>) -> Vec<(ItemIx, f64)> {
    let items = of.session.items();
    // The newest item with each line.
    let mut newest: HashMap<u64, ItemIx> = HashMap::new();
    let mut all = Vec::new();
    for (ix, item) in items.iter().enumerate() {
        let looked = of.texts.with(item, |text| {
            let known = text.lines.iter().filter(|line| {
                let before = newest.get(line).map(|before| &items[*before]);
                before.is_some_and(|before| is_with(before, item))
            });
            let share = known.count() as f64 / text.lines.len().max(1) as f64;
            text.lines.iter().for_each(|line| {
                newest.insert(*line, ix);
            });
            (text.lines.len() >= LEAST_LINES).then_some(share)
        });
        if let Some(share) = looked.flatten().filter(|_| is_read(item)) {
            all.push((ix, share));
        }
    }
    all
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

/// Returns true if an earlier item was in the first prompt that held a later one. Two items that came together count
/// too, since the second could have been left out.
fn is_with(before: &Item, item: &Item) -> bool {
    item.entered()
        .is_some_and(|entered| before.held_by(entered))
}
