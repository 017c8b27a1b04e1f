//! What calls carried and what was answered, in all the ways in which conventions have written it.

use super::body;
use super::span::Attributes;
use kit::image;
use kit::prompts::{Block, Content};
use model::event::ELIDED;
use model::{Kind, Role};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) type Blocks = Vec<Block<'static>>;

/// The content in a record's attributes.
pub(super) fn of_attributes(attributes: &Attributes<'_>, input: &mut Blocks, output: &mut Blocks) {
    for name in ["gen_ai.system_instructions", "ai.prompt.system"] {
        if let Some(prompt) = attributes.content(name) {
            let message = json!({"role": "system", "content": prompt});
            messages(&message, Role::Container, input);
        }
    }
    input.extend(body::tools(attributes));
    for name in ["gen_ai.input.messages", "ai.prompt.messages"] {
        let list = attributes.content(name).unwrap_or_default();
        messages(&list, Role::User, input);
    }
    let list = attributes.content("gen_ai.output.messages");
    messages(&list.unwrap_or_default(), Role::Assistant, output);
    if let Some(Value::String(text)) = attributes.get("ai.response.text") {
        output.push(Block::text(Role::Assistant, Kind::Text, text.clone()));
    }
    let calls = attributes.content("ai.response.toolCalls");
    output.extend(elements(&calls.unwrap_or_default()).iter().map(tool_call));
    // Older Pydantic AI: the events of the messages as one attribute.
    for event in elements(&attributes.content("events").unwrap_or_default()) {
        let name = event.get("event.name").and_then(Value::as_str);
        let name = name.unwrap_or_default();
        of_event(name, attributes, Some(event), input, output);
    }
    for name in ["gen_ai.prompt", "gcp.vertex.agent.llm_request"] {
        let request = attributes.content(name).unwrap_or_default();
        body::of_request(&request, input);
    }
    for name in ["gen_ai.completion", "gcp.vertex.agent.llm_response"] {
        let reply = attributes.content(name).unwrap_or_default();
        body::of_reply(&reply, output);
    }
    for prefix in ["gen_ai.prompt.", "llm.input_messages."] {
        let list = Value::Array(numbered(attributes, prefix));
        messages(&list, Role::User, input);
    }
    for prefix in ["gen_ai.completion.", "llm.output_messages."] {
        let list = Value::Array(numbered(attributes, prefix));
        messages(&list, Role::Assistant, output);
    }
}

