//! The rule of RFC 029, as implemented in its extension (wycats/SferaDev, packages/vscode-ai-gateway,
//! `src/tokens/counter.ts` and `hybrid-estimator.ts`).
//!
//! The last prompt that was reported is known, its output is not: the response is counted as a new
//! message. Only GPT-4o and o1 are counted by o200k, all other models by cl100k. Thinking is no part of a
//! message there.

use crate::Kind;
use crate::history::Item;
use derive_more::{AddAssign, SubAssign};

/// The framing of a message, of a tool call or result, of the system prompt, of all schemas, and of each.
const PER_MESSAGE: i128 = 4;
const PER_CALL: i128 = 4;
const SYSTEM_PROMPT: i128 = 28;
const PER_SCHEMAS: i128 = 16;
const PER_SCHEMA: i128 = 8;
/// An image for Claude, and the most for another model.
const CLAUDE_IMAGE: i128 = 1_600;
const MOST_PER_IMAGE: i128 = 1_700;

/// The quantities of a prompt that the rule measures.
#[derive(Debug, Clone, Copy, Default, AddAssign, SubAssign)]
pub(super) struct ByRfc029 {
    /// The messages.
    pub(super) messages: i128,
    /// The system prompt.
    prompt: i128,
    /// The definitions of tools.
    schemas: i128,
}

impl ByRfc029 {
    /// Returns the size of an item, after `before`, for a model.
    pub(super) fn of(item: &Item, before: Option<&Item>, model: Option<&str>) -> ByRfc029 {
        let size = item.size;
        let model = model.unwrap_or_default();
        let is = |names: [&str; 2]| names.iter().any(|name| model.contains(name));
        let text = i128::from(if is(["gpt-4o", "o1"]) {
            size.local
        } else {
            size.cl100k()
        });
        let image = match size.fixed {
            0 => 0,
            _ if is(["claude", "anthropic"]) => CLAUDE_IMAGE,
            fixed => i128::from(fixed).min(MOST_PER_IMAGE),
        };
        if text + image == 0 {
            return ByRfc029::default();
        }
        let framing = if goes_on(before, item) {
            0
        } else {
            PER_MESSAGE
        };
        let call = match item.kind {
            Kind::ToolCall => PER_CALL,
            Kind::ToolResult => PER_CALL + i128::from(size.call_id),
            _ => 0,
        };
        let mut measured = ByRfc029::default();
        match item.kind {
            Kind::Thinking => {}
            Kind::Prompt => measured.prompt = text + SYSTEM_PROMPT,
            Kind::ToolList if size.tools > 0 => {
                measured.schemas = text + PER_SCHEMA * i128::from(size.tools);
            }
            _ => measured.messages = text + image + framing + call,
        }
        measured
    }

    /// Returns everything in a prompt.
    pub(super) fn all(&self) -> i128 {
        let framing = match self.schemas {
            0 => 0,
            _ => PER_SCHEMAS,
        };
        self.messages + self.prompt + ((framing + self.schemas) * 11 + 9) / 10
    }
}

/// Returns true if an item is of the same message as the one before it: the parts of a response, and the results of
/// calls that ran in parallel.
fn goes_on(before: Option<&Item>, item: &Item) -> bool {
    before.is_some_and(|before| match item.output_of {
        Some(request) => before.output_of == Some(request) && before.kind != Kind::Thinking,
        None => item.kind == Kind::ToolResult && before.kind == Kind::ToolResult,
    })
}
