//! The request's side: which conversation, which model, and all that was sent.

use super::json::{NestedJson, list, note_scalar};
use super::message::blocks;
use super::part::texts;
use crate::lenient::{FieldPlace, LostFields, Raw, Text, parse, record, tool_count};
use crate::prompts::{Block, Content};
use model::{Kind, Role};
use std::borrow::Cow;

/// The history on which a request builds and that it does not carry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Base<'a> {
    /// Nothing: it carries its whole history.
    #[default]
    Nothing,
    /// The history of this response.
    Response(Cow<'a, str>),
    /// The history that the provider keeps of its conversation.
    Conversation,
}

/// A parsed request.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// The id of the model that is asked for.
    pub model: Option<Cow<'a, str>>,
    /// The system prompt, block by block, and the tools on offer.
    pub front: Vec<Block<'a>>,
    /// The number of tools on offer.
    pub tools: usize,
    /// The history.
    pub blocks: Vec<Block<'a>>,
    /// The history on which it builds and that it does not carry.
    pub base: Base<'a>,
}

record! {
    struct Body<'a> {
        model: Text<'a> = "model" | "modelId",
        messages: Option<Raw<'a>>,
        contents: Option<Raw<'a>>,
        input: Option<Raw<'a>>,
        prompt: Option<Raw<'a>> = "prompt" | "prompts",
        system: Option<Raw<'a>> = "system" | "instructions" | "systemInstruction" | "system_instruction",
        tools: Option<NestedJson<'a>> = "tools" | "functions",
        conversation: Option<Raw<'a>>,
        previous_response_id: Text<'a>,
        /// The Python library for Gemini writes the system prompt and the tools here.
        config: Option<Raw<'a>>,
        /// LiteLLM writes them here.
        model_parameters: Option<Raw<'a>>,
    }
}

/// Parses a request's body; `None`: it is no request to a model.
pub fn read<'a>(json: &'a str, lost: &LostFields) -> Option<Request<'a>> {
    let own_lost = LostFields::default();
    let at = own_lost.at("");
    let body: Body<'_> = parse(json, &own_lost).ok()?;
    for (name, raw) in [("messages", body.messages), ("contents", body.contents)] {
        if raw.is_some_and(|raw| !is_history(raw)) {
            lost.note(name);
        }
    }
    for (name, raw) in [("input", body.input), ("prompt", body.prompt)] {
        note_scalar(raw, lost.at(name));
    }
    let sent = [body.messages, body.contents, body.input, body.prompt];
    let sent = sent.into_iter().flatten().find(|raw| is_history(*raw))?;
    let more = body.config.or(body.model_parameters);
    let more = more.and_then(|raw| at.field("config").read(raw));
    let more: Body<'_> = more.unwrap_or_default();
    let system = body.system.or(more.system);
    let prompts = system.map(|raw| texts(raw, at.field("system")));
    let prompts = prompts.into_iter().flatten();
    let prompts = prompts.map(|text| Block::text(Role::Container, Kind::Prompt, text));
    let tools = [body.tools, more.tools].into_iter().flatten();
    let mut tools = tools.map(|tools| tools.0);
    let tools = tools.find(|tools| tools.get().len() > 2);
    let (front, sent) = parts(prompts.collect(), Some(sent), tools, at);
    lost.extend(own_lost);
    Some(Request {
        model: body.model.0,
        front,
        tools: tools.map_or(0, |tools| list(tools).len()),
        blocks: sent,
        base: match (body.previous_response_id.0, body.conversation) {
            (Some(id), _) => Base::Response(id),
            (None, Some(_)) => Base::Conversation,
            (None, None) => Base::Nothing,
        },
    })
}

/// Returns the parts of a prompt: the system prompt and the tools on offer, and the history.
pub fn parts<'a>(
    mut front: Vec<Block<'a>>,
    messages: Option<Raw<'a>>,
    tools: Option<Raw<'a>>,
    at: FieldPlace<'_>,
) -> (Vec<Block<'a>>, Vec<Block<'a>>) {
    let history = messages.map(|raw| blocks(raw, Role::User, at.field("messages")));
    let mut history = history.unwrap_or_default();
    let first = history.iter().position(|block| block.kind != Kind::Prompt);
    front.extend(history.drain(..first.unwrap_or(history.len())));
    // A system message in the middle of a conversation is a note of the harness.
    for block in history
        .iter_mut()
        .filter(|block| block.kind == Kind::Prompt)
    {
        block.kind = Kind::Reminder;
    }
    front.extend(tools.filter(|tools| tools.get().len() > 2).map(tool_list));
    (front, history)
}

fn tool_list(tools: Raw<'_>) -> Block<'_> {
    let block = Block::new(Role::Container, Kind::ToolList).with([Content::Json(tools)]);
    block.offering(tool_count(tools.get()))
}

record! {
    /// The fields by which a message or a part is recognised.
    struct MessageIdentity<'a> {
        role: Text<'a>,
        kind: Text<'a> = "type",
        text: Text<'a>,
        parts: Vec<Raw<'a>>,
    }
}

/// Returns true if a value is a history: text, a message, or a list of them.
fn is_history(raw: Raw<'_>) -> bool {
    let is_message = |element: Raw<'_>| {
        let mark: MessageIdentity<'_> =
            parse(element.get(), &LostFields::default()).unwrap_or_default();
        let texts = [mark.role, mark.kind, mark.text];
        texts.iter().any(|text| text.0.is_some()) || !mark.parts.is_empty()
    };
    match raw.get().as_bytes() {
        [b'"', ..] | [b'[', b']' | b'"' | b'[', ..] => true,
        [b'{' | b'[', ..] => list(raw).into_iter().any(is_message),
        _ => false,
    }
}
