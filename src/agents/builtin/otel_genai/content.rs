//! Reads the content of calls and their answers, in all forms in which conventions have written it.

use super::attributes::{Attributes, fields, normal, object, parsed, quoted};
use super::call::{Call, MissingPart};
use super::tools;
use decode::bodies::{self, list, request, response, string};
use decode::lenient::{LostFields, Raw};
use decode::prompts::Block;
use model::{Kind, Role};
use serde_json::Value;
use std::borrow::Cow;

pub(super) type Blocks = Vec<Block<'static>>;

/// Lists whose elements' fields are attributes of their own.
const INPUT_MESSAGES: [&str; 2] = ["gen_ai.prompt.", "llm.input_messages."];

/// Reads the content in a record's attributes.
pub(super) fn of_attributes(all: &Attributes<'_, '_>, call: &mut Call) {
    let lost = all.lost;
    let (input, output) = (&mut call.input, &mut call.output);
    for name in ["gen_ai.system_instructions", "ai.prompt.system"] {
        if let Some(prompt) = all.content(name) {
            let message = format!(r#"{{"role":"system","content":{prompt}}}"#);
            messages(&message, Role::System, lost, input);
        }
    }
    input.extend(tools::offered(all));
    for name in ["gen_ai.input.messages", "ai.prompt.messages"] {
        messages(
            &all.content(name).unwrap_or_default(),
            Role::User,
            lost,
            input,
        );
    }
    let answers = all.content("gen_ai.output.messages").unwrap_or_default();
    messages(&answers, Role::Assistant, lost, output);
    if let Some(text) = all.get("ai.response.text").and_then(string) {
        output.push(Block::text(Role::Assistant, Kind::Text, text.into_owned()));
    }
    let calls = all.content("ai.response.toolCalls").unwrap_or_default();
    if let Some(calls) = Raw::of(&calls).filter(|calls| calls.get().starts_with('[')) {
        let calls = bodies::calls(calls, lost.at("toolCalls")).into_iter();
        output.extend(calls.map(Block::into_owned));
    }
    // Older Pydantic AI: the events of the messages as one attribute.
    let events = all.content("events").unwrap_or_default();
    let events = Raw::of(&events).filter(|events| events.get().starts_with('['));
    for event in events.into_iter().flat_map(list) {
        let name = fields(event.get()).remove("event.name");
        let name = name.as_deref().and_then(Raw::of).and_then(string);
        of_event(&name.unwrap_or_default(), all, Some(event.get()), call);
    }
    let (input, output) = (&mut call.input, &mut call.output);
    for name in ["gen_ai.prompt", "gcp.vertex.agent.llm_request"] {
        of_request(&all.content(name).unwrap_or_default(), lost, input);
    }
    for name in ["gen_ai.completion", "gcp.vertex.agent.llm_response"] {
        of_reply(&all.content(name).unwrap_or_default(), lost, output);
    }
    let is_cut = cut_of(all) == MissingPart::Messages;
    for prefix in INPUT_MESSAGES {
        let mut list = all.numbered(prefix);
        // The role of a message is its first attribute.
        if is_cut && !list.first().is_none_or(|message| has_role(message)) {
            list.remove(0);
        }
        messages(&format!("[{}]", list.join(",")), Role::User, lost, input);
    }
    for prefix in ["gen_ai.completion.", "llm.output_messages."] {
        let list = format!("[{}]", all.numbered(prefix).join(","));
        messages(&list, Role::Assistant, lost, output);
    }
}

/// Returns the part that the limit of attributes has cut off.
pub(super) fn cut_of(attributes: &Attributes<'_, '_>) -> MissingPart {
    let is_cut = |prefix: &&str| {
        let first = attributes.first_number(prefix);
        let list = || attributes.numbered(prefix);
        first > Some(0)
            || first.is_some()
                && attributes.are_at_limit()
                && !list().first().is_some_and(|message| has_role(message))
    };
    if INPUT_MESSAGES.iter().any(is_cut) {
        MissingPart::Messages
    } else if attributes.are_at_limit() {
        MissingPart::Front
    } else {
        MissingPart::Nothing
    }
}

fn has_role(message: &str) -> bool {
    let message = fields(message);
    let inner = message.get("message").map(|inner| fields(inner));
    message.contains_key("role") || inner.is_some_and(|inner| inner.contains_key("role"))
}

/// Today's event for content, whose attributes are named as those of a span.
pub(super) const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// Reads the content of an event of a span, or of a log record with a body.
pub(super) fn of_event(
    name: &str,
    attributes: &Attributes<'_, '_>,
    body: Option<&str>,
    call: &mut Call,
) {
    let lost = attributes.lost;
    let (input, output) = (&mut call.input, &mut call.output);
    let role = match name {
        "gen_ai.system.message" => "system",
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" => "assistant",
        "gen_ai.tool.message" => "tool",
        "gen_ai.choice" => "choice",
        "gen_ai.content.prompt" => {
            let prompt = attributes.get("gen_ai.prompt").and_then(whole);
            return messages(&prompt.unwrap_or_default(), Role::User, lost, input);
        }
        "gen_ai.content.completion" => {
            let completion = attributes.get("gen_ai.completion").and_then(whole);
            return messages(
                &completion.unwrap_or_default(),
                Role::Assistant,
                lost,
                output,
            );
        }
        // Today's event for content: what it carries is in its attributes, or in its body.
        DETAILS => {
            let object = fields(body.unwrap_or_default());
            return of_attributes(&Attributes { object, lost }, call);
        }
        _ => return,
    };
    let event = body
        .and_then(Raw::of)
        .or_else(|| attributes.get("gen_ai.event.content"));
    let event = event.map(parsed);
    let mut event = match &event {
        Some(json) => fields(json),
        None => attributes.object.clone(),
    };
    if event.is_empty() {
        return;
    }
    if role != "choice" {
        event.insert("role".to_owned(), quoted(role).into());
        return messages(&object(&event), Role::User, lost, input);
    }
    let calls = event.remove("tool_calls");
    let message = match event
        .get("message")
        .and_then(|message| Raw::of(message))
        .map(parsed)
    {
        // Strands has the blocks alone.
        Some(blocks) if blocks.starts_with('[') => format!(r#"{{"content":{blocks}}}"#),
        // Semantic Kernel has the calls once more beside the message, or there alone.
        Some(message) if message.starts_with('{') => {
            let mut message = fields(&message);
            if let Some(calls) = calls {
                message.entry("tool_calls".to_owned()).or_insert(calls);
            }
            object(&message)
        }
        Some(message) => message.into_owned(),
        None => {
            event.extend(calls.map(|calls| ("tool_calls".to_owned(), calls)));
            object(&event)
        }
    };
    messages(&message, Role::Assistant, lost, output);
}

/// Like [`parsed`], but returns `None` where the text only looks like JSON: Semantic Kernel wrote messages without
/// marking where one ends.
fn whole(value: Raw<'_>) -> Option<Cow<'_, str>> {
    Some(parsed(value)).filter(|json| !json.starts_with("\"[{"))
}

/// Adds the blocks of a message or a list of them; a bare text is one too. `usual` is the role of those that name none.
pub(super) fn messages(json: &str, usual: Role, lost: &LostFields, out: &mut Blocks) {
    let mut messages = serde_json::from_str(json).unwrap_or_default();
    unfold(&mut messages);
    let json = messages.to_string();
    let blocks = Raw::of(&json).map(|raw| bodies::blocks(raw, usual, lost.at("messages")));
    out.extend(blocks.into_iter().flatten().map(Block::into_owned));
}

/// Puts blocks into the place of contents that are their JSON; a number becomes its text.
fn unfold(messages: &mut Value) {
    match messages {
        Value::Array(all) => all.iter_mut().for_each(unfold),
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), &*value) {
                    ("content", Value::Bool(_) | Value::Number(_)) => {
                        *value = value.to_string().into();
                    }
                    ("content", Value::String(text)) => {
                        if let Some(blocks) = blocks(text) {
                            *value = blocks;
                        }
                    }
                    ("message" | "kwargs" | "data", _) => unfold(value),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Returns the blocks of a content that is their JSON.
fn blocks(text: &str) -> Option<Value> {
    const BLOCKS: [&str; 6] = [
        "text",
        "toolUse",
        "toolResult",
        "reasoningContent",
        "image",
        "document",
    ];
    let is_block = |block: &Value| BLOCKS.iter().any(|name| block.get(name).is_some());
    let blocks: Vec<Value> = serde_json::from_str(text).ok()?;
    let is_content = text.starts_with("[{") && blocks.iter().all(is_block);
    is_content.then_some(Value::Array(blocks))
}

/// Adds what the body of a request carried.
pub(super) fn of_request(body: &str, lost: &LostFields, input: &mut Blocks) {
    if let Some(request) = request::read(&normal(body), lost) {
        let blocks = request.front.into_iter().chain(request.blocks);
        input.extend(blocks.map(Block::into_owned));
    }
}

/// Adds what the body of a response answered.
pub(super) fn of_reply(body: &str, lost: &LostFields, output: &mut Blocks) {
    let body = normal(body);
    let blocks = Raw::of(&body).map(|raw| response::answer(raw, lost.at("response")));
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
