//! The prices of tokens, by the providers' lists.

use super::pattern::ModelId;
use super::{ModelAt, Rules};
use crate::event::{Surcharge, Surcharges};
use crate::values::token_usage::TokenUsage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The seconds for which writing to a cache has a price of its own.
const HOUR: u32 = 3_600;

/// The prices of the models whose ids match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Row")]
pub struct PriceRow {
    /// Patterns of exact model ids; `*` matches any text.
    pub ids: Vec<String>,
    /// The prices of usual prompts.
    #[serde(flatten)]
    pub usual: Prices,
    /// A prompt of more tokens than this pays the prices of `long`; none: all pay alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<u64>,
    /// The prices of such prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long: Option<Prices>,
    /// The prices of prompts that are longer still.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub longer: Vec<LongPrices>,
    /// By what each surcharge multiplies all of them; a discount is less than 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub surcharges: BTreeMap<Surcharge, f64>,
    /// The source of these numbers, with its date.
    pub source: String,
}

/// The prices of prompts of more than so many tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LongPrices {
    /// The tokens.
    pub above: u64,
    /// The prices.
    #[serde(flatten)]
    pub prices: Prices,
}

/// US dollars for a million tokens, without surcharges and discounts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Input that is read from the cache.
    pub cached_read: f64,
    /// Input that no cache has; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<f64>,
    /// Input that is written to the cache; `None`: as other input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Input that is written to the cache and kept for an hour; `None`: as input that is kept for less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<f64>,
    /// Output; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<f64>,
}

impl Rules {
    /// Returns the price row of a model, by the provider's list; `None`: not known. Subscriptions are not considered.
    pub fn price_of<'a>(&self, of: impl Into<ModelAt<'a>>) -> Option<&PriceRow> {
        let of = of.into();
        let model = ModelId::new(of.model);
        let mut rows = self.price.iter();
        let row = rows.find(|row| row.ids.iter().any(|pattern| model.matches(pattern)));
        row.or_else(|| self.catalogue.price(of))
    }
}

impl PriceRow {
    /// Returns the prices of a prompt of this many tokens.
    pub fn prices(&self, prompt: u64) -> Prices {
        if self.above.is_none_or(|above| prompt <= above) {
            return self.usual;
        }
        let fitting = self.steps().take_while(|step| prompt > step.above);
        fitting.last().map_or(self.usual, |step| step.prices)
    }

    /// Returns the prices of long prompts, in order.
    pub fn steps(&self) -> impl Iterator<Item = LongPrices> {
        let first = self.above.zip(self.long);
        let first = first.map(|(above, prices)| LongPrices { above, prices });
        first.into_iter().chain(self.longer.iter().copied())
    }

    /// Returns true if nothing costs anything.
    pub(super) fn is_free(&self) -> bool {
        self.usual.input == Some(0.0) && self.usual.output.unwrap_or(0.0) == 0.0
    }

    /// Returns the factor by which these surcharges multiply a price, as far as it is known; `None`: without the
    /// unknown part, the price may be too high.
    fn factor(&self, surcharges: Surcharges) -> Option<f64> {
        if !self.lacking(surcharges).iter().all(Surcharge::is_more) {
            return None;
        }
        let known = surcharges.iter();
        Some(known.filter_map(|one| self.surcharges.get(&one)).product())
    }

    /// Returns those of some surcharges that the row has no factor for: its prices do not contain them.
    pub fn lacking(&self, surcharges: Surcharges) -> Surcharges {
        surcharges.filter(|one| !self.surcharges.contains_key(&one))
    }

    /// Returns US dollars for a million tokens read from the cache, in a prompt of `prompt` tokens; `None`: not known.
    pub fn cached_read(&self, prompt: u64, surcharges: Surcharges) -> Option<f64> {
        Some(self.prices(prompt).cached_read * self.factor(surcharges)?)
    }

