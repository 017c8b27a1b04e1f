//! The items of events.

use super::wire::{Block, Content, Observation, Reasoning, Tool};
use decode::image::{self, Formula};
use decode::lenient::{self, Pieces, Text, full_length};
use model::event::{EventSink, ItemBuilder, NewItem};
use model::{Kind, Role};

/// The text that the SDK puts before a result that failed.
const FAILED: &str = "[An error occurred during execution.]";

/// Adds text and images.
pub(super) fn content<'s, 'm>(
    mut item: ItemBuilder<'s, 'm>,
    content: &Pieces<Content<'_>>,
    model: Option<&str>,
) -> ItemBuilder<'s, 'm> {
    for part in &content.0 {
        if let Some(text) = part.text.get() {
            item = item.text(text);
        }
        for url in part.image_urls.iter().filter_map(Text::get) {
            item = item.fixed(picture(url, model), "[image]");
        }
    }
    item
}

/// Returns the cost of an image in tokens, by the formula of the model's maker.
fn picture(url: &str, model: Option<&str>) -> u64 {
    let is_claude = model.is_some_and(|id| id.contains("claude"));
    let data = url.split_once(',').map_or(url, |(_, data)| data);
    let formula: Formula = if is_claude {
        image::claude
    } else {
        image::openai
    };
    image::tokens(data, formula, image::DEFAULT)
}

/// Returns an answer's thinking, where it holds any that its text does not. It may be in several forms, which repeat each
/// other.
pub(super) fn thinking(
    thought: &Text<'_>,
    blocks: &[Block<'_>],
    reasoning: Option<&Reasoning<'_>>,
    text: &Pieces<Content<'_>>,
    out: &mut EventSink<'_>,
) -> Option<NewItem> {
    let mut item = out.item(Role::Assistant, Kind::Thinking);
    if !blocks.is_empty() {
        for block in blocks {
            item = item
                .text(block.thinking.or_empty())
                .opaque(full_length(block.data.or_empty()));
        }
        return Some(item.done());
    }
    if let Some(reasoning) = reasoning {
        for text in reasoning.summary.iter().chain(reasoning.content.iter()) {
            item = item.text(text);
        }
        let hidden = full_length(reasoning.encrypted_content.or_empty());
        return Some(item.opaque(hidden).done());
    }
    // Some models repeat it in their text, between tags.
    let thought = thought.or_empty();
    let is_repeated = |part: &Content<'_>| part.text.or_empty().contains(thought.trim());
    let is_new = !thought.trim().is_empty() && !text.0.iter().any(is_repeated);
    is_new.then(|| item.text(thought).done())
}

/// Returns the tools on offer: their descriptions, and the schemas that are written.
pub(super) fn tools(tools: &[Tool<'_>], out: &mut EventSink<'_>) -> Option<NewItem> {
    let mut item = out.item(Role::Container, Kind::ToolList);
    for tool in tools {
        item = match tool.mcp_tool {
            Some(raw) => lenient::raw(item, raw),
            None => item
                .text(tool.title.or_empty())
                .text(tool.description.or_empty()),
        };
    }
    (!tools.is_empty()).then(|| item.tools(tools.len()).done())
}

/// Adds what a tool returned, and what the terminal reports of it.
pub(super) fn observation<'s, 'm>(
    mut item: ItemBuilder<'s, 'm>,
    observation: &Observation<'_>,
    model: Option<&str>,
) -> ItemBuilder<'s, 'm> {
    if observation.is_error == Some(true) {
        item = item.text(FAILED);
    }
    let Some(terminal) = &observation.metadata else {
        return content(item, &observation.content, model);
    };
    if !terminal.prefix.or_empty().is_empty() {
        item = item.text(terminal.prefix.or_empty());
    }
    item = content(item, &observation.content, model);
    let mut notes = terminal.suffix.or_empty().trim_start().to_owned();
    let mut note = |text: String| {
        if !notes.is_empty() {
            notes.push('\n');
        }
        notes.push_str(&text);
    };
    if let Some(folder) = terminal.working_dir.boxed() {
        note(format!("[Current working directory: {folder}]"));
    }
    if let Some(python) = terminal.py_interpreter_path.boxed() {
        note(format!("[Python interpreter: {python}]"));
    }
    if let Some(code) = terminal.exit_code.filter(|code| *code >= 0.0) {
        note(format!("[Command finished with exit code {code}]"));
    }
    if notes.is_empty() {
        item
    } else {
        item.text(&notes)
    }
}
