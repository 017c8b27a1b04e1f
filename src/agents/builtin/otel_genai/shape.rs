//! The types that the fields of runs and messages are expected to have: one of another type is not used, and is
//! noted.

use kit::lenient::Lost;
use serde_json::Value;

/// Fields that hold text.
const TEXTS: [&str; 19] = [
    "role",
    "type",
    "name",
    "tool_call_id",
    "model",
    "model_name",
    "ls_model_name",
    "trace_id",
    "thread_id",
    "conversation_id",
    "session_id",
    "start_time",
    "end_time",
    "run_type",
    "id",
    "finish_reason",
    "text",
    "arguments",
    "parent_run_id",
];
/// Fields that hold an object.
const OBJECTS: [&str; 16] = [
    "message",
    "kwargs",
    "data",
    "usage_metadata",
    "usage",
    "token_usage",
    "input_token_details",
    "output_token_details",
    "prompt_token_details",
    "completion_token_details",
    "response_metadata",
    "llm_output",
    "extra",
    "metadata",
    "invocation_params",
    "function",
];
/// Fields that hold a list.
const LISTS: [&str; 6] = [
    "messages",
    "tool_calls",
    "generations",
    "choices",
    "child_runs",
    "tools",
];
/// Fields that hold a number of tokens.
const COUNTS: [&str; 7] = [
    "input_tokens",
    "output_tokens",
    "prompt_tokens",
    "completion_tokens",
    "cache_read",
    "cache_creation",
    "reasoning",
];
/// Fields that hold anything: arguments, schemas, what tools gave back.
const ANY: [&str; 8] = [
    "args",
    "parameters",
    "additional_kwargs",
    "input_schema",
    "events",
    "serialized",
    "tags",
    "content",
];

/// So deep a tree is looked at.
const DEPTH: usize = 24;

/// Notes the fields of a run or a message that are of another type than expected.
pub(super) fn check(value: &Value, lost: &Lost) {
    look_at(value, DEPTH, lost);
}

fn look_at(value: &Value, depth: usize, lost: &Lost) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match value {
        Value::Array(list) => list.iter().for_each(|one| look_at(one, depth, lost)),
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                let find = |names: &'static [&'static str]| names.iter().find(|own| *own == name);
                let (name, fits) = if let Some(name) = find(&TEXTS) {
                    // The path of a class in LangChain.
                    let is_path = *name == "id" && value.is_array();
                    (name, value.is_string() || is_path)
                } else if let Some(name) = find(&OBJECTS) {
                    (name, value.is_object())
                } else if let Some(name) = find(&LISTS) {
                    (name, value.is_array())
                } else if let Some(name) = find(&COUNTS) {
                    (
                        name,
                        value.is_u64() || value.as_f64().is_some_and(|n| n >= 0.0),
                    )
                } else {
                    (&"", true)
                };
                if !fits {
                    lost.note(name);
                } else if find(&ANY).is_none() {
                    look_at(value, depth, lost);
                }
            }
        }
        _ => {}
    }
}
