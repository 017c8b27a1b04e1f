//! Reads the content of calls and their answers, in all forms in which conventions have written it.

use super::attributes::{Attributes, parsed};
use super::call::MissingPart;
use super::tools;
use decode::bodies::{self, request, response};
use decode::lenient::{LostFields, Raw};
use decode::prompts::Block;
use model::{Kind, Role};
use serde_json::{Value, json};

pub(super) type Blocks = Vec<Block<'static>>;

/// Lists whose elements' fields are attributes of their own.
const INPUT_MESSAGES: [&str; 2] = ["gen_ai.prompt.", "llm.input_messages."];

/// Reads the content in a record's attributes.
pub(super) fn of_attributes(attributes: &Attributes<'_>, input: &mut Blocks, output: &mut Blocks) {
    for name in ["gen_ai.system_instructions", "ai.prompt.system"] {
        if let Some(prompt) = attributes.content(name) {
            let message = json!({"role": "system", "content": prompt});
            messages(&message, Role::System, attributes.lost, input);
        }
    }
    input.extend(tools::offered(attributes));
    for name in ["gen_ai.input.messages", "ai.prompt.messages"] {
        let list = attributes.content(name).unwrap_or_default();
        messages(&list, Role::User, attributes.lost, input);
    }
    let list = attributes.content("gen_ai.output.messages");
    messages(
        &list.unwrap_or_default(),
        Role::Assistant,
        attributes.lost,
        output,
    );
    if let Some(Value::String(text)) = attributes.get("ai.response.text") {
        output.push(Block::text(Role::Assistant, Kind::Text, text.clone()));
    }
    if let Some(calls @ Value::Array(_)) = attributes.content("ai.response.toolCalls") {
        let calls = calls.to_string();
        let calls = Raw::of(&calls).map(|raw| bodies::calls(raw, attributes.lost.at("toolCalls")));
        output.extend(calls.into_iter().flatten().map(Block::into_owned));
    }
    // Older Pydantic AI: the events of the messages as one attribute.
    let events = attributes.content("events").unwrap_or_default();
    for event in events.as_array().into_iter().flatten() {
        let name = event.get("event.name").and_then(Value::as_str);
        let name = name.unwrap_or_default();
        of_event(name, attributes, Some(event), input, output);
    }
    for name in ["gen_ai.prompt", "gcp.vertex.agent.llm_request"] {
        let request = attributes.content(name).unwrap_or_default();
        of_request(&request.to_string(), attributes.lost, input);
    }
    for name in ["gen_ai.completion", "gcp.vertex.agent.llm_response"] {
        let reply = attributes.content(name).unwrap_or_default();
        of_reply(&reply.to_string(), attributes.lost, output);
    }
    let is_cut = cut_of(attributes) == MissingPart::Messages;
    for prefix in INPUT_MESSAGES {
        let mut list = attributes.numbered(prefix);
        // The role of a message is its first attribute.
        if is_cut && !list.first().is_none_or(has_role) {
            list.remove(0);
        }
        messages(&Value::Array(list), Role::User, attributes.lost, input);
    }
    for prefix in ["gen_ai.completion.", "llm.output_messages."] {
        let list = Value::Array(attributes.numbered(prefix));
        messages(&list, Role::Assistant, attributes.lost, output);
    }
}

/// Returns the part that the limit of attributes has cut off.
pub(super) fn cut_of(attributes: &Attributes<'_>) -> MissingPart {
    let is_cut = |prefix: &&str| {
        let first = attributes.first_number(prefix);
        let list = || attributes.numbered(prefix);
        first > Some(0)
            || first.is_some() && attributes.are_at_limit() && !list().first().is_some_and(has_role)
    };
    if INPUT_MESSAGES.iter().any(is_cut) {
        MissingPart::Messages
    } else if attributes.are_at_limit() {
        MissingPart::Front
    } else {
        MissingPart::Nothing
    }
}

fn has_role(message: &Value) -> bool {
    message.get("role").is_some() || message.pointer("/message/role").is_some()
}

/// Today's event for content, whose attributes are named as those of a span.
pub(super) const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// Reads the content of an event of a span, or of a log record with a body.
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
            return messages(
                &prompt.unwrap_or_default(),
                Role::User,
                attributes.lost,
                input,
            );
        }
        "gen_ai.content.completion" => {
            let completion = attributes.get("gen_ai.completion").and_then(whole);
            return messages(
                &completion.unwrap_or_default(),
                Role::Assistant,
                attributes.lost,
                output,
            );
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
        return messages(&message, Role::Assistant, attributes.lost, output);
    }
    event.insert("role".to_owned(), role.into());
    messages(&Value::Object(event), Role::User, attributes.lost, input);
}

/// Like [`parsed`], but returns `None` where the text only looks like JSON: Semantic Kernel wrote messages without
/// marking where one ends.
fn whole(value: &Value) -> Option<Value> {
    let value = parsed(value);
    let text = value.as_str();
    (!text.is_some_and(|text| text.starts_with("[{"))).then_some(value)
}

/// Adds the blocks of a message or a list of them; a bare text is one too. `usual` is the role of those that name none.
pub(super) fn messages(value: &Value, usual: Role, lost: &LostFields, out: &mut Blocks) {
    let json = unfolded(value).to_string();
    let blocks = Raw::of(&json).map(|raw| bodies::blocks(raw, usual, lost.at("messages")));
    out.extend(blocks.into_iter().flatten().map(Block::into_owned));
}

/// Messages whose contents are the JSON of their blocks, with the blocks in its place; a number is its text.
fn unfolded(messages: &Value) -> Value {
    match messages {
        Value::Array(all) => all.iter().map(unfolded).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("content", Value::Bool(_) | Value::Number(_)) => value.to_string().into(),
                    ("content", _) => blocks(value).unwrap_or_else(|| value.clone()),
                    ("message" | "kwargs" | "data", _) => unfolded(value),
                    _ => value.clone(),
                };
                (name.clone(), value)
            });
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// Returns the blocks of a content that is their JSON.
fn blocks(content: &Value) -> Option<Value> {
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
    blocks.iter().all(is_block).then_some(Value::Array(blocks))
}

/// Adds what the body of a request carried.
pub(super) fn of_request(body: &str, lost: &LostFields, input: &mut Blocks) {
    if let Some(request) = request::read(body, lost) {
        let blocks = request.front.into_iter().chain(request.blocks);
        input.extend(blocks.map(Block::into_owned));
    }
}

/// Adds what the body of a response answered.
pub(super) fn of_reply(body: &str, lost: &LostFields, output: &mut Blocks) {
    let blocks = Raw::of(body).map(|raw| response::answer(raw, lost.at("response")));
    output.extend(blocks.into_iter().flatten().map(Block::into_owned));
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
