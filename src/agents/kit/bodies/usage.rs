//! A response's usage in the words of each provider, brought to one meaning.

use crate::agents::kit::lenient::{At, Count, Field, Raw, Record, record};

/// What was reported of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers {
    /// All input, where the provider reports that.
    whole: Option<u64>,
    /// Input beside what was read from and written to a cache, where it reports that instead.
    uncached: Option<u64>,
    /// What the provider's own tools added to the prompt while it answered, beside all input.
    pub tools: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    /// Output, reasoning included.
    pub output: Option<u64>,
    /// The part of the output that was reasoning, where it is reported.
    pub reasoning: Option<u64>,
    /// Whether one of the numbers cannot be read, so that none is used.
    is_unreadable: bool,
}

impl Numbers {
    /// Usage as the writer of a log reports it in its own line: all input, all output.
    pub fn of_line([prompt, output]: [Count; 2]) -> Numbers {
        Numbers {
            whole: prompt.0,
            output: output.0,
            ..Numbers::default()
        }
    }

    /// All input, what the provider's own tools added among it; `None`: nothing was reported.
    pub fn prompt(&self) -> Option<u64> {
        if self.is_unreadable {
            return None;
        }
        let parts = || {
            let cached = self.cache_read.unwrap_or(0) + self.cache_write.unwrap_or(0);
            Some(self.uncached? + cached)
        };
        let prompt = self.whole.or_else(parts).filter(|prompt| *prompt > 0)?;
        Some(prompt + self.tools.unwrap_or(0))
    }

    /// The larger of each: the chunks of a stream repeat their numbers, rising.
    pub fn max(self, other: Numbers) -> Numbers {
        Numbers {
            whole: self.whole.max(other.whole),
            uncached: self.uncached.max(other.uncached),
            tools: self.tools.max(other.tools),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            output: self.output.max(other.output),
            reasoning: self.reasoning.max(other.reasoning),
            is_unreadable: self.is_unreadable || other.is_unreadable,
        }
    }

