//! Messages of all dialects as blocks: Chat Completions, Responses items, Anthropic blocks, Gemini parts,
//! AI SDK parts.

use super::shape::Object;
use kit::image::{self, Formula};
use kit::lenient::{At, Lost, Raw, Record, Text, record, scan};
use kit::prompts::{Block, Content};
use model::{Kind, Role};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashMap;

/// Tokens of a document: 1,500 to 3,000 a page by Anthropic's account, and the pages are unknown.
const DOCUMENT: u64 = 2_000;

record! {
    struct Message<'a> {
        role: Text<'a>,
        kind: Text<'a> = "type",
        content: Option<Raw<'a>>,
        /// Gemini's content.
        parts: Option<Raw<'a>>,
        name: Text<'a>,
        tool_calls: Vec<Raw<'a>>,
        function_call: Option<Object<'a>>,
        tool_call_id: Text<'a>,
        reasoning: Text<'a> = "reasoning_content" | "reasoning",
        id: Text<'a>,
        call_id: Text<'a>,
        arguments: Option<Raw<'a>> = "arguments" | "input" | "action",
        output: Option<Raw<'a>>,
        summary: Option<Raw<'a>>,
        encrypted_content: Text<'a>,
    }
}

record! {
    /// A block or part of a content.
    struct Part<'a> {
        kind: Text<'a> = "type",
        text: Text<'a> = "text" | "refusal",
        thinking: Text<'a>,
        signature: Text<'a> = "signature" | "thoughtSignature",
        data: Text<'a>,
        id: Text<'a>,
        name: Text<'a>,
        input: Option<Raw<'a>>,
        arguments: Option<Raw<'a>>,
        call_id: Text<'a> = "tool_use_id" | "toolCallId",
        tool: Text<'a> = "toolName",
        content: Option<Raw<'a>>,
        image: Option<Raw<'a>> = "source" | "image",
        image_url: Option<Raw<'a>>,
        detail: Text<'a>,
        result: Option<Raw<'a>> = "output" | "result",
        call: Option<Object<'a>> = "functionCall" | "function_call",
        response: Option<Object<'a>> = "functionResponse" | "function_response",
        inline: Option<Object<'a>> = "inlineData" | "inline_data",
        file: Option<Raw<'a>> = "fileData" | "file_data",
        thought: Option<bool>,
        /// The AI SDK's output: `{"type": "text", "value": …}`.
        value: Option<Raw<'a>>,
        parts: Option<Raw<'a>>,
    }
}

record! {
    /// A tool call as Chat Completions, Gemini and the AI SDK write it.
    struct Call<'a> {
        id: Text<'a> = "id" | "toolCallId",
        name: Text<'a> = "name" | "toolName",
        function: Option<Raw<'a>>,
        arguments: Option<Raw<'a>> = "arguments" | "args" | "input",
        response: Option<Raw<'a>>,
    }
}

record! {
    struct Media<'a> {
        data: Text<'a>,
        url: Text<'a>,
        detail: Text<'a>,
        mime: Text<'a> = "mimeType" | "mime_type",
    }
}

/// The blocks of a prompt: a list of messages, one of them, or bare text of the user.
pub(in crate::builtin) fn blocks<'a>(raw: Raw<'a>, at: At<'_>) -> Vec<Block<'a>> {
    let mut all = Vec::new();
    messages(raw, at, LISTS, &mut all);
    all
}

/// The blocks of a response's content.
pub(super) fn output<'a>(raw: Raw<'a>, at: At<'_>) -> Vec<Block<'a>> {
    let mut all = Vec::new();
    MessageReader::new(Role::Assistant, at, &mut all).content(raw);
    all
}

/// Tool calls that a response lists beside its text.
pub(in crate::builtin) fn calls<'a>(raw: Raw<'a>, at: At<'_>) -> Vec<Block<'a>> {
    list(raw).into_iter().map(|one| call(one, at)).collect()
}

/// The elements of a list; what is none is its own.
pub(super) fn list(raw: Raw<'_>) -> Vec<Raw<'_>> {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![raw])
}

/// The string that a value is.
pub(super) fn string(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    scan::string(raw.get())
}

