//! A response's usage in the words of each provider, brought to one meaning.

use crate::agents::lenient::Count;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What was reported of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// All input, where the provider gives that.
    whole: Option<u64>,
    /// Input beside what was read from and written to a cache, where it gives that instead.
    uncached: Option<u64>,
    /// What the provider's own tools put in while it answered, beside all input.
    pub(super) tools: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    /// Output, reasoning included.
    pub(super) output: Option<u64>,
    /// The part of the output that was reasoning, where it is told apart.
    pub(super) reasoning: Option<u64>,
}

impl Numbers {
    /// Usage as the writer of a log gives it in its own line: all input, all output.
    pub(super) fn of_line(prompt: Count, output: Count) -> Numbers {
        Numbers {
            whole: prompt.0,
            output: output.0,
            ..Numbers::default()
        }
    }

    /// All input, what the provider's own tools put in among it; `None`: nothing was reported.
    pub(super) fn prompt(&self) -> Option<u64> {
        let parts = || {
            let cached = self.cache_read.unwrap_or(0) + self.cache_write.unwrap_or(0);
            Some(self.uncached? + cached)
        };
        let prompt = self.whole.or_else(parts).filter(|prompt| *prompt > 0)?;
        Some(prompt + self.tools.unwrap_or(0))
    }

    /// The larger of each: the chunks of a stream repeat their numbers, rising.
    pub(super) fn max(self, other: Numbers) -> Numbers {
        Numbers {
            whole: self.whole.max(other.whole),
            uncached: self.uncached.max(other.uncached),
            tools: self.tools.max(other.tools),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            output: self.output.max(other.output),
            reasoning: self.reasoning.max(other.reasoning),
        }
    }

    /// Reads `usage` or `usageMetadata`.
    pub(super) fn read(raw: &RawValue) -> Numbers {
        let wire: Wire<'_> = parse(raw);
        let details = |raw: Option<&RawValue>| raw.map(parse::<Details>).unwrap_or_default();
        if wire.prompt_tokens.0.is_some() || wire.completion_tokens.0.is_some() {
            let input = details(wire.prompt_tokens_details);
            return Numbers {
                whole: wire.prompt_tokens.0,
                cache_read: input.cached_tokens.0.or(wire.cache_read_input_tokens.0),
                cache_write: input
                    .cache_write_tokens
                    .0
                    .or(wire.cache_creation_input_tokens.0),
                output: wire.completion_tokens.0,
                reasoning: details(wire.completion_tokens_details).reasoning_tokens.0,
                ..Numbers::default()
            };
        }
        if let Some(input) = wire.input_tokens_details {
            let input: Details = parse(input);
            return Numbers {
                whole: wire.input_tokens.0,
                cache_read: input.cached_tokens.0,
                cache_write: input.cache_write_tokens.0,
                output: wire.output_tokens.0,
                reasoning: details(wire.output_tokens_details).reasoning_tokens.0,
                ..Numbers::default()
            };
        }
        if wire.input_tokens.0.is_some() || wire.output_tokens.0.is_some() {
            return Numbers {
                uncached: wire.input_tokens.0,
                cache_read: wire.cache_read_input_tokens.0,
                cache_write: wire.cache_creation_input_tokens.0,
                output: wire.output_tokens.0,
                reasoning: details(wire.output_tokens_details).thinking_tokens.0,
                ..Numbers::default()
            };
        }
        if let Some(prompt) = wire.gemini_prompt.0.or(wire.prompt_token_count.0) {
            let output = wire.gemini_output.0.or(wire.candidates_token_count.0);
            let thoughts = wire.gemini_thoughts.0.or(wire.thoughts_token_count.0);
            return Numbers {
                whole: Some(prompt),
                tools: wire.gemini_tools.0.or(wire.tool_use_prompt_token_count.0),
                cache_read: wire.gemini_cached.0.or(wire.cached_content_token_count.0),
                output: match (output, thoughts) {
                    (None, None) => None,
                    (output, thoughts) => Some(output.unwrap_or(0) + thoughts.unwrap_or(0)),
                },
                reasoning: thoughts,
                ..Numbers::default()
            };
        }
        wire.of_sdk()
    }