/// Today's event for content, whose attributes are named as those of a span.
pub(super) const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// The content of an event of a span, or of a log record with a body.
pub(super) fn of_event(
    name: &str,
    attributes: &Attributes<'_>,
    body: Option<&Value>,
    input: &mut Blocks,
    output: &mut Blocks,
) {
    let role = match name {
        "gen_ai.system.message" => "system",
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" => "assistant",
        "gen_ai.tool.message" => "tool",
        "gen_ai.choice" => "choice",
        "gen_ai.content.prompt" => {
            let prompt = attributes.get("gen_ai.prompt").and_then(whole);
            return messages(&prompt.unwrap_or_default(), Role::User, input);
        }
        "gen_ai.content.completion" => {
            let completion = attributes.get("gen_ai.completion").and_then(whole);
            return messages(&completion.unwrap_or_default(), Role::Assistant, output);
        }
        // Today's event for content: what it carries is in its attributes, or in its body.
        DETAILS => {
            if let Some(Value::Object(body)) = body {
                let body = Value::Object(body.clone());
                of_attributes(&attributes.beside(body), input, output);
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
        let message = match event.get("message").map(parsed) {
            // Strands has the blocks alone.
            Some(blocks @ Value::Array(_)) => json!({"content": blocks}),
            // Semantic Kernel has the calls once more beside the message, or there alone.
            Some(Value::Object(mut message)) => {
                if let Some(calls) = event.remove("tool_calls") {
                    message.entry("tool_calls").or_insert(calls);
                }
                Value::Object(message)
            }
            Some(message) => message,
            None => Value::Object(event),
        };
        return messages(&message, Role::Assistant, output);
    }
    event.insert("role".to_owned(), role.into());
    messages(&Value::Object(event), Role::User, input);
}

/// A value, or the JSON that its text is; nothing where a reader cut that JSON.
pub(super) fn parsed(value: &Value) -> Value {
    match value {
        Value::String(text) if is_like_json(text) && text.ends_with(ELIDED) => Value::Null,
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        other => other.clone(),
    }
}

/// The same, and nothing where it only looks like JSON: Semantic Kernel wrote messages without
/// marking where one ends.
fn whole(value: &Value) -> Option<Value> {
    let value = parsed(value);
    let text = value.as_str();
    (!text.is_some_and(|text| text.starts_with("[{"))).then_some(value)
}

fn is_like_json(text: &str) -> bool {
    text.starts_with(['[', '{'])
}

fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a value: bare, or as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A result as text: its texts where it is made of them, else the JSON that it is.
fn plain(value: &Value) -> String {
    /// The text of a block, the value of a result that names its type.
    fn text(value: &Value) -> Option<String> {
        let is_alone = || value.as_object().is_some_and(|fields| fields.len() == 1);
        let of = |name: &str| value.get(name);
        match of("type").and_then(Value::as_str) {
            _ if value.is_string() => Some(text_of(value)),
            Some("text") => of("text").or(of("value")).map(text_of),
            Some(_) => of("value").map(plain),
            None => of("text").filter(|_| is_alone()).map(text_of),
        }
    }
    let texts = match value {
        Value::Array(all) => all.iter().map(text).collect(),
        one => text(one).map(|text| vec![text]),
    };
    texts.map_or_else(|| text_of(value), |texts: Vec<String>| texts.join("\n"))
}

/// A message or a list of them; a bare text is one too.
pub(super) fn messages(value: &Value, usual: Role, out: &mut Blocks) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| messages(one, usual, out)),
        Value::Object(message) => of_message(message, usual, out),
        Value::String(text) => out.push(text_block(usual, text.clone())),
        _ => {}
    }
}

fn text_block(role: Role, text: String) -> Block<'static> {
    let kind = match role {
        Role::System | Role::Container => Kind::Prompt,
        Role::Tool => Kind::ToolResult,
        Role::User | Role::Assistant => Kind::Text,
    };
    Block::text(role, kind, text)
}

/// Whose a message is, by the word for it or the name of its class in LangChain.
fn role_of(word: &str) -> Option<Role> {
    const WORDS: [(&str, Role); 10] = [
        ("system", Role::Container),
        ("developer", Role::Container),
        ("user", Role::User),
        ("human", Role::User),
        ("assistant", Role::Assistant),
        ("model", Role::Assistant),
        ("ai", Role::Assistant),
        ("thinking", Role::Assistant),
        ("tool", Role::Tool),
        ("function", Role::Tool),
    ];
    let word = word.to_ascii_lowercase();
    let found = WORDS.iter().find(|(begins, _)| word.starts_with(begins));
    found.map(|(_, role)| *role)
}

fn of_message(message: &Map<String, Value>, usual: Role, out: &mut Blocks) {
    let first = |names: &[&str]| names.iter().find_map(|name| message.get(*name));
    // OpenInference wraps each message in an object.
    if let Some(Value::Object(inner)) = first(&["message"]) {
        return of_message(inner, usual, out);
    }
    // LangChain has a message's fields in an object of their own, beside the name of its class.
    if let Some(Value::Object(inner)) = first(&["kwargs", "data"]) {
        let class = message.get("id").and_then(Value::as_array);
        let class = class.and_then(|path| path.last()?.as_str());
        let word = inner.get("type").and_then(Value::as_str).or(class);
        let word = word.or(first(&["type"]).and_then(Value::as_str));
        let usual = word.and_then(role_of).unwrap_or(usual);
        return of_message(inner, usual, out);
    }
    let word = first(&["role"]).and_then(Value::as_str).unwrap_or_default();
    let role = role_of(word).unwrap_or(usual);
    let begun = out.len();
    match first(&["parts", "content", "contents"]) {
        Some(Value::Array(parts)) => parts.iter().for_each(|part| of_part(part, role, out)),
        Some(Value::String(text)) if word == "thinking" => {
            out.push(Block::text(role, Kind::Thinking, text.clone()));
        }
        Some(content) => match blocks(content) {
            Some(blocks) => blocks.iter().for_each(|part| of_part(part, role, out)),
            None if content.is_null() => {}
            None => out.push(text_block(role, text_of(content))),
        },
        // A part without a message around it.
        None if word.is_empty() && message.contains_key("type") => {
            of_part(&Value::Object(message.clone()), role, out);
        }
        None => {}
    }
    for call in elements(message.get("tool_calls").unwrap_or(&Value::Null)) {
        out.push(tool_call(call.get("tool_call").unwrap_or(call)));
    }
    if role == Role::Tool {
        let call = first(&["tool_call_id", "toolCallId", "id"]).and_then(Value::as_str);
        let tool = first(&["name"]).and_then(Value::as_str);
        for block in &mut out[begun..] {
            block.call = block.call.take().or(call.map(|id| id.to_owned().into()));
            block.tool = block
                .tool
                .take()
                .or(tool.map(|name| name.to_owned().into()));
        }
    }
}

