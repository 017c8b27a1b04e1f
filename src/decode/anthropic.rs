//! Message content as Anthropic's interface defines it: a string, or blocks. Several agents log it.

use super::image::{self, Formula};
use super::lenient::{self, Pieces, Raw, TentativeValue, Text, full_length, record};
use super::pdf;
use memchr::memmem::Finder;
use model::event::{EventSink, ItemBuilder, Key, NewItem, Part};
use model::values::names::Names;
use model::{Kind, Role};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

record! {
    /// A block of a message, with the fields of all its types.
    pub struct Block<'a> {
        pub kind: Text<'a> = "type",
        pub text: Text<'a>,
        pub thinking: Text<'a>,
        pub signature: Text<'a>,
        pub data: Option<Raw<'a>>,
        pub id: Text<'a>,
        pub name: Text<'a>,
        pub input: Option<Raw<'a>>,
        pub tool_use_id: Text<'a>,
        pub is_error: Option<bool>,
        pub tool_name: Text<'a>,
        pub content: Option<TentativeValue<'a, Content<'a>>>,
        pub source: Option<MediaSource<'a>>,
    }

    /// The file of an image or a document.
    pub struct MediaSource<'a> {
        pub data: Text<'a>,
        pub media_type: Text<'a>,
    }
}

impl<'a> Block<'a> {
    /// Returns its content as it is written.
    pub fn raw_content(&self) -> Option<Raw<'a>> {
        self.content.as_ref()?.raw
    }
}

/// The names of the tools that were called, by call, and what else earlier records say of later ones.
#[derive(Debug, Clone, Default)]
pub struct ToolNames {
    /// Of the newest calls, and of those before them: a result comes soon after its call.
    by_call: HashMap<Key, Arc<str>>,
    by_older_call: HashMap<Key, Arc<str>>,
    names: Names,
    /// The formula by which the model counts images, once the model is named.
    pub images: Option<Formula>,
    /// True if the log contains the definitions of tools that are loaded when they are asked for.
    pub with_definitions: bool,
}

impl ToolNames {
    /// Remembers the tool of a call, if the call has an id.
    pub fn insert(&mut self, call: Option<&str>, tool: &str) {
        if let Some(call) = call {
            if self.by_call.len() >= MOST_CALLS {
                self.by_older_call = std::mem::take(&mut self.by_call);
            }
            self.by_call.insert(Key::of(call), self.names.share(tool));
        }
    }

    /// Returns the item of a call, whose tool is remembered.
    pub fn call(
        &mut self,
        id: Option<&str>,
        tool: Option<&str>,
        arguments: Option<Raw<'_>>,
        out: &mut EventSink<'_>,
    ) -> NewItem {
        self.insert(id, tool.unwrap_or_default());
        lenient::call(tool, id, arguments, out)
    }

    /// Returns the item of a call whose arguments are a text. Its tool is remembered.
    pub fn written_call(
        &mut self,
        id: Option<&str>,
        tool: Option<&str>,
        arguments: &str,
        out: &mut EventSink<'_>,
    ) -> NewItem {
        self.insert(id, tool.unwrap_or_default());
        lenient::written_call(tool, id, arguments, out)
    }

    /// Returns the tool of a call.
    pub fn get(&self, call: Option<&str>) -> Option<&str> {
        let call = Key::of(call?);
        let older = || self.by_older_call.get(&call);
        self.by_call.get(&call).or_else(older).map(|tool| &**tool)
    }
}

/// At least so many of the newest calls are remembered.
const MOST_CALLS: usize = if cfg!(test) { 2 } else { 1 << 14 };

/// Returns the part of the exchange that a message is which the model did not write.
pub fn part_of(items: &[NewItem]) -> Part {
    if items.iter().any(|item| item.kind == Kind::ToolResult) {
        Part::Result
    } else if items.iter().any(|item| item.role == Role::User) {
        Part::Input
    } else if items.is_empty() {
        Part::Link
    } else {
        Part::Injected
    }
}

