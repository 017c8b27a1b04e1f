//! The request's side: which conversation, which model, and all that was sent.

use super::message::{blocks, list, note_scalar, string, texts};
use super::shape::{Nested, Object};
use kit::lenient::{Lost, Raw, Text, parse, record, tool_count};
use kit::prompts::{Block, Content};
use model::{Kind, Role};
use std::borrow::Cow;

/// What a request builds on beside what it holds itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Base<'a> {
    /// Nothing: it carries its whole history.
    Nothing,
    /// The history of this response.
    Response(Cow<'a, str>),
    /// The history that the provider keeps of its conversation.
    Conversation,
}

/// A parsed request.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) model: Option<Cow<'a, str>>,
    /// The system prompt, block by block, and the tools on offer.
    pub(super) front: Vec<Block<'a>>,
    /// How many tools are on offer.
    pub(super) tools: usize,
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) base: Base<'a>,
}

record! {
    /// The ids by which a line, a body or their metadata name the conversation.
    pub(super) struct Ids<'a> {
        session_id: Text<'a> = "session_id" | "sessionId" | "litellm_session_id",
        conversation_id: Text<'a> = "conversation_id" | "conversationId",
        conversation: Option<Raw<'a>>,
        thread_id: Text<'a> = "thread_id" | "threadId",
        chat_id: Text<'a> = "chat_id" | "chatId",
        agent_id: Text<'a>,
        user_id: Text<'a>,
        trace_id: Text<'a> = "trace_id" | "traceId",
        metadata: Option<Object<'a>>,
    }
}

impl<'a> Ids<'a> {
    /// The ids in a JSON object, none where it is something else.
    pub(super) fn read(json: &'a str, lost: &Lost) -> Ids<'a> {
        parse(json, lost).unwrap_or_default()
    }

    /// The conversation's id.
    pub(super) fn session(&self, lost: &Lost) -> Option<String> {
        let own = [
            &self.session_id,
            &self.conversation_id,
            &self.thread_id,
            &self.chat_id,
            &self.agent_id,
        ];
        let own = own.into_iter().find_map(Text::boxed).map(String::from);
        own.or_else(|| conversation(self.conversation?, lost))
            .or_else(|| session_of_user(self.user_id.get()?))
            .or_else(|| Ids::read(self.metadata?.0.get(), lost).session(lost))
    }

    /// The trace's id: calls of one run, or of one request and its retries.
    pub(super) fn trace(&self, lost: &Lost) -> Option<String> {
        let own = self.trace_id.boxed().map(String::from);
        own.or_else(|| Ids::read(self.metadata?.0.get(), lost).trace(lost))
    }
}

record! {
    struct Holder<'a> {
        id: Text<'a>,
    }
}

/// The Responses API's conversation: an id, or an object that holds one.
fn conversation(raw: Raw<'_>, lost: &Lost) -> Option<String> {
    if let Some(id) = string(raw) {
        return Some(id.into_owned());
    }
    let holder: Holder<'_> = lost.at("conversation").read(raw)?;
    holder.id.boxed().map(String::from)
}

/// Claude Code puts its session into the user's id: `user_…_session_<id>`, later as JSON in a string.
fn session_of_user(user: &str) -> Option<String> {
    let lost = Lost::default();
    match user.rsplit_once("_session_") {
        Some((_, id)) if !id.is_empty() => Some(id.to_owned()),
        _ => Ids::read(user, &lost).session(&lost),
    }
}

record! {
    struct Body<'a> {
        model: Text<'a> = "model" | "modelId",
        messages: Option<Raw<'a>>,
        contents: Option<Raw<'a>>,
        input: Option<Raw<'a>>,
        prompt: Option<Raw<'a>>,
        system: Option<Raw<'a>> = "system" | "instructions" | "systemInstruction" | "system_instruction",
        tools: Option<Nested<'a>> = "tools" | "functions",
        conversation: Option<Raw<'a>>,
        previous_response_id: Text<'a>,
        /// Where the Python library for Gemini has system prompt and tools.
        config: Option<Raw<'a>>,
        /// Where LiteLLM has them.
        model_parameters: Option<Raw<'a>>,
    }
}

/// Parses a request's body; `None`: it is no request to a model.
pub(super) fn read<'a>(json: &'a str, lost: &Lost) -> Option<Request<'a>> {
    let own_lost = Lost::default();
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
    let mut front: Vec<Block<'_>> = prompts
        .map(|text| Block::text(Role::Container, Kind::Prompt, text))
        .collect();
    let mut sent = blocks(sent, at.field("messages"));
    let first = sent.iter().position(|block| block.kind != Kind::Prompt);
    front.extend(sent.drain(..first.unwrap_or(sent.len())));
    // A system message in the middle of a conversation is a note of the harness.
    for block in sent.iter_mut().filter(|block| block.kind == Kind::Prompt) {
        block.kind = Kind::Reminder;
    }
    let tools = [body.tools, more.tools].into_iter().flatten();
    let tools = tools
        .into_iter()
        .map(|tools| tools.0)
        .find(|tools| tools.get().len() > 2);
    let tool_list = |tools: Raw<'a>| {
        let block = Block::new(Role::Container, Kind::ToolList).with([Content::Json(tools)]);
        block.offering(tool_count(tools.get()))
    };
    front.extend(tools.map(tool_list));
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

record! {
    /// The fields by which a message or a part is recognised.
    struct Mark<'a> {
        role: Text<'a>,
        kind: Text<'a> = "type",
        text: Text<'a>,
        parts: Vec<Raw<'a>>,
    }
}

/// Whether this is what a prompt is made of: text, a message, or a list of them.
fn is_history(raw: Raw<'_>) -> bool {
    let is_message = |element: Raw<'_>| {
        let mark: Mark<'_> = parse(element.get(), &Lost::default()).unwrap_or_default();
        let texts = [mark.role, mark.kind, mark.text];
        texts.iter().any(|text| text.0.is_some()) || !mark.parts.is_empty()
    };
    match raw.get().as_bytes() {
        [b'"', ..] | [b'[', b']' | b'"' | b'[', ..] => true,
        [b'{' | b'[', ..] => list(raw).into_iter().any(is_message),
        _ => false,
    }
}
