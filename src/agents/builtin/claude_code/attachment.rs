//! Attachments: what the harness puts into the conversation beside the messages, since about 2.1.43.
//!
//! Newer builds write the exact text in `rendered`; before them it is put together from the
//! attachment's own fields. Which types reach the model was measured on the growth of real prompts:
//! hooks' plain output, permissions and mode switches do not.

use super::Record;
use decode::anthropic::{ToolNames, user_items};
use decode::lenient::{self, Field, FieldPlace, Raw, Text, record};
use json::{each_element, each_field, string};
use model::event::{EventSink, NewItem, Node, Part};
use model::{Kind, Role};
use std::borrow::Cow;

record! {
    pub(super) struct Attachment<'a> {
        kind: Text<'a> = "type",
        content: Option<Raw<'a>>,
        text: Strings<'a>,
        prompt: Option<Raw<'a>>,
        message: Strings<'a>,
        snippet: Strings<'a>,
        filename: Text<'a>,
        added_lines: Strings<'a> = "addedLines",
        added_names: Strings<'a> = "addedNames",
        added_blocks: Strings<'a> = "addedBlocks",
        command_mode: Text<'a> = "commandMode",
        pub(super) system_prompt: Strings<'a> = "systemPrompt",
        pub(super) tools: Vec<Raw<'a>>,
    }

    /// A message as it was sent.
    pub(super) struct RenderedMessage<'a> {
        content: Strings<'a>,
    }

    /// The content of a file's attachment.
    struct FileContent<'a> {
        file: RenderedMessage<'a>,
    }

    struct Tool<'a> {
        name: Text<'a>,
    }
}

/// The texts of a string, of an object's `text` or `content`, or of a list of these.
#[derive(Debug, Default, Clone)]
pub(super) struct Strings<'a>(Vec<Cow<'a, str>>);

impl<'a> Field<'a> for Strings<'a> {
    fn read(value: Raw<'a>, at: FieldPlace<'_>) -> Option<Strings<'a>> {
        let json = value.get();
        let mut strings = Vec::new();
        match json.as_bytes().first()? {
            b'"' => strings.push(string(json)?),
            b'[' => {
                let mut add = |element| {
                    let Strings(more) = at.read(element).unwrap_or_default();
                    strings.extend(more);
                };
                each_element(json, &mut add).ok()?;
            }
            b'{' => {
                let (mut text, mut content) = (None, None);
                let mut find = |name: &str, value| match name {
                    "text" => text = Some(value),
                    "content" => content = Some(value),
                    _ => {}
                };
                each_field(json, &mut find).ok()?;
                return at.read(text.or(content)?);
            }
            _ => return None,
        }
        Some(Strings(strings))
    }
}

impl Record<'_> {
    /// Returns the attachment's name among the skipped records.
    pub(super) fn attachment_name(&self) -> String {
        let kind = self.attachment.as_ref().and_then(|a| a.kind.get());
        format!("attachment/{}", kind.unwrap_or("unknown"))
    }
}

/// Tokens of a reminder whose text is in no log (measured: 120 to 160).
const REMINDER: u64 = 120;

/// Reads an attachment into `node`. Returns whether it is in the context.
pub(super) fn read(record: &Record<'_>, node: &mut Node, out: &mut EventSink<'_>) -> bool {
    let Some(attachment) = &record.attachment else {
        return false;
    };
    let name = attachment.kind.or_empty();
    let rendered = record.rendered.iter().flat_map(|part| &part.content.0);
    let mut rendered = rendered.peekable();
    // An attachment that was sent as text is in the context, whatever its type.
    let sent = rendered.peek().map(|_| (Role::Container, Kind::Reminder));
    let Some((role, kind)) = placement(name).or(sent) else {
        return false;
    };
    // Notices of background tasks come as the user's queued commands do.
    let is_notice =
        attachment.command_mode.get() == Some("task-notification") || record.is_meta == Some(true);
    let (role, kind) = if role == Role::User && is_notice {
        (Role::Container, Kind::Reminder)
    } else {
        (role, kind)
    };
    if sent.is_some() {
        let label = tool_name(role, name);
        let items = rendered.map(|text| out.item(role, kind).tool(label).text(text).done());
        node.items = items.collect();
    } else if name == "queued_command" {
        // The text was typed while a turn ran: this is its only copy.
        let prompt = lenient::value(attachment.prompt, "prompt", out);
        node.items = user_items(&prompt, role, kind, &ToolNames::default(), out);
    } else {
        node.items = vec![from_fields(attachment, role, kind, out)];
    }
    node.part = match role {
        Role::User => Part::Input,
        _ if node.items.is_empty() => Part::Link,
        _ => Part::Injected,
    };
    !node.items.is_empty()
}