/// Notes that a value is neither text, list nor object, where it should be one of them.
pub(super) fn note_scalar(raw: Option<Raw<'_>>, at: At<'_>) {
    let scalar = raw.filter(|raw| !raw.get().starts_with(['"', '[', '{']));
    scalar.and_then(|raw| at.read::<Text<'_>>(raw));
}

/// The object that a value is; empty where it is none, which is noted.
pub(super) fn object<'a, T: Record<'a>>(raw: Raw<'a>, at: At<'_>) -> T {
    at.read(raw).unwrap_or_default()
}

/// The same of a value that may as well be something else.
fn object_if<'a, T: Record<'a>>(raw: Raw<'a>, at: At<'_>) -> T {
    match raw.get().starts_with('{') {
        true => object(raw, at),
        false => T::default(),
    }
}

/// Lists in lists of messages, and results in results, that are looked into. No program logs more than one; a forged log may.
const LISTS: usize = 16;

fn messages<'a>(raw: Raw<'a>, at: At<'_>, lists: usize, all: &mut Vec<Block<'a>>) {
    match raw.get().as_bytes().first() {
        Some(b'[') => match lists.checked_sub(1) {
            Some(lists) => {
                for element in list(raw) {
                    messages(element, at, lists, all);
                }
            }
            None => at.lose(),
        },
        Some(b'{') => message(raw, at, all),
        _ => {
            if let Some(Text(Some(text))) = at.read(raw) {
                let mut reader = MessageReader::new(Role::User, at, all);
                reader.text(text);
                reader.begin_turn();
            }
        }
    }
}

/// The role of a message; `None`: an item of the Responses API that is no message.
fn role_of(role: &str) -> Option<Role> {
    Some(match role {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

fn message<'a>(raw: Raw<'a>, at: At<'_>, all: &mut Vec<Block<'a>>) {
    let message: Message<'a> = object(raw, at);
    let is_item = message.parts.is_none() && message.kind.get().is_some();
    let role = match role_of(message.role.or_empty()) {
        Some(role) => role,
        None if is_item || (message.content.is_none() && message.parts.is_none()) => {
            return item(raw, message, at, all);
        }
        // Gemini's contents may leave it out.
        None => Role::User,
    };
    let mut reader = MessageReader::new(role, at.field("content"), all);
    if role == Role::Tool {
        reader.call = message.tool_call_id.0;
        reader.tool = message.name.0;
    }
    if let Some(thought) = message.reasoning.0.filter(|thought| !thought.is_empty()) {
        let thought = Block::text(Role::Assistant, Kind::Thinking, thought);
        reader.all.push(thought);
    }
    for content in [message.content, message.parts].into_iter().flatten() {
        reader.content(content);
    }
    let calls = message.tool_calls.into_iter();
    for raw in calls.chain(message.function_call.map(|call| call.0)) {
        reader.all.push(call(raw, at.field("tool_calls")));
    }
    // An empty result is a result.
    if role == Role::Tool && reader.is_empty() {
        reader.text(Cow::Borrowed(""));
    }
    reader.begin_turn();
}

/// An item of the Responses API that is no message, or a part without a message around it.
fn item<'a>(raw: Raw<'a>, item: Message<'a>, at: At<'_>, all: &mut Vec<Block<'a>>) {
    let kind = item.kind.or_empty();
    let id = item.call_id.0.or(item.id.0.clone());
    let hidden = Content::Hidden(item.encrypted_content.or_empty().len() as u64);
    all.push(match kind {
        "reasoning" => {
            let parts = [item.summary, item.content].into_iter().flatten();
            let texts = parts.flat_map(|part| texts(part, at)).map(Content::Text);
            let thinking = Block::new(Role::Assistant, Kind::Thinking);
            thinking.with(texts.chain([hidden])).with_id(item.id.0)
        }
        "compaction" | "compaction_summary" => {
            Block::new(Role::Container, Kind::Summary).with([hidden])
        }
        _ if kind.ends_with("_output") => tool_result(id, None, item.output, at),
        _ if kind.ends_with("_call") => {
            let tool = item.name.0.unwrap_or_else(|| kind.to_owned().into());
            tool_call(id, tool, item.arguments)
        }
        "tool-call" => call(raw, at),
        _ => {
            let mut reader = MessageReader::new(Role::User, at, all);
            reader.part(raw);
            return reader.begin_turn();
        }
    });
}

fn call<'a>(raw: Raw<'a>, at: At<'_>) -> Block<'a> {
    let outer: Call<'_> = object(raw, at);
    let inner = outer.function.map(|raw| object(raw, at.field("function")));
    let inner: Call<'_> = inner.unwrap_or_default();
    let name = outer.name.0.or(inner.name.0).unwrap_or_default();
    tool_call(outer.id.0, name, inner.arguments.or(outer.arguments))
}

pub(super) fn tool_call<'a>(
    id: Option<Cow<'a, str>>,
    tool: Cow<'a, str>,
    arguments: Option<Raw<'a>>,
) -> Block<'a> {
    // Arguments are JSON, or a string that holds it.
    let arguments = arguments.map(|raw| string(raw).map_or(Content::Json(raw), Content::Text));
    let name = Content::Text(tool.clone());
    let block = Block::new(Role::Assistant, Kind::ToolCall);
    block
        .with([name].into_iter().chain(arguments))
        .for_call(id, Some(tool))
}

