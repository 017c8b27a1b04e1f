//! Message content: strings and blocks, as the model gets them.

use crate::agents::image;
use crate::model::event::{Key, NewItem, Sink};
use crate::model::{Kind, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    signature: Option<Cow<'a, str>>,
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    content: Option<&'a RawValue>,
    source: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MediaSource<'a> {
    #[serde(borrow)]
    data: Option<Cow<'a, str>>,
    #[serde(borrow)]
    media_type: Option<Cow<'a, str>>,
}

enum Content<'a> {
    Text(Cow<'a, str>),
    /// Each block parsed, or its JSON where it is no object this reader knows.
    Blocks(Vec<Result<Block<'a>, &'a str>>),
}

fn parse(raw: &RawValue) -> Content<'_> {
    if let Ok(text) = serde_json::from_str::<Cow<'_, str>>(raw.get()) {
        return Content::Text(text);
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    Content::Blocks(
        blocks
            .into_iter()
            .map(|raw| serde_json::from_str(raw.get()).map_err(|_| raw.get()))
            .collect(),
    )
}

/// The items of a user record: typed text, tool results, and what the harness embedded in them.
pub(in crate::agents) fn user_items(
    raw: &RawValue,
    role: Role,
    kind: Kind,
    tools: &HashMap<Key, Box<str>>,
    out: &mut Sink<'_>,
) -> Vec<NewItem> {
    let mut items = Vec::new();
    match parse(raw) {
        Content::Text(text) => text_items(&text, role, kind, &mut items, out),
        Content::Blocks(blocks) => {
            for block in blocks {
                match block {
                    Ok(block) => match block.kind.as_deref() {
                        Some("tool_result") => tool_result(&block, tools, &mut items, out),
                        _ => match block.text.as_deref() {
                            Some(text) => text_items(text, role, kind, &mut items, out),
                            None => items.push(media(&block, role, kind, out)),
                        },
                    },
                    Err(json) => items.push(out.item(role, kind).text(json).done()),
                }
            }
        }
    }
    items
}

/// Text of a user record, the harness's reminders in it split off.
fn text_items(text: &str, role: Role, kind: Kind, items: &mut Vec<NewItem>, out: &mut Sink<'_>) {
    let (role, kind) = match role {
        Role::User => injected(text).map_or((role, kind), |kind| (Role::Container, kind)),
        _ => (role, kind),
    };
    for (part, reminder) in split_reminders(text) {
        if reminder && kind != Kind::Summary {
            items.push(out.item(Role::Container, Kind::Reminder).text(part).done());
        } else if !part.trim().is_empty() {
            items.push(out.item(role, kind).text(part).done());
        }
    }
}

/// What kind of harness text this is, if it is one that stands in a plain user record.
fn injected(text: &str) -> Option<Kind> {
    const NOTES: [&str; 6] = [
        "<local-command-stdout>",
        "<local-command-stderr>",
        "<local-command-caveat>",
        "<bash-stdout>",
        "<bash-stderr>",
        "<task-notification>",
    ];
    let start = text.trim_start();
    NOTES
        .iter()
        .any(|tag| start.starts_with(tag))
        .then_some(Kind::Reminder)
}

const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// A text's parts, each with whether it is a reminder. All parts together are the text.
fn split_reminders(text: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(REMINDER.0) {
        let Some(len) = rest[start..].find(REMINDER.1) else {
            break;
        };
        let end = start + len + REMINDER.1.len();
        if start > 0 {
            parts.push((&rest[..start], false));
        }
        parts.push((&rest[start..end], true));
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        parts.push((rest, false));
    }
    parts
}

fn tool_result(
    block: &Block<'_>,
    tools: &HashMap<Key, Box<str>>,
    items: &mut Vec<NewItem>,
    out: &mut Sink<'_>,
) {
    let call = block.tool_use_id.as_deref();
    let tool = call.and_then(|id| tools.get(&Key::of(id))).map(|t| &**t);
    let content = block.content.map(parse);
    let mut reminders = Vec::new();
    let mut result = out.item(Role::Tool, Kind::ToolResult).tool(tool).call(call);
    match &content {
        None => {}
        Some(Content::Text(text)) => {
            for (part, reminder) in split_reminders(text) {
                if reminder {
                    reminders.push(part);
                } else {
                    result = result.text(part);
                }
            }
        }
        Some(Content::Blocks(blocks)) => {
            for block in blocks {
                match block {
                    Ok(block) => match (block.text.as_deref(), block.tool_name.as_deref()) {
                        (Some(text), _) => {
                            for (part, reminder) in split_reminders(text) {
                                if reminder {
                                    reminders.push(part);
                                } else {
                                    result = result.text(part);
                                }
                            }
                        }
                        // A tool's definition, put in by the server: its text is in no log.
                        (None, Some(name)) => result = result.fixed(TOOL_DEFINITION, name),
                        (None, None) => {
                            let (tokens, label) = media_tokens(block);
                            result = result.fixed(tokens, &label);
                        }
                    },
                    Err(json) => result = result.text(json),
                }
            }
        }
    }
    items.push(result.done());
    for text in reminders {
        items.push(out.item(Role::Container, Kind::Reminder).text(text).done());
    }
}

