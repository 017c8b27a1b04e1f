//! The parts of a message: blocks, items, calls of tools and their results, each of them by itself.

mod media;

use super::json::{Object, is_object, list, object, object_if, string};
use crate::lenient::{FieldPlace, LostFields, Raw, Text, full_length, record};
use crate::prompts::{Block, Content};
use media::media;
use model::{Kind, Role};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashMap;

record! {
    /// A part with the fields of all its types, or a call of a tool.
    pub(super) struct Part<'a> {
        kind: Text<'a> = "type",
        text: Text<'a> = "text" | "refusal",
        thinking: Text<'a>,
        signature: Text<'a> = "signature" | "thoughtSignature",
        data: Text<'a>,
        encrypted_content: Text<'a>,
        id: Text<'a>,
        call_id: Text<'a> = "call_id" | "tool_use_id" | "toolCallId" | "toolUseId" | "callId",
        name: Text<'a>,
        tool: Text<'a> = "toolName",
        arguments: Option<Raw<'a>> = "arguments" | "args" | "input" | "action",
        content: Option<Raw<'a>>,
        summary: Option<Raw<'a>>,
        image: Option<Raw<'a>> = "source" | "image",
        image_url: Option<Raw<'a>>,
        detail: Text<'a>,
        mime: Text<'a> = "mime_type",
        result: Option<Raw<'a>> = "output" | "result" | "response",
        /// Chat Completions' call, in an object of its own.
        function: Option<Raw<'a>>,
        /// OpenInference puts each into an object of its own.
        inner: Option<Object<'a>> = "message_content" | "tool_call",
        /// Google's and Bedrock's: the only field of a part shows what it is.
        call: Option<Object<'a>> = "functionCall" | "function_call" | "toolUse",
        answer: Option<Object<'a>> = "functionResponse" | "function_response",
        inline: Option<Object<'a>> = "inlineData" | "inline_data",
        file: Option<Raw<'a>> = "fileData" | "file_data",
        thought: Option<bool>,
        bedrock_thought: Option<Reasoning<'a>> = "reasoningContent",
        /// Bedrock's is an object with the content, VS Code's is the content.
        tool_result: Option<Raw<'a>> = "toolResult",
        /// The AI SDK's output: `{"type": "text", "value": …}`.
        value: Option<Raw<'a>>,
        parts: Option<Raw<'a>>,
    }

    struct Reasoning<'a> {
        text: Thought<'a> = "reasoningText",
    }

    struct Thought<'a> {
        text: Text<'a>,
        signature: Text<'a>,
    }
}

