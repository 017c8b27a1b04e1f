//! One message of a custom log: its author, and its items.

use super::mapping::{Author, Mapping};
use super::pointer::Pointers;
use kit::lenient::{self, Raw};
use model::event::{ItemBuilder, Key, NewItem, Part, Sink};
use model::{Kind, Role};
use serde_json::Value;
use std::collections::HashMap;

/// A message as the mapping reads it.
pub(super) struct Message<'v> {
    pub(super) author: Author,
    texts: Vec<&'v Value>,
    thinking: Vec<&'v Value>,
    tool: Option<String>,
    call: Option<String>,
    arguments: Vec<&'v Value>,
    calls: Vec<Call<'v>>,
    results: Vec<Call<'v>>,
}

/// A tool call, or its result.
struct Call<'v> {
    tool: Option<String>,
    id: Option<String>,
    content: Vec<&'v Value>,
}

impl<'v> Message<'v> {
    /// Reads a message. The error says why it is not a message.
    pub(super) fn read(mapping: &Mapping, value: &'v Value) -> Result<Message<'v>, Box<str>> {
        let keys = &mapping.message;
        let Some(word) = keys.role.text(value) else {
            return Err("no role".into());
        };
        let Some(author) = mapping.roles.author(&word) else {
            return Err(format!("role {word}").into());
        };
        let calls = keys.calls.elements(value).into_iter().map(|call| Call {
            tool: mapping.calls.name.text(call),
            id: mapping.calls.id.text(call),
            content: content(&mapping.calls.arguments, call),
        });
        let results = keys.results.elements(value).into_iter().map(|result| Call {
            tool: mapping.results.tool.text(result),
            id: mapping.results.call.text(result),
            content: content(&mapping.results.text, result),
        });
        Ok(Message {
            author,
            texts: content(&keys.text, value),
            thinking: content(&keys.thinking, value),
            tool: keys.tool.text(value),
            call: keys.call.text(value),
            arguments: match author {
                Author::Call => content(&keys.arguments, value),
                _ => Vec::new(),
            },
            // A part of another kind has no name, or nothing at all.
            calls: calls.filter(|call| call.tool.is_some()).collect(),
            results: results
                .filter(|result| !result.content.is_empty())
                .collect(),
        })
    }

    /// Returns a key that distinguishes it from other messages of a list that is written with every request.
    pub(super) fn key(&self, agent: &str) -> Key {
        let mut parts = vec![agent.to_owned(), format!("{:?}", self.author)];
        parts.extend(self.tool.clone());
        parts.extend(self.call.clone());
        let calls = self.calls.iter().chain(&self.results);
        let words = calls.clone().flat_map(|call| [&call.tool, &call.id]);
        parts.extend(words.flatten().cloned());
        let content = self.thinking.iter().chain(&self.texts);
        let content = content.chain(&self.arguments);
        let content = content.chain(calls.flat_map(|call| &call.content));
        parts.extend(content.map(ToString::to_string));
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Key::of_parts(&parts)
    }

    /// Returns the part of the exchange that it is.
    pub(super) fn part(&self) -> Part {
        match self.author {
            Author::User if !self.results.is_empty() => Part::Result,
            Author::User => Part::Input,
            Author::Assistant | Author::Call => Part::Output,
            Author::Tool => Part::Result,
            Author::System | Author::Container | Author::Summary => Part::Injected,
        }
    }

    /// Returns the items that it puts into the context. `tools` are the names of tools by call.
    pub(super) fn items(
        &self,
        tools: &mut HashMap<Key, Box<str>>,
        out: &mut Sink<'_>,
    ) -> Vec<NewItem> {
        let mut items = Vec::new();
        let mut add = |role, kind, tool: Option<&str>, id: Option<&str>, content: &[&Value]| {
            // A call is its name, too; anything else without content is nothing.
            let name = tool.filter(|_| kind == Kind::ToolCall);
            if content.is_empty() && name.is_none() {
                return;
            }
            let item = out.item(role, kind).tool(tool).call(id);
            let item = name.into_iter().fold(item, ItemBuilder::text);
            let item = content.iter().fold(item, |item, value| put(item, value));
            items.push(item.done());
        };
        let (tool, call) = (self.tool.as_deref(), self.call.as_deref());
        match self.author {
            Author::User => add(Role::User, Kind::Text, None, None, &self.texts),
            Author::Assistant => {
                add(Role::Assistant, Kind::Thinking, None, None, &self.thinking);
                add(Role::Assistant, Kind::Text, None, None, &self.texts);
            }
            Author::Call => {
                name(tools, call, tool);
                let content = [&self.texts[..], &self.arguments].concat();
                add(Role::Assistant, Kind::ToolCall, tool, call, &content);
            }
            Author::Tool => {
                let named = tool.map(Into::into).or_else(|| named(tools, call));
                add(
                    Role::Tool,
                    Kind::ToolResult,
                    named.as_deref(),
                    call,
                    &self.texts,
                );
            }
            Author::System => add(Role::Container, Kind::Prompt, None, None, &self.texts),
            Author::Container => add(Role::Container, Kind::Reminder, None, None, &self.texts),
            Author::Summary => add(Role::Container, Kind::Summary, None, None, &self.texts),
        }
        for Call { tool, id, content } in &self.calls {
            let (tool, id) = (tool.as_deref(), id.as_deref());
            name(tools, id, tool);
            add(Role::Assistant, Kind::ToolCall, tool, id, content);
        }
        for Call { tool, id, content } in &self.results {
            let id = id.as_deref();
            let named = tool.as_deref().map(Into::into).or_else(|| named(tools, id));
            add(Role::Tool, Kind::ToolResult, named.as_deref(), id, content);
        }
        items
    }
}

fn name(tools: &mut HashMap<Key, Box<str>>, call: Option<&str>, tool: Option<&str>) {
    if let (Some(call), Some(tool)) = (call, tool) {
        tools.insert(Key::of(call), tool.into());
    }
}

fn named(tools: &HashMap<Key, Box<str>>, call: Option<&str>) -> Option<Box<str>> {
    tools.get(&Key::of(call?)).cloned()
}

/// Returns the values these point at that are not empty; lists aside, whose elements `*` points at.
fn content<'v>(pointers: &Pointers, value: &'v Value) -> Vec<&'v Value> {
    let found = pointers.each(value).into_iter();
    found
        .filter(|found| match found {
            Value::Null | Value::Array(_) => false,
            Value::String(text) => !text.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
        })
        .collect()
}

/// Adds a value to an item: a string as the text that it is, anything else as JSON.
fn put<'s, 'm>(item: ItemBuilder<'s, 'm>, value: &Value) -> ItemBuilder<'s, 'm> {
    match value {
        Value::String(text) => item.text(text),
        other => lenient::raw(item, Raw::of(&other.to_string())),
    }
}
