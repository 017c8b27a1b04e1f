//! Messages of all dialects, taken apart into units: Chat Completions, Responses items, Anthropic
//! blocks, Gemini parts, AI SDK parts.

use super::unit::{Matter, Turn, Unit};
use crate::agents::image;
use crate::agents::lenient::Text;
use crate::model::{Kind, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Tokens of a document: 1,500 to 3,000 a page by Anthropic's account, and the pages are unknown.
const DOCUMENT: u64 = 2_000;

type Raw<'a> = Option<&'a RawValue>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    content: Raw<'a>,
    /// Gemini's content.
    parts: Raw<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    tool_calls: Raw<'a>,
    function_call: Raw<'a>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    reasoning_content: Text<'a>,
    #[serde(borrow)]
    reasoning: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    call_id: Text<'a>,
    arguments: Raw<'a>,
    input: Raw<'a>,
    action: Raw<'a>,
    output: Raw<'a>,
    summary: Raw<'a>,
    #[serde(borrow)]
    encrypted_content: Text<'a>,
}

/// A block or part of a content.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    data: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    input: Raw<'a>,
    arguments: Raw<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    content: Raw<'a>,
    source: Raw<'a>,
    image_url: Raw<'a>,
    #[serde(borrow)]
    detail: Text<'a>,
    image: Raw<'a>,
    #[serde(borrow, rename = "toolCallId")]
    sdk_call: Text<'a>,
    #[serde(borrow, rename = "toolName")]
    sdk_tool: Text<'a>,
    args: Raw<'a>,
    output: Raw<'a>,
    result: Raw<'a>,
    #[serde(rename = "functionCall")]
    call: Raw<'a>,
    function_call: Raw<'a>,
    #[serde(rename = "functionResponse")]
    response: Raw<'a>,
    function_response: Raw<'a>,
    #[serde(rename = "inlineData")]
    inline: Raw<'a>,
    inline_data: Raw<'a>,
    #[serde(rename = "fileData")]
    file: Raw<'a>,
    file_data: Raw<'a>,
    thought: Raw<'a>,
    #[serde(borrow, rename = "thoughtSignature")]
    thought_signature: Text<'a>,
}

/// A tool call as Chat Completions, Gemini and the AI SDK write it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    function: Raw<'a>,
    arguments: Raw<'a>,
    args: Raw<'a>,
    input: Raw<'a>,
    response: Raw<'a>,
    #[serde(borrow, rename = "toolCallId")]
    sdk_call: Text<'a>,
    #[serde(borrow, rename = "toolName")]
    sdk_tool: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Media<'a> {
    #[serde(borrow)]
    data: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    detail: Text<'a>,
    #[serde(borrow, rename = "mimeType")]
    mime: Text<'a>,
    #[serde(borrow)]
    mime_type: Text<'a>,
}

/// The units of a prompt: a list of messages, one of them, or bare text of the user.
pub(super) fn units(raw: &RawValue) -> Vec<Unit<'_>> {
    let mut all = Vec::new();
    messages(raw, &mut all);
    all
}

/// The units of what an answer holds: contents of the assistant.
pub(super) fn said(raw: &RawValue) -> Vec<Unit<'_>> {
    let mut all = Vec::new();
    Flat::new(Role::Assistant, &mut all).content(raw);
    all
}

/// Tool calls that stand beside an answer's text.
pub(super) fn calls(raw: &RawValue) -> Vec<Unit<'_>> {
    list(raw).into_iter().map(call).collect()
}

/// The elements of a list; what is none is its own.
pub(super) fn list(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![raw])
}

/// The string that a value is.
pub(super) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok()?.0
}

/// What a value holds, nothing where it is of another shape.
fn parse<'a, T: Default + Deserialize<'a>>(raw: &'a RawValue) -> T {
    if !raw.get().starts_with('{') {
        return T::default();
    }
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn messages<'a>(raw: &'a RawValue, all: &mut Vec<Unit<'a>>) {
    match raw.get().as_bytes().first() {
        Some(b'[') => {
            for element in list(raw) {
                messages(element, all);
            }
        }
        Some(b'{') => message(raw, all),
        _ => {
            if let Some(text) = string(raw) {
                let mut flat = Flat::new(Role::User, all);
                flat.text(text);
                flat.begin_turn();
            }
        }
    }
}

