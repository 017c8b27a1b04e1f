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

/// The author of a text, where the text itself does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    User,
    Model,
    /// A tool: a text beside its result.
    Tool,
    /// The harness.
    Harness(Kind),
}

impl Author {
    /// Returns the author by the content's own role.
    pub(super) fn of(content: &Content<'_>) -> Author {
        match content.role.get() {
            Some("model") => Author::Model,
            _ => Author::User,
        }
    }
}

/// Returns the items of a content.
pub(super) fn items(
    content: &Content<'_>,
    author: Author,
    out: &mut EventSink<'_>,
) -> Vec<NewItem> {
    let parts = content.parts.0.iter();
    let parts = parts.filter_map(|part| class(part, author).map(|(role, kind)| (role, kind, part)));
    let parts: Vec<(Role, Kind, &Parts<'_>)> = parts.collect();
    parts
        .chunk_by(|(role, kind, _), (next_role, next_kind, next)| {
            let begins = next.function_call.is_some() || next.function_response.is_some();
            (role, kind) == (next_role, next_kind) && !begins
        })
        .map(|chunk| {
            let (role, kind, _) = chunk[0];
            let item = out.item(role, kind);
            let item = chunk.iter().fold(item, |item, (.., part)| add(item, part));
            let chars = chunk.iter().map(|(.., part)| chars(part)).sum();
            item.own_bytes(chars).done()
        })
        .collect()
}

/// Returns the role and kind of a part; `None`: it is empty.
fn class(part: &Parts<'_>, author: Author) -> Option<(Role, Kind)> {
    if part.function_call.is_some() {
        return Some((Role::Assistant, Kind::ToolCall));
    }
    if let Some(response) = &part.function_response {
        return Some(match response.name.get() {
            Some("skill") => (Role::Container, Kind::Skill),
            _ => (Role::Tool, Kind::ToolResult),
        });
    }
    if part.thought == Some(true) {
        return Some((Role::Assistant, Kind::Thinking));
    }
    if part.media().is_some() {
        return Some(class_of(author));
    }
    of_text(part.text.or_empty(), author)
}

fn of_text(text: &str, author: Author) -> Option<(Role, Kind)> {
    if text.is_empty() {
        return None;
    }
    let noted = NOTES.iter().any(|note| text.trim_start().starts_with(note));
    Some(match author {
        Author::User if noted => (Role::Container, Kind::Reminder),
        _ => class_of(author),
    })
}

fn class_of(author: Author) -> (Role, Kind) {
    match author {
        Author::User => (Role::User, Kind::Text),
        Author::Model => (Role::Assistant, Kind::Text),
        Author::Tool => (Role::Tool, Kind::ToolResult),
        Author::Harness(kind) => (Role::Container, kind),
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
