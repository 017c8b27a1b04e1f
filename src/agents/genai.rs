//! Contents as Google's GenAI interface has them, which Gemini CLI and Qwen Code write to their logs
//! (googleapis/js-genai, `src/types.ts`: `Content`, `Part`).

use super::lenient::{Piece, Pieces, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A part of a content.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Parts<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    pub(super) thought: Option<bool>,
    #[serde(borrow)]
    pub(super) function_call: Option<Call<'a>>,
    #[serde(borrow)]
    pub(super) function_response: Option<Response<'a>>,
    #[serde(borrow)]
    pub(super) inline_data: Option<Media<'a>>,
    #[serde(borrow)]
    pub(super) file_data: Option<Media<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Pieces<'a, Parts<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Media<'a> {
    #[serde(borrow)]
    pub(super) mime_type: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Text<'a>,
}

impl<'a> Parts<'a> {
    /// What is no text: in the log, or a reference to it.
    pub(super) fn media(&self) -> Option<&Media<'a>> {
        self.inline_data.as_ref().or(self.file_data.as_ref())
    }
}

/// The parts of a content that are more than bare text.
pub(super) fn parts<'p, 'a>(
    content: &'p Pieces<'a, Parts<'a>>,
) -> impl Iterator<Item = &'p Parts<'a>> {
    content.0.iter().filter_map(|piece| match piece {
        Piece::Part(part) => Some(part),
        Piece::Text(_) => None,
    })
}
