//! Jobs that were polled again and again, each time with the output since.

use super::{Finding, FindingKind, Inputs, by_subject};
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
    jobs.retain(|_, polls| polls.len() >= LEAST_POLLS);
    let polls = jobs.iter().flat_map(|((tool, _), polls)| {
        let items = polls.iter().flat_map(|(ix, call)| {
            let results = results.get(call).into_iter().flatten();
            results.copied().chain([*ix])
        });
        items.map(|ix| (*tool, of.part(ix, of.session.tokens(ix).0)))
    });
    let mut findings = by_subject(FindingKind::Polling, polls);
    findings.retain(|finding| of.is_share(finding.tokens, LEAST_SHARE));
    for finding in &mut findings {
        let polls = jobs
            .iter()
            .filter(|((tool, _), _)| **tool == *finding.about);
        finding.count = polls.map(|(_, polls)| polls.len() as u64).sum();
    }
    findings
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
