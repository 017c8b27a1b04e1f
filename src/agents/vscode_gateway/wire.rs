//! What the extension's lines hold, as far as it is of use.

use crate::agents::lenient::{Count, Piece, Pieces, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The object of a field that should hold one.
pub(super) fn one<'p, T>(field: &'p Pieces<'_, T>) -> Option<&'p T> {
    objects(field).next()
}

/// The objects of a list.
pub(super) fn objects<'p, T>(list: &'p Pieces<'_, T>) -> impl Iterator<Item = &'p T> {
    list.0.iter().filter_map(|piece| match piece {
        Piece::Part(part) => Some(part),
        Piece::Text(_) => None,
    })
}

/// A capture, a row of an index or of a conversation, a whole request, or an event around one.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) ts: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) conversation_id: Text<'a>,
    #[serde(borrow)]
    pub(super) chat_id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Pieces<'a, Model<'a>>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    pub(super) is_summarization: Option<bool>,
    estimated_input_tokens: Count,
    actual_input_tokens: Count,
    actual_output_tokens: Count,
    cached_tokens: Count,
    reasoning_tokens: Count,
    #[serde(borrow)]
    estimate: Pieces<'a, Estimate>,
    #[serde(borrow)]
    actual: Pieces<'a, Actual>,
    #[serde(borrow)]
    pub(super) entry: Pieces<'a, Line<'a>>,
    #[serde(borrow)]
    pub(super) capture: Pieces<'a, Line<'a>>,
    #[serde(borrow)]
    pub(super) request: Pieces<'a, Request<'a>>,
    #[serde(borrow)]
    pub(super) response: Pieces<'a, Response<'a>>,
    #[serde(borrow)]
    pub(super) capture_version: Text<'a>,
    #[serde(borrow)]
    pub(super) messages: Pieces<'a, Messages<'a>>,
    #[serde(borrow)]
    pub(super) system_prompt: Pieces<'a, Prompt<'a>>,
    #[serde(borrow)]
    pub(super) options: Pieces<'a, Options<'a>>,
    #[serde(borrow)]
    pub(super) tokens: Pieces<'a, Tokens>,
    #[serde(borrow)]
    pub(super) internal_state: Pieces<'a, State<'a>>,
    #[serde(borrow)]
    pub(super) full_content: Pieces<'a, FullContent<'a>>,
}

impl Line<'_> {
    /// The model's id: bare in investigations, in an object in captures.
    pub(super) fn model_id(&self) -> Option<&str> {
        self.model.0.iter().find_map(|piece| match piece {
            Piece::Text(id) => Some(&**id),
            Piece::Part(model) => model.id.get(),
        })
    }

    /// The extension's own number for the prompt, in tokens.
    pub(super) fn estimated(&self) -> Option<u64> {
        let summary = || one(&self.estimate).and_then(|estimate| estimate.total.0);
        self.estimated_input_tokens.0.or_else(summary)
    }

    /// The provider's numbers.
    pub(super) fn actual(&self) -> Actual {
        one(&self.actual).copied().unwrap_or(Actual {
            input: self.actual_input_tokens,
            output: self.actual_output_tokens,
            cached: self.cached_tokens,
            reasoning: self.reasoning_tokens,
        })
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Estimate {
    total: Count,
}

/// The provider's numbers, in tokens.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Actual {
    pub(super) input: Count,
    pub(super) output: Count,
    pub(super) cached: Count,
    pub(super) reasoning: Count,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Model<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) max_input_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) estimated: Count,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct State<'a> {
    #[serde(borrow)]
    pub(super) chat_id: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Messages<'a> {
    #[serde(borrow)]
    pub(super) content_summary: Pieces<'a, Summary<'a>>,
}

/// A message by its length.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Summary<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) part_types: Pieces<'a, Nothing>,
    pub(super) text_length: Count,
    #[serde(borrow)]
    pub(super) hash: Text<'a>,
}

#[derive(Default, Deserialize)]
pub(super) struct Nothing {}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Prompt<'a> {
    pub(super) length: Count,
    #[serde(borrow)]
    pub(super) hash: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Options<'a> {
    #[serde(borrow)]
    pub(super) tool_names: Pieces<'a, Nothing>,
}

/// A request with its texts.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FullContent<'a> {
    #[serde(borrow)]
    pub(super) system_prompt: Text<'a>,
    #[serde(borrow)]
    pub(super) messages: Pieces<'a, Message<'a>>,
    #[serde(borrow)]
    pub(super) tools: Option<&'a RawValue>,
}

/// A message, in VS Code's shape or in that of OpenAI's Responses, where calls and results are messages
/// of their own.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Text<'a>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Content<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_name: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// What was sent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Request<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) instructions: Text<'a>,
    #[serde(borrow)]
    pub(super) tools: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Pieces<'a, Message<'a>>,
}

/// What came back, as far as it is logged.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) usage: Pieces<'a, Numbers<'a>>,
}

/// A response's usage.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Numbers<'a> {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    #[serde(borrow)]
    input_tokens_details: Pieces<'a, Details>,
    #[serde(borrow)]
    output_tokens_details: Pieces<'a, Details>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
    reasoning_tokens: Count,
}

impl Numbers<'_> {
    pub(super) fn actual(&self) -> Actual {
        let cached = one(&self.input_tokens_details).map(|details| details.cached_tokens);
        let reasoning = one(&self.output_tokens_details).map(|details| details.reasoning_tokens);
        Actual {
            input: self.input_tokens,
            output: self.output_tokens,
            cached: Count(
                self.cache_read_input_tokens
                    .0
                    .or(cached.and_then(|count| count.0)),
            ),
            reasoning: reasoning.unwrap_or_default(),
        }
    }
}