/// The content of a part.
pub(super) enum Piece<'a> {
    /// A block of its own.
    Block(Block<'a>),
    /// Text of the message.
    Text(Cow<'a, str>),
    /// An image, a file or something unknown.
    Other(Content<'a>),
    /// Nothing that can be read.
    Nothing,
}

/// Lists in lists of messages, and results in results, that are looked into. No program logs more than one; a forged log may.
pub(super) const MOST_NESTED_LISTS: usize = 16;

/// Reads a part, which may be an item of the Responses API.
pub(super) fn piece<'a>(raw: Raw<'a>, at: FieldPlace<'_>) -> Piece<'a> {
    if let Some(text) = string(raw) {
        return Piece::Text(text);
    }
    let Some(mut part) = at.read::<Part<'a>>(raw) else {
        return Piece::Nothing;
    };
    if let Some(inner) = part.inner.filter(|_| part.kind.get().is_none()) {
        part = object(inner.0, at);
    }
    if let Some(call) = part.call {
        return Piece::Block(self::call(call.0, at));
    }
    if let Some(answer) = part.answer {
        return Piece::Block(object::<Part<'a>>(answer.0, at.field("functionResponse")).result(at));
    }
    let bedrock = part
        .tool_result
        .filter(|raw| part.kind.get().is_none() && is_object(*raw));
    if let Some(result) = bedrock {
        return Piece::Block(object::<Part<'a>>(result, at.field("toolResult")).result(at));
    }
    match part.kind.or_empty() {
        "thinking" | "redacted_thinking" | "reasoning" => Piece::Block(part.thought(at)),
        _ if part.thought == Some(true) || part.bedrock_thought.is_some() => {
            Piece::Block(part.thought(at))
        }
        "compaction" | "compaction_summary" => Piece::Block(part.summary(at)),
        // Those of tools that run on the server, too: `web_search_tool_result`.
        kind if ["tool_result", "_output", "_response"]
            .iter()
            .any(|end| kind.ends_with(end)) =>
        {
            Piece::Block(part.result(at))
        }
        "tool-result" | "toolResult" => Piece::Block(part.result(at)),
        kind if kind.ends_with("tool_use") || kind.ends_with("_call") => {
            Piece::Block(part.call(at))
        }
        "tool-call" | "toolCall" => Piece::Block(part.call(at)),
        "" if part.name.0.is_some() && part.arguments.is_some() => Piece::Block(part.call(at)),
        _ => match (
            media(&part, at),
            part.text.0.or_else(|| string(part.content?)),
        ) {
            (Some(media), _) => Piece::Other(media),
            (None, Some(text)) => Piece::Text(text),
            (None, None) if is_void(raw) => Piece::Nothing,
            (None, None) => Piece::Other(Content::Json(raw)),
        },
    }
}

/// Returns a tool call as Chat Completions, Gemini, Bedrock and the AI SDK write it.
pub(super) fn call<'a>(raw: Raw<'a>, at: FieldPlace<'_>) -> Block<'a> {
    let call: Part<'_> = object(raw, at);
    match call.inner {
        Some(inner) => object::<Part<'_>>(inner.0, at).call(at),
        None => call.call(at),
    }
}

/// Returns a tool call.
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

/// Returns the texts in a content: a string, or parts that hold one.
pub(super) fn texts<'a>(raw: Raw<'a>, at: FieldPlace<'_>) -> Vec<Cow<'a, str>> {
    let mut texts = Vec::new();
    for element in list(raw) {
        let text = string(element);
        let part: Part<'_> = match text {
            Some(_) => Part::default(),
            None => object(element, at),
        };
        let bare = part.content.and_then(string);
        texts.extend(text.or(part.text.0).or(bare));
        // Gemini's content.
        let parts = part.parts.into_iter().flat_map(list);
        texts.extend(parts.filter_map(|part| object::<Part<'_>>(part, at).text.0));
    }
    texts
}

impl<'a> Part<'a> {
    fn call(self, at: FieldPlace<'_>) -> Block<'a> {
        let inner = self.function.map(|raw| object(raw, at.field("function")));
        let inner: Part<'_> = inner.unwrap_or_default();
        let name = self.name.0.or(self.tool.0).or(inner.name.0);
        // Calls of tools that run on the server have no name: `web_search_call`.
        let kind = self.kind.0.filter(|kind| kind.ends_with("_call"));
        let arguments = inner.arguments.or(self.arguments);
        tool_call(
            self.call_id.0.or(self.id.0),
            name.or(kind).unwrap_or_default(),
            arguments,
        )
    }

    fn result(self, at: FieldPlace<'_>) -> Block<'a> {
        let result = self.result.or(self.tool_result).or(self.content);
        let content =
            result.map_or_else(Vec::new, |raw| result_content(raw, MOST_NESTED_LISTS, at));
        let block = Block::new(Role::Tool, Kind::ToolResult);
        let (call, tool) = (self.call_id.0.or(self.id.0), self.tool.0.or(self.name.0));
        block.with(content).for_call(call, tool)
    }

    fn thought(self, at: FieldPlace<'_>) -> Block<'a> {
        let bedrock = self.bedrock_thought.unwrap_or_default().text;
        let marks = [
            &self.signature,
            &self.data,
            &self.encrypted_content,
            &bedrock.signature,
        ];
        let hidden: usize = marks.iter().map(|mark| mark.or_empty().len()).sum();
        let text = self.thinking.0.or(self.text.0).or(bedrock.text.0);
        let parts = [self.summary, self.content].into_iter().flatten();
        let texts = text
            .into_iter()
            .chain(parts.flat_map(|part| texts(part, at)));
        let content = texts
            .map(Content::Text)
            .chain([Content::Hidden(hidden as u64)]);
        let block = Block::new(Role::Assistant, Kind::Thinking);
        block.with(content).with_id(self.id.0)
    }

    fn summary(self, at: FieldPlace<'_>) -> Block<'a> {
        let hidden = Content::Hidden(full_length(self.encrypted_content.or_empty()));
        let text = self.content.or(self.summary);
        let texts = text
            .into_iter()
            .flat_map(|raw| texts(raw, at))
            .map(Content::Text);
        Block::new(Role::Container, Kind::Summary).with(texts.chain([hidden]))
    }
}

/// Returns the content of a tool's result in any of its forms.
fn result_content<'a>(raw: Raw<'a>, depth: usize, at: FieldPlace<'_>) -> Vec<Content<'a>> {
    if raw.get().starts_with('[') {
        let parts = list(raw).into_iter();
        return parts
            .flat_map(|part| result_part(part, depth, at))
            .collect();
    }
    result_part(raw, depth, at)
}

fn result_part<'a>(raw: Raw<'a>, depth: usize, at: FieldPlace<'_>) -> Vec<Content<'a>> {
    if let Some(text) = string(raw) {
        return vec![Content::Text(text)];
    }
    // A result may be any object: its fields are not expected to be those of a part.
    let lost = LostFields::default();
    let part: Part<'_> = object_if(Some(raw), lost.at(""));
    if let Some(media) = media(&part, at) {
        return vec![media];
    }
    match (part.text.0, part.value, depth.checked_sub(1)) {
        (Some(text), ..) => vec![Content::Text(text)],
        (None, Some(value), Some(depth)) => result_content(value, depth, at),
        (None, ..) => vec![Content::Json(raw)],
    }
}

/// Returns true if a part has no fields but those of Gemini's whose values could not be read.
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
