//! What HPD-Agent's events hold, as far as it is of use.

use crate::agents::lenient::{Count, Piece, Pieces, Text};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// A branch around its events, as versions before the journal wrote it.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Document<'a> {
    #[serde(borrow)]
    pub(super) schema: Text<'a>,
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) branch_id: Text<'a>,
    pub(super) events: Option<Vec<IgnoredAny>>,
}

/// An event. Which of the fields are there depends on its type.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) event_id: Text<'a>,
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow, alias = "branchId")]
    pub(super) thread_id: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) metadata: One<'a, Agent<'a>>,
    #[serde(borrow)]
    pub(super) message_id: Text<'a>,
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) source: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) protected_data: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) args_json: Text<'a>,
    #[serde(borrow)]
    pub(super) call_type: Text<'a>,
    #[serde(borrow, alias = "harnessName")]
    pub(super) tool_harness_name: Text<'a>,
    #[serde(borrow)]
    pub(super) result: Pieces<'a, Answer<'a>>,
    #[serde(borrow)]
    pub(super) container_name: Text<'a>,
    #[serde(borrow)]
    pub(super) unlocked_functions: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) operation_id: Text<'a>,
    #[serde(borrow)]
    pub(super) model_id: Text<'a>,
    #[serde(borrow)]
    pub(super) usage: One<'a, Usage<'a>>,
    #[serde(borrow)]
    pub(super) sub_agent_name: Text<'a>,
    #[serde(borrow)]
    pub(super) parent_session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) compaction_id: Text<'a>,
    #[serde(borrow, alias = "modelCompactedMessageIds")]
    pub(super) compacted_message_ids: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) replacement_messages: Pieces<'a, Message<'a>>,
    #[serde(borrow)]
    pub(super) replacement: Pieces<'a, Message<'a>>,
}

/// An object in its place, or nothing.
pub(super) type One<'a, T> = Pieces<'a, T>;

/// The object of a field that should hold one.
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

#[derive(Default, Deserialize)]
pub(super) struct Nothing {}

/// Who told the event.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Agent<'a> {
    #[serde(borrow)]
    pub(super) agent_name: Text<'a>,
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    pub(super) depth: Count,
}

/// A piece of a message, as Microsoft.Extensions.AI writes it.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Content<'a> {
    #[serde(borrow, rename = "$type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) protected_data: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) uri: Text<'a>,
}

/// A message that takes the place of others.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) message_id: Text<'a>,
    #[serde(borrow)]
    pub(super) contents: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
}

/// A tool's result. `json` and `content` say the same as `text`, where there is one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) json: Option<&'a RawValue>,
}

/// Numbers of one call, or of a turn: its calls one by one, or all together.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Usage<'a> {
    pub(super) input_token_count: Count,
    pub(super) output_token_count: Count,
    pub(super) cached_input_token_count: Count,
    pub(super) reasoning_token_count: Count,
    #[serde(borrow)]
    pub(super) operations: Pieces<'a, Operation<'a>>,
}

/// One call of a turn.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Operation<'a> {
    #[serde(borrow)]
    pub(super) operation_id: Text<'a>,
    #[serde(borrow)]
    pub(super) model_id: Text<'a>,
    #[serde(borrow)]
    pub(super) family: Text<'a>,
    #[serde(borrow)]
    pub(super) usage: Pieces<'a, Usage<'a>>,
}
