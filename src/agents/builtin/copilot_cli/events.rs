//! The events as they are written.

use decode::image::{self, Formula};
use decode::lenient::{Count, Pieces, Raw, Text, Window, record};
use model::event::ItemBuilder;

record! {
    pub(super) struct Record<'a> {
        pub(super) kind: Text<'a> = "type",
        pub(super) id: Text<'a>,
        pub(super) timestamp: Text<'a>,
        pub(super) agent_id: Text<'a> = "agentId",
        pub(super) data: Data<'a>,
    }

    /// The data of an event, whatever its type: a name means the same in all of them.
    pub(super) struct Data<'a> {
        pub(super) session_id: Text<'a> = "sessionId",
        pub(super) copilot_version: Text<'a> = "copilotVersion",
        pub(super) selected_model: Text<'a> = "selectedModel",
        pub(super) new_model: Text<'a> = "newModel",
        pub(super) chosen_model: Text<'a> = "chosenModel",
        pub(super) model: Text<'a>,
        pub(super) context_cwd: Text<'a> = "context" / "cwd",
        pub(super) cwd: Text<'a>,
        pub(super) title: Text<'a>,
        pub(super) name: Text<'a>,
        pub(super) content: Text<'a>,
        pub(super) transformed_content: Text<'a> = "transformedContent",
        pub(super) source: Text<'a>,
        pub(super) is_autopilot_continuation: Option<bool> = "isAutopilotContinuation",
        pub(super) attachments: Vec<Binary<'a>>,
        pub(super) message_id: Text<'a> = "messageId",
        pub(super) api_call_id: Text<'a> = "apiCallId",
        pub(super) interaction_id: Text<'a> = "interactionId",
        pub(super) turn_id: Text<'a> = "turnId",
        pub(super) reasoning_text: Text<'a> = "reasoningText",
        pub(super) reasoning_opaque: Text<'a> = "reasoningOpaque",
        pub(super) encrypted_content: Text<'a> = "encryptedContent",
        pub(super) tool_requests: Vec<Request<'a>> = "toolRequests",
        pub(super) tool_call_id: Text<'a> = "toolCallId",
        pub(super) parent_tool_call_id: Text<'a> = "parentToolCallId",
        pub(super) tool_name: Text<'a> = "toolName",
        pub(super) result: Pieces<Outcome<'a>>,
        pub(super) error: Pieces<Outcome<'a>>,
        pub(super) agent_name: Text<'a> = "agentName",
        pub(super) agent_display_name: Text<'a> = "agentDisplayName",
        pub(super) success: Option<bool>,
        pub(super) custom_instructions: Text<'a> = "customInstructions",
        pub(super) trigger: Text<'a>,
        pub(super) summary_content: Text<'a> = "summaryContent",
        pub(super) pre_compaction_tokens: Count = "preCompactionTokens",
        pub(super) post_compaction_tokens: Count = "postCompactionTokens",
        pub(super) system_tokens: Count = "systemTokens",
        pub(super) conversation_tokens: Count = "conversationTokens",
        pub(super) tool_definitions_tokens: Count = "toolDefinitionsTokens",
        pub(super) compaction_tokens_used: Numbers<'a> = "compactionTokensUsed",
        pub(super) usage: Numbers<'a>,
        pub(super) output_tokens: Count = "outputTokens",
        pub(super) model_metrics: Option<Raw<'a>> = "modelMetrics",
        pub(super) current_tokens: Count = "currentTokens",
        pub(super) token_limit: Window = "tokenLimit",
        pub(super) messages_removed_during_truncation: Count = "messagesRemovedDuringTruncation",
    }

    /// The sums of a model.
    pub(super) struct Metrics<'a> {
        pub(super) usage: Numbers<'a>,
    }

    /// The provider's numbers of a request, or of several.
    mended [input_tokens => output_tokens] whole pub(super) struct Numbers<'a> {
        pub(super) model: Text<'a>,
        pub(super) api_call_id: Text<'a> = "apiCallId",
        pub(super) input_tokens: Count = "inputTokens",
        pub(super) output_tokens: Count = "outputTokens",
        pub(super) cache_read_tokens: Count = "cacheReadTokens",
        pub(super) cache_write_tokens: Count = "cacheWriteTokens",
        pub(super) reasoning_tokens: Count = "reasoningTokens",
        pub(super) max_prompt_tokens: Window = "maxPromptTokens",
    }

    pub(super) struct Request<'a> {
        pub(super) tool_call_id: Text<'a> = "toolCallId",
        pub(super) name: Text<'a>,
        pub(super) arguments: Option<Raw<'a>>,
    }

    /// The outcome of a call: its result, or its error.
    pub(super) struct Outcome<'a> {
        pub(super) content: Text<'a>,
        pub(super) message: Text<'a> = "message" | "text",
        pub(super) binary_results_for_llm: Vec<Binary<'a>> = "binaryResultsForLlm",
    }

    /// An image or another file.
    pub(super) struct Binary<'a> {
        pub(super) kind: Text<'a> = "type",
        data: Text<'a>,
    }
}

impl Data<'_> {
    /// Returns the size of the context as the sum of its parts: system prompt, tools and conversation.
    pub(super) fn parts(&self) -> Option<u64> {
        let rest = self.system_tokens.or_zero() + self.tool_definitions_tokens.or_zero();
        Some(self.conversation_tokens.0? + rest)
    }
}

impl Binary<'_> {
    /// Adds it to an item.
    pub(super) fn add_to<'s, 'm>(
        &self,
        item: ItemBuilder<'s, 'm>,
        formula: Formula,
    ) -> ItemBuilder<'s, 'm> {
        let tokens = image::tokens(self.data.or_empty(), formula, image::DEFAULT);
        item.fixed(tokens, "[image]")
    }
}
