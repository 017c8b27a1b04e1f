//! The messages that the model did not write: what the user typed, what tools returned, and what the
//! editor puts in.

use decode::anthropic::{self, Block, Content, ToolNames};
use decode::lenient::{Pieces, model_name};
use model::event::{EventSink, Meta, NewItem};
use model::{Kind, Role};

/// The beginning of what the editor puts in.
const ENVIRONMENT: &str = "<environment_details>";
/// The beginnings of the extension's own notes.
const NOTES: [&str; 3] = ["[ERROR]", "[TASK RESUMPTION]", "# task_progress"];

/// Returns the items of a message, and what they contain about the task.
pub(super) fn items(
    content: &Content<'_>,
    tools: &ToolNames,
    out: &mut EventSink<'_>,
) -> (Vec<NewItem>, Meta) {
    let (mut items, mut about) = (Vec::new(), Meta::default());
    // In versions without native calls a result is a heading, and the text that follows it.
    let mut result: Option<String> = None;
    for block in &content.0 {
        let item = match block.text.get() {
            _ if block.kind.get() == Some("tool_result") => {
                items.extend(native(block, tools, out));
                continue;
            }
            Some(text) if text.trim_start().starts_with(ENVIRONMENT) => {
                about = self::about(text);
                out.text(Role::Container, Kind::Reminder, text)
            }
            Some(text) if NOTES.iter().any(|note| text.starts_with(note)) => {
                out.text(Role::Container, Kind::Reminder, text)
            }
            Some(text) if heading(text).is_some() || result.is_some() => {
                if let Some(tool) = heading(text) {
                    result = Some(tool.to_owned());
                }
                out.tool_result(result.as_deref(), None).text(text).done()
            }
            Some(text) => out.text(Role::User, Kind::Text, text),
            None => {
                let (tokens, label) = anthropic::media_tokens(block, tools.images);
                let item = out.item(Role::User, Kind::Text);
                item.fixed(tokens, &label).done()
            }
        };
        items.push(item);
    }
    (items, about)
}

/// Returns the items of a native result.
fn native(block: &Block<'_>, tools: &ToolNames, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let content = Pieces(vec![block.clone()]);
    anthropic::user_items(&content, Role::User, Kind::Text, tools, out)
}

/// Returns the tool of a heading such as `[read_file for 'notes.md'] Result:`.
fn heading(text: &str) -> Option<&str> {
    let line = text.lines().next()?.strip_prefix('[')?;
    let (call, rest) = line.rsplit_once(']')?;
    rest.trim_start()
        .starts_with("Result")
        .then(|| call.split(' ').next().unwrap_or(call))
}

/// Returns the model and the folder, from the details of the environment.
fn about(details: &str) -> Meta {
    let between = |start: &str, end: &str| {
        let (_, rest) = details.split_once(start)?;
        let (inside, _) = rest.split_once(end)?;
        Some(inside.trim()).filter(|text| !text.is_empty())
    };
    let folder = between("# Current Workspace Directory (", ")")
        .or_else(|| between("# Current Working Directory (", ")"));
    Meta {
        cwd: folder.map(Into::into),
        model: between("<model>", "</model>").map(|model| model_name(model).into()),
        ..Meta::default()
    }
}
