//! Jobs that were polled again and again, each time with the output since.

use super::{Finding, FindingKind, Group, Inputs};
use crate::Kind;
use crate::event::Key;
use crate::history::{Item, ItemIx};
use std::collections::{BTreeMap, HashMap};

/// The tools that ask for the output of a job that goes on.
const POLLS: [&str; 5] = [
    "write_stdin",
    "wait",
    "TaskOutput",
    "BashOutput",
    "read_bash",
];
/// Fewer polls of one job are none.
const LEAST_POLLS: usize = 5;
/// The least share of all prompts that they carried.
const LEAST_SHARE: f64 = 0.03;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let items = of.session.items();
    let mut results: HashMap<Key, Vec<ItemIx>> = HashMap::new();
    let mut jobs: BTreeMap<(&str, &str), Vec<(ItemIx, Key)>> = BTreeMap::new();
    for (ix, item) in items.iter().enumerate() {
        let (Some(call), Some(tool)) = (item.call, item.tool.as_deref()) else {
            continue;
        };
        match item.kind {
            Kind::ToolCall if POLLS.contains(&tool) => {
                if let Some(job) = job(item) {
                    jobs.entry((tool, job)).or_default().push((ix, call));
                }
            }
            Kind::ToolResult if POLLS.contains(&tool) => {
                results.entry(call).or_default().push(ix);
            }
            _ => {}
        }
    }
    let mut groups: BTreeMap<&str, (Group, usize)> = BTreeMap::new();
    let polled = jobs
        .into_iter()
        .filter(|(_, polls)| polls.len() >= LEAST_POLLS);
    for ((tool, _), polls) in polled {
        let group = groups.entry(tool);
        let (group, count) = group.or_insert_with(|| (Group::new(FindingKind::Polling, tool), 0));
        *count += polls.len();
        for (ix, call) in polls {
            let results = results.get(&call).into_iter().flatten();
            for ix in results.copied().chain([ix]) {
                group.add(of, ix, of.session.tokens(ix).0);
            }
        }
    }
    let groups = groups.into_values();
    groups
        .filter(|(group, _)| of.is_share(group.tokens, LEAST_SHARE))
        .map(|(group, count)| group.finding(count))
        .collect()
}

/// Returns the id of the job that a call polls; `None`: it names none, or types something into it.
fn job(call: &Item) -> Option<&str> {
    let words = || call.preview.split_whitespace();
    if words().any(|word| word.starts_with("chars=")) {
        return None;
    }
    let mut ids = words().filter_map(|word| word.split_once('='));
    ids.find(|(name, _)| name.ends_with("_id"))
        .map(|(_, id)| id)
}
