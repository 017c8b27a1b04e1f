//! Determines the time for which providers promise to keep a prompt in their caches.

use super::Rules;
use super::pattern::ModelId;
use serde::{Deserialize, Serialize};

/// The time for which the prompts of the models whose ids match are kept, counted from the start of the newest request
/// that had them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheRow {
    /// Patterns of exact model ids; `*` matches any text.
    pub ids: Vec<String>,
    /// They are kept for this long, in seconds.
    pub seconds: u32,
    /// They are gone after this long, in seconds; none: after `seconds`. In between, nobody but the provider can say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
    /// The source of these numbers; optional in the user's own table.
    #[serde(default)]
    pub source: String,
}

/// How often prompts that were predicted to be in a cache were not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheMisses {
    /// The number of prompts that were predicted to be in the cache.
    pub predicted: u32,
    /// The number of those that were not.
    pub lost: u32,
}

impl CacheRow {
    /// Returns the longest time for which prompts are kept, in seconds.
    pub fn most(&self) -> u32 {
        self.most.unwrap_or(0).max(self.seconds)
    }
}

impl Rules {
    /// Returns the time for which the prompts of a model are kept; `None`: its provider promises nothing that is known.
    pub fn cache_of(&self, model: &str) -> Option<&CacheRow> {
        let model = ModelId::new(model);
        let mut rows = self.cache.iter();
        rows.find(|row| row.ids.iter().any(|pattern| model.matches(pattern)))
    }
}
