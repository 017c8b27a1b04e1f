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

/// Returns true if a file of this type is sent as text.
pub(super) fn is_sent_as_text(mime: &str) -> bool {
    mime == "text/plain" || mime == "application/x-directory"
}

/// Adds a file to an item, unless it is sent as text. `url` is its base64, bare or as a URL.
pub(super) fn add_file<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    mime: &str,
    url: &str,
    formula: Formula,
) -> ItemBuilder<'s, 'm> {
    let data = url.split_once(',').map_or(url, |(_, data)| data);
    let label = format!("[{mime}]");
    match mime {
        _ if is_sent_as_text(mime) => item,
        "application/pdf" => item.document(pdf::tokens(data, pdf::PAGE, pdf::PAGE), &label),
        _ => item.fixed(image::tokens(data, formula, image::DEFAULT), &label),
    }
}