/// Whose message this is; `None`: an item of the Responses API that is no message.
fn role_of(role: &str) -> Option<Role> {
    Some(match role {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

fn message<'a>(raw: &'a RawValue, all: &mut Vec<Unit<'a>>) {
    let message: Message<'a> = parse(raw);
    let role = match role_of(message.role.or_empty()) {
        Some(role) => role,
        // Gemini's contents may leave it out.
        None if message.parts.is_some() => Role::User,
        None => return item(raw, message, all),
    };
    let mut flat = Flat::new(role, all);
    if role == Role::Tool {
        flat.call = message.tool_call_id.0;
        flat.tool = message.name.0;
    }
    let thought = message.reasoning_content.0.or(message.reasoning.0);
    if let Some(thought) = thought.filter(|thought| !thought.is_empty()) {
        flat.push(Unit::text(Role::Assistant, Kind::Thinking, thought));
    }
    for content in [message.content, message.parts].into_iter().flatten() {
        flat.content(content);
    }
    for calls in [message.tool_calls, message.function_call]
        .into_iter()
        .flatten()
    {
        for one in list(calls) {
            flat.push(call(one));
        }
    }
    // An empty result is a result.
    if role == Role::Tool && flat.is_empty() {
        flat.text(Cow::Borrowed(""));
    }
    flat.begin_turn();
}

/// An item of the Responses API that is no message, or a part without a message around it.
fn item<'a>(raw: &'a RawValue, item: Message<'a>, all: &mut Vec<Unit<'a>>) {
    let kind = item.kind.or_empty();
    let id = item.call_id.0.or(item.id.0.clone());
    let mut unit;
    match kind {
        "reasoning" => {
            unit = Unit::new(Role::Assistant, Kind::Thinking);
            unit.name = item.id.0;
            for part in [item.summary, item.content].into_iter().flatten() {
                unit.matter.extend(texts(part).map(Matter::Text));
            }
            let hidden = item.encrypted_content.or_empty().len() as u64;
            unit.matter.push(Matter::Hidden(hidden));
        }
        "compaction" | "compaction_summary" => {
            unit = Unit::new(Role::Container, Kind::Summary);
            let hidden = item.encrypted_content.or_empty().len() as u64;
            unit.matter.push(Matter::Hidden(hidden));
        }
        _ if kind.ends_with("_output") => {
            unit = Unit::new(Role::Tool, Kind::ToolResult);
            unit.call = id;
            unit.matter = result(item.output);
        }
        _ if kind.ends_with("_call") => {
            let tool = item.name.0.unwrap_or_else(|| Cow::Owned(kind.to_owned()));
            let arguments = item.arguments.or(item.input).or(item.action);
            unit = tool_call(id, tool, arguments);
        }
        "tool-call" => unit = call(raw),
        _ => {
            let mut flat = Flat::new(Role::User, all);
            flat.block(raw);
            return flat.begin_turn();
        }
    }
    all.push(unit);
}

fn call(raw: &RawValue) -> Unit<'_> {
    let outer: Call<'_> = parse(raw);
    let inner: Call<'_> = outer.function.map(parse).unwrap_or_default();
    let id = outer.id.0.or(outer.sdk_call.0);
    let name = outer.name.0.or(inner.name.0).or(outer.sdk_tool.0);
    let arguments = [inner.arguments, outer.arguments, outer.args, outer.input];
    let arguments = arguments.into_iter().flatten().next();
    tool_call(id, name.unwrap_or_default(), arguments)
}

pub(super) fn tool_call<'a>(
    id: Option<Cow<'a, str>>,
    tool: Cow<'a, str>,
    arguments: Raw<'a>,
) -> Unit<'a> {
    let mut unit = Unit::text(Role::Assistant, Kind::ToolCall, tool.clone());
    unit.tool = Some(tool);
    unit.name = id.clone();
    unit.call = id;
    if let Some(raw) = arguments {
        // Arguments are JSON, or a string that holds it.
        unit.matter
            .push(string(raw).map_or(Matter::Json(raw), Matter::Text));
    }
    unit
}

/// What a tool gave back, whatever its shape.
fn result<'a>(raw: Raw<'a>) -> Vec<Matter<'a>> {
    let Some(raw) = raw else {
        return Vec::new();
    };
    if let Some(text) = string(raw) {
        return vec![Matter::Text(text)];
    }
    if raw.get().starts_with('[') {
        return list(raw).into_iter().flat_map(part_of_result).collect();
    }
    part_of_result(raw)
}

