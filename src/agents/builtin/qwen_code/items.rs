//! The items of a content: neighbouring texts of one kind are one item, each call and each result is
//! its own.

use super::record::Content;
use decode::genai::Parts;
use decode::lenient::{self, LostFields, Text, record, utf16_length};
use model::event::{EventSink, ItemBuilder, NewItem};
use model::{Kind, Role};

/// The tokens that Qwen Code counts for an image.
const IMAGE_TOKENS: u64 = 1_600;
/// The characters that it counts for each result in addition to its text.
const RESPONSE_CHARS: u64 = 64;
/// The beginnings of parts that the harness inserts into the user's messages.
const NOTES: [&str; 3] = [
    "<qwen:user-prompt-submit-context>",
    "<qwen:session-start-context>",
    "<system-reminder>",
];

record! {
    /// The fields of a result that Qwen Code counts.
    struct Outcome<'a> {
        output: Text<'a>,
        error: Text<'a>,
    }
}

/// The role and the kind of a text, where the text itself does not show them.
pub(super) type Class = (Role, Kind);

pub(super) const USERS: Class = (Role::User, Kind::Text);
pub(super) const MODELS: Class = (Role::Assistant, Kind::Text);
/// A note of the harness.
pub(super) const NOTE: Class = (Role::Container, Kind::Reminder);
/// A result of a tool, or a text beside it.
pub(super) const RESULT: Class = (Role::Tool, Kind::ToolResult);

/// Returns the items of a content; `texts` is the class of its texts.
pub(super) fn items(content: &Content<'_>, texts: Class, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let parts = content.parts.0.iter();
    let parts = parts.filter_map(|part| Some((class(part, texts)?, part)));
    let parts: Vec<(Class, &Parts<'_>)> = parts.collect();
    parts
        .chunk_by(|(class, _), (next_class, next)| {
            let begins = next.function_call.is_some() || next.function_response.is_some();
            class == next_class && !begins
        })
        .map(|chunk| {
            let ((role, kind), _) = chunk[0];
            let item = out.item(role, kind);
            let item = chunk.iter().fold(item, |item, (_, part)| add(item, part));
            let chars = chunk.iter().map(|(_, part)| chars(part)).sum();
            item.own_bytes(chars).done()
        })
        .collect()
}

/// Returns the role and kind of a part; `None`: it is empty.
fn class(part: &Parts<'_>, texts: Class) -> Option<Class> {
    if part.function_call.is_some() {
        return Some((Role::Assistant, Kind::ToolCall));
    }
    if let Some(response) = &part.function_response {
        return Some(match response.name.get() {
            Some("skill") => (Role::Container, Kind::Skill),
            _ => RESULT,
        });
    }
    if part.thought == Some(true) {
        return Some((Role::Assistant, Kind::Thinking));
    }
    let text = part.text.or_empty();
    let is_note = || NOTES.iter().any(|note| text.trim_start().starts_with(note));
    match part.media() {
        Some(_) => Some(texts),
        None if text.is_empty() => None,
        None if texts == USERS && is_note() => Some(NOTE),
        None => Some(texts),
    }
}

/// Returns the characters that Qwen Code itself counts for a part, four of them a token (`compactionInputSlimming.ts`,
/// `estimatePartChars`).
fn chars(part: &Parts<'_>) -> u64 {
    if let Some(response) = &part.function_response {
        let output = response.response.map_or(0, |value| {
            let read = lenient::parse(value.get(), &LostFields::default());
            let outcome: Outcome<'_> = read.unwrap_or_default();
            let text = outcome.output.get().or(outcome.error.get());
            utf16_length(text.unwrap_or_default())
        });
        return output + RESPONSE_CHARS;
    }
    if part.media().is_some() {
        return IMAGE_TOKENS * 4;
    }
    match &part.function_call {
        Some(call) => {
            let args = call.args.map_or(0, |args| utf16_length(args.get()));
            utf16_length(call.name.or_empty()) + args
        }
        None => utf16_length(part.text.or_empty()),
    }
}

fn add<'s, 'm>(item: ItemBuilder<'s, 'm>, part: &Parts<'_>) -> ItemBuilder<'s, 'm> {
    if let Some(call) = &part.function_call {
        return call.add_to(item);
    }
    if let Some(response) = &part.function_response {
        let item = item.tool(response.name.get()).call(response.id.get());
        return lenient::strings(item, response.response);
    }
    match (part.media(), part.text.get()) {
        (Some(media), _) => item.fixed(
            IMAGE_TOKENS,
            match media.mime_type.get() {
                Some("application/pdf") => "[pdf]",
                _ => "[image]",
            },
        ),
        (None, Some(text)) => item.text(text),
        (None, None) => item,
    }
}
