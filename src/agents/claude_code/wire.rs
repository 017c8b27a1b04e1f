//! The records as they are written.

use crate::agents::lenient::Count;
use crate::model::event::Billed;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The envelope of a record. What is not named here (`toolUseResult` above all) is skipped, not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) parent_uuid: Option<Cow<'a, str>>,
    pub(super) timestamp: Option<&'a RawValue>,
    pub(super) is_sidechain: Option<bool>,
    #[serde(borrow)]
    pub(super) agent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) version: Option<Cow<'a, str>>,
    pub(super) is_meta: Option<bool>,
    pub(super) is_compact_summary: Option<bool>,
    pub(super) is_visible_in_transcript_only: Option<bool>,
    pub(super) is_virtual: Option<bool>,
    #[serde(rename = "sourceToolUseID")]
    pub(super) source_tool_use_id: Option<&'a RawValue>,
    pub(super) origin: Option<&'a RawValue>,
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) request_id: Option<Cow<'a, str>>,
    pub(super) is_api_error_message: Option<bool>,
    pub(super) attachment: Option<&'a RawValue>,
    pub(super) rendered: Option<&'a RawValue>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) compact_metadata: Option<&'a RawValue>,
    pub(super) microcompact_metadata: Option<&'a RawValue>,
    pub(super) snip_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) retracted_message_uuids: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow)]
    pub(super) leaf_uuid: Option<Cow<'a, str>>,
    pub(super) rewound: Option<bool>,
    #[serde(borrow)]
    pub(super) custom_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) ai_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) summary: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) stop_reason: Option<Cow<'a, str>>,
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(super) struct RawUsage {
    pub(super) input_tokens: Count,
    pub(super) cache_creation_input_tokens: Count,
    pub(super) cache_read_input_tokens: Count,
    pub(super) output_tokens: Count,
    pub(super) cache_creation: Option<CacheCreation>,
    pub(super) output_tokens_details: Option<OutputDetails>,
    pub(super) iterations: Option<Vec<Iteration>>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(super) struct CacheCreation {
    pub(super) ephemeral_5m_input_tokens: Count,
    pub(super) ephemeral_1h_input_tokens: Count,
}

#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(super) struct OutputDetails {
    pub(super) thinking_tokens: Count,
}

#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(super) struct Iteration {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) input_tokens: Count,
    pub(super) cache_creation_input_tokens: Count,
    pub(super) cache_read_input_tokens: Count,
    pub(super) output_tokens: Count,
}

impl RawUsage {
    /// Tokens written to a cache. Some builds left the flat number 0 and filled only the parts.
    pub(super) fn cache_creation(&self) -> u64 {
        let parts = self.cache_creation.as_ref().map_or(0, |c| {
            c.ephemeral_5m_input_tokens.or_zero() + c.ephemeral_1h_input_tokens.or_zero()
        });
        self.cache_creation_input_tokens.or_zero().max(parts)
    }

    pub(super) fn billed(&self) -> Billed {
        Billed {
            input: self.input_tokens.or_zero(),
            cache_creation: self.cache_creation(),
            cache_read: self.cache_read_input_tokens.or_zero(),
            output: self.output_tokens.or_zero(),
            reasoning: self.thinking().unwrap_or(0),
        }
    }

    pub(super) fn thinking(&self) -> Option<u64> {
        let details = self.output_tokens_details.as_ref()?;
        details.thinking_tokens.0
    }

    /// Prompt, the cached part of it, and output of the context itself: of the last iteration of type
    /// `message` where there are several, since the top level is then their sum.
    pub(super) fn context(&self) -> (u64, u64, u64) {
        let top = (
            self.input_tokens.or_zero()
                + self.cache_creation()
                + self.cache_read_input_tokens.or_zero(),
            self.cache_read_input_tokens.or_zero(),
            self.output_tokens.or_zero(),
        );
        let iterations = self.iterations.as_deref().unwrap_or_default();
        if iterations.len() < 2 {
            return top;
        }
        let last = iterations
            .iter()
            .rfind(|i| i.kind.as_deref() == Some("message"));
        last.map_or(top, |i| {
            let input = i.input_tokens.or_zero() + i.cache_creation_input_tokens.or_zero();
            let cached = i.cache_read_input_tokens.or_zero();
            (input + cached, cached, i.output_tokens.or_zero())
        })
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CompactMetadata {
    pub(super) trigger: Option<String>,
    pub(super) pre_tokens: Count,
    pub(super) post_tokens: Count,
    pub(super) preserved_segment: Option<Segment>,
    pub(super) preserved_messages: Option<Preserved>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Segment {
    pub(super) head_uuid: Option<String>,
    pub(super) tail_uuid: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Preserved {
    pub(super) uuids: Option<Vec<String>>,
    pub(super) all_uuids: Option<Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Microcompact {
    #[serde(rename = "compactedToolIds")]
    pub(super) tool_ids: Vec<String>,
    #[serde(rename = "clearedAttachmentUUIDs")]
    pub(super) attachments: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Snip {
    pub(super) removed_uuids: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
}
