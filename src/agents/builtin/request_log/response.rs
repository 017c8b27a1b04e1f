//! The response's side: its content, and the provider's numbers.

use super::message::{blocks, calls, list, object, output, string};
use super::shape::Object;
use super::stream;
use super::usage::Numbers;
use kit::lenient::{At, Lost, Raw, Record, Text, parse, record};
use kit::prompts::Block;
use model::{Kind, Role};
use std::borrow::Cow;

/// A parsed response.
#[derive(Debug, Default)]
pub(super) struct Response<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) model: Option<Cow<'a, str>>,
    /// The output of the steps before the one that the numbers are of, and the results of tools: part of
    /// its prompt.
    pub(super) before: Vec<Block<'a>>,
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) numbers: Numbers,
    pub(super) thoughts: Thoughts,
}

/// Whether clients send the thinking of a response back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Thoughts {
    /// Anthropic's blocks, items of Responses.
    #[default]
    AreSentBack,
    /// Chat Completions, Gemini.
    AreNotSentBack,
}

record! {
    struct Reply<'a> {
        role: Text<'a>,
        id: Text<'a> = "id" | "responseId" | "response_id",
        model: Text<'a> = "model" | "modelVersion" | "model_version" | "modelId",
        choices: Option<Raw<'a>>,
        output: Option<Raw<'a>>,
        content: Option<Raw<'a>>,
        candidates: Option<Raw<'a>>,
        /// The AI SDK's text; in the Responses API, its format.
        text: Option<Raw<'a>>,
        sdk_reasoning: Text<'a> = "reasoningText",
        sdk_calls: Option<Raw<'a>> = "toolCalls",
        usage: Option<Object<'a>> = "usage" | "usageMetadata" | "usage_metadata",
        sdk_metadata: Option<Raw<'a>> = "providerMetadata",
        /// The AI SDK's account of the response.
        response: Option<Raw<'a>>,
        /// The AI SDK's steps: each a request of its own.
        steps: Vec<Raw<'a>>,
    }
}

record! {
    struct Choice<'a> {
        message: Option<Raw<'a>> = "message" | "content",
        text: Text<'a>,
    }
}

record! {
    struct Account<'a> {
        id: Text<'a>,
        model: Text<'a> = "modelId",
        messages: Option<Raw<'a>>,
    }
}

/// Parses a response's body: a whole one, the chunks of a stream as a list, or their text. `None`: it
/// is no response of a model.
pub(super) fn read<'a>(body: &'a str, lost: &Lost) -> Option<Response<'a>> {
    let body = body.trim_start();
    let own_lost = Lost::default();
    let response = match body.as_bytes().first()? {
        b'{' => whole(body, &own_lost),
        b'[' => {
            let chunks: Vec<Raw<'_>> = serde_json::from_str(body).ok()?;
            stream::read(chunks.into_iter().map(Raw::get), &own_lost)
        }
        _ => stream::read(stream::events(body), &own_lost),
    };
    lost.extend(own_lost);
    response.filter(|response| !response.is_empty())
}

/// Parses a whole response.
pub(super) fn whole<'a>(json: &'a str, lost: &Lost) -> Option<Response<'a>> {
    let at = lost.at("");
    let reply: Reply<'_> = parse(json, lost).ok()?;
    let text = reply.text.and_then(string);
    let has_content = reply.choices.is_some()
        || reply.output.is_some()
        || reply.candidates.is_some()
        || reply.sdk_calls.is_some()
        // Anthropic's message.
        || reply.content.is_some() && reply.role.get() == Some("assistant");
    if !has_content && reply.usage.is_none() {
        return None;
    }
    let account: Account<'_> = object_of(reply.response, at);
    let newest_step = reply.steps.last().copied();
    let step: Reply<'_> = object_of(newest_step, at);
    let usage = step.usage.or(reply.usage);
    let numbers = reply
        .sdk_metadata
        .and_then(|raw| Numbers::of_anthropic(raw, at));
    let numbers = numbers.or_else(|| Some(Numbers::read(usage?.0, at)));
    let (mut before, mut all) = (Vec::new(), Vec::new());
    if let Some(choices) = reply.choices.or(reply.candidates) {
        // Of several choices one continues; which, the next request shows. Mostly there is one.
        if let Some(first) = list(choices).first() {
            let choice: Choice<'_> = object(*first, at.field("choices"));
            all = choice
                .message
                .map_or_else(Vec::new, |raw| blocks(raw, at.field("message")));
            let text = choice.text.0;
            all.extend(text.map(|text| Block::text(Role::Assistant, Kind::Text, text)));
        }
    } else if let Some(output) = reply.output {
        all = blocks(output, at.field("output"));
    } else if let Some(messages) = account.messages {
        before = blocks(messages, at.field("messages"));
        let is_result = |block: &Block<'_>| block.role == Role::Tool;
        let newest = before.iter().rposition(is_result).map_or(0, |ix| ix + 1);
        all = before.split_off(newest);
    } else {
        if let Some(content) = reply.content {
            all = output(content, at.field("content"));
        } else {
            let texts = [(Kind::Thinking, reply.sdk_reasoning.0), (Kind::Text, text)];
            for (kind, text) in texts {
                let text = text.filter(|text| !text.is_empty());
                all.extend(text.map(|text| Block::text(Role::Assistant, kind, text)));
            }
        }
        let has_calls = all.iter().any(|block| block.kind == Kind::ToolCall);
        if let (Some(raw), false) = (reply.sdk_calls, has_calls) {
            all.extend(calls(raw, at.field("toolCalls")));
        }
    }
    for block in &mut all {
        // Gemini's responses may leave the role out.
        if block.role == Role::User {
            block.role = Role::Assistant;
        }
    }
    Some(Response {
        id: not_empty(reply.id).or_else(|| not_empty(account.id)),
        model: not_empty(reply.model).or_else(|| not_empty(account.model)),
        before,
        blocks: all,
        numbers: numbers.unwrap_or_default(),
        thoughts: match reply.choices.or(reply.candidates) {
            Some(_) => Thoughts::AreNotSentBack,
            None => Thoughts::AreSentBack,
        },
    })
}

fn not_empty(text: Text<'_>) -> Option<Cow<'_, str>> {
    text.0.filter(|text| !text.is_empty())
}

/// The object that a value is, if it is one.
fn object_of<'a, T: Record<'a>>(raw: Option<Raw<'a>>, at: At<'_>) -> T {
    let raw = raw.filter(|raw| raw.get().starts_with('{'));
    raw.map_or_else(T::default, |raw| object(raw, at))
}

impl Response<'_> {
    /// Whether anything of use was found.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.numbers.prompt().is_none()
    }
}
