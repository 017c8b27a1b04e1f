//! The response's side: its content, and the provider's numbers.

use super::json::{Object, first, is_object, object, object_if, string};
use super::message::{blocks, calls, output};
use super::usage::Numbers;
use crate::lenient::{FieldPlace, LostFields, Raw, Text, parse, record};
use crate::prompts::Block;
use model::{Kind, Role};
use std::borrow::Cow;

/// A parsed response.
#[derive(Debug, Default)]
pub struct Response<'a> {
    /// Its id.
    pub id: Option<Cow<'a, str>>,
    /// The id of the model that answered.
    pub model: Option<Cow<'a, str>>,
    /// The output of the steps before the one that the numbers are of, and the results of tools: part of
    /// its prompt.
    pub before: Vec<Block<'a>>,
    /// The output of the last step.
    pub blocks: Vec<Block<'a>>,
    /// The reported usage.
    pub numbers: Numbers,
    /// Shows whether its thinking is sent back.
    pub thoughts: Thoughts,
}

/// Shows whether clients send the thinking of a response back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thoughts {
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
        choices: Option<Raw<'a>> = "choices" | "generations",
        /// The one choice.
        message: Option<Raw<'a>>,
        output: Option<Raw<'a>>,
        content: Option<Raw<'a>>,
        candidates: Option<Raw<'a>>,
        /// The AI SDK's text; in the Responses API, its format.
        text: Option<Raw<'a>>,
        sdk_reasoning: Text<'a> = "reasoningText",
        sdk_calls: Option<Raw<'a>> = "toolCalls",
        /// OpenAI's, beside the usage.
        service_tier: Text<'a>,
        usage: Option<Object<'a>> = "usage" | "usageMetadata" | "usage_metadata",
        sdk_metadata: Option<Raw<'a>> = "providerMetadata",
        /// The AI SDK's account of the response.
        response: Option<Raw<'a>>,
        /// The AI SDK's steps: each a request of its own.
        steps: Vec<Raw<'a>>,
    }

    struct Choice<'a> {
        message: Option<Raw<'a>> = "message" | "content",
        text: Text<'a>,
    }

    struct Account<'a> {
        id: Text<'a>,
        model: Text<'a> = "modelId",
        messages: Option<Raw<'a>>,
    }
}

/// Parses a whole response.
pub fn whole<'a>(json: &'a str, lost: &LostFields) -> Option<Response<'a>> {
    let at = lost.at("");
    let reply: Reply<'_> = parse(json, lost).ok()?;
    let has_content = reply.choices.is_some()
        || reply.output.is_some()
        || reply.candidates.is_some()
        || reply.sdk_calls.is_some()
        // Anthropic's message.
        || reply.content.is_some() && reply.role.get() == Some("assistant");
    if !has_content && reply.usage.is_none() {
        return None;
    }
    Some(reply.read(at))
}

/// Returns the blocks of a value that is known to be a response.
pub fn answer<'a>(raw: Raw<'a>, at: FieldPlace<'_>) -> Vec<Block<'a>> {
    let reply: Reply<'_> = object_if(Some(raw), at);
    reply.read(at).blocks
}

impl<'a> Reply<'a> {
    fn read(self, at: FieldPlace<'_>) -> Response<'a> {
        let account: Account<'_> = object_if(self.response, at);
        let newest_step = self.steps.last().copied();
        let step: Reply<'_> = object_if(newest_step, at);
        let usage = step.usage.or(self.usage);
        let numbers = self
            .sdk_metadata
            .and_then(|raw| Numbers::of_anthropic(raw, at));
        let numbers = numbers.or_else(|| Some(Numbers::read(usage?.0, at)));
        let numbers = numbers.map(|numbers| numbers.with_tier(&self.service_tier));
        let choices = self.choices.or(self.candidates);
        let answer = |raw, at| blocks(raw, Role::Assistant, at);
        let (mut before, mut all) = (Vec::new(), Vec::new());
        if let Some(choices) = choices {
            // Of several choices one continues; which, the next request shows. Mostly there is one.
            let choice: Choice<'_> = match first(choices) {
                Some(first) => object(first, at.field("choices")),
                None => Choice::default(),
            };
            all = match choice.message {
                Some(raw) => answer(raw, at.field("message")),
                None => Vec::from_iter(choice.text.0.map(|text| said(Kind::Text, text))),
            };
        } else if let Some(output) = self.output {
            all = answer(output, at.field("output"));
        } else if let Some(messages) = account.messages {
            before = answer(messages, at.field("messages"));
            let is_result = |block: &Block<'_>| block.role == Role::Tool;
            let newest = before.iter().rposition(is_result).map_or(0, |ix| ix + 1);
            all = before.split_off(newest);
        } else {
            if let Some(content) = self.content.filter(|content| !is_object(*content)) {
                all = output(content, at.field("content"));
            } else if let Some(message) = self.message.or(self.content) {
                all = answer(message, at.field("message"));
            } else {
                let text = self.text.and_then(string);
                let texts = [(Kind::Thinking, self.sdk_reasoning.0), (Kind::Text, text)];
                for (kind, text) in texts {
                    let text = text.filter(|text| !text.is_empty());
                    all.extend(text.map(|text| said(kind, text)));
                }
            }
            let has_calls = all.iter().any(|block| block.kind == Kind::ToolCall);
            if let (Some(raw), false) = (self.sdk_calls, has_calls) {
                all.extend(calls(raw, at.field("toolCalls")));
            }
        }
        Response {
            id: not_empty(self.id).or_else(|| not_empty(account.id)),
            model: not_empty(self.model).or_else(|| not_empty(account.model)),
            before,
            blocks: all,
            numbers: numbers.unwrap_or_default(),
            thoughts: match choices {
                Some(_) => Thoughts::AreNotSentBack,
                None => Thoughts::AreSentBack,
            },
        }
    }
}

fn said(kind: Kind, text: Cow<'_, str>) -> Block<'_> {
    Block::text(Role::Assistant, kind, text)
}

fn not_empty(text: Text<'_>) -> Option<Cow<'_, str>> {
    text.0.filter(|text| !text.is_empty())
}

impl Response<'_> {
    /// Returns true if anything of use was found.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.numbers.prompt().is_none()
    }
}