/// The blocks of a content that is their JSON.
fn blocks(content: &Value) -> Option<Vec<Value>> {
    const BLOCKS: [&str; 6] = [
        "text",
        "toolUse",
        "toolResult",
        "reasoningContent",
        "image",
        "document",
    ];
    let text = content.as_str().filter(|text| text.starts_with("[{"))?;
    let blocks: Vec<Value> = serde_json::from_str(text).ok()?;
    let is_block = |block: &Value| BLOCKS.iter().any(|name| block.get(name).is_some());
    blocks.iter().all(is_block).then_some(blocks)
}

fn of_part(part: &Value, role: Role, out: &mut Blocks) {
    let part = part.get("message_content").unwrap_or(part);
    let first = |names: &[&str]| names.iter().find_map(|name| part.get(name));
    if let Value::String(text) = part {
        return out.push(text_block(role, text.clone()));
    }
    // The only field of Bedrock's blocks and Google's parts shows what they are.
    if let Some(call) = first(&["toolUse", "functionCall", "function_call"]) {
        return out.push(tool_call(call));
    }
    let result = ["toolResult", "functionResponse", "function_response"];
    if let Some(result) = first(&result) {
        return out.push(tool_result(result));
    }
    if let Some(thought) = part.pointer("/reasoningContent/reasoningText/text") {
        return out.push(Block::text(role, Kind::Thinking, text_of(thought)));
    }
    match part.get("type").and_then(Value::as_str).unwrap_or("text") {
        "text" | "input_text" | "output_text" => {
            let text = first(&["content", "text"]).map(text_of);
            out.push(text_block(role, text.unwrap_or_default()));
        }
        // Copilot's, of a history.
        "compaction" => {
            let text = first(&["content", "summary"])
                .map(plain)
                .unwrap_or_default();
            out.push(Block::text(Role::Container, Kind::Summary, text));
        }
        "reasoning" | "thinking" => {
            let text = first(&["content", "text", "thinking", "summary"]).map(plain);
            out.push(Block::text(role, Kind::Thinking, text.unwrap_or_default()));
        }
        "tool_call" | "tool-call" | "tool_use" | "server_tool_call" | "function_call" => {
            out.push(tool_call(part));
        }
        "tool_call_response"
        | "tool-result"
        | "tool_result"
        | "server_tool_call_response"
        | "function_call_output" => out.push(tool_result(part)),
        _ => {
            let data = first(&["content", "data", "image"]).and_then(Value::as_str);
            let size = image::dimensions(data.unwrap_or_default());
            let tokens = size.map_or(image::DEFAULT, |(width, height)| {
                image::openai(width, height)
            });
            let image = Content::Media(tokens, "[image]".into());
            out.push(text_block(role, String::new()).with([image]));
        }
    }
}

