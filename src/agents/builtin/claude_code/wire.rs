//! The records as they are written.

use super::attachment::{Attachment, RenderedMessage, Strings};
use decode::anthropic::Content;
use decode::lenient::{Count, Dollars, Raw, Repair, Text, UsageParts, WithRaw, record};
use model::event::{BilledUsage, CacheMiss, Key, MissCause, RetainedItems, Surcharge, Surcharges};

record! {
    /// A line. Fields that are not named here, such as the long `toolUseResult`, are skipped unread.
    pub(super) struct Record<'a> {
        pub(super) kind: Text<'a> = "type",
        pub(super) uuid: Text<'a>,
        pub(super) parent_uuid: Text<'a> = "parentUuid",
        pub(super) timestamp: Text<'a>,
        pub(super) is_sidechain: Option<bool> = "isSidechain",
        pub(super) session_id: Text<'a> = "sessionId",
        pub(super) cwd: Text<'a>,
        pub(super) version: Text<'a>,
        pub(super) message: Message<'a>,
        pub(super) request_id: Text<'a> = "requestId",
        pub(super) subtype: Text<'a>,
        pub(super) agent_id: Text<'a> = "agentId",
        pub(super) is_meta: Option<bool> = "isMeta",
        pub(super) is_compact_summary: Option<bool> = "isCompactSummary",
        pub(super) is_visible_in_transcript_only: Option<bool> = "isVisibleInTranscriptOnly",
        pub(super) is_virtual: Option<bool> = "isVirtual",
        pub(super) is_display_only: Option<bool> = "isDisplayOnly",
        pub(super) is_api_error_message: Option<bool> = "isApiErrorMessage",
        pub(super) source_tool_use_id: Text<'a> = "sourceToolUseID",
        pub(super) origin: Text<'a> = "origin" / "kind",
        pub(super) attachment: Option<Attachment<'a>>,
        pub(super) rendered: Vec<RenderedMessage<'a>>,
        pub(super) content: Option<Raw<'a>>,
        pub(super) compact_metadata: CompactMetadata<'a> = "compactMetadata",
        pub(super) microcompact_metadata: Microcompact<'a> = "microcompactMetadata",
        pub(super) snipped: Vec<Text<'a>> = "snipMetadata" / "removedUuids",
        pub(super) retracted_message_uuids: Vec<Text<'a>> = "retractedMessageUuids",
        pub(super) id: Text<'a>,
        pub(super) hash: Text<'a>,
        pub(super) base: Text<'a>,
        pub(super) keep: Count,
        pub(super) tail: Vec<Text<'a>>,
        pub(super) shape_hash: Text<'a> = "shapeHash",
        pub(super) shape: Shape<'a>,
        pub(super) params: Params<'a>,
        pub(super) cache_control: Vec<CacheControl<'a>> = "cacheControl",
        pub(super) entrypoint: Text<'a>,
        /// `bg`: it runs in the background, without a terminal.
        pub(super) session_kind: Text<'a> = "sessionKind",
        pub(super) cut: Option<MessageDifference<'a>>,
        pub(super) withheld: Vec<Text<'a>>,
        pub(super) request_ref: Text<'a> = "requestRef",
        pub(super) leaf_uuid: Text<'a> = "leafUuid",
        pub(super) rewound: Option<bool>,
        pub(super) parent_session_id: Text<'a> = "parentSessionId",
        pub(super) parent_last_uuid: Text<'a> = "parentLastUuid",
        pub(super) custom_title: Text<'a> = "customTitle",
        pub(super) ai_title: Text<'a> = "aiTitle",
        pub(super) summary: Text<'a>,
        pub(super) data: Option<Raw<'a>>,
        pub(super) model_usage: Option<Raw<'a>> = "modelUsage",
        pub(super) total_cost: Dollars = "totalCostUSD",
    }

    /// A record of a sub-agent's progress in its parent's log.
    pub(super) struct Progress<'a> {
        pub(super) message: ProgressMessage<'a>,
    }

    pub(super) struct ProgressMessage<'a> {
        pub(super) message: Bill<'a>,
        pub(super) request_id: Text<'a> = "requestId",
        pub(super) uuid: Text<'a>,
    }

    /// A response without its content.
    pub(super) struct Bill<'a> {
        pub(super) id: Text<'a>,
        pub(super) model: Text<'a>,
        pub(super) usage: Option<ResponseUsage<'a>>,
    }

    /// The facts in the file beside a sub-agent's log.
    pub(super) struct AboutAgent<'a> {
        pub(super) description: Text<'a>,
        pub(super) agent_type: Text<'a> = "agentType",
        pub(super) parent: Text<'a> = "parentAgentId",
    }

    pub(super) struct Message<'a> {
        pub(super) id: Text<'a>,
        pub(super) model: Text<'a>,
        pub(super) role: Text<'a>,
        pub(super) content: WithRaw<'a, Content<'a>>,
        pub(super) stop_reason: Text<'a>,
        pub(super) usage: Option<ResponseUsage<'a>>,
        pub(super) context_management: ContextManagement<'a>,
        pub(super) miss: MissReport<'a> = "diagnostics" / "cache_miss_reason",
    }

    /// The provider's reason for which it had less of a prompt in its cache.
    pub(super) struct MissReport<'a> {
        kind: Text<'a> = "type",
        tokens: Count = "cache_missed_input_tokens",
    }

    /// The content that was left out of the prompt of a response.
    pub(super) struct ContextManagement<'a> {
        pub(super) applied_edits: Vec<Edit<'a>>,
        pub(super) client_sent_keep_tool_uses: Count,
        pub(super) client_cut_tool_uses: Count,
        pub(super) client_estimated_cleared_input_tokens: Count,
    }

    pub(super) struct Edit<'a> {
        kind: Text<'a> = "type",
        pub(super) cleared_tool_uses: Count,
        pub(super) cleared_input_tokens: Count,
    }

    /// The difference between the messages of a record and those of the request.
    pub(super) struct MessageDifference<'a> {
        kind: Text<'a>,
    }

    /// The parameters with which a request was made.
    pub(super) struct Params<'a> {
        model: Text<'a>,
        betas: Vec<Text<'a>>,
    }

    /// A place of a request up to which its prompt is kept in the cache.
    pub(super) struct CacheControl<'a> {
        ttl: Text<'a> = "value" / "ttl",
    }

    /// The part of a request before its messages.
    pub(super) struct Shape<'a> {
        pub(super) system: Strings<'a>,
        pub(super) tools: Vec<Raw<'a>>,
    }

    /// The usage of a response, or of one of its iterations.
    mended whole pub(super) struct ResponseUsage<'a> {
        kind: Text<'a> = "type",
        pub(super) model: Text<'a>,
        input_tokens: Count,
        cache_creation_input_tokens: Count,
        cache_read_input_tokens: Count,
        pub(super) output_tokens: Count,
        cache_creation: CacheCreation,
        pub(super) thinking_tokens: Count = "output_tokens_details" / "thinking_tokens",
        service_tier: Text<'a>,
        speed: Text<'a>,
        web_searches: Count = "server_tool_use" / "web_search_requests",
        iterations: Vec<ResponseUsage<'a>>,
    }

    struct CacheCreation {
        ephemeral_5m_input_tokens: Count,
        ephemeral_1h_input_tokens: Count,
    }

    pub(super) struct CompactMetadata<'a> {
        pub(super) trigger: Text<'a>,
        pub(super) pre_tokens: Count = "preTokens",
        /// True if the summary was made beforehand.
        pub(super) precomputed: Option<bool>,
        preserved_segment: Segment<'a> = "preservedSegment",
        preserved_messages: PreservedSegment<'a> = "preservedMessages",
    }

    struct Segment<'a> {
        head_uuid: Text<'a> = "headUuid",
        tail_uuid: Text<'a> = "tailUuid",
    }

    struct PreservedSegment<'a> {
        uuids: Option<Vec<Text<'a>>>,
        all_uuids: Option<Vec<Text<'a>>> = "allUuids",
    }

    pub(super) struct Microcompact<'a> {
        pub(super) tool_ids: Vec<Text<'a>> = "compactedToolIds",
        pub(super) attachments: Vec<Text<'a>> = "clearedAttachmentUUIDs",
    }
}