fn part_of_result(raw: &RawValue) -> Vec<Matter<'_>> {
    /// The AI SDK's output: `{"type": "text", "value": …}`.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Value<'a> {
        #[serde(borrow)]
        value: Raw<'a>,
    }
    let block: Block<'_> = parse(raw);
    if let Some((tokens, label)) = media(&block) {
        return vec![Matter::Media(tokens, label)];
    }
    if let Some(text) = string(raw).or(block.text.0) {
        return vec![Matter::Text(text)];
    }
    match parse::<Value<'_>>(raw).value {
        Some(value) => result(Some(value)),
        None => vec![Matter::Json(raw)],
    }
}

/// The texts in a content: a string, or blocks that hold one.
pub(super) fn texts(raw: &RawValue) -> impl Iterator<Item = Cow<'_, str>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Holder<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        parts: Raw<'a>,
    }
    list(raw).into_iter().flat_map(|element| {
        let holder: Holder<'_> = parse(element);
        let own = string(element).or(holder.text.0);
        let parts = holder.parts.map(list).unwrap_or_default();
        let inner = parts
            .into_iter()
            .filter_map(|part| parse::<Holder<'_>>(part).text.0);
        own.into_iter().chain(inner)
    })
}

/// Takes one message apart.
struct Flat<'f, 'a> {
    role: Role,
    call: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    all: &'f mut Vec<Unit<'a>>,
    from: usize,
}

impl<'f, 'a> Flat<'f, 'a> {
    fn new(role: Role, all: &'f mut Vec<Unit<'a>>) -> Flat<'f, 'a> {
        Flat {
            role,
            call: None,
            tool: None,
            from: all.len(),
            all,
        }
    }

    fn is_empty(&self) -> bool {
        self.all.len() == self.from
    }

    fn push(&mut self, unit: Unit<'a>) {
        self.all.push(unit);
    }

    fn content(&mut self, raw: &'a RawValue) {
        match raw.get().as_bytes().first() {
            Some(b'[') => list(raw).into_iter().for_each(|block| self.block(block)),
            _ => self.block(raw),
        }
    }

