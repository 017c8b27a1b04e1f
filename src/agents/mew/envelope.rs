//! What lines of the history hold, as far as it is of use.

use crate::agents::lenient::{Count, Piece, Pieces, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A line.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) event: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) participant: Text<'a>,
    #[serde(borrow)]
    pub(super) space_id: Text<'a>,
    #[serde(borrow)]
    pub(super) envelope: Pieces<'a, Envelope<'a>>,
}

/// An envelope.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Envelope<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) ts: Text<'a>,
    #[serde(borrow)]
    pub(super) from: Text<'a>,
    #[serde(borrow)]
    pub(super) to: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) correlation_id: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) payload: Pieces<'a, Payload<'a>>,
}

#[derive(Default, Deserialize)]
pub(super) struct Nothing {}

/// What an envelope carries. Which of the fields are there depends on its kind.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
    #[serde(borrow)]
    pub(super) method: Text<'a>,
    #[serde(borrow)]
    pub(super) params: Pieces<'a, Params<'a>>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    pub(super) tokens: Count,
    pub(super) max_tokens: Count,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    pub(super) freed_messages: Count,
    pub(super) skipped: Option<bool>,
    #[serde(borrow)]
    pub(super) direction: Text<'a>,
    pub(super) entries: Count,
}

/// What a tool is called with.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// The object of a field that should hold one.
pub(super) fn one<'p, T>(field: &'p Pieces<'_, T>) -> Option<&'p T> {
    field.0.iter().find_map(|piece| match piece {
        Piece::Part(part) => Some(part),
        Piece::Text(_) => None,
    })
}

/// The texts of a field.
pub(super) fn texts<'p>(field: &'p Pieces<'_, Nothing>) -> impl Iterator<Item = &'p str> {
    field.0.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(&**text),
        Piece::Part(_) => None,
    })
}

/// What a tool gave back, or a piece of it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Given<'a> {
    #[serde(borrow)]
    pub(super) content: Pieces<'a, Given<'a>>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
}
