//! What Copilot CLI's events hold, as far as it is of use.

use crate::agents::lenient::{Count, Pieces, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Data<'a>,
}

/// The data of an event, whatever its type: a name means the same in all of them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Data<'a> {
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) copilot_version: Text<'a>,
    #[serde(borrow)]
    pub(super) selected_model: Text<'a>,
    #[serde(borrow)]
    pub(super) new_model: Text<'a>,
    #[serde(borrow)]
    pub(super) chosen_model: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) context: Pieces<'a, Context<'a>>,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(borrow)]
    pub(super) title: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Text<'a>,
    #[serde(borrow)]
    pub(super) transformed_content: Text<'a>,
    #[serde(borrow)]
    pub(super) source: Text<'a>,
    pub(super) is_autopilot_continuation: Option<bool>,
    #[serde(borrow)]
    pub(super) attachments: Pieces<'a, Binary<'a>>,
    #[serde(borrow)]
    pub(super) message_id: Text<'a>,
    #[serde(borrow)]
    pub(super) api_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) interaction_id: Text<'a>,
    #[serde(borrow)]
    pub(super) turn_id: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_text: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_opaque: Text<'a>,
    #[serde(borrow)]
    pub(super) encrypted_content: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_requests: Pieces<'a, Request<'a>>,
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) parent_tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_name: Text<'a>,
    #[serde(borrow)]
    pub(super) result: Pieces<'a, Outcome<'a>>,
    #[serde(borrow)]
    pub(super) error: Pieces<'a, Outcome<'a>>,
    #[serde(borrow)]
    pub(super) agent_name: Text<'a>,
    #[serde(borrow)]
    pub(super) agent_display_name: Text<'a>,
    pub(super) success: Option<bool>,
    #[serde(borrow)]
    pub(super) custom_instructions: Text<'a>,
    #[serde(borrow)]
    pub(super) trigger: Text<'a>,
    #[serde(borrow)]
    pub(super) summary_content: Text<'a>,
    pub(super) pre_compaction_tokens: Count,
    pub(super) post_compaction_tokens: Count,
    pub(super) system_tokens: Count,
    pub(super) conversation_tokens: Count,
    pub(super) tool_definitions_tokens: Count,
    pub(super) current_tokens: Count,
    pub(super) token_limit: Count,
    pub(super) messages_removed_during_truncation: Count,
}

impl Data<'_> {
    /// The size of the context, told by its parts: system prompt, tools and conversation.
    pub(super) fn parts(&self) -> Option<u64> {
        let rest = self.system_tokens.or_zero() + self.tool_definitions_tokens.or_zero();
        Some(self.conversation_tokens.0? + rest)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Context<'a> {
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Request<'a> {
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// What came of a call: its result, or its error.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Outcome<'a> {
    #[serde(borrow)]
    pub(super) content: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
    #[serde(borrow)]
    pub(super) binary_results_for_llm: Pieces<'a, Binary<'a>>,
}

/// An image, or something else that is no text.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Binary<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Text<'a>,
}

impl Binary<'_> {
    /// Whether an attachment is sent as it is; others are named in the message's text.
    pub(super) fn is_inline(&self) -> bool {
        self.kind.get() == Some("blob")
    }
}
