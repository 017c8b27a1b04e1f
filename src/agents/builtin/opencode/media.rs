//! Reads the content that is sent beside text: pictures, and the data that a provider wants back with its reasoning.

use decode::image::{self, Formula};
use decode::lenient::{self, Raw};
use decode::pdf;
use model::event::ItemBuilder;
use serde_json::Value;

/// Returns the bytes of the longest text in what the provider wants back with its reasoning.
pub(super) fn hidden_bytes(metadata: Raw<'_>) -> u64 {
    fn longest(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(longest).max().unwrap_or(0),
            Value::Object(map) => map.values().map(longest).max().unwrap_or(0),
            _ => 0,
        }
    }
    let value = serde_json::from_str(metadata.get()).unwrap_or_default();
    longest(&value) as u64
}

/// Returns the formula by which a model counts images.
pub(super) fn picture_formula(model: Option<&str>) -> Formula {
    match lenient::model_name(model.unwrap_or_default()) {
        name if name.starts_with("claude") => image::claude_formula(name),
        name if name.starts_with("gemini") => image::gemini,
        name => image::openai_formula(name, ""),
    }
}

/// A file that is sent as it is.
pub(super) struct Media {
    tokens: u64,
    label: String,
    is_document: bool,
}

impl Media {
    /// Adds it to an item.
    pub(super) fn add_to<'s, 'm>(self, item: ItemBuilder<'s, 'm>) -> ItemBuilder<'s, 'm> {
        if self.is_document {
            item.document(self.tokens, &self.label)
        } else {
            item.fixed(self.tokens, &self.label)
        }
    }
}

/// Returns a file that is sent as it is; `None`: it is sent as text. `url` is its base64, bare or as a URL.
pub(super) fn media(mime: &str, url: &str, formula: Formula) -> Option<Media> {
    if mime == "text/plain" || mime == "application/x-directory" {
        return None;
    }
    let data = url.split_once(',').map_or(url, |(_, data)| data);
    let is_document = mime == "application/pdf";
    let tokens = if is_document {
        pdf::tokens(data, pdf::PAGE, pdf::PAGE)
    } else {
        image::tokens(data, formula, image::DEFAULT)
    };
    Some(Media {
        tokens,
        label: format!("[{mime}]"),
        is_document,
    })
}
