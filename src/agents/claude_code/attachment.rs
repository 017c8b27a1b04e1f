//! Attachments: what the harness puts into the conversation beside the messages, since about 2.1.43.
//!
//! Newer builds write the exact text in `rendered`; before them it is put together from the
//! attachment's own fields. Which types reach the model was measured on the growth of real prompts:
//! hooks' plain output, permissions and mode switches do not.

use super::{Record, content};
use crate::model::event::{Key, NewItem, Node, Parent, Part, Sink};
use crate::model::{Kind, Role};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

/// The type's name among the skipped records.
pub(super) fn name(record: &Record<'_>) -> String {
    let kind = record
        .attachment
        .and_then(|raw| serde_json::from_str::<Attachment<'_>>(raw.get()).ok())
        .map_or_else(|| "unknown".to_owned(), |a| a.kind.into_owned());
    format!("attachment/{kind}")
}

/// Tokens of a reminder whose text is in no log (measured: 120 to 160).
const REMINDER: u64 = 120;

/// Reads an attachment into `node`. Returns whether it is in the context.
pub(super) fn read(record: &Record<'_>, node: &mut Node, epoch: u64, out: &mut Sink<'_>) -> bool {
    let Some(raw) = record.attachment else {
        return false;
    };
    let Ok(head) = serde_json::from_str::<Attachment<'_>>(raw.get()) else {
        return false;
    };
    let Some((role, kind)) = place_of(&head.kind) else {
        return false;
    };
    let Ok(body) = serde_json::from_str::<Value>(raw.get()) else {
        return false;
    };
    if let Some(texts) = rendered(record) {
        let label = tool_name(role, &head.kind);
        let items = texts
            .iter()
            .map(|text| out.item(role, kind).tool(label).text(text).done());
        node.items = items.collect();
    } else if head.kind == "prompt_snapshot" {
        // Written twice at a cold start, the second time with the tools: one key, so that the last
        // one takes the first one's place.
        node.key = Some(Key::of_number("prompt_snapshot", epoch));
        node.parent = Parent::Previous;
        node.items = snapshot(&body, out);
    } else if head.kind == "queued_command" {
        node.items = queued(record, &body, out);
    } else {
        node.items = vec![from_fields(&head.kind, role, kind, &body, out)];
    }
    node.part = match role {
        Role::User => Part::Input,
        _ if node.items.is_empty() => Part::Link,
        _ => Part::Injected,
    };
    !node.items.is_empty()
}

/// Whose an attachment is; `None`: it does not reach the model.
fn place_of(kind: &str) -> Option<(Role, Kind)> {
    use Kind::{Memory, Prompt, Reminder, Skill, ToolList, ToolResult};
    Some(match kind {
        "prompt_snapshot" => (Role::Container, Prompt),
        "deferred_tools_delta"
        | "deferred_tools_record"
        | "mcp_instructions_delta"
        | "agent_listing_delta"
        | "skill_listing" => (Role::Container, ToolList),
        "invoked_skills" | "dynamic_skill" => (Role::Container, Skill),
        "instructions" | "nested_memory" | "relevant_memories" => (Role::Container, Memory),
        "file"
        | "directory"
        | "already_read_file"
        | "edited_text_file"
        | "compact_file_reference"
        | "plan_file_reference"
        | "diagnostics"
        | "mcp_resource"
        | "selected_lines_in_ide"
        | "opened_file_in_ide"
        | "read_truncation_notice"
        | "task_status" => (Role::Tool, ToolResult),
        "queued_command" => (Role::User, Kind::Text),
        "hook_additional_context"
        | "hook_blocking_error"
        | "task_reminder"
        | "todo_reminder"
        | "plan_mode"
        | "plan_mode_exit"
        | "plan_mode_reentry"
        | "date"
        | "date_change"
        | "environment"
        | "session_context"
        | "total_tokens_reminder"
        | "token_usage"
        | "silent_turn_reminder"
        | "batching_reminder_sent"
        | "bash_output_audience_note"
        | "goal_status"
        | "ultrathink_effort" => (Role::Container, Reminder),
        _ => return None,
    })
}

