//! The lines of a rollout as they are written.

use decode::bodies::Object;
use decode::lenient::{Count, Field, FieldPlace, Pieces, Raw, Text, Window, WithRaw, record};
use jiff::Timestamp;
use model::event::PlanLimit;
use std::borrow::Cow;

record! {
    /// A line. Files from before September 2025 have no payload: the line itself is the item.
    pub(super) struct Line<'a> {
        pub timestamp: Text<'a>,
        pub kind: Text<'a> = "type",
        pub payload: Option<Object<'a>>,
        pub ordinal: Ordinal,
        pub record_type: Text<'a>,
        pub id: Text<'a>,
        pub metadata: ItemMetadata<'a>,
    }

    /// A line of type `event_msg`.
    pub(super) struct EventLine<'a> {
        pub timestamp: Text<'a>,
        pub ordinal: Ordinal,
        pub payload: Option<EventMsg<'a>>,
    }

    /// A line of type `response_item`.
    pub(super) struct ItemLine<'a> {
        pub timestamp: Text<'a>,
        pub ordinal: Ordinal,
        pub payload: Option<WithRaw<'a, Item<'a>>>,
        pub metadata: ItemMetadata<'a>,
    }

    /// The notes of the harness beside an item.
    pub(super) struct ItemMetadata<'a> {
        /// The tokens to which the item was cut, if they are not the usual ones.
        pub fallback_token_limit_override: Count,
        /// The summary that a compaction asked for: no item of the history.
        pub compaction_output: bool,
        /// On an assistant's message: one that a tool delivered, noted for the record.
        pub delivered_assistant_message: Text<'a>,
    }

    /// A `session_meta` payload.
    pub(super) struct SessionMeta<'a> {
        pub id: Text<'a>,
        pub cwd: Text<'a>,
        pub cli_version: Text<'a>,
        pub model_provider: Text<'a>,
        pub parent_thread_id: Text<'a>,
        pub agent_nickname: Text<'a>,
        pub agent_role: Text<'a>,
        pub source: Pieces<Origin<'a>>,
        pub base_instructions: Text<'a> = "base_instructions" / "text",
        pub dynamic_tools: Option<Raw<'a>>,
        pub subagent_history_start_ordinal: Ordinal,
        pub history_base: Option<HistoryBase<'a>>,
        pub service_tier: Text<'a>,
    }

    /// The rollout that this one continues.
    pub(super) struct HistoryBase<'a> {
        pub thread_id: Text<'a>,
        pub end_ordinal_exclusive: Ordinal,
        pub end_byte_offset: Count,
    }

    /// The origin of a session, where it is more than a word.
    pub(super) struct Origin<'a> {
        pub subagent: Pieces<Subagent<'a>>,
    }

    pub(super) struct Subagent<'a> {
        pub thread_spawn: Spawn<'a>,
        pub other: Text<'a> = "other" | "text",
    }

    pub(super) struct Spawn<'a> {
        pub parent_thread_id: Text<'a>,
        pub agent_nickname: Text<'a>,
        pub agent_role: Text<'a> = "agent_role" | "agent_type",
    }

    /// A `turn_context` payload, and the settings of a `thread_settings_applied`.
    pub(super) struct TurnContext<'a> {
        pub turn_id: Text<'a>,
        pub service_tier: Text<'a>,
        pub model: Text<'a>,
        pub model_provider_id: Text<'a>,
        pub cwd: Text<'a>,
        /// Another one than that of the turn before has the history compacted.
        pub comp_hash: Text<'a>,
    }

    /// An `event_msg` payload.
    pub(super) struct EventMsg<'a> {
        pub kind: Text<'a> = "type",
        pub info: Option<TokenInfo>,
        pub model_context_window: Window,
        pub num_turns: Count,
        pub turn_id: Text<'a>,
        /// The time at which a turn began.
        pub started_at: TurnStart,
        pub service_tier: Text<'a>,
        pub thread_name: Text<'a>,
        pub thread_settings: TurnContext<'a>,
        pub rate_limits: RateLimits<'a>,
    }

    /// The limits of the user's plan.
    pub(super) struct RateLimits<'a> {
        /// Other ids are of limits beside the plan.
        limit_id: Text<'a>,
        primary: RateLimit,
        secondary: RateLimit,
    }

    struct RateLimit {
        used_percent: Option<f64>,
        window_minutes: Count,
        /// Seconds since 1970.
        resets_at: Count,
    }

    pub(super) struct TokenInfo {
        pub total_token_usage: Option<TokenUsage>,
        pub last_token_usage: Option<TokenUsage>,
        pub model_context_window: Window,
    }

    /// A `token_usage_record` payload.
    pub(super) struct UsageRecord<'a> {
        pub thread_id: Text<'a>,
        pub response_id: Text<'a>,
        pub usage: Option<TokenUsage>,
        pub service_tier: Text<'a>,
    }

    /// Tokens as Codex counts them: input includes what was read from a cache and written to it, output the reasoning.
    #[derive(Copy, PartialEq, Eq)]
    mended [input => output, .total(total)] whole pub(super) struct TokenUsage {
        pub input: Count = "input_tokens",
        pub cached: Count = "cached_input_tokens",
        pub cache_write: Count = "cache_write_input_tokens",
        pub output: Count = "output_tokens",
        pub reasoning: Count = "reasoning_output_tokens",
        pub total: Count = "total_tokens",
    }

    /// A `compacted` payload.
    pub(super) struct CompactedPayload<'a> {
        pub message: Text<'a>,
        pub replacement_history: Option<Vec<Item<'a>>>,
        pub settings_before: TurnSettings<'a> = "resume_metadata" / "previous_turn_settings",
    }

    pub(super) struct TurnSettings<'a> {
        pub model: Text<'a>,
        pub comp_hash: Text<'a>,
    }

    /// A piece of history: a `response_item` payload, an element of `replacement_history`, a message
    /// between agents, or a whole line of an old file.
    pub(super) struct Item<'a> {
        pub kind: Text<'a> = "type",
        pub id: Text<'a>,
        pub role: Text<'a>,
        pub content: Pieces<ContentPart<'a>>,
        pub summary: Pieces<ContentPart<'a>>,
        pub encrypted_content: Text<'a>,
        pub call_id: Text<'a>,
        pub name: Text<'a>,
        pub namespace: Text<'a>,
        pub arguments: Option<Raw<'a>>,
        pub input: Option<Raw<'a>>,
        pub action: Option<Raw<'a>>,
        pub output: Pieces<ContentPart<'a>>,
        pub tools: Option<Raw<'a>>,
        pub revised_prompt: Text<'a>,
        pub result: Text<'a>,
        pub author: Text<'a>,
        pub recipient: Text<'a>,
        /// The author of each part of the content.
        pub part_kinds: Vec<Text<'a>> = "internal_chat_message_metadata_passthrough" / "content_item_kinds",
    }

    /// One part of a message's content or of a tool's output.
    pub(super) struct ContentPart<'a> {
        pub kind: Text<'a> = "type",
        pub text: Text<'a>,
        pub content: Text<'a>,
        pub image_url: Text<'a>,
        /// An uploaded file, in place of the image.
        pub file_id: Text<'a>,
        pub detail: Text<'a>,
        pub encrypted_content: Text<'a>,
    }
}