    /// Reads `usage` or `usageMetadata`.
    pub fn read(raw: Raw<'_>, at: At<'_>) -> Numbers {
        let wire: Option<Wire> = at.field("usage").read(raw);
        let Some(wire) = wire else {
            return Numbers {
                is_unreadable: raw.get() != "null",
                ..Numbers::default()
            };
        };
        if wire.prompt_tokens.0.is_some() || wire.completion_tokens.0.is_some() {
            let input = wire.prompt_tokens_details.unwrap_or_default();
            return Numbers {
                whole: wire.prompt_tokens.0,
                cache_read: input.cached_tokens.0.or(wire.cache_read_input_tokens.0),
                cache_write: input
                    .cache_write_tokens
                    .0
                    .or(wire.cache_creation_input_tokens.0),
                output: wire.completion_tokens.0,
                reasoning: wire
                    .completion_tokens_details
                    .unwrap_or_default()
                    .reasoning_tokens
                    .0,
                ..Numbers::default()
            };
        }
        let output = wire.output_tokens_details.clone().unwrap_or_default();
        if let Some(input) = wire.input_tokens_details {
            return Numbers {
                whole: wire.input_tokens.0,
                cache_read: input.cached_tokens.0,
                cache_write: input.cache_write_tokens.0,
                output: wire.output_tokens.0,
                reasoning: output.reasoning_tokens.0,
                ..Numbers::default()
            };
        }
        if wire.input_tokens.0.is_some() || wire.output_tokens.0.is_some() {
            return Numbers {
                uncached: wire.input_tokens.0,
                cache_read: wire.cache_read_input_tokens.0,
                cache_write: wire.cache_creation_input_tokens.0,
                output: wire.output_tokens.0,
                reasoning: output.thinking_tokens.0,
                ..Numbers::default()
            };
        }
        if wire.gemini_prompt.0.is_some() {
            let thoughts = wire.gemini_thoughts.0;
            return Numbers {
                whole: wire.gemini_prompt.0,
                tools: wire.gemini_tools.0,
                cache_read: wire.gemini_cached.0,
                output: match (wire.gemini_output.0, thoughts) {
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
    /// provider's own numbers are beside it.
    pub fn of_anthropic(metadata: Raw<'_>, at: At<'_>) -> Option<Numbers> {
        let metadata: Metadata<'_> = read(metadata, at);
        let numbers = Numbers::read(metadata.anthropic?.usage?, at);
        numbers.prompt().map(|_| numbers)
    }
}

fn read<'a, T: Record<'a>>(raw: Raw<'a>, at: At<'_>) -> T {
    at.read(raw).unwrap_or_default()
}

record! {
    struct Metadata<'a> {
        anthropic: Option<Anthropic<'a>>,
    }
}

record! {
    struct Anthropic<'a> {
        usage: Option<Raw<'a>>,
    }
}

record! {
    whole struct Wire {
        // Chat Completions, LiteLLM.
        prompt_tokens: Count,
        completion_tokens: Count,
        prompt_tokens_details: Option<Details>,
        completion_tokens_details: Option<Details>,
        // Responses and Anthropic.
        input_tokens: Count,
        output_tokens: Count,
        input_tokens_details: Option<Details>,
        output_tokens_details: Option<Details>,
        cache_creation_input_tokens: Count,
        cache_read_input_tokens: Count,
        // Gemini, by its REST interface and its Python library.
        gemini_prompt: Count = "promptTokenCount" | "prompt_token_count",
        gemini_output: Count = "candidatesTokenCount" | "candidates_token_count",
        gemini_thoughts: Count = "thoughtsTokenCount" | "thoughts_token_count",
        gemini_cached: Count = "cachedContentTokenCount" | "cached_content_token_count",
        gemini_tools: Count = "toolUsePromptTokenCount" | "tool_use_prompt_token_count",
        // AI SDK: version 4; 5 and 6; 6 inside of a provider.
        sdk_input: Tokens = "inputTokens" | "promptTokens",
        sdk_output: Tokens = "outputTokens" | "completionTokens",
        sdk_reasoning: Count = "reasoningTokens",
        sdk_cached: Count = "cachedInputTokens",
        sdk_input_details: Parts = "inputTokenDetails",
        sdk_output_details: Parts = "outputTokenDetails",
    }
}

impl Wire {
    fn of_sdk(self) -> Numbers {
        let (input, output) = (self.sdk_input.0, self.sdk_output.0);
        let input_details = self.sdk_input_details;
        let output_details = self.sdk_output_details;
        Numbers {
            whole: input.total.0,
            uncached: None,
            tools: None,
            cache_read: input.read.0.or(input_details.read.0).or(self.sdk_cached.0),
            cache_write: input.write.0.or(input_details.write.0),
            output: output.total.0,
            reasoning: output
                .reasoning
                .0
                .or(output_details.reasoning.0)
                .or(self.sdk_reasoning.0),
            is_unreadable: false,
        }
    }
}

record! {
    /// Parts of an input or output as OpenAI reports them, and Anthropic's thinking.
    struct Details {
        cached_tokens: Count,
        cache_write_tokens: Count,
        reasoning_tokens: Count,
        thinking_tokens: Count,
    }
}

record! {
    /// The same as the AI SDK reports them.
    struct Parts {
        total: Count,
        read: Count = "cacheRead" | "cacheReadTokens",
        write: Count = "cacheWrite" | "cacheWriteTokens",
        reasoning: Count = "reasoning" | "reasoningTokens",
    }
}

/// A number of tokens, or its parts.
#[derive(Debug, Default, Clone)]
struct Tokens(Parts);

impl<'a> Field<'a> for Tokens {
    const HOLDS_NUMBERS: bool = true;

    fn read(value: Raw<'a>, at: At<'_>) -> Option<Self> {
        if !value.get().starts_with('{') {
            let total = Count::read(value, at)?;
            return Some(Tokens(Parts {
                total,
                ..Parts::default()
            }));
        }
        let parts = Parts::read(value, at)?;
        let counts = [parts.total, parts.read, parts.write, parts.reasoning];
        // Parts that are not reported are left out.
        let has_counts = value.get() == "{}" || counts.iter().any(|count| count.0.is_some());
        has_counts.then_some(Tokens(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::kit::lenient::Lost;

    /// Prompt, read from a cache, written to it, output, reasoning.
    fn read(json: &str) -> [Option<u64>; 5] {
        let lost = Lost::default();
        let n = Numbers::read(serde_json::from_str(json).unwrap(), lost.at("usage"));
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
