//! The tools on offer, which each convention writes in its own way.

use super::attributes::{Attributes, parsed};
use decode::lenient;
use decode::prompts::Block;
use model::{Kind, Role};
use serde_json::Value;

/// Returns the tools on offer.
pub(super) fn offered(attributes: &Attributes<'_>) -> Option<Block<'static>> {
    let whole = ["gen_ai.tool.definitions", "ai.prompt.tools", "llm.tools"];
    let whole = whole.iter().find_map(|name| attributes.get(name));
    if let Some(tools) = whole {
        return tool_list(tools);
    }
    // OpenLLMetry: a tool's fields, each an attribute. OpenInference: a tool's schema.
    let lists = ["llm.request.functions.", "llm.tools."];
    // Of a list that does not begin at 0 the first tools are missing: calls before it had all of them.
    let lists = lists
        .iter()
        .filter(|prefix| attributes.first_number(prefix) == Some(0));
    let numbered: Vec<Value> = lists
        .flat_map(|prefix| attributes.numbered(prefix))
        .collect();
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