    /// Returns US dollars for a prompt of which so many tokens are read from the cache and the others written to it, without
    /// surcharges; `None`: not known. Writing has another price where it is kept for an hour.
    pub fn prompt_usd(&self, prompt: u64, read: u64, kept_seconds: u32) -> Option<f64> {
        let written = prompt.saturating_sub(read);
        let mut spent = TokenUsage {
            cache_read: read.min(prompt),
            ..TokenUsage::default()
        };
        let prices = self.prices(prompt);
        match prices.cache_write {
            Some(_) => spent.cache_write = written,
            None => spent.input = written,
        }
        if kept_seconds == HOUR {
            spent.cache_write_hour = spent.cache_write;
        }
        prices.usd(&spent)
    }

    /// Returns US dollars for one request, without the surcharges that are [`lacking`](PriceRow::lacking); `None`: not
    /// known.
    pub fn usd(&self, spent: &TokenUsage, surcharges: Surcharges) -> Option<f64> {
        let factor = self.factor(surcharges)?;
        Some(self.prices(spent.prompt()).usd(spent)? * factor)
    }
}

impl Prices {
    /// Returns US dollars for one request, without surcharges; `None`: not known.
    fn usd(&self, spent: &TokenUsage) -> Option<f64> {
        let (input, output) = (self.input?, self.output?);
        let write = self.cache_write.unwrap_or(input);
        let hour = self.cache_write_hour.unwrap_or(write);
        let short = spent.cache_write.saturating_sub(spent.cache_write_hour);
        let parts = [
            (spent.input, input),
            (spent.cache_read, self.cached_read),
            (short, write),
            (spent.cache_write_hour, hour),
            (spent.output, output),
        ];
        let parts = parts
            .into_iter()
            .map(|(tokens, price)| tokens as f64 * price);
        Some(parts.sum::<f64>() / 1e6)
    }

    pub(super) fn are_likely(&self) -> bool {
        let others = [
            self.input,
            self.cache_write,
            self.cache_write_hour,
            self.output,
        ];
        let all = others.into_iter().flatten().chain([self.cached_read]);
        all.into_iter().all(|price| (0.0..1e6).contains(&price))
    }
}

/// The largest factor of a surcharge that is believed.
const LARGEST_FACTOR: f64 = 1_000.0;

/// A row of the table in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    ids: Vec<String>,
    cached_read: f64,
    input: Option<f64>,
    cache_write: Option<f64>,
    cache_write_hour: Option<f64>,
    output: Option<f64>,
    above: Option<u64>,
    /// The price of cached reads above `above` tokens: short for a `long` with this price alone.
    cached_read_above: Option<f64>,
    long: Option<Prices>,
    #[serde(default)]
    surcharges: BTreeMap<Surcharge, f64>,
    #[serde(default)]
    source: String,
}

impl TryFrom<Row> for PriceRow {
    type Error = &'static str;

