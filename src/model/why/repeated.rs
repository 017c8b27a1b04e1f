//! Results with lines that the context has already: a file that is read again whole after a change of one line.

use super::{Finding, FindingKind, Inputs, by_subject};
use crate::cost::calls::is_edit;
use crate::history::Item;
use crate::{Kind, Role};

/// Smaller results are none, in tokens.
const LEAST_TOKENS: u64 = 500;
/// The least share of the lines of a result that the context has already.
const LEAST_SHARE: f64 = 0.8;
/// Fewer lines show nothing.
const LEAST_LINES: usize = 5;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let overlaps = of.texts.overlaps(of.session).into_iter();
    let items = of.session.items().iter().zip(overlaps).enumerate();
    let parts = items.filter_map(|(ix, (item, overlap))| {
        let share = overlap.filter(|share| *share >= LEAST_SHARE && is_read(item))?;
        let lines = of.texts.of(item)?.lines.len();
        let (tokens, _) = of.session.tokens(ix);
        let tool = item.tool.as_deref().unwrap_or("unknown");
        let is_part = lines >= LEAST_LINES && tokens >= LEAST_TOKENS;
        is_part.then(|| (tool, of.part(ix, (tokens as f64 * share) as u64)))
    });
    let mut findings = by_subject(FindingKind::Repeated, parts);
    findings.retain(|finding| finding.tokens > 0);
    findings
}

/// Returns true if an item is the result of a call that reads something. A client that puts in a file again was not asked
/// to, and the result of an edit is no reading.
fn is_read(item: &Item) -> bool {
    item.role == Role::Tool
        && item.kind == Kind::ToolResult
        && item.call.is_some()
        && !is_edit(item)
}
