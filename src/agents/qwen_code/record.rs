//! What Qwen Code's records hold, as far as it is of use.

use crate::agents::genai::Parts;
use crate::agents::lenient::{Count, Piece, Pieces, Text};
use crate::model::Source;
use crate::model::event::{Billed, Key, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) uuid: Text<'a>,
    #[serde(borrow)]
    pub(super) parent_uuid: Text<'a>,
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) subtype: Text<'a>,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(borrow)]
    pub(super) version: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Option<Content<'a>>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    pub(super) usage_metadata: Option<Numbers>,
    pub(super) context_window_size: Count,
    /// Read only where its subtype is of use: it can be large.
    #[serde(borrow)]
    pub(super) system_payload: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) agent_name: Text<'a>,
    pub(super) is_sidechain: Option<bool>,
    #[serde(borrow)]
    pub(super) external_input_kind: Text<'a>,
}

/// What one side says.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) parts: Pieces<'a, Parts<'a>>,
}

/// What stands beside a system record.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Payload<'a> {
    pub(super) info: Option<Sizes>,
    #[serde(borrow)]
    pub(super) compressed_history: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) history: Pieces<'a, Content<'a>>,
    #[serde(borrow)]
    pub(super) custom_title: Text<'a>,
    #[serde(borrow)]
    pub(super) parent_session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) model_id: Text<'a>,
    #[serde(borrow)]
    pub(super) phase: Text<'a>,
    #[serde(borrow)]
    pub(super) raw_command: Text<'a>,
    pub(super) sent_to_model: Option<bool>,
}

impl Payload<'_> {
    /// Whether it holds the history after a compression.
    pub(super) fn has_history(&self) -> bool {
        let contents = &self.compressed_history.0;
        contents.iter().any(|piece| matches!(piece, Piece::Part(_)))
    }
}

/// The sizes before and after a compression, the second one estimated.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Sizes {
    pub(super) original_token_count: Count,
    pub(super) new_token_count: Count,
}

/// The numbers of a response, by the names of the GenAI interface or by those of the first builds that
/// kept such records.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Numbers {
    #[serde(alias = "input")]
    prompt_token_count: Count,
    #[serde(alias = "output")]
    candidates_token_count: Count,
    #[serde(alias = "thoughts")]
    thoughts_token_count: Count,
    #[serde(alias = "total")]
    total_token_count: Count,
    #[serde(alias = "cached")]
    cached_content_token_count: Count,
}

impl Numbers {
    /// The report, if it is one: providers that report nothing leave the numbers out.
    pub(super) fn usage(self, request: Key, model: Option<Box<str>>) -> Option<Usage> {
        let prompt = self.prompt_token_count.0.filter(|prompt| *prompt > 0)?;
        let cached = self.cached_content_token_count.or_zero().min(prompt);
        let reasoning = self.thoughts_token_count.0;
        let output = self.output(prompt);
        Some(Usage {
            request,
            model,
            prompt,
            cached,
            output,
            reasoning: output.and(reasoning),
            source: match self.is_split() {
                true => Source::Agent,
                false => Source::Reported,
            },
            billed: Billed {
                input: prompt,
                cache_creation: 0,
                cache_read: cached,
                output: output.unwrap_or(0),
                reasoning: reasoning.unwrap_or(0),
            },
        })
    }

    /// Whether the provider told the total alone: Qwen Code then takes 0.7 of it for the prompt and 0.3
    /// for the output.
    fn is_split(self) -> bool {
        let total = self.total_token_count.or_zero() as f64;
        let is = |count: Count, share: f64| count.or_zero() as f64 == (total * share).round();
        total > 0.0 && is(self.prompt_token_count, 0.7) && is(self.candidates_token_count, 0.3)
    }

    /// The output with the thoughts. Whether the candidates hold them differs by provider; the total
    /// always does.
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