    fn try_from(row: Row) -> Result<PriceRow, Self::Error> {
        let usual = Prices {
            cached_read: row.cached_read,
            input: row.input,
            cache_write: row.cache_write,
            cache_write_hour: row.cache_write_hour,
            output: row.output,
        };
        let long = row.long.or(row.cached_read_above.map(|price| Prices {
            cached_read: price,
            ..Prices::default()
        }));
        if !usual.are_likely() || !long.is_none_or(|long| long.are_likely()) {
            return Err("the prices of a [[price]] are dollars for a million tokens, 0 or more");
        }
        if row.above.is_some() != long.is_some() {
            return Err("a [[price]] has both `above` and `long`, or neither");
        }
        let mut factors = row.surcharges.values();
        if !factors.all(|factor| (0.0..=LARGEST_FACTOR).contains(factor)) {
            return Err("the surcharges of a [[price]] are factors from 0 to 1,000");
        }
        Ok(PriceRow {
            ids: row.ids,
            usual,
            above: row.above,
            long,
            longer: Vec::new(),
            surcharges: row.surcharges,
            source: row.source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in() -> Rules {
        let rules: Rules = toml::from_str(assets::MODELS).unwrap();
        rules.listing(assets::CATALOGUE)
    }

    fn cached_read(rules: &Rules, model: &str, prompt: u64) -> Option<f64> {
        let row = rules.price_of(model)?;
        row.cached_read(prompt, Surcharges::NONE)
    }

    #[test]
    fn models_with_similar_names_have_prices_of_their_own() {
        let rules = built_in();
        let of = |model, prompt| cached_read(&rules, model, prompt);
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
        let of = |prompt| cached_read(&rules, "gemini-2.5-pro", prompt);
        assert_eq!((of(200_000), of(200_001)), (Some(0.125), Some(0.25)));
    }

    #[test]
    fn a_request_costs_each_of_its_parts() {
        let rules = built_in();
        let spent = TokenUsage {
            input: 1_000,
            cache_read: 100_000,
            cache_write: 30_000,
            cache_write_hour: 20_000,
            output: 2_000,
        };
        let of = |model, spent| rules.price_of(model)?.usd(spent, Surcharges::NONE);
        // $5, $0.5, $6.25, $10 and $25 a million.
        let opus = 0.005 + 0.05 + 0.0625 + 0.2 + 0.05;
        assert!((of("claude-opus-4-8", &spent).unwrap() - opus).abs() < 1e-9);
        // Where a write has no price of its own it is input: $1.25, $0.125, $10.
        let codex = 31_000.0 * 1.25e-6 + 0.0125 + 0.02;
        assert!((of("gpt-5-codex", &spent).unwrap() - codex).abs() < 1e-9);
        let long = TokenUsage {
            cache_read: 300_000,
            ..spent
        };
        // Above 272,000: $5, $0.5 and $22.5.
        let gpt = 31_000.0 * 5e-6 + 0.15 + 0.045;
        assert!((of("gpt-5.4", &long).unwrap() - gpt).abs() < 1e-9);
        assert_eq!(of("unknown", &spent), None);
        let own = "[[price]]\nids = [\"own\"]\ncached_read = 0.1";
        let rules: Rules = toml::from_str(own).unwrap();
        let row = rules.price_of("own").unwrap();
        assert_eq!(row.usd(&spent, Surcharges::NONE), None);
    }

    #[test]
    fn a_surcharge_multiplies_the_price_or_is_lacking() {
        let spent = TokenUsage {
            input: 1_000_000,
            ..TokenUsage::default()
        };
        let row = "[[price]]\nids = [\"own\"]\ncached_read = 0.1\ninput = 3.0\noutput = 9.0\n\
            surcharges = { fast = 2.0, flex = 0.5 }";
        let rules: Rules = toml::from_str(row).unwrap();
        let row = rules.price_of("own").unwrap();
        let of = |names: &[&str]| {
            let all = names.iter().map(|name| Surcharges::of_tier(name));
            let all = all.fold(Surcharges::NONE, Surcharges::and);
            (row.usd(&spent, all), row.lacking(all).names())
        };
        assert_eq!(of(&[]), (Some(3.0), vec![]));
        assert_eq!(of(&["fast"]), (Some(6.0), vec![]));
        assert_eq!(of(&["fast", "flex"]), (Some(3.0), vec![]));
        // It costs this at least.
        assert_eq!(of(&["priority"]), (Some(3.0), vec!["priority"]));
        // It costs less, or it is not known whether it does.
        assert_eq!(of(&["batch"]), (None, vec!["batch"]));
        assert_eq!(of(&["new"]), (None, vec!["other_tier"]));
        let fast = Surcharges::of_tier("fast");
        assert_eq!(row.cached_read(1, fast), Some(0.2));
    }

    #[test]
    fn an_unknown_model_has_no_price() {
        let rules = built_in();
        for model in ["claude-opus-9", "gpt-5.6-mars", "our-own", ""] {
            assert_eq!(cached_read(&rules, model, 1), None, "{model}");
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
        assert_eq!(cached_read(&rules, "gpt-5.5", 1), Some(0.1));
        for row in [
            "cached_read = -1.0",
            "cached_read = nan",
            "cached_read = 1.0\nabove = 5",
            "cached_read = 1.0\nlong = { cached_read = 1.0 }",
            "cached_read = 1.0\noutput = -2.0",
            "cached_read = 1.0\nsurcharges = { fast = -2.0 }",
            "cached_read = 1.0\nsurcharges = { slow = 0.5 }",
            "cached_read = 1.0\nabove = 5\nlong = { cached_read = 1e9 }",
        ] {
            let row = format!("[[price]]\nids = [\"a\"]\n{row}");
            assert!(toml::from_str::<Rules>(&row).is_err(), "{row}");
        }
    }
}
