//! The records as they are written.

use decode::genai::Parts;
use decode::lenient::{Count, Pieces, Raw, Text, Window, record};
use model::Source;
use model::event::{BilledUsage, Key, Usage};

record! {
    /// The file about a sub-agent.
    pub(super) struct AboutAgent<'a> {
        pub(super) description: Text<'a>,
        pub(super) parent: Text<'a> = "parentAgentId",
        pub(super) model: Text<'a>,
        /// The model that the client's options named.
        pub(super) model_option: Text<'a> = "persistedCliFlags" / "model",
    }

    pub(super) struct Record<'a> {
        pub(super) uuid: Text<'a>,
        pub(super) parent_uuid: Text<'a> = "parentUuid",
        pub(super) session_id: Text<'a> = "sessionId",
        pub(super) timestamp: Text<'a>,
        pub(super) kind: Text<'a> = "type",
        pub(super) subtype: Text<'a>,
        pub(super) cwd: Text<'a>,
        pub(super) version: Text<'a>,
        pub(super) message: Option<Content<'a>>,
        pub(super) model: Text<'a>,
        pub(super) usage_metadata: Option<Numbers> = "usageMetadata",
        pub(super) context_window_size: Window = "contextWindowSize",
        /// Read only where its subtype is of use: it can be large.
        pub(super) system_payload: Option<Raw<'a>> = "systemPayload",
        pub(super) agent_id: Text<'a> = "agentId",
        pub(super) agent_name: Text<'a> = "agentName",
        pub(super) is_sidechain: Option<bool> = "isSidechain",
        pub(super) external_input_kind: Text<'a> = "externalInputKind",
    }

    /// A message's content.
    pub(super) struct Content<'a> {
        pub(super) role: Text<'a>,
        pub(super) parts: Pieces<Parts<'a>>,
    }

    /// The payload of a system record.
    pub(super) struct Payload<'a> {
        pub(super) info: Sizes<'a>,
        pub(super) compressed_history: Vec<Content<'a>> = "compressedHistory",
        pub(super) history: Vec<Content<'a>>,
        pub(super) custom_title: Text<'a> = "customTitle",
        pub(super) parent_session_id: Text<'a> = "parentSessionId",
        pub(super) model_id: Text<'a> = "modelId",
        pub(super) phase: Text<'a>,
        pub(super) raw_command: Text<'a> = "rawCommand",
        pub(super) sent_to_model: Option<bool> = "sentToModel",
    }

    /// The sizes before and after a compression, the second one estimated.
    pub(super) struct Sizes<'a> {
        pub(super) original_token_count: Count = "originalTokenCount",
        pub(super) new_token_count: Count = "newTokenCount",
        /// Since about 0.22: what caused it.
        pub(super) trigger_reason: Text<'a> = "triggerReason",
    }

    /// The numbers of a response, by the names of the GenAI interface or by those of the first builds that
    /// kept such records.
    #[derive(Copy)]
    whole pub(super) struct Numbers {
        prompt_token_count: Count = "promptTokenCount" | "input",
        candidates_token_count: Count = "candidatesTokenCount" | "output",
        thoughts_token_count: Count = "thoughtsTokenCount" | "thoughts",
        total_token_count: Count = "totalTokenCount" | "total",
        cached_content_token_count: Count = "cachedContentTokenCount" | "cached",
    }
}

impl Numbers {
    /// Returns the report, if it is one: providers that report nothing leave the numbers out.
    pub(super) fn usage(self, request: Key, model: Option<Box<str>>) -> Option<Usage> {
        let prompt = self.prompt_token_count.0.filter(|prompt| *prompt > 0)?;
        let cached = self.cached_content_token_count.or_zero().min(prompt);
        let reasoning = self.thoughts_token_count.0;
        let output = self.output(prompt);
        let billed = BilledUsage::new(prompt, output.unwrap_or(0))
            .with_cache(cached, 0)
            .with_reasoning(reasoning.unwrap_or(0));
        Some(Usage {
            model,
            output,
            reasoning: output.and(reasoning),
            source: if self.is_split() {
                Source::Agent
            } else {
                Source::Reported
            },
            ..Usage::billed(request, prompt, billed)
        })
    }

    /// Returns true if the provider reported only the total: Qwen Code then takes 0.7 of it for the prompt and 0.3 for
    /// the output.
    fn is_split(self) -> bool {
        let total = self.total_token_count.or_zero() as f64;
        let is = |count: Count, share: f64| count.or_zero() as f64 == (total * share).round();
        total > 0.0 && is(self.prompt_token_count, 0.7) && is(self.candidates_token_count, 0.3)
    }

    /// Returns the output with the thoughts. Whether the candidates hold them differs by provider; the total always
    /// does.
    fn output(self, prompt: u64) -> Option<u64> {
        let candidates = self.candidates_token_count.0;
        let total = self
            .total_token_count
            .0
            .and_then(|total| total.checked_sub(prompt));
        match (candidates, total) {
            (Some(candidates), Some(total)) => Some(total.max(candidates)),
            (Some(candidates), None) => Some(candidates),
            (None, total) => total.filter(|total| *total > 0),
        }
    }
}
