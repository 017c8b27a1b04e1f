//! What a request carried, as captures and investigations show it.

use super::wire::{Content as Part, FullContent, Line, Message, Request, Summary};
use kit::lenient::{self, Piece, Raw, Text, scan};
use kit::prompts::{Block, Content, mark_turns};
use model::event::Key;
use model::{Kind, Role};
use std::borrow::Cow;

/// The conversation of a capture: its system prompt and its first message.
pub(super) fn conversation(line: &Line<'_>) -> Key {
    let prompt = line.system_prompt.as_ref();
    let prompt = prompt.map_or("", |prompt| prompt.hash.or_empty());
    let first = line.messages.content_summary.first();
    let first = first.map_or("", |summary| summary.hash.or_empty());
    Key::of_parts(&["capture", prompt, first])
}

/// What a captured request carried.
pub(super) fn captured<'l>(line: &'l Line<'_>) -> Vec<Block<'l>> {
    let mut blocks = Vec::new();
    match &line.full_content {
        Some(content) => full(content, &mut blocks),
        None => summarised(line, &mut blocks),
    }
    mark_turns(&mut blocks);
    blocks
}

/// What a request carried whose texts are not logged.
fn summarised<'l>(line: &'l Line<'_>, blocks: &mut Vec<Block<'l>>) {
    let messages = &line.messages.content_summary;
    let has_prompt = messages
        .iter()
        .any(|message| role_of(&message.role) == Role::Container);
    if let Some(prompt) = line.system_prompt.as_ref().filter(|_| !has_prompt) {
        let hash = Cow::Borrowed(prompt.hash.or_empty());
        let text = Content::Unlogged(prompt.length.or_zero(), hash);
        blocks.push(Block::new(Role::Container, Kind::Prompt).with([text]));
    }
    let names: Vec<&str> = line.options.tool_names.iter().collect();
    let list = Block::text(Role::Container, Kind::ToolList, names.join(" "));
    blocks.push(list.offering(names.len()));
    blocks.extend(messages.iter().map(by_length));
}

/// A message of which only the length of its text is known.
fn by_length<'l>(summary: &'l Summary<'_>) -> Block<'l> {
    let has = |part: &str| summary.part_types.iter().any(|kind| kind == part);
    let (role, kind) = match role_of(&summary.role) {
        Role::User if has("toolResult") => (Role::Tool, Kind::ToolResult),
        Role::Assistant if has("toolCall") && !has("text") => (Role::Assistant, Kind::ToolCall),
        Role::Container => (Role::Container, Kind::Prompt),
        role => (role, Kind::Text),
    };
    let hash = Cow::Borrowed(summary.hash.or_empty());
    let text = Content::Unlogged(summary.text_length.or_zero(), hash);
    Block::new(role, kind).with([text])
}

fn role_of(role: &Text<'_>) -> Role {
    match role.or_empty() {
        "User" | "user" => Role::User,
        "System" | "system" | "developer" => Role::Container,
        "tool" => Role::Tool,
        _ => Role::Assistant,
    }
}

fn full<'l>(content: &'l FullContent<'_>, blocks: &mut Vec<Block<'l>>) {
    let is_prompt = |message: &Message<'_>| role_of(&message.role) == Role::Container;
    let prompt = match content.messages.iter().any(is_prompt) {
        true => "",
        false => content.system_prompt.or_empty(),
    };
    blocks.push(Block::text(Role::Container, Kind::Prompt, prompt));
    blocks.extend(content.tools.map(tool_list));
    let messages = content.messages.iter();
    messages.for_each(|message| add_message(message, blocks));
}

/// What a whole request carried.
pub(super) fn carried<'l>(request: &'l Request<'_>) -> Vec<Block<'l>> {
    let prompt = request.instructions.or_empty();
    let mut blocks = vec![Block::text(Role::Container, Kind::Prompt, prompt)];
    blocks.extend(request.tools.map(tool_list));
    for message in &request.input.0 {
        match message {
            Piece::Text(text) => blocks.push(text_block(Role::User, text)),
            Piece::Part(message) => add_message(message, &mut blocks),
        }
    }
    mark_turns(&mut blocks);
    blocks
}

fn tool_list(tools: Raw<'_>) -> Block<'_> {
    let text = Some(tools.get()).filter(|tools| *tools != "[]");
    let list = Block::text(Role::Container, Kind::ToolList, text.unwrap_or_default());
    list.offering(lenient::tool_count(tools.get()))
}

fn add_message<'l>(message: &'l Message<'_>, blocks: &mut Vec<Block<'l>>) {
    let call = message.call_id.get();
    match message.kind.or_empty() {
        "function_call" => {
            let arguments = message.arguments.or_empty().into();
            return blocks.push(tool_call(call, message.name.get(), arguments));
        }
        "function_call_output" => {
            return blocks.push(tool_result(call, None, plain(message.output)));
        }
        _ => {}
    }
    let role = role_of(&message.role);
    for piece in &message.content.0 {
        blocks.push(match piece {
            Piece::Text(text) => text_block(role, text),
            Piece::Part(part) => block_of(role, part),
        });
    }
}

fn block_of<'l>(role: Role, part: &'l Part<'_>) -> Block<'l> {
    let (call, tool) = (part.call_id.get(), part.tool_name.get());
    match part.kind.or_empty() {
        "toolCall" => tool_call(call, tool, plain(part.input)),
        "toolResult" => tool_result(call, tool, plain(part.tool_result)),
        _ => text_block(role, part.text.or_empty()),
    }
}

fn tool_call<'l>(
    call: Option<&'l str>,
    tool: Option<&'l str>,
    arguments: Cow<'l, str>,
) -> Block<'l> {
    Block::text(Role::Assistant, Kind::ToolCall, arguments)
        .for_call(call.map(Cow::Borrowed), tool.map(Cow::Borrowed))
}

fn tool_result<'l>(
    call: Option<&'l str>,
    tool: Option<&'l str>,
    result: Cow<'l, str>,
) -> Block<'l> {
    Block::text(Role::Tool, Kind::ToolResult, result)
        .for_call(call.map(Cow::Borrowed), tool.map(Cow::Borrowed))
}

fn text_block(role: Role, text: &str) -> Block<'_> {
    let kind = match role {
        Role::Container => Kind::Prompt,
        Role::Tool => Kind::ToolResult,
        _ => Kind::Text,
    };
    Block::text(role, kind, text)
}

/// A value's text: without its quotes where it is a string.
fn plain<'l>(value: Option<Raw<'l>>) -> Cow<'l, str> {
    let json = value.map_or("", Raw::get);
    scan::string(json).unwrap_or(Cow::Borrowed(json))
}
