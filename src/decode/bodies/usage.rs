//! A response's usage in the words of each provider, brought to one meaning.

use super::json::object;
use crate::lenient::{Count, Field, FieldPlace, Raw, Repair, Text, UsageParts, record};
use model::event::{BilledUsage, Key, Surcharges, Usage};

/// The numbers that were reported for a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers {
    /// All input, where the provider reports that.
    pub whole: Option<u64>,
    /// Input beside what was read from and written to a cache, where it reports that instead.
    pub uncached: Option<u64>,
    /// The input that the provider's own tools added to the prompt while it answered, beside all input.
    pub tools: Option<u64>,
    /// Input that was read from a cache.
    pub cache_read: Option<u64>,
    /// Input that was written to a cache.
    pub cache_write: Option<u64>,
    /// Output, reasoning included.
    pub output: Option<u64>,
    /// The part of the output that was reasoning, where it is reported.
    pub reasoning: Option<u64>,
    /// Other circumstances that change the price.
    pub surcharges: Surcharges,
    /// True if one of the numbers cannot be read, so that none is used.
    pub is_unreadable: bool,
}

impl Numbers {
    /// Returns the usage as the writer of a log reports it in its own line: all input, all output.
    pub fn of_line([prompt, output]: [Count; 2]) -> Numbers {
        Numbers {
            whole: prompt.0,
            output: output.0,
            ..Numbers::default()
        }
    }

    /// Returns all input, what the provider's own tools added among it; `None`: nothing was reported.
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

    /// Returns the input as it is written, for writers of whom it is known whether it includes what was cached.
    pub fn input(&self) -> Option<u64> {
        let input = self.whole.or(self.uncached);
        input.filter(|_| !self.is_unreadable)
    }

    /// Returns the report of a request whose writer says that the input includes what was cached. Some programs are
    /// older than that rule: where more was cached than that, it does not.
    pub fn usage(&self, request: Key, model: Option<&str>) -> Option<Usage> {
        let input = self.input().filter(|input| *input > 0)?;
        let billed = BilledUsage::new(input, self.output.unwrap_or(0))
            .with_cache(self.cache_read.unwrap_or(0), self.cache_write.unwrap_or(0))
            .with_reasoning(self.reasoning.unwrap_or(0))
            .with_surcharges(self.surcharges);
        let cached = billed.cache_read + billed.cache_creation;
        let prompt = if cached > input {
            input + cached
        } else {
            input
        };
        Some(Usage {
            model: model.map(Into::into),
            output: self.output,
            reasoning: self.reasoning,
            ..Usage::billed(request, prompt, billed)
        })
    }

    /// Returns the larger of each: the chunks of a stream repeat their numbers, rising.
    pub fn max(self, other: Numbers) -> Numbers {
        Numbers {
            whole: self.whole.max(other.whole),
            uncached: self.uncached.max(other.uncached),
            tools: self.tools.max(other.tools),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            output: self.output.max(other.output),
            reasoning: self.reasoning.max(other.reasoning),
            surcharges: self.surcharges.and(other.surcharges),
            is_unreadable: self.is_unreadable || other.is_unreadable,
        }
    }

    /// Reads `usage` or `usageMetadata`.
    pub fn read(raw: Raw<'_>, at: FieldPlace<'_>) -> Numbers {
        let wire: Option<Wire> = at.field("usage").read(raw);
        let Some(wire) = wire else {
            return Numbers {
                is_unreadable: raw.get() != "null",
                ..Numbers::default()
            };
        };
        let tiers: Tiers<'_> = object(raw, at);
        let [tier, speed] = [tiers.service_tier, tiers.speed];
        let numbers = wire.numbers();
        numbers.with_tier(&tier).with_tier(&speed)
    }

    /// Returns the numbers with the surcharge of a service tier or a speed, if one is named.
    #[must_use]
    #[inline(never)]
    pub fn with_tier(self, name: &Text<'_>) -> Numbers {
        let surcharges = Surcharges::of_tier(name.or_empty());
        Numbers {
            surcharges: self.surcharges.and(surcharges),
            ..self
        }
    }

    /// Returns the provider's own numbers. The AI SDK's usage up to its version 5 leaves the tokens that Claude had
    /// cached out of the input.
    pub fn of_anthropic(metadata: Raw<'_>, at: FieldPlace<'_>) -> Option<Numbers> {
        let metadata: Metadata<'_> = object(metadata, at);
        let numbers = Numbers::read(metadata.anthropic_usage?, at);
        numbers.prompt().map(|_| numbers)
    }
}

