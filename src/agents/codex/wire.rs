//! The shapes of a rollout's lines, as lenient as the versions of Codex differ: a field of another
//! type than expected is as good as absent.

use crate::model::event::split_elided;
use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A string that is borrowed from the line where it holds no escapes.
#[derive(Debug, Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// One line. Files from before September 2025 have no payload: the line itself is the item.
#[derive(Debug, Deserialize)]
pub(super) struct Line<'a> {
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub timestamp: Option<Text<'a>>,
    #[serde(default, rename = "type", borrow, deserialize_with = "lenient")]
    pub kind: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub payload: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    pub ordinal: Option<u64>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub record_type: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub id: Option<Text<'a>>,
}

/// A `session_meta` payload.
#[derive(Debug, Deserialize)]
pub(super) struct SessionMeta<'a> {
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub id: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub cwd: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub cli_version: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub parent_thread_id: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub agent_nickname: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub agent_role: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub source: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub base_instructions: Option<BaseInstructions<'a>>,
    #[serde(default, borrow)]
    pub dynamic_tools: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    pub subagent_history_start_ordinal: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct BaseInstructions<'a> {
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub text: Option<Text<'a>>,
}

/// What a session was started by: a word, or a sub-agent's origin.
#[derive(Debug, Deserialize)]
pub(super) struct Origin<'a> {
    #[serde(default, borrow)]
    pub subagent: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Subagent<'a> {
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub thread_spawn: Option<Spawn<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub other: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Spawn<'a> {
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub parent_thread_id: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub agent_nickname: Option<Text<'a>>,
    #[serde(default, borrow, alias = "agent_type", deserialize_with = "lenient")]
    pub agent_role: Option<Text<'a>>,
}

/// A `turn_context` payload.
#[derive(Debug, Deserialize)]
pub(super) struct TurnContext<'a> {
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub model: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub cwd: Option<Text<'a>>,
}

/// An `event_msg` payload, of the few types that tell of the context.
#[derive(Debug, Deserialize)]
pub(super) struct EventMsg<'a> {
    #[serde(default, deserialize_with = "lenient")]
    pub info: Option<TokenInfo>,
    #[serde(default, deserialize_with = "lenient")]
    pub model_context_window: Option<Count>,
    #[serde(default, deserialize_with = "lenient")]
    pub num_turns: Option<Count>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub thread_name: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TokenInfo {
    #[serde(default, deserialize_with = "lenient")]
    pub total_token_usage: Option<TokenUsage>,
    #[serde(default, deserialize_with = "lenient")]
    pub last_token_usage: Option<TokenUsage>,
    #[serde(default, deserialize_with = "lenient")]
    pub model_context_window: Option<Count>,
}

/// Tokens as Codex counts them: input holds the cached part, output holds the reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(super) struct TokenUsage {
    #[serde(default, rename = "input_tokens", deserialize_with = "lenient")]
    pub input: Option<Count>,
    #[serde(default, rename = "cached_input_tokens", deserialize_with = "lenient")]
    pub cached: Option<Count>,
    #[serde(default, rename = "output_tokens", deserialize_with = "lenient")]
    pub output: Option<Count>,
    #[serde(
        default,
        rename = "reasoning_output_tokens",
        deserialize_with = "lenient"
    )]
    pub reasoning: Option<Count>,
    #[serde(default, rename = "total_tokens", deserialize_with = "lenient")]
    pub total: Option<Count>,
}

/// A `compacted` payload.
#[derive(Debug, Deserialize)]
pub(super) struct Compacted<'a> {
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub message: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub replacement_history: Option<Vec<&'a RawValue>>,
}

/// A piece of history: a `response_item` payload, an element of `replacement_history`, a message
/// between agents, or a whole line of an old file.
#[derive(Debug, Deserialize)]
pub(super) struct Item<'a> {
    #[serde(default, rename = "type", borrow, deserialize_with = "lenient")]
    pub kind: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub id: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub role: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub summary: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub encrypted_content: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub call_id: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub name: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub namespace: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub input: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub action: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub output: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub tools: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub revised_prompt: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub result: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub author: Option<Text<'a>>,
}

/// One part of a message's content or of a tool's output.
#[derive(Debug, Deserialize)]
pub(super) struct ContentPart<'a> {
    // The bulk of a log: not worth a second pass to forgive another type.
    #[serde(default, borrow)]
    pub text: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub content: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub image_url: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub detail: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "lenient")]
    pub encrypted_content: Option<Text<'a>>,
}

impl ContentPart<'_> {
    /// Whether there is anything in it: an image may be named without being there.
    pub fn holds_something(&self) -> bool {
        self.text.is_some() || self.image_url.is_some() || self.encrypted_content.is_some()
    }
}

/// A number of tokens or turns, at most 1e12: a larger or negative one is not to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number between 0 and 1e12")
            }

            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Count, E> {
                if n <= 1_000_000_000_000 {
                    Ok(Count(n))
                } else {
                    Err(E::custom("too large"))
                }
            }

            fn visit_f64<E: de::Error>(self, n: f64) -> Result<Count, E> {
                if (0.0..=1e12).contains(&n) {
                    Ok(Count(n as u64))
                } else {
                    Err(E::custom("out of range"))
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A value of the expected type, or nothing.
fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| serde_json::from_str(raw.get()).ok()))
}

impl Text<'_> {
    /// Its bytes in the log, also those that the reader cut.
    pub fn bytes(&self) -> u64 {
        let (shown, cut) = split_elided(&self.0);
        shown.len() as u64 + cut
    }
}

/// The string of an optional text; empty where there is none.
pub(super) fn str_of<'t>(text: &'t Option<Text<'_>>) -> &'t str {
    text.as_ref().map_or("", |text| &text.0)
}

/// A value that is a string as that string, any other as its JSON; nothing for null.
pub(super) fn string_or_json(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let json = raw?.get();
    match serde_json::from_str::<Text<'_>>(json) {
        Ok(text) => Some(text.0),
        Err(_) if json == "null" => None,
        Err(_) => Some(Cow::Borrowed(json)),
    }
}

/// The parts of a content field, which may be a list, one part, or a mere string.
pub(super) fn parts(raw: Option<&RawValue>) -> Vec<ContentPart<'_>> {
    let Some(raw) = raw else {
        return Vec::new();
    };
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(json)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|part| serde_json::from_str(part.get()).ok())
            .collect(),
        Some(b'{') => serde_json::from_str(json).into_iter().collect(),
        Some(b'"') => serde_json::from_str(json)
            .ok()
            .map(|text| ContentPart {
                text: Some(text),
                content: None,
                image_url: None,
                detail: None,
                encrypted_content: None,
            })
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// The `type` of a payload, without parsing the rest where it stands first.
pub(super) fn type_of(payload: &str) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Tag<'a> {
        #[serde(default, rename = "type", borrow, deserialize_with = "lenient")]
        kind: Option<Text<'a>>,
    }
    let first = payload
        .strip_prefix("{\"type\":")
        .and_then(|rest| rest.trim_start().strip_prefix('"'))
        .and_then(|rest| rest.split_once('"'));
    match first {
        Some((kind, _)) if !kind.contains('\\') => Cow::Borrowed(kind),
        _ => serde_json::from_str::<Tag<'_>>(payload)
            .ok()
            .and_then(|tag| tag.kind)
            .map_or(Cow::Borrowed(""), |kind| kind.0),
    }
}
