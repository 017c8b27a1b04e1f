//! The entries as they are written.

use decode::lenient::{Count, Dollars, Field, FieldPlace, Pieces, Raw, Text, record};
use decode::openai::Tool;
use json::each_field;
use model::event::BilledUsage;

record! {
    pub(super) struct Record<'a> {
        pub(super) kind: Text<'a> = "type",
        pub(super) id: Text<'a>,
        pub(super) parent_id: Text<'a> = "parentId",
        pub(super) timestamp: Text<'a>,
        pub(super) message: Option<Message<'a>>,
        /// The numbers of a request outside the conversation, its purpose and its model.
        pub(super) usage: Option<Numbers>,
        pub(super) usage_kind: Text<'a> = "kind",
        pub(super) model: Text<'a>,
        pub(super) content: Pieces<Block<'a>>,
        pub(super) summary: Text<'a>,
        pub(super) tokens_before: Count = "tokensBefore",
        pub(super) first_kept_entry_id: Text<'a> = "firstKeptEntryId",
        pub(super) first_kept_entry_index: Count = "firstKeptEntryIndex",
        pub(super) cwd: Text<'a>,
        pub(super) model_id: Text<'a> = "modelId",
        pub(super) provider: Text<'a>,
        pub(super) name: Text<'a>,
        /// In a compaction: the system prompt and the tools from then on.
        pub(super) system_message: Option<Message<'a>> = "systemMessage",
        pub(super) target_id: Text<'a> = "targetId",
        pub(super) replacement: Option<Replacement<'a>>,
    }

    /// The content that an edited entry holds instead.
    pub(super) struct Replacement<'a> {
        pub(super) content: Pieces<Block<'a>>,
    }

    pub(super) struct Message<'a> {
        pub(super) role: Text<'a>,
        pub(super) content: Pieces<Block<'a>>,
        pub(super) provider: Text<'a>,
        pub(super) model: Text<'a>,
        pub(super) usage: Option<Numbers>,
        pub(super) stop_reason: Text<'a> = "stopReason",
        pub(super) tool_call_id: Text<'a> = "toolCallId",
        pub(super) tool_name: Text<'a> = "toolName",
        pub(super) command: Text<'a>,
        pub(super) output: Text<'a>,
        pub(super) exclude_from_context: Option<bool> = "excludeFromContext",
        /// Parts of the system prompt by name; null: no longer.
        pub(super) sections: Sections<'a>,
        pub(super) tools_added: Vec<Tool<'a>> = "toolsAdded",
        pub(super) tools_removed: Vec<Tool<'a>> = "toolsRemoved",
    }

    pub(super) struct Block<'a> {
        pub(super) kind: Text<'a> = "type",
        pub(super) text: Text<'a>,
        pub(super) data: Text<'a>,
        pub(super) thinking: Text<'a>,
        pub(super) thinking_signature: Text<'a> = "thinkingSignature",
        pub(super) id: Text<'a>,
        pub(super) name: Text<'a>,
        pub(super) arguments: Option<Raw<'a>>,
    }

    #[derive(Copy)]
    mended [input + cache_read + cache_write => output, .total(total).counts_without_prompt()]
    whole pub(super) struct Numbers {
        pub(super) input: Count,
        pub(super) output: Count,
        pub(super) cache_read: Count = "cacheRead",
        pub(super) cache_write: Count = "cacheWrite",
        pub(super) reasoning: Count,
        total: Count = "totalTokens",
        pub(super) cost: Dollars = "cost" / "total",
    }
}

/// Texts by name, in the order in which they are written; `None`: null.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sections<'a>(pub(super) Vec<(Box<str>, Option<Text<'a>>)>);

impl<'a> Field<'a> for Sections<'a> {
    fn read(value: Raw<'a>, at: FieldPlace<'_>) -> Option<Sections<'a>> {
        let mut sections = Vec::new();
        let mut add = |name: &str, value: Raw<'a>| match value.get() {
            "null" => sections.push((name.into(), None)),
            // A section that cannot be read is left unchanged.
            _ => sections.extend(at.read(value).map(|text| (name.into(), Some(text)))),
        };
        each_field(value.get(), &mut add).ok()?;
        Some(Sections(sections))
    }
}

impl Numbers {
    pub(super) fn billed(self) -> BilledUsage {
        BilledUsage::new(self.input.or_zero(), self.output.or_zero())
            .with_cache(self.cache_read.or_zero(), self.cache_write.or_zero())
            .with_reasoning(self.reasoning.or_zero())
    }
}