/// Tokens of a deferred tool's definition once it is loaded: a guess, since no log holds its text.
const TOOL_DEFINITION: u64 = 300;
/// Tokens of an image whose size cannot be read.
const UNKNOWN_IMAGE: u64 = 1_500;
/// Tokens of a document: 1,500 to 3,000 a page by the provider's account, and the pages are unknown.
const DOCUMENT: u64 = 2_000;

fn media(block: &Block<'_>, role: Role, kind: Kind, out: &mut Sink<'_>) -> NewItem {
    let (tokens, label) = media_tokens(block);
    out.item(role, kind).fixed(tokens, &label).done()
}

fn media_tokens(block: &Block<'_>) -> (u64, String) {
    let source = block
        .source
        .and_then(|raw| serde_json::from_str::<MediaSource<'_>>(raw.get()).ok());
    let media = source
        .as_ref()
        .and_then(|s| s.media_type.as_deref())
        .unwrap_or("");
    match block.kind.as_deref() {
        Some("image") => {
            let data = source.as_ref().and_then(|s| s.data.as_deref());
            match data.and_then(image::dimensions) {
                Some((w, h)) => (image::claude(w, h), format!("[image {w}×{h}]")),
                None => (UNKNOWN_IMAGE, "[image]".to_owned()),
            }
        }
        Some("document") => (DOCUMENT, format!("[document {media}]")),
        other => (0, format!("[{}]", other.unwrap_or("unknown block"))),
    }
}

/// The items of an assistant record. Remembers the names of the tools it calls.
pub(in crate::agents) fn assistant_items(
    raw: &RawValue,
    tools: &mut HashMap<Key, Box<str>>,
    out: &mut Sink<'_>,
) -> Vec<NewItem> {
    let blocks = match parse(raw) {
        Content::Text(text) => {
            return vec![out.item(Role::Assistant, Kind::Text).text(&text).done()];
        }
        Content::Blocks(blocks) => blocks,
    };
    blocks
        .into_iter()
        .map(|block| match block {
            Ok(block) => assistant_item(&block, tools, out),
            Err(json) => out.item(Role::Assistant, Kind::Text).text(json).done(),
        })
        .collect()
}

fn assistant_item(
    block: &Block<'_>,
    tools: &mut HashMap<Key, Box<str>>,
    out: &mut Sink<'_>,
) -> NewItem {
    match block.kind.as_deref() {
        Some("thinking") => {
            // The readable text is often empty or a summary; the signature grows with what is hidden.
            let signature = block.signature.as_deref().map_or(0, str::len) as u64;
            out.item(Role::Assistant, Kind::Thinking)
                .text(block.thinking.as_deref().unwrap_or(""))
                .opaque(signature)
                .done()
        }
        Some("redacted_thinking") => out
            .item(Role::Assistant, Kind::Thinking)
            .opaque(block.data.map_or(0, |raw| raw.get().len()) as u64)
            .done(),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let name = block.name.as_deref().unwrap_or("");
            if let Some(id) = block.id.as_deref() {
                tools.insert(Key::of(id), name.into());
            }
            let input = block.input.map_or("", RawValue::get);
            out.item(Role::Assistant, Kind::ToolCall)
                .tool(Some(name))
                .call(block.id.as_deref())
                .text(name)
                .text(input)
                .done()
        }
        _ => match (block.text.as_deref(), block.content) {
            (Some(text), _) => out.item(Role::Assistant, Kind::Text).text(text).done(),
            // Results of tools that ran on the server stand in the assistant's own turn.
            (None, Some(content)) => out
                .item(Role::Tool, Kind::ToolResult)
                .tool(block.kind.as_deref())
                .call(block.tool_use_id.as_deref())
                .text(content.get())
                .done(),
            (None, None) => media(block, Role::Assistant, Kind::Text, out),
        },
    }
}
