//! The tools on offer, which each convention writes in its own way.

use super::attributes::{Attributes, fields, normal, object, parsed};
use decode::bodies::{list, string};
use decode::lenient::{self, Raw};
use decode::prompts::Block;
use model::{Kind, Role};
use std::borrow::Cow;

/// Returns the tools on offer.
pub(super) fn offered(attributes: &Attributes<'_, '_>) -> Option<Block<'static>> {
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
    let numbered: Vec<String> = lists
        .flat_map(|prefix| attributes.numbered(prefix))
        .map(|tool| numbered_tool(&tool))
        .collect();
    if !numbered.is_empty() {
        let tools = format!("[{}]", numbered.join(","));
        return Raw::of(&tools).and_then(tool_list);
    }
    // Older Pydantic AI: among the parameters of the request.
    let parameters = parsed(attributes.get("model_request_parameters")?);
    fields(&parameters)
        .get("function_tools")
        .and_then(|tools| tool_list(Raw::of(tools)?))
}

/// Returns the JSON of a tool whose fields were attributes, each of them perhaps in a string.
fn numbered_tool(tool: &str) -> String {
    let parts = fields(tool);
    let whole = parts.get("tool").map(|whole| fields(whole));
    if let Some(schema) = whole.and_then(|mut whole| whole.remove("json_schema")) {
        return schema.into_owned();
    }
    let parts = parts.iter();
    let parts = parts.filter_map(|(name, value)| Some((name.clone(), parsed(Raw::of(value)?))));
    object(&parts.collect())
}

/// Returns tools as the JSON that the model gets of them, each of them perhaps in a string.
pub(super) fn tool_list(tools: Raw<'_>) -> Option<Block<'static>> {
    let text = match string(tools) {
        Some(text) => text.into_owned(),
        None if tools.get().starts_with('[') => {
            let all: Vec<Cow<'_, str>> = list(tools).into_iter().map(parsed).collect();
            normal(&format!("[{}]", all.join(",")))
        }
        None => normal(tools.get()),
    };
    if matches!(&*text, "" | "[]" | "null") {
        return None;
    }
    let tools = lenient::tool_count(&text);
    Some(Block::text(Role::Container, Kind::ToolList, text).offering(tools))
}