/// A message's content.
pub type Content<'a> = Pieces<Block<'a>>;

/// Adds the text that the user typed, and what the harness put in before and after it. Blank ones are left out.
pub fn add_typed(
    [before, typed, after]: [&str; 3],
    items: &mut Vec<NewItem>,
    out: &mut EventSink<'_>,
) {
    let around = (Role::Container, Kind::Reminder);
    let parts = [
        (around, before),
        ((Role::User, Kind::Text), typed),
        (around, after),
    ];
    let parts = parts
        .into_iter()
        .filter(|(_, text)| !text.trim().is_empty());
    items.extend(parts.map(|((role, kind), text)| out.text(role, kind, text)));
}

/// Returns the texts of a content, each as an item of this kind that the harness put in.
pub fn injected_texts(content: &Content<'_>, kind: Kind, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let texts = content.0.iter().filter_map(|block| block.text.get());
    texts
        .map(|text| out.text(Role::Container, kind, text))
        .collect()
}

/// Returns the items of a user's message: typed text, tool results, and what the harness embedded in them.
pub fn user_items(
    content: &Content<'_>,
    role: Role,
    kind: Kind,
    tools: &ToolNames,
    out: &mut EventSink<'_>,
) -> Vec<NewItem> {
    let mut items = Vec::new();
    for block in &content.0 {
        match (block.kind.or_empty(), block.text.get()) {
            ("tool_result", _) => tool_result(block, tools, &mut items, out),
            (_, Some(text)) => text_items(text, role, kind, &mut items, out),
            (_, None) => {
                let item = out.item(role, kind);
                items.push(with_media(item, block, tools.images).done());
            }
        }
    }
    items
}

/// Adds the items of a text. The harness's reminders in it are items of their own.
fn text_items(
    text: &str,
    role: Role,
    kind: Kind,
    items: &mut Vec<NewItem>,
    out: &mut EventSink<'_>,
) {
    let (role, kind) = if role == Role::User && is_injected(text) {
        (Role::Container, Kind::Reminder)
    } else {
        (role, kind)
    };
    for (part, reminder) in split_reminders(text) {
        if reminder && kind != Kind::Summary {
            items.push(out.text(Role::Container, Kind::Reminder, part));
        } else if !part.trim().is_empty() {
            items.push(out.text(role, kind, part));
        }
    }
}

/// Returns true if the harness wrote this text into a plain user record: the user did not type it.
fn is_injected(text: &str) -> bool {
    const NOTES: [&str; 7] = [
        // The user pressed a key, and typed nothing.
        "[Request interrupted by user",
        "<local-command-stdout>",
        "<local-command-stderr>",
        "<local-command-caveat>",
        "<bash-stdout>",
        "<bash-stderr>",
        "<task-notification>",
    ];
    let start = text.trim_start();
    NOTES.iter().any(|tag| start.starts_with(tag))
}

const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");
/// Searches any text that a user or a tool sent, so it is made once.
static REMINDER_BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(REMINDER.0));

/// Returns a text's parts, each with whether it is a reminder. All parts together are the text.
fn split_reminders(text: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = REMINDER_BEGIN.find(rest.as_bytes()) {
        let Some(len) = rest[start..].find(REMINDER.1) else {
            break;
        };
        let end = start + len + REMINDER.1.len();
        if start > 0 {
            parts.push((&rest[..start], false));
        }
        parts.push((&rest[start..end], true));
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        parts.push((rest, false));
    }
    parts
}

