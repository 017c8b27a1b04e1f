//! Names of models: those that are known stay, others get a name that has the same window, tokenizer and price.

use super::digest;
use model::window::{Rules, matches_model};
use std::collections::HashSet;

/// The words that providers write before or after the names of models.
const PROVIDERS: [&str; 16] = [
    "ai",
    "anthropic",
    "api",
    "azure",
    "bedrock",
    "eu",
    "free",
    "github",
    "global",
    "google",
    "latest",
    "openai",
    "openrouter",
    "preview",
    "us",
    "vertex",
];
/// The longest number that is part of a known name: a date.
const LONGEST_NUMBER: usize = 8;

/// Separates known models from others.
pub(super) struct Models {
    /// The words of all names in the built-in table.
    words: HashSet<String>,
    /// The providers in the built-in table of models by provider.
    providers: Vec<String>,
    /// The patterns of the built-in table, the longest first.
    built_in: Vec<String>,
    /// The patterns of all tables.
    all: Vec<String>,
}

impl Models {
    pub(super) fn new(built_in: &Rules, all: &Rules) -> Models {
        let mut own = patterns(built_in);
        own.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let listed = built_in.catalogue.all();
        let listed = listed.flat_map(|row| words(row.model));
        let words = own.iter().flat_map(|pattern| words(pattern)).chain(listed);
        Models {
            words: words.chain(PROVIDERS.map(str::to_owned)).collect(),
            providers: built_in.catalogue.providers(),
            built_in: own,
            all: patterns(all),
        }
    }

    /// Returns true if the provider's name is public.
    pub(super) fn has_provider(&self, name: &str) -> bool {
        self.providers.iter().any(|known| known == name)
    }

    /// Returns another name of this model; `None`: its name is known.
    pub(super) fn pseudonym(&self, name: &str) -> Option<String> {
        let is_number =
            |word: &str| word.len() <= LONGEST_NUMBER && word.chars().all(|c| c.is_ascii_digit());
        let is_known = |word: String| is_number(&word) || self.words.contains(&word);
        if name.is_ascii() && words(name).all(is_known) {
            return None;
        }
        let other = format!("model-{:08x}", digest("model", name));
        let fits = |other: &str| {
            let mut patterns = self.all.iter();
            patterns.all(|pattern| matches_model(pattern, name) == matches_model(pattern, other))
        };
        let mut filled = self
            .built_in
            .iter()
            .filter(|pattern| matches_model(pattern, name))
            .map(|pattern| pattern.replace('*', &other))
            .filter(|filled| filled.contains(&other));
        // If none fits, a window that the user set for this model by name does not apply to it.
        let same = std::iter::once(other.clone()).find(|other| fits(other));
        same.or_else(|| filled.find(|filled| fits(filled)))
            .or(Some(other))
    }
}

/// Returns all patterns that names of models are compared with.
fn patterns(rules: &Rules) -> Vec<String> {
    let models = rules.model.iter().flat_map(|row| &row.ids);
    let prices = rules.price.iter().flat_map(|row| &row.ids);
    let policies = rules.policy.iter().flat_map(|row| &row.models);
    let custom = rules.custom.windows.iter().map(|row| &row.which);
    let custom = custom.chain(rules.custom.policies.iter().map(|row| &row.which));
    let custom = custom.filter_map(|which| which.model.as_ref());
    let all: HashSet<&String> = models.chain(prices).chain(policies).chain(custom).collect();
    all.into_iter().cloned().collect()
}

/// Returns the words of a name, in lower case.
fn words(name: &str) -> impl Iterator<Item = String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
[[model]]
ids = ["claude-opus-4-8*", "claude*"]
window = 200_000
tokenizer = "t"
[[model]]
ids = ["gemini-*"]
window = 1_000_000
tokenizer = "t"
[[price]]
ids = ["claude-opus-4-8*"]
cached_read = 0.5
[tokenizer.t]
per_token = 1.0
per_item = 0.0
spread = 0.1
spread_floor = 1.0
"#;

    #[test]
    fn known_names_stay_and_others_keep_their_window_and_price() {
        let rules: Rules = toml::from_str(TABLE).unwrap();
        let models = Models::new(&rules, &rules);
        for known in [
            "claude-opus-4-8",
            "claude-opus-4-8-20260101",
            "us.anthropic.claude-opus-4-8",
            "openrouter/anthropic/claude-opus-4-8:free",
        ] {
            assert_eq!(models.pseudonym(known), None, "{known}");
        }
        for name in [
            "claude-opus-4-8-acme-tuned",
            "claude-secret",
            "gemini-9-secret",
            "acme/gemini-secret",
            "our-own-model",
            "kundenmodell-Ü",
            "claude-opus-4-8-123456789",
        ] {
            let other = models.pseudonym(name).unwrap();
            let row = |name: &str| rules.model("codex", name).map(|row| row.window);
            assert_eq!(row(name), row(&other), "{name} {other}");
            assert_eq!(
                rules.price_of(name),
                rules.price_of(&*other),
                "{name} {other}"
            );
            assert_eq!(models.pseudonym(name), Some(other.clone()));
            for secret in ["acme", "secret", "own", "kunden", "9"] {
                assert!(!other.contains(secret) || secret == "9", "{other}");
            }
        }
        let [a, b] = ["one-model", "two-model"].map(|name| models.pseudonym(name));
        assert_ne!(a, b);
    }
}