impl Item<'_> {
    /// Returns true if another agent wrote it.
    pub fn is_agents(&self) -> bool {
        matches!(
            self.kind.or_empty(),
            "agent_message" | "inter_agent_communication"
        )
    }

    /// Returns true if it is a summary that only the model can read.
    pub fn is_summary(&self) -> bool {
        matches!(
            self.kind.or_empty(),
            "compaction" | "compaction_summary" | "context_compaction"
        )
    }

    /// Returns the author of a part of the content, as the log names it; `None`: not named.
    pub fn part_kind(&self, nth: usize) -> Option<&str> {
        let kinds = &self.part_kinds;
        let is_complete = kinds.len() == self.content.0.len();
        kinds.get(nth).filter(|_| is_complete)?.get()
    }
}

impl ContentPart<'_> {
    /// Returns true if it has any content: an image may be named without being in the log.
    pub fn has_content(&self) -> bool {
        let texts = [&self.text, &self.image_url, &self.encrypted_content];
        texts.into_iter().any(|text| text.get().is_some()) || self.is_image_file()
    }

    /// Returns true if it is an image.
    pub fn is_image(&self) -> bool {
        self.image_url.get().is_some() || self.is_image_file()
    }

    /// Returns true if it is an image of which the log holds only a file's name.
    pub fn is_image_file(&self) -> bool {
        self.kind.get() == Some("input_image") && self.file_id.get().is_some()
    }
}

