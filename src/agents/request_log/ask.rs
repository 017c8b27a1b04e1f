//! The request's side: whose conversation, which model, and all that was sent.

use super::message::{list, string, texts, units};
use super::unit::Unit;
use crate::agents::lenient::Text;
use crate::model::{Kind, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

type Raw<'a> = Option<&'a RawValue>;

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

/// A request, taken apart.
#[derive(Debug)]
pub(super) struct Ask<'a> {
    pub(super) model: Option<Cow<'a, str>>,
    /// The system prompt, block by block.
    pub(super) prompts: Vec<Unit<'a>>,
    /// The tools on offer, as JSON.
    pub(super) tools: Raw<'a>,
    pub(super) units: Vec<Unit<'a>>,
    pub(super) base: Base<'a>,
}

/// The ids by which a line, a body or their metadata name the conversation.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Ids<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow, rename = "sessionId")]
    session_id_camel: Text<'a>,
    #[serde(borrow)]
    litellm_session_id: Text<'a>,
    #[serde(borrow)]
    conversation_id: Text<'a>,
    #[serde(borrow, rename = "conversationId")]
    conversation_id_camel: Text<'a>,
    conversation: Raw<'a>,
    #[serde(borrow)]
    thread_id: Text<'a>,
    #[serde(borrow, rename = "threadId")]
    thread_id_camel: Text<'a>,
    #[serde(borrow)]
    chat_id: Text<'a>,
    #[serde(borrow, rename = "chatId")]
    chat_id_camel: Text<'a>,
    #[serde(borrow)]
    agent_id: Text<'a>,
    #[serde(borrow)]
    user_id: Text<'a>,
    #[serde(borrow)]
    trace_id: Text<'a>,
    #[serde(borrow, rename = "traceId")]
    trace_id_camel: Text<'a>,
    metadata: Raw<'a>,
}

impl<'a> Ids<'a> {
    /// The ids in a JSON object, none where it is something else.
    pub(super) fn read(json: &'a str) -> Ids<'a> {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// The conversation's id.
    pub(super) fn session(&self) -> Option<String> {
        let own = [
            &self.session_id,
            &self.session_id_camel,
            &self.litellm_session_id,
            &self.conversation_id,
            &self.conversation_id_camel,
            &self.thread_id,
            &self.thread_id_camel,
            &self.chat_id,
            &self.chat_id_camel,
            &self.agent_id,
        ];
        let own = own.into_iter().find_map(Text::boxed).map(String::from);
        own.or_else(|| self.conversation.and_then(conversation))
            .or_else(|| self.user_id.get().and_then(session_of_user))
            .or_else(|| Ids::read(self.metadata?.get()).session())
    }

    /// The trace's id: calls of one run, or of one request and its retries.
    pub(super) fn trace(&self) -> Option<String> {
        let own = self.trace_id.boxed().or(self.trace_id_camel.boxed());
        own.map(String::from)
            .or_else(|| Ids::read(self.metadata?.get()).trace())
    }
}

/// The Responses API's conversation: an id, or an object that holds one.
fn conversation(raw: &RawValue) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Holder<'a> {
        #[serde(borrow)]
        id: Text<'a>,
    }
    if let Some(id) = string(raw) {
        return Some(id.into_owned());
    }
    let holder: Holder<'_> = serde_json::from_str(raw.get()).ok()?;
    holder.id.boxed().map(String::from)
}

/// Claude Code names its session in the user's id: `user_…_session_<id>`, later as JSON in a string.
fn session_of_user(user: &str) -> Option<String> {
    match user.rsplit_once("_session_") {
        Some((_, id)) if !id.is_empty() => Some(id.to_owned()),
        _ if user.starts_with('{') => Ids::read(user).session(),
        _ => None,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body<'a> {
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow, rename = "modelId")]
    sdk_model: Text<'a>,
    messages: Raw<'a>,
    contents: Raw<'a>,
    input: Raw<'a>,
    prompt: Raw<'a>,
    system: Raw<'a>,
    instructions: Raw<'a>,
    #[serde(rename = "systemInstruction")]
    system_instruction: Raw<'a>,
    #[serde(rename = "system_instruction")]
    system_instruction_snake: Raw<'a>,
    tools: Raw<'a>,
    functions: Raw<'a>,
    conversation: Raw<'a>,
    #[serde(borrow)]
    previous_response_id: Text<'a>,
    /// Where the Python library for Gemini has system prompt and tools.
    config: Raw<'a>,
    /// Where LiteLLM has them.
    model_parameters: Raw<'a>,
}

/// Takes a request's body apart; `None`: it is no request to a model.
pub(super) fn read(json: &str) -> Option<Ask<'_>> {
    if !json.trim_start().starts_with('{') {
        return None;
    }
    let body: Body<'_> = serde_json::from_str(json).ok()?;
    let sent = [body.messages, body.contents, body.input, body.prompt];
    let sent = sent.into_iter().flatten().find(|raw| is_history(raw))?;
    let more = body.config.or(body.model_parameters);
    let more: Body<'_> = more
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let system = [
        body.system,
        body.instructions,
        body.system_instruction,
        body.system_instruction_snake,
        more.system,
        more.instructions,
        more.system_instruction_snake,
        more.system_instruction,
    ];
    let mut prompts: Vec<Unit<'_>> = system
        .into_iter()
        .flatten()
        .take(1)
        .flat_map(texts)
        .map(|text| Unit::text(Role::Container, Kind::Prompt, text))
        .collect();
    let mut sent = units(sent);
    let first_said = sent.iter().position(|unit| unit.kind != Kind::Prompt);
    prompts.extend(sent.drain(..first_said.unwrap_or(sent.len())));
    // A system message in the middle of a conversation is a note of the harness.
    for unit in sent.iter_mut().filter(|unit| unit.kind == Kind::Prompt) {
        unit.kind = Kind::Reminder;
    }
    Some(Ask {
        model: body.model.0.or(body.sdk_model.0),
        prompts,
        tools: [body.tools, body.functions, more.tools, more.functions]
            .into_iter()
            .flatten()
            .find(|tools| tools.get().len() > 2),
        units: sent,
        base: match (body.previous_response_id.0, body.conversation) {
            (Some(id), _) => Base::Response(id),
            (None, Some(_)) => Base::Conversation,
            (None, None) => Base::Nothing,
        },
    })
}

/// Whether this is what a prompt is made of: text, a message, or a list of them.
fn is_history(raw: &RawValue) -> bool {
    let json = raw.get();
    let holds = |field: &&str| json.contains(*field);
    let holds_messages = || {
        ["\"role\"", "\"parts\"", "\"type\"", "\"text\""]
            .iter()
            .any(holds)
    };
    match json.as_bytes() {
        [b'"', ..] | [b'[', b']' | b'"' | b'[', ..] => true,
        [b'{' | b'[', ..] => holds_messages(),
        _ => false,
    }
}

impl Ask<'_> {
    /// How many tools are on offer.
    pub(super) fn tools_on_offer(&self) -> usize {
        self.tools.map_or(0, |tools| list(tools).len())
    }
}