    /// What the assistant said is one unit however many blocks it came in; so is a tool's result. A
    /// user's blocks are of several makers.
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
        self.matter(role, kind, Matter::Text(text));
    }

    fn matter(&mut self, role: Role, kind: Kind, matter: Matter<'a>) {
        let joins = matches!(self.role, Role::Assistant | Role::Tool);
        let last = self.all.get_mut(self.from..).and_then(<[_]>::last_mut);
        match last.filter(|last| joins && last.role == role && last.kind == kind) {
            Some(last) => last.matter.push(matter),
            None => {
                let mut unit = Unit::new(role, kind);
                if role == Role::Tool {
                    (unit.call, unit.tool) = (self.call.clone(), self.tool.clone());
                }
                unit.matter.push(matter);
                self.push(unit);
            }
        }
    }

    fn block(&mut self, raw: &'a RawValue) {
        if let Some(text) = string(raw) {
            return self.text(text);
        }
        if !raw.get().starts_with('{') {
            return;
        }
        let block: Block<'a> = parse(raw);
        if let Some(call) = block.call.or(block.function_call) {
            return self.push(self::call(call));
        }
        if let Some(response) = block.response.or(block.function_response) {
            let call: Call<'a> = parse(response);
            let mut unit = Unit::new(Role::Tool, Kind::ToolResult);
            (unit.call, unit.tool) = (call.id.0, call.name.0);
            unit.matter = result(call.response);
            return self.push(unit);
        }
        let role = match self.role {
            Role::System => Role::Container,
            role => role,
        };
        match block.kind.or_empty() {
            "thinking" | "redacted_thinking" | "reasoning" => self.thought(block),
            _ if block.thought.is_some_and(|raw| raw.get() == "true") => self.thought(block),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let tool = block.name.0.unwrap_or_default();
                self.push(tool_call(block.id.0, tool, block.input));
            }
            "tool-call" => self.push(call(raw)),
            "" if block.name.0.is_some() && block.arguments.is_some() => self.push(call(raw)),
            "tool-result" => {
                let mut unit = Unit::new(Role::Tool, Kind::ToolResult);
                (unit.call, unit.tool) = (block.sdk_call.0, block.sdk_tool.0);
                unit.matter = result(block.output.or(block.result).or(block.content));
                self.push(unit);
            }
            // `tool_result`, and those of tools that run on the server: `web_search_tool_result`.
            kind if kind.ends_with("tool_result") => {
                let mut unit = Unit::new(Role::Tool, Kind::ToolResult);
                unit.call = block.tool_use_id.0;
                unit.matter = result(block.content);
                self.push(unit);
            }
            kind => {
                if let Some((tokens, label)) = media(&block) {
                    let kind = match role {
                        Role::Tool => Kind::ToolResult,
                        _ => Kind::Text,
                    };
                    self.matter(role, kind, Matter::Media(tokens, label));
                } else if let Some(text) = block.text.0.or(block.refusal.0) {
                    self.text(text);
                } else if !kind.is_empty() || self.role == Role::Assistant {
                    let text = Kind::Text;
                    self.matter(role, text, Matter::Json(raw));
                }
            }
        }
    }

    fn thought(&mut self, block: Block<'a>) {
        let mut unit = Unit::new(Role::Assistant, Kind::Thinking);
        unit.matter
            .extend(block.thinking.0.or(block.text.0).map(Matter::Text));
        let hidden = [&block.signature, &block.data, &block.thought_signature];
        let hidden: usize = hidden.iter().map(|text| text.or_empty().len()).sum();
        unit.matter.push(Matter::Hidden(hidden as u64));
        self.push(unit);
    }

    /// A user's message begins a turn unless it only brings results, or goes on with one before it.
    fn begin_turn(&mut self) {
        if self.role != Role::User {
            return;
        }
        let before = self.from.checked_sub(1).and_then(|ix| self.all.get(ix));
        let goes_on = before.is_some_and(|unit| unit.role == Role::User);
        let own = &mut self.all[self.from..];
        if goes_on || own.iter().any(|unit| unit.role == Role::Tool) {
            return;
        }
        if let Some(first) = own.iter_mut().find(|unit| unit.role == Role::User) {
            first.turn = Turn::Begins;
        }
    }
}

/// The tokens of what is no text, by the formula of whose dialect it is in, and its name.
fn media(block: &Block<'_>) -> Option<(u64, String)> {
    let named = |tokens: fn(u32, u32) -> u64, base64: &str, unknown: u64| {
        let base64 = base64
            .rsplit_once("base64,")
            .map_or(base64, |(_, data)| data);
        match image::dimensions(base64) {
            Some((w, h)) => (tokens(w, h), format!("[image {w}×{h}]")),
            None => (unknown, "[image]".to_owned()),
        }
    };
    if let Some(raw) = block.inline.or(block.inline_data) {
        let media: Media<'_> = parse(raw);
        let mime = media.mime.get().or(media.mime_type.get()).unwrap_or("");
        return Some(if mime.starts_with("image/") {
            named(image::gemini, media.data.or_empty(), 258)
        } else {
            (DOCUMENT, format!("[{mime}]"))
        });
    }
    if block.file.or(block.file_data).is_some() && block.kind.get().is_none() {
        return Some((DOCUMENT, "[file]".to_owned()));
    }
    match block.kind.or_empty() {
        "image" => {
            let source = block.source.or(block.image);
            let media: Media<'_> = source.map(parse).unwrap_or_default();
            let bare = source.and_then(string).unwrap_or_default();
            let data = media.data.get().or(block.data.get()).unwrap_or(&bare);
            Some(named(image::claude, data, 1_500))
        }
        "image_url" | "input_image" => {
            let raw = block.image_url?;
            let media: Media<'_> = parse(raw);
            let bare = string(raw).unwrap_or_default();
            let detail = media.detail.get().or(block.detail.get());
            Some(match detail {
                // 85 tokens whatever its size (OpenAI, guide "Images and vision").
                Some("low") => (85, "[image, low detail]".to_owned()),
                _ => named(
                    image::openai,
                    media.url.get().unwrap_or(&bare),
                    image::DEFAULT,
                ),
            })
        }
        "document" | "file" | "input_file" => Some((DOCUMENT, "[document]".to_owned())),
        "input_audio" | "audio" => Some((0, "[audio]".to_owned())),
        _ => None,
    }
}
