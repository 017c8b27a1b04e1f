//! The prices of tokens that a model reads from its provider's cache.

use super::{Rules, matches_model};
use serde::{Deserialize, Serialize};

/// The price of the models whose ids match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Row")]
pub struct PriceRow {
    /// Patterns of exact model ids; `*` matches any text.
    pub ids: Vec<String>,
    /// US dollars for a million tokens read from the cache, by the provider's list.
    pub cached_read: f64,
    /// A prompt of more tokens than `above` pays `cached_read_above`; none: all pay alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<u64>,
    /// The price of such prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_read_above: Option<f64>,
    /// The source of these numbers, with its date.
    pub source: String,
}

impl Rules {
    /// US dollars for a million tokens that a model reads from its cache with a prompt of `prompt`
    /// tokens, by the provider's list; `None`: not known. Subscriptions are not considered.
    pub fn cached_read_price(&self, model: &str, prompt: u64) -> Option<f64> {
        let row = self.price_of(model)?;
        Some(row.cached_read(prompt))
    }

    /// The price row of a model.
    pub fn price_of(&self, model: &str) -> Option<&PriceRow> {
        let mut rows = self.price.iter();
        rows.find(|row| row.ids.iter().any(|pattern| matches_model(pattern, model)))
    }
}

impl PriceRow {
    /// US dollars for a million tokens read from the cache, in a prompt of `prompt` tokens.
    pub fn cached_read(&self, prompt: u64) -> f64 {
        let dearer = self
            .cached_read_above
            .filter(|_| self.above.is_some_and(|above| prompt > above));
        dearer.unwrap_or(self.cached_read)
    }
}

/// A row of the table in the file.
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
            above: row.above,
            cached_read_above: row.cached_read_above,
            source: row.source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in() -> Rules {
        toml::from_str(assets::MODELS).unwrap()
    }

    #[test]
    fn models_with_similar_names_have_prices_of_their_own() {
        let rules = built_in();
        let of = |model, prompt| rules.cached_read_price(model, prompt);
        assert_eq!(of("claude-opus-4-5-20251101", 1), Some(0.5));
        assert_eq!(of("claude-opus-4-8[1m]", 900_000), Some(0.5));
        assert_eq!(of("claude-opus-4-1-20250805", 1), Some(1.5));
        assert_eq!(of("claude-opus-4-20250514", 1), Some(1.5));
        assert_eq!(of("claude-opus-5", 1), Some(0.5));
        assert_eq!(of("claude-opus-5-5", 1), Some(0.2));
        assert_eq!(of("claude-sonnet-4-6", 1), Some(0.3));
        assert_eq!(of("gpt-5-codex", 1), Some(0.125));
        assert_eq!(of("gpt-5.4-mini", 300_000), Some(0.075));
    }

    #[test]
    fn long_prompts_may_cost_more() {
        let rules = built_in();
        let of = |prompt| rules.cached_read_price("gemini-2.5-pro", prompt);
        assert_eq!((of(200_000), of(200_001)), (Some(0.125), Some(0.25)));
    }

    #[test]
    fn an_unknown_model_has_no_price() {
        let rules = built_in();
        for model in [
            "claude-opus-9",
            "gpt-5.3-codex-spark",
            "gpt-5.6-mars",
            "qwen3-max",
            "",
        ] {
            assert_eq!(rules.cached_read_price(model, 1), None, "{model}");
        }
    }

    #[test]
    fn every_price_names_its_source_and_the_year() {
        for row in built_in().price {
            assert!(!row.ids.is_empty(), "{row:?}");
            let (publisher, rest) = row.source.split_once(", ").unwrap();
            assert!(publisher.chars().any(char::is_alphabetic), "{row:?}");
            let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
            let is_year = |n: &str| n.parse().is_ok_and(|n: u32| (2024..2100).contains(&n));
            assert!(numbers.any(is_year), "{row:?}");
        }
    }

    #[test]
    fn a_custom_row_precedes_the_table_and_is_checked() {
        let own: Rules =
            toml::from_str("[[price]]\nids = [\"gpt-5.5\"]\ncached_read = 0.1").unwrap();
        let rules = built_in().with_custom(own).unwrap();
        assert_eq!(rules.cached_read_price("gpt-5.5", 1), Some(0.1));
        for row in [
            "cached_read = -1.0",
            "cached_read = nan",
            "cached_read = 1.0\nabove = 5",
        ] {
            let row = format!("[[price]]\nids = [\"a\"]\n{row}");
            assert!(toml::from_str::<Rules>(&row).is_err(), "{row}");
        }
    }
}
