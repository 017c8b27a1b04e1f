//! What calls carried and what was answered, in all the ways in which conventions have written it.

use super::span::Attributes;
use crate::agents::image;
use crate::agents::snapshot::Unit;
use crate::model::event::ELIDED;
use crate::model::{Kind, Role};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Units = Vec<Unit<'static>>;

/// The content that stands in a record's attributes.
pub(super) fn of_attributes(attributes: &Attributes, input: &mut Units, output: &mut Units) {
    for name in ["gen_ai.system_instructions", "ai.prompt.system"] {
        if let Some(value) = attributes.get(name) {
            let message = Value::Array(vec![
                serde_json::json!({"role": "system", "content": parsed(value)}),
            ]);
            messages(&message, Role::Container, input);
        }
    }
    for name in ["gen_ai.tool.definitions", "ai.prompt.tools", "llm.tools"] {
        if let Some(value) = attributes.get(name) {
            input.push(Unit::new(Role::Container, Kind::ToolList, text_of(value)));
        }
    }
    for name in ["gen_ai.input.messages", "ai.prompt.messages"] {
        if let Some(value) = attributes.get(name) {
            messages(&parsed(value), Role::User, input);
        }
    }
    if let Some(value) = attributes.get("gen_ai.output.messages") {
        messages(&parsed(value), Role::Assistant, output);
    }
    if let Some(Value::String(text)) = attributes.get("ai.response.text") {
        output.push(Unit::new(Role::Assistant, Kind::Text, text.clone()));
    }
    if let Some(calls) = attributes.get("ai.response.toolCalls") {
        list(&parsed(calls))
            .iter()
            .for_each(|call| output.push(tool_call(call)));
    }
    // Older Pydantic AI: the events of the messages as one attribute.
    if let Some(events) = attributes.get("events") {
        for event in list(&parsed(events)) {
            let name = event
                .get("event.name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            of_event(name, attributes, Some(&event), input, output);
        }
    }
    numbered(attributes, "gen_ai.prompt.", Role::User, input);
    numbered(attributes, "llm.input_messages.", Role::User, input);
    numbered(attributes, "gen_ai.completion.", Role::Assistant, output);
    numbered(attributes, "llm.output_messages.", Role::Assistant, output);
}

/// The content of an event of a span, or of a log record with a body.
pub(super) fn of_event(
    name: &str,
    attributes: &Attributes,
    body: Option<&Value>,
    input: &mut Units,
    output: &mut Units,
) {
    let role = match name {
        "gen_ai.system.message" => "system",
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" => "assistant",
        "gen_ai.tool.message" => "tool",
        "gen_ai.choice" => "choice",
        "gen_ai.content.prompt" => {
            let prompt = attributes.get("gen_ai.prompt").map(parsed);
            return messages(&prompt.unwrap_or_default(), Role::User, input);
        }
        "gen_ai.content.completion" => {
            let said = attributes.get("gen_ai.completion").map(parsed);
            return messages(&said.unwrap_or_default(), Role::Assistant, output);
        }
        // Today's event for content: what it carries stands in its attributes, or in its body.
        "gen_ai.client.inference.operation.details" => {
            if let Some(Value::Object(body)) = body {
                let named = Attributes::of_map(body.clone());
                of_attributes(&named, input, output);
            }
            return;
        }
        _ => return,
    };
    let event = match (body, attributes.get("gen_ai.event.content")) {
        (Some(body), _) => parsed(body),
        (None, Some(content)) => parsed(content),
        (None, None) => attributes.to_value(),
    };
    let Value::Object(mut event) = event else {
        return;
    };
    if role == "choice" {
        let message = event
            .get("message")
            .map(parsed)
            .unwrap_or(Value::Object(event));
        return messages(&message, Role::Assistant, output);
    }
    event.insert("role".to_owned(), role.into());
    messages(&Value::Object(event), Role::User, input);
}

/// A value, or the JSON that its text is; nothing where a reader cut that JSON.
fn parsed(value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with(['[', '{']) && text.ends_with(ELIDED) => {
            Value::Null
        }
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        other => other.clone(),
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The text of a value: bare, or as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A message or a list of them; a bare text is one too.
fn messages(value: &Value, usual: Role, out: &mut Units) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| messages(one, usual, out)),
        Value::Object(message) => of_message(message, usual, out),
        Value::String(text) => out.push(said(usual, text.clone())),
        _ => {}
    }
}

fn said(role: Role, text: String) -> Unit<'static> {
    let kind = match role {
        Role::System | Role::Container => Kind::Prompt,
        Role::Tool => Kind::ToolResult,
        Role::User | Role::Assistant => Kind::Text,
    };
    Unit::new(role, kind, text)
}

fn of_message(message: &Map<String, Value>, usual: Role, out: &mut Units) {
    let first = |names: &[&str]| names.iter().find_map(|name| message.get(*name));
    let role = match first(&["role"]).and_then(Value::as_str) {
        Some("system" | "developer") => Role::Container,
        Some("user" | "human") => Role::User,
        Some("assistant" | "model" | "ai") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => usual,
    };
    let begun = out.len();
    match first(&["parts", "content", "contents"]) {
        Some(Value::Array(parts)) => parts.iter().for_each(|part| of_part(part, role, out)),
        Some(Value::Null) | None => {}
        Some(content) => out.push(said(role, text_of(content))),
    }
    for call in list(message.get("tool_calls").unwrap_or(&Value::Null)) {
        out.push(tool_call(call.get("tool_call").unwrap_or(&call)));
    }
    if role == Role::Tool {
        let call = first(&["tool_call_id", "toolCallId", "id"]).and_then(Value::as_str);
        let tool = first(&["name"]).and_then(Value::as_str);
        for unit in &mut out[begun..] {
            unit.call = unit.call.take().or(call.map(|id| id.to_owned().into()));
            unit.tool = unit.tool.take().or(tool.map(|name| name.to_owned().into()));
        }
    }
}