impl TokenUsage {
    /// Returns its numbers as bytes, for a key.
    pub fn bytes(self) -> [[u8; 8]; 6] {
        // A missing number is another one than 0.
        let bytes = |count: Option<u64>| count.unwrap_or(u64::MAX).to_le_bytes();
        self.numbers().map(bytes)
    }

    fn numbers(self) -> [Option<u64>; 6] {
        let of_input = [self.input, self.cached, self.cache_write];
        let [input, cached, cache_write] = of_input.map(|count| count.0);
        let [output, reasoning] = [self.output.0, self.reasoning.0];
        [input, cached, cache_write, output, reasoning, self.total.0]
    }

    /// Returns both together; `None`: too large to be true.
    pub fn plus(self, other: TokenUsage) -> Option<TokenUsage> {
        let sum = |a: Count, b: Count| {
            let sum = a.or_zero() + b.or_zero();
            decode::lenient::is_plausible(sum).then_some(Count(Some(sum)))
        };
        Some(TokenUsage {
            input: sum(self.input, other.input)?,
            cached: sum(self.cached, other.cached)?,
            cache_write: sum(self.cache_write, other.cache_write)?,
            output: sum(self.output, other.output)?,
            reasoning: sum(self.reasoning, other.reasoning)?,
            total: sum(self.total, other.total)?,
        })
    }

    /// Returns the usage without the tokens that were written to a cache.
    pub fn without_writes(self) -> TokenUsage {
        TokenUsage {
            cache_write: Count(None),
            ..self
        }
    }

    /// Returns true if it has a prompt, and any tokens at all.
    pub fn is_some(&self) -> bool {
        self.input.0.is_some() && (self.input.or_zero() > 0 || self.output.or_zero() > 0)
    }

    /// Returns true if both may be of one call: no number that both have differs.
    pub fn agrees(&self, other: &TokenUsage) -> bool {
        let pairs = self.numbers().into_iter().zip(other.numbers());
        pairs.filter_map(|(a, b)| a.zip(b)).all(|(a, b)| a == b)
    }
}

/// The time at which a turn began, in seconds since 1970. Any other value is ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TurnStart(pub Option<Timestamp>);

impl Field<'_> for TurnStart {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<TurnStart> {
        let seconds: Option<i64> = value.get().parse().ok().filter(|seconds| *seconds > 0);
        let at = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        Some(TurnStart(at))
    }
}

impl RateLimits<'_> {
    /// Returns the limits of the plan.
    pub(super) fn of_plan(&self) -> Vec<PlanLimit> {
        if self.limit_id.get().is_some_and(|id| id != "codex") {
            return Vec::new();
        }
        let limits = [&self.primary, &self.secondary].into_iter();
        let limit = |limit: &RateLimit| {
            let minutes = limit.window_minutes.0?;
            let at = limit.resets_at.0.and_then(|at| i64::try_from(at).ok());
            let resets_at = at.and_then(|at| Timestamp::from_second(at).ok());
            PlanLimit::new(minutes, limit.used_percent?, resets_at)
        };
        limits.filter_map(limit).collect()
    }
}

/// The number of a line. Some builds write it as a string.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ordinal(pub Option<u64>);

impl Field<'_> for Ordinal {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<Ordinal> {
        let digits = value.get().trim_matches('"');
        let number = digits.parse().ok();
        number.map(|number| Ordinal(Some(number)))
    }
}

/// Returns a value that is a string as that string, any other as its JSON; empty where there is none.
pub(super) fn string_or_json(value: Option<Raw<'_>>) -> Cow<'_, str> {
    let json = value.map_or("", Raw::get);
    json::string(json).unwrap_or(Cow::Borrowed(json))
}