    /// The AI SDK's usage up to its version 5 leaves what Claude had cached out of the input; the
    /// provider's own numbers stand beside it.
    pub(super) fn of_anthropic(metadata: &RawValue) -> Option<Numbers> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Metadata<'a> {
            #[serde(borrow)]
            anthropic: Option<&'a RawValue>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Anthropic<'a> {
            #[serde(borrow)]
            usage: Option<&'a RawValue>,
        }
        let metadata: Metadata<'_> = parse(metadata);
        let anthropic: Anthropic<'_> = parse(metadata.anthropic?);
        let numbers = Numbers::read(anthropic.usage?);
        numbers.prompt().map(|_| numbers)
    }
}

fn parse<'a, T: Default + Deserialize<'a>>(raw: &'a RawValue) -> T {
    if !raw.get().starts_with('{') {
        return T::default();
    }
    serde_json::from_str(raw.get()).unwrap_or_default()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wire<'a> {
    // Chat Completions, LiteLLM.
    prompt_tokens: Count,
    completion_tokens: Count,
    #[serde(borrow)]
    prompt_tokens_details: Option<&'a RawValue>,
    completion_tokens_details: Option<&'a RawValue>,
    // Responses and Anthropic.
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Option<&'a RawValue>,
    output_tokens_details: Option<&'a RawValue>,
    cache_creation_input_tokens: Count,
    cache_read_input_tokens: Count,
    // Gemini, by its REST interface and its Python library.
    #[serde(rename = "promptTokenCount")]
    gemini_prompt: Count,
    #[serde(rename = "candidatesTokenCount")]
    gemini_output: Count,
    #[serde(rename = "thoughtsTokenCount")]
    gemini_thoughts: Count,
    #[serde(rename = "cachedContentTokenCount")]
    gemini_cached: Count,
    #[serde(rename = "toolUsePromptTokenCount")]
    gemini_tools: Count,
    prompt_token_count: Count,
    tool_use_prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    cached_content_token_count: Count,
    // AI SDK: version 4; 5 and 6; 6 inside of a provider.
    #[serde(rename = "promptTokens")]
    sdk_prompt: Count,
    #[serde(rename = "completionTokens")]
    sdk_completion: Count,
    #[serde(rename = "inputTokens")]
    sdk_input: Option<&'a RawValue>,
    #[serde(rename = "outputTokens")]
    sdk_output: Option<&'a RawValue>,
    #[serde(rename = "reasoningTokens")]
    sdk_reasoning: Count,
    #[serde(rename = "cachedInputTokens")]
    sdk_cached: Count,
    #[serde(rename = "inputTokenDetails")]
    sdk_input_details: Option<&'a RawValue>,
    #[serde(rename = "outputTokenDetails")]
    sdk_output_details: Option<&'a RawValue>,
}

impl Wire<'_> {
    fn of_sdk(&self) -> Numbers {
        /// A number, or its parts.
        fn parts(raw: Option<&RawValue>) -> Parts {
            let Some(raw) = raw else {
                return Parts::default();
            };
            match serde_json::from_str::<Count>(raw.get()) {
                Ok(total @ Count(Some(_))) => Parts {
                    total,
                    ..Parts::default()
                },
                _ => parse(raw),
            }
        }
        let (input, output) = (parts(self.sdk_input), parts(self.sdk_output));
        let (read, said) = (
            parts(self.sdk_input_details),
            parts(self.sdk_output_details),
        );
        let first = |counts: [Count; 3]| counts.into_iter().find_map(|count| count.0);
        Numbers {
            whole: input.total.0.or(self.sdk_prompt.0),
            uncached: None,
            tools: None,
            cache_read: first([input.read, read.read_tokens, self.sdk_cached]),
            cache_write: first([input.write, read.write_tokens, Count(None)]),
            output: output.total.0.or(self.sdk_completion.0),
            reasoning: first([output.reasoning, said.reasoning_tokens, self.sdk_reasoning]),
        }
    }
}