record! {
    struct Metadata<'a> {
        anthropic_usage: Option<Raw<'a>> = "anthropic" / "usage",
    }

    /// The fields of Anthropic's usage that are not numbers.
    struct Tiers<'a> {
        service_tier: Text<'a>,
        speed: Text<'a>,
    }

    mended whole struct Wire {
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
        // AI SDK: version 4; 5 and 6; 6 inside of a provider. LangChain's parts are named alike.
        sdk_input: Tokens = "inputTokens" | "promptTokens",
        sdk_output: Tokens = "outputTokens" | "completionTokens",
        sdk_reasoning: Count = "reasoningTokens",
        sdk_cached: Count = "cachedInputTokens",
        sdk_input_details: Option<Parts> = "inputTokenDetails" | "input_token_details" | "prompt_token_details",
        sdk_output_details: Parts = "outputTokenDetails" | "output_token_details" | "completion_token_details",
    }
}

impl Repair for Wire {
    fn parts(&mut self) -> UsageParts<'_> {
        let prompt = vec![
            ("prompt_tokens", &mut self.prompt_tokens),
            ("input_tokens", &mut self.input_tokens),
            (
                "cache_creation_input_tokens",
                &mut self.cache_creation_input_tokens,
            ),
            ("cache_read_input_tokens", &mut self.cache_read_input_tokens),
            ("promptTokenCount", &mut self.gemini_prompt),
            ("toolUsePromptTokenCount", &mut self.gemini_tools),
        ];
        // How the others count depends on which there are.
        UsageParts::new(prompt, ("completion_tokens", &mut self.completion_tokens)).needs(&[
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "inputTokens",
            "inputTokenDetails",
            "input_tokens_details",
            "completion_tokens_details",
            "output_tokens_details",
            "outputTokenDetails",
            "total",
            "cacheRead",
            "cacheWrite",
            "reasoning",
            "reasoningTokens",
            "reasoning_tokens",
            "thinking_tokens",
        ])
    }
}

impl Wire {
    // Inlined, the two make one function of 54 kB.
    #[inline(never)]
    fn numbers(self) -> Numbers {
        let first = |counts: &[Count]| counts.iter().find_map(|count| count.0);
        let [chat, responses] = [&self.prompt_tokens_details, &self.input_tokens_details];
        let input = chat.clone().or(responses.clone()).unwrap_or_default();
        let [chat, of_responses] = [self.completion_tokens_details, self.output_tokens_details];
        let output = chat.or(of_responses).unwrap_or_default();
        let (sdk_input, sdk_output) = (self.sdk_input.0, self.sdk_output.0);
        let (input_parts, output_parts) = (self.sdk_input_details, self.sdk_output_details);
        // Anthropic alone reports what it read from its cache beside the input.
        let is_whole = responses.is_some() || input_parts.is_some();
        let parts = input_parts.unwrap_or_default();
        let [whole, uncached] = match (first(&[self.prompt_tokens]), is_whole) {
            (None, true) => [self.input_tokens, Count(None)],
            (None, false) => [Count(None), self.input_tokens],
            (Some(_), _) => [self.prompt_tokens, Count(None)],
        };
        let gemini = [self.gemini_output, self.gemini_thoughts];
        let gemini = gemini
            .iter()
            .filter_map(|count| count.0)
            .reduce(|a, b| a + b);
        Numbers {
            whole: first(&[whole, self.gemini_prompt, sdk_input.total]),
            uncached: uncached.0,
            tools: self.gemini_tools.0,
            cache_read: first(&[
                input.cached_tokens,
                self.cache_read_input_tokens,
                self.gemini_cached,
                sdk_input.read,
                parts.read,
                self.sdk_cached,
            ]),
            cache_write: first(&[
                input.cache_write_tokens,
                self.cache_creation_input_tokens,
                sdk_input.write,
                parts.write,
            ]),
            output: first(&[
                self.completion_tokens,
                self.output_tokens,
                Count(gemini),
                sdk_output.total,
            ]),
            reasoning: first(&[
                output.reasoning_tokens,
                output.thinking_tokens,
                self.gemini_thoughts,
                sdk_output.reasoning,
                output_parts.reasoning,
                self.sdk_reasoning,
            ]),
            surcharges: Surcharges::NONE,
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

    /// Parts of an input or output as the AI SDK and LangChain report them.
    struct Parts {
        total: Count,
        read: Count = "cacheRead" | "cacheReadTokens" | "cache_read",
        write: Count = "cacheWrite" | "cacheWriteTokens" | "cache_creation",
        reasoning: Count = "reasoning" | "reasoningTokens",
    }
}

/// A number of tokens, or its parts.
#[derive(Debug, Default, Clone)]
struct Tokens(Parts);

impl<'a> Field<'a> for Tokens {
    const HOLDS_NUMBERS: bool = true;

    fn read(value: Raw<'a>, at: FieldPlace<'_>) -> Option<Self> {
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
    use crate::lenient::LostFields;

    /// Prompt, read from a cache, written to it, output, reasoning.
    fn read(json: &str) -> [Option<u64>; 5] {
        let lost = LostFields::default();
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