fn tool_result<'a>(
    id: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    result: Option<Raw<'a>>,
    at: At<'_>,
) -> Block<'a> {
    let content = result.map_or_else(Vec::new, |raw| result_content(raw, LISTS, at));
    let block = Block::new(Role::Tool, Kind::ToolResult);
    block.with(content).for_call(id, tool)
}

/// What a tool returned, whatever its shape.
fn result_content<'a>(raw: Raw<'a>, depth: usize, at: At<'_>) -> Vec<Content<'a>> {
    if raw.get().starts_with('[') {
        let parts = list(raw).into_iter();
        return parts
            .flat_map(|part| result_part(part, depth, at))
            .collect();
    }
    result_part(raw, depth, at)
}

fn result_part<'a>(raw: Raw<'a>, depth: usize, at: At<'_>) -> Vec<Content<'a>> {
    if let Some(text) = string(raw) {
        return vec![Content::Text(text)];
    }
    // A result may be any object: its fields are not expected to be those of a part.
    let lost = Lost::default();
    let part: Part<'_> = object_if(raw, lost.at(""));
    if let Some(media) = media(&part, at) {
        return vec![media];
    }
    match (part.text.0, part.value, depth.checked_sub(1)) {
        (Some(text), ..) => vec![Content::Text(text)],
        (None, Some(value), Some(depth)) => result_content(value, depth, at),
        (None, ..) => vec![Content::Json(raw)],
    }
}

/// The texts in a content: a string, or parts that hold one.
pub(super) fn texts<'a>(raw: Raw<'a>, at: At<'_>) -> Vec<Cow<'a, str>> {
    let mut texts = Vec::new();
    for element in list(raw) {
        let text = string(element);
        let part: Part<'_> = match text {
            Some(_) => Part::default(),
            None => object(element, at),
        };
        texts.extend(text.or(part.text.0));
        let inner = part.parts.map(list).unwrap_or_default();
        let inner = inner.into_iter().map(|part| object::<Part<'_>>(part, at));
        texts.extend(inner.filter_map(|part| part.text.0));
    }
    texts
}

/// Reads the contents of one message.
struct MessageReader<'f, 'a, 'l> {
    role: Role,
    at: At<'l>,
    call: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    all: &'f mut Vec<Block<'a>>,
    /// Where its own blocks begin.
    from: usize,
}

impl<'f, 'a, 'l> MessageReader<'f, 'a, 'l> {
    fn new(role: Role, at: At<'l>, all: &'f mut Vec<Block<'a>>) -> Self {
        MessageReader {
            role,
            at,
            call: None,
            tool: None,
            from: all.len(),
            all,
        }
    }

    fn is_empty(&self) -> bool {
        self.all.len() == self.from
    }

    fn content(&mut self, raw: Raw<'a>) {
        match raw.get().as_bytes().first() {
            Some(b'[') => list(raw).into_iter().for_each(|part| self.part(part)),
            _ => self.part(raw),
        }
    }

    /// The assistant's text is one block however many parts it came in; so is a tool's result. A user's
    /// parts have several authors.
    fn text(&mut self, text: Cow<'a, str>) {
        if text.trim().is_empty() && self.role != Role::Tool {
            return;
        }
        let (role, kind) = match self.role {
            Role::User if text.trim_start().starts_with("<system-reminder>") => {
                (Role::Container, Kind::Reminder)
            }
            Role::System => (Role::Container, Kind::Prompt),
            Role::Tool => (Role::Tool, Kind::ToolResult),
            role => (role, Kind::Text),
        };
        self.add(role, kind, Content::Text(text));
    }

    fn add(&mut self, role: Role, kind: Kind, content: Content<'a>) {
        let joins = matches!(self.role, Role::Assistant | Role::Tool);
        let last = self.all.get_mut(self.from..).and_then(<[_]>::last_mut);
        match last.filter(|last| joins && last.role == role && last.kind == kind) {
            Some(last) => last.content.push(content),
            None => {
                let mut block = Block::new(role, kind).with([content]);
                if role == Role::Tool {
                    block = block.for_call(self.call.clone(), self.tool.clone());
                }
                self.all.push(block);
            }
        }
    }