fn tool_result(
    block: &Block<'_>,
    tools: &ToolNames,
    items: &mut Vec<NewItem>,
    out: &mut EventSink<'_>,
) {
    let call = block.tool_use_id.get();
    let nothing = Content::default();
    let content = match &block.content {
        Some(content) => content.get(out),
        None => &nothing,
    };
    let mut reminders = Vec::new();
    let mut result = out.tool_result(tools.get(call), call);
    for block in &content.0 {
        let text = match (block.text.get(), block.tool_name.get()) {
            (Some(text), _) => text,
            // A tool's definition, put in by the server.
            (None, Some(name)) => {
                let tokens = if tools.with_definitions {
                    TOOL_REFERENCE
                } else {
                    TOOL_DEFINITION
                };
                result = result.fixed(tokens, name);
                continue;
            }
            (None, None) => {
                result = with_media(result, block, tools.images);
                continue;
            }
        };
        for (part, reminder) in split_reminders(text) {
            if reminder {
                reminders.push(part)
            } else {
                result = result.text(part)
            }
        }
    }
    if block.is_error == Some(true) {
        result = result.failed();
    }
    items.push(result.done());
    for text in reminders {
        items.push(out.text(Role::Container, Kind::Reminder, text));
    }
}

/// Tokens of a deferred tool's definition once it is loaded: a guess, for logs that do not hold its text.
const TOOL_DEFINITION: u64 = 300;
/// Tokens of the mention of a deferred tool whose definition is logged apart.
const TOOL_REFERENCE: u64 = 15;
/// Tokens of an image whose size cannot be read.
const UNKNOWN_IMAGE: u64 = 1_500;

/// Adds a block that is not text.
fn with_media<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    block: &Block<'_>,
    images: Option<Formula>,
) -> ItemBuilder<'s, 'm> {
    let (tokens, label) = media_tokens(block, images);
    item.fixed(tokens, &label)
}

/// Returns the tokens of an image or a document, and its label. `images`: how the model counts them, if it is known.
pub fn media_tokens(block: &Block<'_>, images: Option<Formula>) -> (u64, String) {
    let source = block.source.as_ref();
    match block.kind.get() {
        Some("image") => {
            let data = source.and_then(|source| source.data.get());
            match data.and_then(image::dimensions) {
                Some((w, h)) => (
                    images.unwrap_or(image::claude)(w, h),
                    format!("[image {w}×{h}]"),
                ),
                None => (UNKNOWN_IMAGE, "[image]".to_owned()),
            }
        }
        Some("document") => {
            let media = source.map_or("", |source| source.media_type.or_empty());
            let data = source.map_or("", |source| source.data.or_empty());
            let tokens = pdf::tokens(data, pdf::PAGE, pdf::PAGE);
            (tokens, format!("[document {media}]"))
        }
        other => (0, format!("[{}]", other.unwrap_or("unknown block"))),
    }
}

/// Returns the items of an assistant's message. The names of the tools that it calls are added to `tools`.
pub fn assistant_items(
    content: &Content<'_>,
    tools: &mut ToolNames,
    out: &mut EventSink<'_>,
) -> Vec<NewItem> {
    let blocks = content.0.iter();
    blocks
        .map(|block| assistant_item(block, tools, out))
        .collect()
}

fn assistant_item(block: &Block<'_>, tools: &mut ToolNames, out: &mut EventSink<'_>) -> NewItem {
    match block.kind.or_empty() {
        "thinking" => {
            // The readable text is often empty or a summary; the signature grows with what is hidden.
            out.item(Role::Assistant, Kind::Thinking)
                .text(block.thinking.or_empty())
                .opaque(full_length(block.signature.or_empty()))
                .done()
        }
        "redacted_thinking" => out
            .item(Role::Assistant, Kind::Thinking)
            .opaque(block.data.map_or(0, |raw| full_length(raw.get())))
            .done(),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let (tool, input) = (
                Some(block.name.or_empty()),
                block.input.map_or("", Raw::get),
            );
            tools.written_call(block.id.get(), tool, input, out)
        }
        kind => match (block.text.get(), block.raw_content()) {
            (Some(text), _) => out.text(Role::Assistant, Kind::Text, text),
            // The result of a tool that ran on the server.
            (None, Some(content)) => {
                let tool = Some(kind).filter(|kind| !kind.is_empty());
                let result = out.tool_result(tool, block.tool_use_id.get());
                lenient::raw(result, content).done()
            }
            (None, None) => {
                let item = out.item(Role::Assistant, Kind::Text);
                with_media(item, block, tools.images).done()
            }
        },
    }
}
