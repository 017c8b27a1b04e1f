//! What tokens cost that a model reads from its provider's cache.

use super::{Rules, matches};
use serde::{Deserialize, Serialize};

/// The price of the models whose ids match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Row")]
pub struct PriceRow {
    /// Patterns of exact model ids; `*` stands for any text.
    pub ids: Vec<String>,
    /// US dollars for a million tokens read from the cache, by the provider's list.
    pub cached_read: f64,
    /// A prompt of more tokens than this pays `cached_read_above`.
    pub above: u64,
    /// The same price for such prompts.
    pub cached_read_above: f64,
    /// Where this is from, and of what day.
    pub source: String,
}

impl Rules {
    /// US dollars for a million tokens that a model reads from its cache with a prompt of `prompt`
    /// tokens, by the provider's list; `None`: not known. What a subscription costs is another matter.
    pub fn cached_read_price(&self, model: &str, prompt: u64) -> Option<f64> {
        let row = self.price_of(model)?;
        Some(row.cached_read(prompt))
    }

    /// The price row of a model.
    pub fn price_of(&self, model: &str) -> Option<&PriceRow> {
        let mut rows = self.price.iter();
        rows.find(|row| row.ids.iter().any(|pattern| matches(pattern, model)))
    }
}

impl PriceRow {
    /// US dollars for a million tokens of a prompt of so many that are read from the cache.
    pub fn cached_read(&self, prompt: u64) -> f64 {
        if prompt > self.above {
            self.cached_read_above
        } else {
            self.cached_read
        }
    }
}

/// A row as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    ids: Vec<String>,
    cached_read: f64,
    above: Option<u64>,
    cached_read_above: Option<f64>,
    #[serde(default)]
    source: String,
}

impl TryFrom<Row> for PriceRow {
    type Error = &'static str;

    fn try_from(row: Row) -> Result<PriceRow, Self::Error> {
        let dear = row.cached_read_above.unwrap_or(row.cached_read);
        if [row.cached_read, dear]
            .iter()
            .any(|price| !(0.0..1e6).contains(price))
        {
            return Err("the prices of a [[price]] are dollars for a million tokens, 0 or more");
        }
        if row.above.is_some() != row.cached_read_above.is_some() {
            return Err("a [[price]] has both `above` and `cached_read_above`, or neither");
        }
        Ok(PriceRow {
            ids: row.ids,
            cached_read: row.cached_read,
            above: row.above.unwrap_or(u64::MAX),
            cached_read_above: dear,
            source: row.source,
        })
    }
}
