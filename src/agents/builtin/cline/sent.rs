//! Reads the parts of the user's messages and of tools' results that are sent.

use super::{AROUND, counted};
use decode::anthropic::{self, Block, Content, ToolNames};
use decode::image;
use decode::lenient::{self, Raw, Text, full_length};
use model::event::{ELIDED, EventSink, NewItem, split_elided};
use model::{Kind, Role};
use serde_json::Value;

/// Characters of a string in a tool's result that are sent.
const SENT: usize = 8_000;

/// Returns the items of a message, and the characters that are not sent of it. Cline counts results without those, or
/// whole (`counts_whole`).
pub(super) fn items(
    content: &Content<'_>,
    tools: &ToolNames,
    counts_whole: bool,
    out: &mut EventSink<'_>,
) -> (Vec<NewItem>, u64) {
    let mut cut = 0;
    let items = content.0.iter().map(|block| {
        let mut item = match (block.kind.or_empty(), block.text.get()) {
            ("tool_result", _) => {
                let (item, without) = result(block, tools, counts_whole, out);
                cut += without;
                return item;
            }
            (_, Some(text)) => typed(text, out),
            ("file", _) => {
                let content: Text<'_> = lenient::value(block.raw_content(), "content", out);
                out.text(Role::User, Kind::Text, content.or_empty())
            }
            _ => {
                let (tokens, label) = anthropic::media_tokens(block, tools.images);
                let item = out.item(Role::User, Kind::Text);
                item.fixed(tokens, &label).done()
            }
        };
        counted(&mut item);
        item
    });
    (items.collect(), cut)
}

/// Returns a tool's result as it is sent.
fn result(
    block: &Block<'_>,
    tools: &ToolNames,
    counts_whole: bool,
    out: &mut EventSink<'_>,
) -> (NewItem, u64) {
    let call = block.tool_use_id.get();
    let tool = tools.get(call).or(block.name.get());
    let content = block.raw_content().map_or("", Raw::get);
    let mut content: Value = serde_json::from_str(content).unwrap_or_default();
    let whole = full_length(&content.to_string());
    shorten(&mut content);
    let sent = full_length(&content.to_string());
    let item = out.tool_result(tool, call);
    let item = match &content {
        Value::String(text) => item.text(text),
        Value::Array(parts) => parts.iter().fold(item, |item, part| {
            match (part["type"].as_str(), part["text"].as_str()) {
                (Some("image"), _) => item.fixed(image::DEFAULT, "[image]"),
                (_, Some(text)) => item.text(text),
                (_, None) => item.text(&part.to_string()),
            }
        }),
        other => item.text(&other.to_string()),
    };
    let (counted, cut) = if counts_whole {
        (whole, 0)
    } else {
        (sent, whole.saturating_sub(sent))
    };
    let item = item.own_bytes(counted + AROUND).done();
    (item, cut)
}

/// Adds the text that the user typed, without the tags around it.
fn typed(text: &str, out: &mut EventSink<'_>) -> NewItem {
    let inside = text.strip_prefix("<user_input mode=\"");
    let inside = inside.and_then(|rest| rest.strip_suffix("</user_input>")?.split_once("\">"));
    let text = inside.map_or(text, |(_, inside)| inside);
    out.text(Role::User, Kind::Text, text)
}

/// Takes the middle out of the strings that are too long.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > SENT => {
            let (shown, missing) = split_elided(text);
            let length = shown.chars().count() + usize::try_from(missing).unwrap_or_default();
            if length <= SENT {
                return;
            }
            let marker = |cut: usize| format!("\n\n...[truncated {cut} chars]...\n\n");
            let half = (SENT - marker(length).len()) / 2;
            let start: String = shown.chars().take(half).collect();
            let middle = marker(length - 2 * half);
            let end: String = match missing {
                0 => shown.chars().skip(length - half).collect(),
                // It is not there to be read, but its length is known.
                _ => format!("{ELIDED}{half}{ELIDED}"),
            };
            *text = start + &middle + &end;
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(map) => map.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_lose_their_middle_and_are_no_longer_than_is_sent() {
        for length in [7_999, 8_000, 8_001, 8_033, 29_000, 123_456] {
            let text = "é1234567".repeat(length / 8 + 1);
            let text: String = text.chars().take(length).collect();
            let mut value = serde_json::json!([{ "result": text, "success": true }]);
            shorten(&mut value);
            let short = value[0]["result"].as_str().unwrap();
            let count = short.chars().count();
            assert_eq!(short == text, length <= SENT);
            assert!(
                count <= SENT && (length < SENT || count > SENT - 4),
                "{count}"
            );
            assert!(text.ends_with(&short[short.len() - 9..]) && text.starts_with(&short[..9]));
        }
    }
}
