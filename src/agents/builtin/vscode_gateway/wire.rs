//! The fields of the extension's lines that are read.

use decode::bodies::{Numbers, Object};
use decode::lenient::{Count, Raw, ReportedCount, Text, Texts, Window, record};

record! {
    /// A capture, a row of an index or of a conversation, a whole request, or an event around one.
    pub(super) struct Line<'a> {
        pub(super) kind: Text<'a>,
        pub(super) ts: Text<'a>,
        pub(super) timestamp: Text<'a>,
        pub(super) conversation_id: Text<'a> = "conversationId",
        pub(super) chat_id: Text<'a> = "chatId",
        /// The model's id in investigations, a [`Model`] in captures.
        pub(super) model: Option<Raw<'a>>,
        pub(super) status: Text<'a>,
        pub(super) is_summarization: Option<bool> = "isSummarization",
        estimated_input_tokens: ReportedCount = "estimatedInputTokens",
        actual_input_tokens: ReportedCount = "actualInputTokens",
        actual_output_tokens: ReportedCount = "actualOutputTokens",
        cached_tokens: ReportedCount = "cachedTokens",
        reasoning_tokens: ReportedCount = "reasoningTokens",
        estimate: ReportedCount = "estimate" / "total",
        actual: Option<Actual>,
        /// A line of the index, in an event.
        pub(super) entry: Option<Raw<'a>>,
        /// A whole request, in an event.
        pub(super) capture: Option<Raw<'a>>,
        pub(super) request: Option<Object<'a>>,
        pub(super) usage: Option<Raw<'a>> = "response" / "usage",
        pub(super) capture_version: Text<'a> = "captureVersion",
        pub(super) messages: Vec<Summary<'a>> = "messages" / "contentSummary",
        pub(super) system_prompt: Option<Prompt<'a>> = "systemPrompt",
        pub(super) tool_names: Texts<'a> = "options" / "toolNames",
        pub(super) estimated: ReportedCount = "tokens" / "estimated",
        pub(super) state_chat_id: Text<'a> = "internalState" / "chatId",
        pub(super) full_content: Option<FullContent<'a>> = "fullContent",
    }
}

impl Line<'_> {
    pub(super) fn is_capture(&self) -> bool {
        let has_messages = !self.messages.is_empty();
        self.capture_version.get().is_some() || has_messages || self.full_content.is_some()
    }

    /// Returns the extension's own number for the prompt, in tokens.
    pub(super) fn estimated(&self) -> Option<u64> {
        self.estimated_input_tokens.get().or(self.estimate.get())
    }

    /// Returns the provider's numbers.
    pub(super) fn actual(&self) -> Numbers {
        let [input, output, cached, reasoning] = match &self.actual {
            Some(actual) => [actual.input, actual.output, actual.cached, actual.reasoning],
            None => ReportedCount::mended([
                self.actual_input_tokens,
                self.actual_output_tokens,
                self.cached_tokens,
                self.reasoning_tokens,
            ]),
        };
        Numbers {
            cache_read: cached.0,
            reasoning: reasoning.0,
            ..Numbers::of_line([input, output])
        }
    }
}

record! {
    /// The provider's numbers, in tokens.
    whole struct Actual {
        input: Count,
        output: Count,
        cached: Count,
        reasoning: Count,
    }

    pub(super) struct Model<'a> {
        pub(super) id: Text<'a>,
        pub(super) max_input_tokens: Window = "maxInputTokens",
    }

    /// A message by its length.
    pub(super) struct Summary<'a> {
        pub(super) role: Text<'a>,
        pub(super) part_types: Texts<'a> = "partTypes",
        pub(super) text_length: Count = "textLength",
        pub(super) hash: Text<'a>,
    }

    pub(super) struct Prompt<'a> {
        pub(super) length: Count,
        pub(super) hash: Text<'a>,
    }

    /// A request with its texts.
    pub(super) struct FullContent<'a> {
        pub(super) system_prompt: Text<'a> = "systemPrompt",
        pub(super) messages: Option<Raw<'a>>,
        pub(super) tools: Option<Raw<'a>>,
    }
}
