//! Whole requests and responses in one attribute (LangSmith's `gen_ai.prompt` and
//! `gen_ai.completion`, ADK's `gcp.vertex.agent.llm_request` and `…llm_response`), and the tools on
//! offer, which each convention writes in its own way.

use super::content::{self, Blocks, messages, parsed};
use super::span::Attributes;
use kit::lenient;
use kit::prompts::Block;
use model::{Kind, Role};
use serde_json::{Value, json};

/// What a request's body holds.
pub(super) fn of_request(body: &Value, input: &mut Blocks) {
    // Google's has system prompt and tools beside the model.
    let config = body.get("config").unwrap_or(body);
    let system = ["system", "instructions", "system_instruction"];
    if let Some(system) = system.iter().find_map(|name| config.get(name)) {
        let system = json!({"role": "system", "content": system});
        messages(&system, Role::Container, input);
    }
    if let Some(tools) = config.get("tools") {
        input.extend(tool_list(tools));
    }
    let history = ["messages", "contents", "input", "prompts", "prompt"];
    if let Some(history) = history.iter().find_map(|name| body.get(name)) {
        messages(history, Role::User, input);
    }
}

/// What a response's body holds. Of several answers the first counts.
pub(super) fn of_reply(body: &Value, output: &mut Blocks) {
    let all = ["choices", "generations", "candidates"];
    let answer = all.iter().find_map(|name| body.get(name)).map(first);
    let answer = answer.unwrap_or(body);
    match ["message", "content", "output", "text"]
        .iter()
        .find_map(|name| answer.get(name))
    {
        // Blocks, or items that are messages.
        Some(blocks @ Value::Array(_)) if answer.get("output").is_none() => {
            let message = json!({"role": "assistant", "content": blocks});
            messages(&message, Role::Assistant, output);
        }
        Some(content) => messages(content, Role::Assistant, output),
        None => {}
    }
}

/// The first element of a list, however deep.
fn first(value: &Value) -> &Value {
    match value {
        Value::Array(all) => all.first().map_or(value, first),
        other => other,
    }
}

/// The tools on offer.
pub(super) fn tools(attributes: &Attributes<'_>) -> Option<Block<'static>> {
    let whole = ["gen_ai.tool.definitions", "ai.prompt.tools", "llm.tools"];
    let whole = whole.iter().find_map(|name| attributes.get(name));
    if let Some(tools) = whole {
        return tool_list(tools);
    }
    // OpenLLMetry: a tool's fields, each an attribute. OpenInference: a tool's schema.
    let mut numbered = content::numbered(attributes, "llm.request.functions.");
    numbered.extend(content::numbered(attributes, "llm.tools."));
    if !numbered.is_empty() {
        let tools = numbered.iter().map(|tool| match tool {
            Value::Object(fields) => {
                let schema = tool.pointer("/tool/json_schema").cloned();
                let fields = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), parsed(value)));
                schema.unwrap_or_else(|| Value::Object(fields.collect()))
            }
            other => other.clone(),
        });
        return tool_list(&tools.collect());
    }
    // Older Pydantic AI: among the parameters of the request.
    let parameters = attributes.get("model_request_parameters").map(parsed)?;
    parameters.get("function_tools").and_then(tool_list)
}

/// Tools as the JSON that the model gets of them, each of them perhaps in a string.
pub(super) fn tool_list(tools: &Value) -> Option<Block<'static>> {
    let text = match tools {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Array(all) => Value::Array(all.iter().map(parsed).collect()).to_string(),
        other => other.to_string(),
    };
    if matches!(&*text, "" | "[]") {
        return None;
    }
    let tools = lenient::tool_count(&text);
    Some(Block::text(Role::Container, Kind::ToolList, text).offering(tools))
}