/// Parts of an input or output as OpenAI tells them, and Anthropic's thinking.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
    cache_write_tokens: Count,
    reasoning_tokens: Count,
    thinking_tokens: Count,
}

/// The same as the AI SDK tells them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Parts {
    total: Count,
    #[serde(rename = "cacheRead")]
    read: Count,
    #[serde(rename = "cacheWrite")]
    write: Count,
    #[serde(rename = "cacheReadTokens")]
    read_tokens: Count,
    #[serde(rename = "cacheWriteTokens")]
    write_tokens: Count,
    reasoning: Count,
    #[serde(rename = "reasoningTokens")]
    reasoning_tokens: Count,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prompt, read from a cache, written to it, output, reasoning.
    fn read(json: &str) -> [Option<u64>; 5] {
        let n = Numbers::read(serde_json::from_str(json).unwrap());
        [
            n.prompt(),
            n.cache_read,
            n.cache_write,
            n.output,
            n.reasoning,
        ]
    }

    #[test]
    fn each_provider_means_something_else_by_input() {
        let chat = r#"{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":4}}"#;
        assert_eq!(read(chat), [Some(100), Some(64), None, Some(9), Some(4)]);
        let responses = r#"{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4}}"#;
        assert_eq!(read(responses), read(chat));
        let anthropic = r#"{"input_tokens":6,"cache_creation_input_tokens":30,"cache_read_input_tokens":64,"output_tokens":9}"#;
        let (written, all) = (Some(30), Some(100));
        assert_eq!(read(anthropic), [all, Some(64), written, Some(9), None]);
        let gemini = r#"{"promptTokenCount":100,"cachedContentTokenCount":64,"candidatesTokenCount":5,"thoughtsTokenCount":4}"#;
        assert_eq!(read(gemini), read(chat));
        let tools = r#"{"promptTokenCount":80,"toolUsePromptTokenCount":20,"cachedContentTokenCount":64,"candidatesTokenCount":5,"thoughtsTokenCount":4}"#;
        assert_eq!(read(tools), read(chat));
        let python = r#"{"prompt_token_count":100,"cached_content_token_count":64,"candidates_token_count":5,"thoughts_token_count":4}"#;
        assert_eq!(read(python), read(chat));
        let sdk_4 = r#"{"promptTokens":100,"completionTokens":9}"#;
        assert_eq!(read(sdk_4), [all, None, None, Some(9), None]);
        let sdk_5 =
            r#"{"inputTokens":100,"outputTokens":9,"reasoningTokens":4,"cachedInputTokens":64}"#;
        assert_eq!(read(sdk_5), read(chat));
        let sdk_6 = r#"{"inputTokens":100,"inputTokenDetails":{"cacheReadTokens":64,"cacheWriteTokens":30},"outputTokens":9,"outputTokenDetails":{"reasoningTokens":4}}"#;
        assert_eq!(read(sdk_6), [all, Some(64), written, Some(9), Some(4)]);
        let provider = r#"{"inputTokens":{"total":100,"noCache":6,"cacheRead":64,"cacheWrite":30},"outputTokens":{"total":9,"text":5,"reasoning":4}}"#;
        assert_eq!(read(provider), read(sdk_6));
    }

    #[test]
    fn what_is_no_usage_reports_nothing() {
        for odd in [
            "{}",
            "[]",
            "7",
            r#"{"prompt_tokens":-3}"#,
            r#"{"input_tokens":0,"output_tokens":0}"#,
        ] {
            assert_eq!(read(odd)[0], None, "{odd}");
        }
    }
}