impl Repair for ResponseUsage<'_> {
    fn parts(&mut self) -> UsageParts<'_> {
        // Some builds fill only the parts.
        let needs: &[&str] = match self.cache_creation_input_tokens.or_zero() {
            0 => &[
                "cache_creation",
                "ephemeral_5m_input_tokens",
                "ephemeral_1h_input_tokens",
            ],
            _ => &[],
        };
        let prompt = vec![
            ("input_tokens", &mut self.input_tokens),
            (
                "cache_creation_input_tokens",
                &mut self.cache_creation_input_tokens,
            ),
            ("cache_read_input_tokens", &mut self.cache_read_input_tokens),
        ];
        UsageParts::new(prompt, ("output_tokens", &mut self.output_tokens))
            .needs(needs)
            .counts_without_prompt()
    }
}

impl MissReport<'_> {
    pub(super) fn reported(&self) -> Option<Box<CacheMiss>> {
        let cause = MissCause::named(self.kind.get()?);
        let tokens = self.tokens.0;
        Some(Box::new(CacheMiss { cause, tokens }))
    }
}

impl ResponseUsage<'_> {
    /// Returns the tokens written to a cache. Some builds left the flat number 0 and filled only the parts. A fork sets
    /// the flat numbers of what it copies to 0, and leaves the parts as they were.
    fn cache_creation(&self) -> u64 {
        let flat = [
            &self.input_tokens,
            &self.cache_read_input_tokens,
            &self.output_tokens,
        ];
        if flat.iter().all(|count| count.or_zero() == 0) {
            return self.cache_creation_input_tokens.or_zero();
        }
        let parts = self.cache_creation.ephemeral_5m_input_tokens.or_zero()
            + self.cache_creation.ephemeral_1h_input_tokens.or_zero();
        self.cache_creation_input_tokens.or_zero().max(parts)
    }

    pub(super) fn billed(&self) -> BilledUsage {
        BilledUsage::new(self.input_tokens.or_zero(), self.output_tokens.or_zero())
            .with_cache(
                self.cache_read_input_tokens.or_zero(),
                self.cache_creation(),
            )
            .with_hour(self.cache_creation.ephemeral_1h_input_tokens.or_zero())
            .with_reasoning(self.thinking_tokens.or_zero())
            .with_surcharges(self.surcharges())
    }

    fn surcharges(&self) -> Surcharges {
        let tier = Surcharges::of_tier(self.service_tier.or_empty());
        let speed = Surcharges::of_tier(self.speed.or_empty());
        let searches = match self.web_searches.or_zero() {
            0 => Surcharges::NONE,
            _ => Surcharge::WebSearch.into(),
        };
        tier.and(speed).and(searches)
    }

    /// Returns the iterations that are not in the sum at the top, with their positions.
    pub(super) fn billed_apart(&self) -> impl Iterator<Item = (usize, &ResponseUsage<'_>)> {
        let is_apart = |usage: &ResponseUsage<'_>| {
            matches!(usage.kind.get(), Some("advisor_message" | "compaction"))
        };
        let all = self.iterations.iter().enumerate();
        all.filter(move |(_, usage)| is_apart(usage))
    }

    /// Returns the numbers of the context itself: of the last iteration by the conversation's model where there are
    /// several, since the top level is then their sum.
    pub(super) fn context(&self) -> &ResponseUsage<'_> {
        let is_message = |usage: &&ResponseUsage<'_>| {
            matches!(usage.kind.get(), Some("message" | "fallback_message"))
        };
        match self.iterations.len() {
            0 | 1 => self,
            _ => self.iterations.iter().rfind(is_message).unwrap_or(self),
        }
    }
}

