//! The response's side: what was said, and the provider's numbers.

use super::message::{calls, list, said, units};
use super::stream;
use super::unit::Unit;
use super::usage::Numbers;
use crate::agents::lenient::Text;
use crate::model::{Kind, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

type Raw<'a> = Option<&'a RawValue>;

/// A response, taken apart.
#[derive(Debug, Default)]
pub(super) struct Answer<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) model: Option<Cow<'a, str>>,
    /// What was said in steps before the one that the numbers are of, and what tools gave back: part of
    /// its prompt.
    pub(super) before: Vec<Unit<'a>>,
    pub(super) units: Vec<Unit<'a>>,
    pub(super) numbers: Numbers,
    pub(super) thoughts: Thoughts,
}

/// Whether clients send the thoughts of an answer back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Thoughts {
    /// Anthropic's blocks, items of Responses.
    #[default]
    AreSentBack,
    /// Chat Completions, Gemini.
    AreNotSentBack,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, rename = "responseId")]
    gemini_id: Text<'a>,
    #[serde(borrow)]
    response_id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow, rename = "modelVersion")]
    gemini_model: Text<'a>,
    #[serde(borrow)]
    model_version: Text<'a>,
    #[serde(borrow, rename = "modelId")]
    sdk_model: Text<'a>,
    choices: Raw<'a>,
    output: Raw<'a>,
    content: Raw<'a>,
    candidates: Raw<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow, rename = "reasoningText")]
    sdk_reasoning: Text<'a>,
    #[serde(rename = "toolCalls")]
    sdk_calls: Raw<'a>,
    usage: Raw<'a>,
    #[serde(rename = "usageMetadata")]
    gemini_usage: Raw<'a>,
    usage_metadata: Raw<'a>,
    #[serde(rename = "providerMetadata")]
    sdk_metadata: Raw<'a>,
    /// The AI SDK's account of the response.
    response: Raw<'a>,
    /// The AI SDK's steps: each a request of its own.
    steps: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    message: Raw<'a>,
    content: Raw<'a>,
    #[serde(borrow)]
    text: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Messages<'a> {
    #[serde(borrow)]
    messages: Raw<'a>,
}

/// Takes a response's body apart: a whole one, the chunks of a stream as a list, or their text. `None`:
/// it is no response of a model.
pub(super) fn read(body: &str) -> Option<Answer<'_>> {
    let body = body.trim_start();
    match body.as_bytes().first()? {
        b'{' => whole(body),
        b'[' => {
            let chunks: Vec<&RawValue> = serde_json::from_str(body).ok()?;
            stream::read(chunks.into_iter().map(RawValue::get))
        }
        _ => stream::read(stream::events(body)),
    }
}

/// Takes a whole response apart.
pub(super) fn whole(json: &str) -> Option<Answer<'_>> {
    let reply: Reply<'_> = serde_json::from_str(json).ok()?;
    let usage = [reply.usage, reply.gemini_usage, reply.usage_metadata];
    let usage = usage.into_iter().flatten().next();
    let has_content = reply.choices.is_some()
        || reply.output.is_some()
        || reply.candidates.is_some()
        || (usage.is_some() && (reply.content.is_some() || reply.text.0.is_some()))
        || reply.sdk_calls.is_some();
    if !has_content && usage.is_none() {
        return None;
    }
    let account: Reply<'_> = inner(reply.response);
    let numbers = reply.sdk_metadata.and_then(Numbers::of_anthropic);
    let newest_step = reply.steps.and_then(|steps| list(steps).pop());
    let step: Reply<'_> = inner(newest_step);
    let numbers = numbers
        .or_else(|| step.usage.or(usage).map(Numbers::read))
        .unwrap_or_default();
    let (mut before, mut units) = (Vec::new(), Vec::new());
    if let Some(choices) = reply.choices {
        // Of several choices one goes on; which, the next request shows. Mostly there is one.
        if let Some(first) = list(choices).first() {
            let choice: Choice<'_> = inner(Some(first));
            units = choice.message.map(self::units).unwrap_or_default();
            let text = choice.text.0;
            units.extend(text.map(|text| Unit::text(Role::Assistant, Kind::Text, text)));
        }
    } else if let Some(candidates) = reply.candidates {
        if let Some(first) = list(candidates).first() {
            let choice: Choice<'_> = inner(Some(first));
            units = choice.content.map(self::units).unwrap_or_default();
        }
    } else if let Some(output) = reply.output {
        units = self::units(output);
    } else if let Some(messages) = messages_of(reply.response) {
        before = self::units(messages);
        let is_result = |unit: &Unit<'_>| unit.role == Role::Tool;
        let newest = before.iter().rposition(is_result).map_or(0, |ix| ix + 1);
        units = before.split_off(newest);
    } else {
        if let Some(content) = reply.content {
            units = said(content);
        } else {
            let thought = reply.sdk_reasoning.0.filter(|text| !text.is_empty());
            units.extend(thought.map(|text| Unit::text(Role::Assistant, Kind::Thinking, text)));
            let text = reply.text.0.filter(|text| !text.is_empty());
            units.extend(text.map(|text| Unit::text(Role::Assistant, Kind::Text, text)));
        }
        let has_calls = units.iter().any(|unit| unit.kind == Kind::ToolCall);
        if let (Some(raw), false) = (reply.sdk_calls, has_calls) {
            units.extend(calls(raw));
        }
    }
    for unit in &mut units {
        // Gemini's answers may leave out whose they are.
        if unit.role == Role::User {
            unit.role = Role::Assistant;
        }
    }
    Some(Answer {
        id: first([reply.id, reply.gemini_id, reply.response_id, account.id]),
        model: first([
            reply.model,
            reply.gemini_model,
            reply.model_version,
            reply.sdk_model,
        ])
        .or(account.sdk_model.0),
        before,
        units,
        numbers,
        thoughts: match reply.choices.or(reply.candidates) {
            Some(_) => Thoughts::AreNotSentBack,
            None => Thoughts::AreSentBack,
        },
    })
}

fn first<'a, const N: usize>(texts: [Text<'a>; N]) -> Option<Cow<'a, str>> {
    let mut texts = texts.into_iter().filter_map(|text| text.0);
    texts.find(|text| !text.is_empty())
}

fn inner<'a, T: Default + Deserialize<'a>>(raw: Raw<'a>) -> T {
    raw.filter(|raw| raw.get().starts_with('{'))
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

fn messages_of(response: Raw<'_>) -> Raw<'_> {
    inner::<Messages<'_>>(response).messages
}

impl Answer<'_> {
    /// Whether anything of use was found.
    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty() && self.numbers.prompt().is_none()
    }
}