/// Returns the role and kind of an attachment of this type; `None`: it does not reach the model.
fn placement(kind: &str) -> Option<(Role, Kind)> {
    use Kind::{Memory, Reminder, Skill, ToolList, ToolResult};
    Some(match kind {
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
        | "auto_mode_exit"
        | "ultra_effort_enter"
        | "ultra_effort_exit"
        | "ultrathink_effort" => (Role::Container, Reminder),
        _ => return None,
    })
}

fn tool_name(role: Role, kind: &str) -> Option<&str> {
    (role == Role::Tool).then_some(kind)
}

/// Returns an attachment whose exact text is not in the log.
fn from_fields(
    attachment: &Attachment<'_>,
    role: Role,
    item_kind: Kind,
    out: &mut EventSink<'_>,
) -> NewItem {
    let kind = attachment.kind.or_empty();
    let filename = attachment.filename.0.clone();
    let content: Strings<'_>;
    let texts = match kind {
        "deferred_tools_delta" | "deferred_tools_record" => {
            let lines = [&attachment.added_lines, &attachment.added_names];
            lines.into_iter().find(|texts| !texts.0.is_empty())
        }
        "agent_listing_delta" => Some(&attachment.added_lines),
        "mcp_instructions_delta" => Some(&attachment.added_blocks),
        "edited_text_file" => Some(&attachment.snippet),
        "file" => {
            let file: FileContent<'_> = lenient::value(attachment.content, "content", out);
            content = if file.file.content.0.is_empty() {
                lenient::value(attachment.content, "content", out)
            } else {
                file.file.content
            };
            Some(&content)
        }
        "compact_file_reference" | "already_read_file" => None,
        // A list of tasks, which is not sent as it is written.
        "task_reminder" if attachment.content.is_some_and(is_list) => None,
        _ => {
            content = lenient::value(attachment.content.or(attachment.prompt), "content", out);
            let fields = [
                &content,
                &attachment.text,
                &attachment.message,
                &attachment.snippet,
            ];
            fields.into_iter().find(|texts| !texts.0.is_empty())
        }
    };
    let filename = match kind {
        "edited_text_file" | "file" | "compact_file_reference" | "already_read_file" => filename,
        _ => None,
    };
    let texts = texts.into_iter().flat_map(|texts| &texts.0);
    let texts = filename.iter().chain(texts).filter(|text| !text.is_empty());
    let mut texts = texts.peekable();
    let mut item = out
        .item(role, item_kind)
        .tool(tool_name(role, kind))
        .label(kind);
    if texts.peek().is_none() || kind == "task_reminder" {
        item = item.fixed(REMINDER, "");
    }
    for text in texts {
        item = item.text(text);
    }
    item.done()
}

fn is_list(value: Raw<'_>) -> bool {
    value.get().starts_with('[')
}

/// Returns the attachment of a `prompt_snapshot`. It repeats what the request before held: it is written at a cold
/// start, once more with the tools when the response is there, and again after a compaction.
pub(super) fn snapshot<'r, 'a>(record: &'r Record<'a>) -> Option<&'r Attachment<'a>> {
    let attachment = record.attachment.as_ref();
    attachment.filter(|attachment| attachment.kind.get() == Some("prompt_snapshot"))
}

/// Returns the items of a system prompt and of each tool's definition.
pub(super) fn front(
    prompt: &Strings<'_>,
    tools: &[Raw<'_>],
    out: &mut EventSink<'_>,
) -> Vec<NewItem> {
    let mut items = Vec::new();
    let Strings(prompt) = prompt;
    if !prompt.is_empty() {
        let item = out.item(Role::Container, Kind::Prompt);
        let item = item.label("system prompt");
        items.push(
            prompt
                .iter()
                .fold(item, |item, text| item.text(text))
                .done(),
        );
    }
    for definition in tools {
        let tool: Tool<'_> = lenient::value(Some(*definition), "tools", out);
        let json: serde_json::Value = serde_json::from_str(definition.get()).unwrap_or_default();
        let item = out.item(Role::Container, Kind::ToolList);
        let item = item.tool(tool.name.get()).tools(1);
        items.push(item.text(&json.to_string()).done());
    }
    items
}
