//! Reads the content of a request, as captures and investigations show it.

use super::wire::{FullContent, Line, Summary};
use decode::bodies::{request, role_of};
use decode::lenient::{FieldPlace, LostFields};
use decode::prompts::{Block, Content, mark_turns};
use model::event::Key;
use model::{Kind, Role};
use std::borrow::Cow;

/// Returns the conversation of a capture: its system prompt and its first message.
pub(super) fn conversation(line: &Line<'_>) -> Key {
    let prompt = line.system_prompt.as_ref();
    let prompt = prompt.map_or("", |prompt| prompt.hash.or_empty());
    let first = line.messages.first();
    let first = first.map_or("", |summary| summary.hash.or_empty());
    Key::of_parts(&["capture", prompt, first])
}

/// Returns the content of a captured request.
pub(super) fn captured<'l>(line: &'l Line<'_>, lost: &LostFields) -> Vec<Block<'l>> {
    let mut blocks = match &line.full_content {
        Some(content) => whole(content, lost.at("fullContent")),
        None => summarised(line),
    };
    mark_turns(&mut blocks);
    blocks
}

/// Returns the content of a request whose texts are not logged.
fn summarised<'l>(line: &'l Line<'_>) -> Vec<Block<'l>> {
    let mut blocks = Vec::new();
    let messages = &line.messages;
    let has_prompt = messages
        .iter()
        .any(|message| role_of(message.role.or_empty()) == Some(Role::System));
    if let Some(prompt) = line.system_prompt.as_ref().filter(|_| !has_prompt) {
        let hash = Cow::Borrowed(prompt.hash.or_empty());
        let text = Content::Unlogged(prompt.length.or_zero(), hash);
        blocks.push(Block::new(Role::Container, Kind::Prompt).with([text]));
    }
    let names: Vec<&str> = line.tool_names.iter().collect();
    let list = Block::text(Role::Container, Kind::ToolList, names.join(" "));
    blocks.push(list.offering(names.len()));
    blocks.extend(messages.iter().map(by_length));
    blocks
}

/// Returns a message of which only the length of its text is known.
fn by_length<'l>(summary: &'l Summary<'_>) -> Block<'l> {
    let has = |part: &str| summary.part_types.iter().any(|kind| kind == part);
    let (role, kind) = match role_of(summary.role.or_empty()) {
        Some(Role::User) if has("toolResult") => (Role::Tool, Kind::ToolResult),
        Some(Role::System) => (Role::Container, Kind::Prompt),
        Some(role @ (Role::User | Role::Tool)) => (role, Kind::Text),
        _ if has("toolCall") && !has("text") => (Role::Assistant, Kind::ToolCall),
        _ => (Role::Assistant, Kind::Text),
    };
    let hash = Cow::Borrowed(summary.hash.or_empty());
    let text = Content::Unlogged(summary.text_length.or_zero(), hash);
    Block::new(role, kind).with([text])
}

/// Returns the content of a captured request, with its texts. Where the system prompt is a message, it is there twice.
fn whole<'l>(content: &'l FullContent<'_>, at: FieldPlace<'_>) -> Vec<Block<'l>> {
    let (mut front, history) = request::parts(Vec::new(), content.messages, content.tools, at);
    if front.iter().all(|block| block.kind != Kind::Prompt) {
        let prompt = content.system_prompt.or_empty();
        front.insert(0, Block::text(Role::Container, Kind::Prompt, prompt));
    }
    front.extend(history);
    front
}
