//! What a request carried, as captures and investigations show it.

use super::wire::{Content, FullContent, Line, Message, Request, Summary, objects, one};
use crate::agents::lenient::{Piece, Text};
use crate::agents::snapshot::Unit;
use crate::model::event::Key;
use crate::model::{Kind, Role};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The conversation that a capture is of: its system prompt and its first message.
pub(super) fn conversation(line: &Line<'_>) -> Key {
    let prompt = one(&line.system_prompt).map(|prompt| prompt.hash.or_empty());
    let messages = one(&line.messages);
    let first = messages.and_then(|messages| objects(&messages.content_summary).next());
    let first = first.map(|summary| summary.hash.or_empty());
    Key::of_parts(&[
        "capture",
        prompt.unwrap_or_default(),
        first.unwrap_or_default(),
    ])
}

/// What a capture says that the request carried.
pub(super) fn captured<'l>(line: &'l Line<'_>) -> Vec<Unit<'l>> {
    if let Some(content) = one(&line.full_content) {
        return with_texts(content);
    }
    let mut units = Vec::new();
    let messages = || {
        let messages = one(&line.messages).into_iter();
        messages.flat_map(|messages| objects(&messages.content_summary))
    };
    let is_told = messages().any(|message| role_of(&message.role) == Role::Container);
    if let Some(prompt) = one(&line.system_prompt).filter(|_| !is_told) {
        units.push(Unit {
            unseen: prompt.length.or_zero(),
            digest: Cow::Borrowed(prompt.hash.or_empty()),
            ..Unit::new(Role::Container, Kind::Prompt, "")
        });
    }
    if let Some(options) = one(&line.options) {
        let names: Vec<&str> = bare(&options.tool_names.0).collect();
        if !names.is_empty() {
            units.push(Unit::new(Role::Container, Kind::ToolList, names.join(" ")));
        }
    }
    units.extend(messages().map(by_length));
    units
}

/// The texts of a list.
fn bare<'p, T>(list: &'p [Piece<'_, T>]) -> impl Iterator<Item = &'p str> {
    list.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(&**text),
        Piece::Part(_) => None,
    })
}

/// A message of which the length of its text is known alone.
fn by_length<'l>(summary: &'l Summary<'_>) -> Unit<'l> {
    let has = |part: &str| bare(&summary.part_types.0).any(|kind| kind == part);
    let (role, kind) = match role_of(&summary.role) {
        Role::User if has("toolResult") => (Role::Tool, Kind::ToolResult),
        Role::Assistant if has("toolCall") && !has("text") => (Role::Assistant, Kind::ToolCall),
        Role::Container => (Role::Container, Kind::Prompt),
        role => (role, Kind::Text),
    };
    Unit {
        unseen: summary.text_length.or_zero(),
        digest: Cow::Borrowed(summary.hash.or_empty()),
        ..Unit::new(role, kind, "")
    }
}

fn role_of(role: &Text<'_>) -> Role {
    match role.or_empty() {
        "User" | "user" => Role::User,
        "System" | "system" | "developer" => Role::Container,
        "tool" => Role::Tool,
        _ => Role::Assistant,
    }
}

fn with_texts<'l>(content: &'l FullContent<'_>) -> Vec<Unit<'l>> {
    let mut units = Vec::new();
    let is_told = objects(&content.messages).any(|m| role_of(&m.role) == Role::Container);
    if !is_told {
        let prompt = content.system_prompt.or_empty();
        units.push(Unit::new(Role::Container, Kind::Prompt, prompt));
    }
    units.extend(content.tools.map(tool_list));
    objects(&content.messages).for_each(|message| of_message(message, &mut units));
    units
}

/// What a whole request carried.
pub(super) fn carried<'l>(request: &'l Request<'_>) -> Vec<Unit<'l>> {
    let mut units = Vec::new();
    units.push(Unit::new(
        Role::Container,
        Kind::Prompt,
        request.instructions.or_empty(),
    ));
    units.extend(request.tools.map(tool_list));
    objects(&request.input).for_each(|message| of_message(message, &mut units));
    units
}

fn tool_list(tools: &RawValue) -> Unit<'_> {
    match tools.get() {
        "[]" | "null" => Unit::new(Role::Container, Kind::ToolList, ""),
        tools => Unit::new(Role::Container, Kind::ToolList, tools),
    }
}

fn of_message<'l>(message: &'l Message<'_>, units: &mut Vec<Unit<'l>>) {
    let call = || message.call_id.get().map(Cow::Borrowed);
    match message.kind.or_empty() {
        "function_call" => {
            return units.push(Unit {
                call: call(),
                tool: message.name.get().map(Cow::Borrowed),
                ..Unit::new(
                    Role::Assistant,
                    Kind::ToolCall,
                    message.arguments.or_empty(),
                )
            });
        }
        "function_call_output" => {
            return units.push(Unit {
                call: call(),
                ..Unit::new(Role::Tool, Kind::ToolResult, plain(message.output))
            });
        }
        _ => {}
    }
    let role = role_of(&message.role);
    for piece in &message.content.0 {
        match piece {
            Piece::Text(text) => units.push(said(role, text)),
            Piece::Part(content) => units.push(of_content(role, content)),
        }
    }
}

fn of_content<'l>(role: Role, content: &'l Content<'_>) -> Unit<'l> {
    let (kind, of, raw) = match content.kind.or_empty() {
        "toolCall" => (Kind::ToolCall, Role::Assistant, content.input),
        "toolResult" => (Kind::ToolResult, Role::Tool, content.tool_result),
        _ => return said(role, content.text.or_empty()),
    };
    Unit {
        call: content.call_id.get().map(Cow::Borrowed),
        tool: content.tool_name.get().map(Cow::Borrowed),
        ..Unit::new(of, kind, plain(raw))
    }
}

fn said(role: Role, text: &str) -> Unit<'_> {
    let kind = match role {
        Role::Container => Kind::Prompt,
        Role::Tool => Kind::ToolResult,
        _ => Kind::Text,
    };
    Unit::new(role, kind, text)
}

/// A value's text: without its quotes where it is a string.
fn plain<'l>(value: Option<&'l RawValue>) -> Cow<'l, str> {
    let Some(value) = value else {
        return Cow::Borrowed("");
    };
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(value.get()),
    }
}