fn tool_name(role: Role, kind: &str) -> Option<&str> {
    (role == Role::Tool).then_some(kind)
}

/// The exact text that was sent, where the build writes it.
fn rendered(record: &Record<'_>) -> Option<Vec<String>> {
    let parts: Vec<Value> = serde_json::from_str(record.rendered?.get()).ok()?;
    let texts: Vec<String> = parts
        .iter()
        .filter_map(|part| Some(texts_of(part.get("content")?)))
        .flatten()
        .collect();
    (!texts.is_empty()).then_some(texts)
}

/// The texts of a string, of blocks, or of a list of strings.
fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().flat_map(texts_of).collect(),
        Value::Object(fields) => ["text", "content"]
            .iter()
            .find_map(|name| fields.get(*name))
            .map(texts_of)
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn from_fields(
    kind: &str,
    role: Role,
    item_kind: Kind,
    body: &Value,
    out: &mut Sink<'_>,
) -> NewItem {
    let field = |name: &str| body.get(name).map(texts_of).unwrap_or_default();
    let label = |name: &str| {
        body.get(name)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned()
    };
    let texts: Vec<String> = match kind {
        "deferred_tools_delta" | "deferred_tools_record" => {
            let lines = field("addedLines");
            if lines.is_empty() {
                field("addedNames")
            } else {
                lines
            }
        }
        "agent_listing_delta" => field("addedLines"),
        "mcp_instructions_delta" => field("addedBlocks"),
        "edited_text_file" => [vec![label("filename")], field("snippet")].concat(),
        "file" => {
            let inner = body.pointer("/content/file/content");
            let text = inner.map(texts_of).unwrap_or_else(|| field("content"));
            [vec![label("filename")], text].concat()
        }
        "compact_file_reference" | "already_read_file" => vec![label("filename")],
        _ => ["content", "text", "prompt", "message", "snippet"]
            .iter()
            .find_map(|name| body.get(*name))
            .map(texts_of)
            .unwrap_or_default(),
    };
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let mut item = out
        .item(role, item_kind)
        .tool(tool_name(role, kind))
        .label(kind);
    if texts.is_empty() || kind == "task_reminder" {
        item = item.fixed(REMINDER, "");
    }
    for text in &texts {
        item = item.text(text);
    }
    item.done()
}

/// Text typed while a turn ran: this is its only copy. Notices of background tasks come the same way.
fn queued(record: &Record<'_>, body: &Value, out: &mut Sink<'_>) -> Vec<NewItem> {
    let Some(prompt) = body.get("prompt") else {
        return Vec::new();
    };
    let typed = body.get("commandMode").and_then(Value::as_str) != Some("task-notification");
    let (role, kind) = if typed && record.is_meta != Some(true) {
        (Role::User, Kind::Text)
    } else {
        (Role::Container, Kind::Reminder)
    };
    serde_json::value::to_raw_value(prompt)
        .map(|raw| content::user_items(&raw, role, kind, &HashMap::new(), out))
        .unwrap_or_default()
}

/// The system prompt and the tool definitions, where a build logs them.
fn snapshot(body: &Value, out: &mut Sink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    let prompt = body.get("systemPrompt").map(texts_of).unwrap_or_default();
    if !prompt.is_empty() {
        let mut item = out
            .item(Role::Container, Kind::Prompt)
            .label("system prompt");
        for text in &prompt {
            item = item.text(text);
        }
        items.push(item.done());
    }
    for tool in body
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = tool.get("name").and_then(Value::as_str);
        items.push(
            out.item(Role::Container, Kind::ToolList)
                .tool(name)
                .text(&tool.to_string())
                .done(),
        );
    }
    items
}
