//! What Gemini CLI's records hold, as far as it is of use.

use crate::agents::genai::{self, Call, Parts};
use crate::agents::image;
use crate::agents::lenient::{Count, Piece, Pieces, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What Gemini CLI counts for an image: for those whose size cannot be read, and whatever else is no
/// text.
const IMAGE_TOKENS: u64 = 3_000;
/// What Gemini CLI counts for a PDF.
const PDF_TOKENS: u64 = 25_800;

/// What tells lines apart.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(borrow, rename = "$rewindTo")]
    pub(super) rewind_to: Text<'a>,
    #[serde(borrow, rename = "$set")]
    pub(super) set: Option<Facts<'a>>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
}

/// The head of a session, a change to it, or a whole document.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Facts<'a> {
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) start_time: Text<'a>,
    #[serde(borrow)]
    pub(super) last_updated: Text<'a>,
    #[serde(borrow)]
    pub(super) summary: Text<'a>,
    #[serde(borrow)]
    pub(super) directories: Pieces<'a, Nothing>,
    #[serde(borrow)]
    pub(super) messages: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
pub(super) struct Nothing {}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Pieces<'a, Parts<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Pieces<'a, Call<'a>>,
    pub(super) tokens: Option<Tokens>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) input: Count,
    pub(super) output: Count,
    pub(super) cached: Count,
    pub(super) thoughts: Count,
    pub(super) tool: Count,
}

impl Message<'_> {
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call<'_>> {
        self.tool_calls.0.iter().filter_map(|piece| match piece {
            Piece::Part(call) => Some(call),
            Piece::Text(_) => None,
        })
    }

    /// The texts that the model gets, thoughts left out.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.0.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(&**text),
            Piece::Part(part) if part.thought == Some(true) => None,
            Piece::Part(part) => part.text.get(),
        })
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Parts<'_>> {
        genai::parts(&self.content)
    }
}

/// The tokens of what is no text, and its name.
pub(super) fn media<'p>(part: &'p Parts<'_>) -> Option<(u64, &'p str)> {
    let media = part.media()?;
    Some(match media.mime_type.or_empty() {
        "application/pdf" => (PDF_TOKENS, "[pdf]"),
        _ => {
            let size = image::dimensions(media.data.or_empty());
            let tokens = size.map_or(IMAGE_TOKENS, |(width, height)| image::gemini(width, height));
            (tokens, "[image]")
        }
    })
}