impl Record<'_> {
    /// Returns the minutes for which the provider keeps the prompt of a request in its cache; `None`: it does not keep
    /// it.
    pub(super) fn cache_minutes(&self) -> Option<u8> {
        let is_hour = |mark: &CacheControl<'_>| mark.ttl.get() == Some("1h");
        let minutes = |mark: &CacheControl<'_>| if is_hour(mark) { 60 } else { 5 };
        self.cache_control.iter().map(minutes).max()
    }

    /// Returns true if a user who may type is at the client, by the way it was started; `None`: the record does not
    /// say.
    pub(super) fn attended(&self) -> Option<bool> {
        if !matches!(self.session_kind.get(), None | Some("interactive")) {
            return Some(false);
        }
        let started = self.entrypoint.get()?;
        Some(ATTENDED.iter().any(|name| started.starts_with(name)))
    }
}

/// Names of the ways to start a client at which a user may type, or their beginnings (bundle of 2.1.332).
const ATTENDED: [&str; 9] = [
    "cli",
    "claude-vscode",
    "claude-desktop",
    "claude-in-slack",
    "claude-in-teams",
    "claude-coworker",
    "local-agent",
    "remote",
    "ssh-remote",
];

impl Params<'_> {
    /// Returns the model with the suffix by which it was chosen: a response names it without.
    pub(super) fn model(&self) -> Option<Box<str>> {
        Some(model_name(self.model.get()?, self.is_long()))
    }

    /// Returns true if the window is one of a million tokens.
    pub(super) fn is_long(&self) -> bool {
        let mut betas = self.betas.iter().filter_map(Text::get);
        betas.any(|beta| beta.starts_with("context-1m-"))
    }
}

/// The suffix of a model that is chosen with a window of a million tokens.
pub(super) const LONG: &str = "[1m]";

/// Returns a model's name with the suffix of a window of a million tokens, if it has one.
pub(super) fn model_name(model: &str, is_long: bool) -> Box<str> {
    if is_long && !model.ends_with(LONG) {
        [model, LONG].concat().into()
    } else {
        model.into()
    }
}

impl CompactMetadata<'_> {
    /// Returns the part of the context that the compaction keeps.
    pub(super) fn kept(&self) -> RetainedItems {
        let messages = &self.preserved_messages;
        if let Some(ids) = messages.all_uuids.as_ref().or(messages.uuids.as_ref()) {
            return RetainedItems::Nodes(keys(ids));
        }
        let last = self.preserved_segment.tail_uuid.key();
        match self.preserved_segment.head_uuid.key() {
            Some(first) => RetainedItems::Range { first, last },
            None => RetainedItems::Nothing,
        }
    }
}

/// Returns the keys of these ids.
pub(super) fn keys(ids: &[Text<'_>]) -> Vec<Key> {
    ids.iter().filter_map(Text::key).collect()
}
