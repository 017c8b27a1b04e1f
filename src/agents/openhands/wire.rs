//! What OpenHands' events hold, as far as it is of use.

use crate::agents::lenient::{Count, Piece, Pieces, Text};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// An object, or nothing where there is none.
pub(super) type One<'a, T> = Pieces<'a, T>;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) parent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) source: Text<'a>,
    #[serde(borrow)]
    pub(super) llm_response_id: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_name: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    /// What the harness adds to a message or a result.
    #[serde(borrow)]
    pub(super) extended_content: Pieces<'a, Content<'a>>,

    // SystemPromptEvent
    #[serde(borrow)]
    pub(super) system_prompt: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) dynamic_context: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) tools: Pieces<'a, Tool<'a>>,

    // MessageEvent
    #[serde(borrow)]
    pub(super) llm_message: One<'a, Message<'a>>,
    #[serde(borrow)]
    pub(super) activated_skills: Pieces<'a, Nothing>,

    // ActionEvent
    #[serde(borrow)]
    pub(super) thought: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub(super) thinking_blocks: Pieces<'a, Block<'a>>,
    #[serde(borrow)]
    pub(super) responses_reasoning_item: One<'a, Reasoning<'a>>,
    #[serde(borrow)]
    pub(super) tool_call: One<'a, Call<'a>>,

    // ObservationEvent, UserRejectObservation, AgentErrorEvent
    #[serde(borrow)]
    pub(super) observation: One<'a, Observation<'a>>,
    #[serde(borrow)]
    pub(super) rejection_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) error: Text<'a>,

    // Condensation, CondensationRequest
    #[serde(borrow)]
    pub(super) forgotten_event_ids: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) summary: Text<'a>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,

    // TokenEvent
    pub(super) prompt_token_ids: Option<&'a RawValue>,
    pub(super) response_token_ids: Option<&'a RawValue>,

    // ConversationStateUpdateEvent
    #[serde(borrow)]
    pub(super) key: Text<'a>,
    pub(super) value: Option<&'a RawValue>,
}

/// Text, or images by their addresses.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) image_urls: Pieces<'a, Nothing>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tool<'a> {
    #[serde(borrow)]
    pub(super) title: Text<'a>,
    #[serde(borrow)]
    pub(super) description: Text<'a>,
    /// The definition that an MCP server gave, schema and all.
    pub(super) mcp_tool: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub(super) thinking_blocks: Pieces<'a, Block<'a>>,
    #[serde(borrow)]
    pub(super) responses_reasoning_item: One<'a, Reasoning<'a>>,
}

/// A block of Claude's thinking, readable or not.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Text<'a>,
}

/// A reasoning item of OpenAI's Responses.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Reasoning<'a> {
    #[serde(borrow)]
    pub(super) summary: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) content: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) encrypted_content: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) arguments: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Observation<'a> {
    #[serde(borrow)]
    pub(super) content: Pieces<'a, Content<'a>>,
    pub(super) is_error: Option<bool>,
    #[serde(borrow)]
    pub(super) metadata: One<'a, Terminal<'a>>,
}

/// What the terminal tells of a command.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Terminal<'a> {
    #[serde(borrow)]
    pub(super) prefix: Text<'a>,
    #[serde(borrow)]
    pub(super) suffix: Text<'a>,
    #[serde(borrow)]
    pub(super) working_dir: Text<'a>,
    #[serde(borrow)]
    pub(super) py_interpreter_path: Text<'a>,
    pub(super) exit_code: Count,
}

/// The state of a conversation: `base_state.json`, or an update of all of it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct State<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) agent: One<'a, Agent<'a>>,
    #[serde(borrow)]
    pub(super) workspace: One<'a, Workspace<'a>>,
    #[serde(borrow)]
    pub(super) stats: One<'a, Stats<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Agent<'a> {
    #[serde(borrow)]
    pub(super) llm: One<'a, Llm<'a>>,
    pub(super) condenser: One<'a, Condenser>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Llm<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) usage_id: Text<'a>,
    pub(super) max_input_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Condenser {
    pub(super) max_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Workspace<'a> {
    #[serde(borrow)]
    pub(super) working_dir: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Stats<'a> {
    #[serde(borrow)]
    pub(super) usage_to_metrics: Option<&'a RawValue>,
}

/// Metrics by the usage that a model is put to: `agent`, `condenser`, …
pub(super) type Metrics<'a> = HashMap<Cow<'a, str>, One<'a, Metric<'a>>>;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Metric<'a> {
    #[serde(borrow)]
    pub(super) accumulated_token_usage: One<'a, Numbers<'a>>,
    #[serde(borrow)]
    pub(super) token_usages: Pieces<'a, Numbers<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Numbers<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    pub(super) prompt_tokens: Count,
    pub(super) completion_tokens: Count,
    pub(super) cache_read_tokens: Count,
    pub(super) cache_write_tokens: Count,
    pub(super) reasoning_tokens: Count,
    pub(super) context_window: Count,
    /// Prompt and output of the last call.
    pub(super) per_turn_token: Count,
    #[serde(borrow)]
    pub(super) response_id: Text<'a>,
}

#[derive(Default, Deserialize)]
pub(super) struct Nothing {}

impl<'a> Stats<'a> {
    /// What is told of each usage.
    pub(super) fn metrics(&self) -> Metrics<'a> {
        let read = |raw: &'a RawValue| serde_json::from_str(raw.get()).ok();
        self.usage_to_metrics.and_then(read).unwrap_or_default()
    }
}

/// The first object of a field.
pub(super) fn one<'p, T>(field: &'p One<'_, T>) -> Option<&'p T> {
    objects(field).next()
}

/// The objects of a list.
pub(super) fn objects<'p, T>(list: &'p Pieces<'_, T>) -> impl Iterator<Item = &'p T> {
    list.0.iter().filter_map(|piece| match piece {
        Piece::Part(part) => Some(part),
        Piece::Text(_) => None,
    })
}

/// The texts of a list.
pub(super) fn texts<'p, T>(list: &'p Pieces<'_, T>) -> impl Iterator<Item = &'p str> {
    list.0.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(&**text),
        Piece::Part(_) => None,
    })
}