    fn part(&mut self, raw: Raw<'a>) {
        if let Some(text) = string(raw) {
            return self.text(text);
        }
        let at = self.at;
        let Some(part) = at.read::<Part<'a>>(raw) else {
            return;
        };
        if let Some(call) = part.call {
            return self.all.push(self::call(call.0, at));
        }
        if let Some(response) = part.response {
            let call: Call<'a> = object(response.0, at.field("functionResponse"));
            let result = tool_result(call.id.0, call.name.0, call.response, at);
            return self.all.push(result);
        }
        let result = || part.result.or(part.content);
        match part.kind.or_empty() {
            "thinking" | "redacted_thinking" | "reasoning" => self.all.push(thinking(part)),
            _ if part.thought == Some(true) => self.all.push(thinking(part)),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let tool = part.name.0.unwrap_or_default();
                self.all.push(tool_call(part.id.0, tool, part.input));
            }
            "tool-call" => self.all.push(call(raw, at)),
            "" if part.name.0.is_some() && part.arguments.is_some() => {
                self.all.push(call(raw, at));
            }
            // `tool_result`, the AI SDK's `tool-result`, and those of tools that run on the server:
            // `web_search_tool_result`.
            kind if kind.ends_with("tool_result") || kind == "tool-result" => {
                let result = result();
                self.all
                    .push(tool_result(part.call_id.0, part.tool.0, result, at));
            }
            _ => {
                let role = match self.role {
                    Role::System => Role::Container,
                    role => role,
                };
                let kind = match role {
                    Role::Tool => Kind::ToolResult,
                    _ => Kind::Text,
                };
                match (media(&part, at), part.text.0) {
                    (Some(media), _) => self.add(role, kind, media),
                    (None, Some(text)) => self.text(text),
                    (None, None) if is_void(raw) => {}
                    (None, None) => self.add(role, Kind::Text, Content::Json(raw)),
                }
            }
        }
    }

    /// A user's message begins a turn unless it only brings results, or continues one before it.
    fn begin_turn(&mut self) {
        if self.role != Role::User {
            return;
        }
        let before = self.from.checked_sub(1).and_then(|ix| self.all.get(ix));
        let continues = before.is_some_and(|block| block.role == Role::User);
        let own = &mut self.all[self.from..];
        if continues || own.iter().any(|block| block.role == Role::Tool) {
            return;
        }
        if let Some(first) = own.iter_mut().find(|block| block.role == Role::User) {
            first.begins_turn = true;
        }
    }
}

/// Whether nothing is in a part but fields of Gemini's whose values could not be read.
fn is_void(part: Raw<'_>) -> bool {
    const FIELDS: [&str; 6] = [
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "inlineData",
        "inline_data",
    ];
    let fields = serde_json::from_str::<HashMap<Cow<'_, str>, IgnoredAny>>(part.get());
    fields.is_ok_and(|fields| fields.keys().all(|name| FIELDS.contains(&&**name)))
}

fn thinking(part: Part<'_>) -> Block<'_> {
    let hidden = part.signature.or_empty().len() + part.data.or_empty().len();
    let text = part.thinking.0.or(part.text.0).map(Content::Text);
    let content = text.into_iter().chain([Content::Hidden(hidden as u64)]);
    Block::new(Role::Assistant, Kind::Thinking).with(content)
}

/// The tokens of what is no text, by the formula of whose dialect it is in, and its label.
fn media<'a>(part: &Part<'a>, at: At<'_>) -> Option<Content<'a>> {
    let sized = |tokens: Formula, base64: &str, unknown: u64| {
        let base64 = base64
            .rsplit_once("base64,")
            .map_or(base64, |(_, data)| data);
        match image::dimensions(base64) {
            Some((w, h)) => Content::Media(tokens(w, h), format!("[image {w}×{h}]").into()),
            None => Content::Media(unknown, "[image]".into()),
        }
    };
    if let Some(Object(raw)) = part.inline {
        let media: Media<'_> = object(raw, at.field("inlineData"));
        let mime = media.mime.or_empty();
        return Some(match mime.starts_with("image/") {
            true => sized(image::gemini, media.data.or_empty(), 258),
            false => Content::Media(DOCUMENT, format!("[{mime}]").into()),
        });
    }
    if part.file.is_some() && part.kind.get().is_none() {
        return Some(Content::Media(DOCUMENT, "[file]".into()));
    }
    match part.kind.or_empty() {
        "image" => {
            let media = part.image.map(|raw| object_if(raw, at.field("source")));
            let media: Media<'_> = media.unwrap_or_default();
            let bare = part.image.and_then(string).unwrap_or_default();
            let data = media.data.get().or(part.data.get()).unwrap_or(&bare);
            Some(sized(image::claude, data, 1_500))
        }
        "image_url" | "input_image" => {
            let raw = part.image_url?;
            let media: Media<'_> = object_if(raw, at.field("image_url"));
            let bare = string(raw).unwrap_or_default();
            Some(match media.detail.get().or(part.detail.get()) {
                // 85 tokens whatever its size (OpenAI, guide "Images and vision").
                Some("low") => Content::Media(85, "[image, low detail]".into()),
                _ => sized(
                    image::openai,
                    media.url.get().unwrap_or(&bare),
                    image::DEFAULT,
                ),
            })
        }
        "document" | "file" | "input_file" => Some(Content::Media(DOCUMENT, "[document]".into())),
        "input_audio" | "audio" => Some(Content::Media(0, "[audio]".into())),
        _ => None,
    }
}