/// What a tool gave back, in any dialect.
fn tool_result(result: &Value) -> Block<'static> {
    let first = |names: &[&str]| names.iter().find_map(|name| result.get(name));
    let owned = |names: &[&str]| {
        let text = first(names).and_then(Value::as_str);
        text.map(|text| text.to_owned().into())
    };
    let result = first(&["response", "result", "output", "content"]).map(plain);
    let call = owned(&["id", "toolCallId", "tool_use_id", "toolUseId", "call_id"]);
    let tool = owned(&["name", "toolName"]);
    Block::text(Role::Tool, Kind::ToolResult, result.unwrap_or_default()).for_call(call, tool)
}

/// A tool call in any dialect.
fn tool_call(call: &Value) -> Block<'static> {
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
    let id = first(&["call_id", "id", "toolCallId", "toolUseId"]).and_then(Value::as_str);
    let arguments = first(&["arguments", "args", "input"])
        .map(text_of)
        .unwrap_or_default();
    let text = match (name, arguments.as_str()) {
        ("", arguments) => arguments.to_owned(),
        (name, "") => name.to_owned(),
        (name, arguments) => format!("{name} {arguments}"),
    };
    let id = id.map(|id| id.to_owned().into());
    let tool = Some(name).filter(|name| !name.is_empty());
    let tool = tool.map(|name| name.to_owned().into());
    Block::text(Role::Assistant, Kind::ToolCall, text).for_call(id, tool)
}

/// Assigns results that name no call (Semantic Kernel's, Google's) to the calls before them,
/// in their order.
pub(super) fn pair(blocks: &mut Blocks) {
    let mut open: Vec<(Option<String>, String)> = Vec::new();
    for block in blocks.iter_mut() {
        let tool = block.tool.as_deref();
        match (block.kind, block.call.as_deref()) {
            (Kind::ToolCall, Some(id)) => open.push((tool.map(str::to_owned), id.to_owned())),
            (Kind::ToolResult, Some(id)) => open.retain(|(_, call)| call != id),
            (Kind::ToolResult, None) => {
                let is_its = |(name, _): &(Option<String>, String)| {
                    tool.is_none() || name.is_none() || name.as_deref() == tool
                };
                if let Some(at) = open.iter().position(is_its) {
                    block.call = Some(open.remove(at).1.into());
                }
            }
            _ => {}
        }
    }
}

/// Names of fields of messages and calls that are strings.
const WORDS: [&str; 4] = ["role", "name", "id", "tool_call_id"];

/// Deeper names are cut off: a call's function in a message is six deep.
const DEPTH: usize = 8;

/// The list whose elements' fields are attributes of their own: `gen_ai.prompt.0.content`,
/// `llm.input_messages.0.message.contents.1.message_content.text`.
pub(super) fn numbered(attributes: &Attributes<'_>, prefix: &str) -> Vec<Value> {
    let fields = attributes.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix(prefix)?;
        let (number, rest) = name.split_once('.')?;
        number.parse::<u32>().ok()?;
        let last = rest.rsplit('.').next()?;
        match WORDS
            .iter()
            .find(|word| **word == last && !value.is_string())
        {
            Some(word) => {
                attributes.note(word);
                None
            }
            None => Some((name, value)),
        }
    });
    match nested(fields.collect(), DEPTH) {
        Value::Array(list) => list,
        _ => Vec::new(),
    }
}

/// A value and its name, or what is left of it.
type Named<'v> = (&'v str, &'v Value);

/// Values with dotted names as the object that they are parts of; where all names are numbers, as a list.
fn nested(fields: Vec<Named<'_>>, depth: usize) -> Value {
    let mut groups: BTreeMap<(Option<u32>, &str), Vec<Named<'_>>> = BTreeMap::new();
    for (name, value) in fields {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let group = groups.entry((first.parse().ok(), first)).or_default();
        group.push((rest, value));
    }
    let is_list = groups.keys().all(|(number, _)| number.is_some());
    let values = groups.into_iter().map(|((_, name), fields)| {
        let value = match fields[..] {
            [(_, value)] if depth == 0 => value.clone(),
            [("", value)] => value.clone(),
            _ if depth == 0 => Value::Null,
            _ => nested(fields, depth - 1),
        };
        (name.to_owned(), value)
    });
    match is_list {
        true => values.map(|(_, value)| value).collect(),
        false => Value::Object(values.collect()),
    }
}
