//! The models table, or the part of it that concerns some models or agents.

mod document;

use crate::output::json::document;
use crate::output::json::part::part;
use crate::{Document, Output, Style};
use anyhow::{Result, bail};
use model::sizes::calibration::Tokenizer;
use model::window::catalogue::{Listed, ListedRow};
use model::window::{CacheRow, ModelRow, OtherTrigger, Policy, PriceRow, Rules, matches};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// The models table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Models<'a> {
    rules: &'a Rules,
    /// The rows of the generated table that are shown.
    listed: &'a [ListedRow<'a>],
}

part! { Body<'a>(all: &Models<'a>) {
    models: &'a [ModelRow] = &all.rules.model,
    policies: &'a [Policy] = &all.rules.policy,
    prices: &'a [PriceRow] = &all.rules.price,
    caches: &'a [CacheRow] = &all.rules.cache,
    triggers: &'a [OtherTrigger] = &all.rules.trigger,
    summary: u64 = all.rules.summary,
    replace_pictures: &'a [String] = &all.rules.replace_pictures,
    tokenizers: &'a BTreeMap<String, Tokenizer> = &all.rules.tokenizer,
    by_provider: Vec<ByProvider<'a>> = all
        .listed
        .iter()
        .map(|row| ByProvider::new(row, all.rules.catalogue.sources(row.marks)))
        .collect(),
}}

// A row of the generated table.
part! { ByProvider<'a>(row: &ListedRow<'a>, source: String) {
    provider: &'a str = row.provider,
    model: &'a str = row.model,
    #[serde(flatten)]
    limits: Option<Listed> = row.limits(),
    price: Option<PriceRow> = row.price(source.clone()),
    source: String = source,
}}

impl Output for Models<'_> {
    fn document(&self) -> Option<Document> {
        Some(document::document(self.rules, self.listed))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.models/1", Body::new(self))
    }
}

/// Prints the models table. With a pattern: the rows for models and agents that it names, and what these use.
///
/// # Errors
///
/// If no row fits the pattern, or `out` cannot be written to.
pub fn run(rules: &Rules, pattern: Option<&str>, style: Style, out: &mut dyn Write) -> Result<()> {
    let Some(pattern) = pattern else {
        let listed = &[];
        return style.print(&Models { rules, listed }, out);
    };
    let part = part(rules, pattern);
    let anywhere = format!("*{}*", pattern.trim_matches('*'));
    let is_named = |row: &ListedRow<'_>| row.provider == pattern || matches(&anywhere, row.model);
    let listed: Vec<ListedRow<'_>> = rules.catalogue.all().filter(is_named).collect();
    if listed.is_empty()
        && part.model.is_empty()
        && part.policy.is_empty()
        && part.price.is_empty()
        && part.tokenizer.is_empty()
    {
        bail!("nothing in the models table fits '{pattern}'; `ctxgauge models` lists all of it");
    }
    let (rules, listed) = (&part, &*listed);
    style.print(&Models { rules, listed }, out)
}

/// Returns the rows of models and agents whose names contain or fit the pattern, and the rows that apply to a model of
/// this name.
fn part(rules: &Rules, pattern: &str) -> Rules {
    let anywhere = format!("*{}*", pattern.trim_matches('*'));
    let is_named = |name: &str| matches(&anywhere, name);
    let fits = |ids: &[String]| {
        ids.iter()
            .any(|id| is_named(id) || (id != "*" && matches(id, pattern)))
    };
    let mut part = rules.clone();
    part.model.retain(|row| fits(&row.ids) || fits(&row.agents));
    part.policy
        .retain(|row| is_named(&row.agent) || fits(&row.models));
    part.price.retain(|row| fits(&row.ids));
    part.cache.retain(|row| fits(&row.ids));
    part.trigger.retain(|row| is_named(&row.agent));
    let used: Vec<String> = part
        .model
        .iter()
        .filter_map(|row| row.tokenizer.clone())
        .collect();
    part.tokenizer
        .retain(|name, _| is_named(name) || used.contains(name));
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
summary = 1_000
[[model]]
ids = ["claude-opus-4-6*"]
window = 200_000
tokenizer = "claude"
source = "s"
[[model]]
ids = ["gpt-5*", "o3"]
window = 400_000
tokenizer = "o200k"
source = "s"
[[model]]
ids = ["*"]
window = 100_000
tokenizer = "o200k"
guess = true
source = "s"
[[policy]]
agent = "codex"
name = "most of it"
share = 0.9
source = "s"
[[price]]
ids = ["gpt-5*"]
cached_read = 0.1
source = "s"
[tokenizer.claude]
per_token = 1.2
per_item = 1.0
spread = 0.1
spread_floor = 1.0
source = "s"
[tokenizer.o200k]
per_token = 1.0
per_item = 1.0
spread = 0.1
spread_floor = 1.0
source = "s"
"#;

    /// Returns the numbers of models, policies, prices and tokenizers that are shown.
    fn shown(pattern: &str) -> [usize; 4] {
        let rules: Rules = toml::from_str(TABLE).unwrap();
        let part = part(&rules, pattern);
        [
            part.model.len(),
            part.policy.len(),
            part.price.len(),
            part.tokenizer.len(),
        ]
    }

    #[test]
    fn a_pattern_selects_what_concerns_it() {
        assert_eq!(shown("OPUS"), [1, 0, 0, 1]);
        assert_eq!(shown("gpt-5.4-2026"), [1, 0, 1, 1]);
        assert_eq!(shown("g*5"), [1, 0, 1, 1]);
        assert_eq!(shown("codex"), [0, 1, 0, 0]);
        assert_eq!(shown("claude"), [1, 0, 0, 1]);
        assert_eq!(shown("nothing"), [0; 4]);
    }
}
