//! Tool results that the API leaves out of a prompt after idle time, or that Claude Code cuts itself. They stay whole in the
//! log; each answer says how much was left out (2.1.332).
//!
//! Claude Code counts what was left out all the same when it compares its context with its trigger: with 45,620 tokens left
//! out, it compacted at 124,691 of 167,000.

use super::wire::ContextManagement;
use model::Kind;
use model::event::{Event, EventSink, Key, NewItem};

/// The tools whose results are left out: Claude Code's own, but for those that keep state.
const CLEARABLE: [&str; 12] = [
    "Bash",
    "BashOutput",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The results that may be left out of the next prompt, and the number of those that are.
#[derive(Debug, Default)]
pub(super) struct PendingClearing {
    /// The calls whose results may be left out, in the order of their results.
    calls: Vec<Key>,
    left_out: u64,
}

impl PendingClearing {
    /// Takes in the items of a record.
    pub(super) fn add(&mut self, items: &[NewItem]) {
        let results = items.iter().filter(|item| item.kind == Kind::ToolResult);
        let clearable = results.filter(|item| {
            let tool = item.tool.as_deref();
            tool.is_some_and(|tool| CLEARABLE.contains(&tool))
        });
        self.calls.extend(clearable.filter_map(|item| item.call));
    }

    /// Emits what an answer says of the prompt that it is to.
    pub(super) fn answer(&mut self, management: &ContextManagement<'_>, out: &mut EventSink<'_>) {
        let edits = &management.applied_edits;
        let is_cleared = edits
            .iter()
            .any(|edit| edit.cleared_tool_uses.or_zero() > 0);
        if is_cleared && let Some(kept) = management.client_sent_keep_tool_uses.0 {
            // With each new result it keeps one more, so that the same are left out.
            let kept = usize::try_from(kept).unwrap_or(usize::MAX);
            let cleared = self.calls.len().saturating_sub(kept);
            let calls: Vec<Key> = self.calls.drain(..cleared).collect();
            if !calls.is_empty() {
                out.emit(Event::cleared_calls(calls));
            }
        }
        let by_api = edits.iter().map(|edit| edit.cleared_input_tokens.or_zero());
        let by_client = management.client_cut_tool_uses.or_zero() > 0;
        let left_out = match by_api.fold(0, u64::saturating_add) {
            0 if by_client => management.client_estimated_cleared_input_tokens.or_zero(),
            by_api => by_api,
        };
        if left_out > 0 && left_out != self.left_out {
            self.left_out = left_out;
            out.emit(Event::LeftOut(left_out));
        }
    }
}