fn of_part(part: &Value, role: Role, out: &mut Units) {
    let first = |names: &[&str]| names.iter().find_map(|name| part.get(name));
    let owned = |names: &[&str]| {
        first(names)
            .and_then(Value::as_str)
            .map(|s| s.to_owned().into())
    };
    if let Value::String(text) = part {
        return out.push(said(role, text.clone()));
    }
    match part.get("type").and_then(Value::as_str).unwrap_or("text") {
        "text" => {
            let text = first(&["content", "text"]).map(text_of);
            out.push(said(role, text.unwrap_or_default()));
        }
        "reasoning" | "thinking" => {
            let text = first(&["content", "text", "thinking"]).map(text_of);
            out.push(Unit::new(role, Kind::Thinking, text.unwrap_or_default()));
        }
        "tool_call" | "tool-call" | "tool_use" | "server_tool_call" => out.push(tool_call(part)),
        "tool_call_response" | "tool-result" | "tool_result" | "server_tool_call_response" => {
            let result = first(&["response", "result", "output", "content"]).map(text_of);
            out.push(Unit {
                call: owned(&["id", "toolCallId", "tool_use_id"]),
                tool: owned(&["name", "toolName"]),
                ..Unit::new(Role::Tool, Kind::ToolResult, result.unwrap_or_default())
            });
        }
        _ => {
            let data = first(&["content", "data", "image"]).and_then(Value::as_str);
            let size = image::dimensions(data.unwrap_or_default());
            let tokens = size.map_or(image::DEFAULT, |(width, height)| {
                image::openai(width, height)
            });
            out.push(Unit {
                fixed: tokens,
                ..said(role, String::new())
            });
        }
    }
}

/// A tool call in any dialect.
fn tool_call(call: &Value) -> Unit<'static> {
    let function = call
        .get("function")
        .filter(|inner| inner.is_object())
        .unwrap_or(call);
    let first = |names: &[&str]| {
        let found = names.iter().find_map(|name| function.get(name));
        found.or_else(|| names.iter().find_map(|name| call.get(name)))
    };
    let name = first(&["name", "toolName"])
        .and_then(Value::as_str)
        .unwrap_or_default();
    let id = first(&["id", "toolCallId", "call_id"]).and_then(Value::as_str);
    let arguments = first(&["arguments", "args", "input"])
        .map(text_of)
        .unwrap_or_default();
    let text = match (name, arguments.as_str()) {
        ("", arguments) => arguments.to_owned(),
        (name, "") => name.to_owned(),
        (name, arguments) => format!("{name} {arguments}"),
    };
    Unit {
        call: id.map(|id| id.to_owned().into()),
        tool: Some(name)
            .filter(|name| !name.is_empty())
            .map(|name| name.to_owned().into()),
        ..Unit::new(Role::Assistant, Kind::ToolCall, text)
    }
}

/// Messages whose fields are attributes of their own: `gen_ai.prompt.0.content`,
/// `llm.input_messages.0.message.contents.1.message_content.text`.
fn numbered(attributes: &Attributes, prefix: &str, usual: Role, out: &mut Units) {
    let mut found: BTreeMap<u32, Tree> = BTreeMap::new();
    for (name, value) in attributes.iter() {
        let Some((n, field)) = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let Ok(n) = n.parse() else { continue };
        let field = field.strip_prefix("message.").unwrap_or(field);
        found.entry(n).or_default().put(field, value);
    }
    for message in found.into_values() {
        messages(&message.value(), usual, out);
    }
}

/// Fields of a message, gathered from their dotted names.
#[derive(Default)]
struct Tree {
    fields: Map<String, Value>,
    calls: BTreeMap<u32, Map<String, Value>>,
    parts: BTreeMap<u32, Map<String, Value>>,
}

impl Tree {
    fn put(&mut self, field: &str, value: &Value) {
        let of = |list: &str| {
            let (n, rest) = field.strip_prefix(list)?.split_once('.')?;
            let name = rest.rsplit('.').next().unwrap_or(rest);
            Some((n.parse::<u32>().ok()?, name.to_owned()))
        };
        if let Some((n, name)) = of("tool_calls.") {
            self.calls.entry(n).or_default().insert(name, value.clone());
        } else if let Some((n, name)) = of("contents.") {
            self.parts.entry(n).or_default().insert(name, value.clone());
        } else {
            self.fields.insert(field.to_owned(), value.clone());
        }
    }

    fn value(mut self) -> Value {
        let lists = [("tool_calls", self.calls), ("contents", self.parts)];
        for (name, list) in lists {
            if !list.is_empty() {
                let list = list.into_values().map(Value::Object).collect();
                self.fields.insert(name.to_owned(), Value::Array(list));
            }
        }
        Value::Object(self.fields)
    }
}
