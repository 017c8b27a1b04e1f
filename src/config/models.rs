//! The models tables: the built-in one, and the user's own before it.

use super::Config;
use crate::model::window::Rules;
use anyhow::{Context, Result};
use std::path::Path;

/// The models table that is built in.
const MODELS: &str = include_str!("../../assets/models.toml");

/// The models table that is built in.
pub fn rules() -> Result<Rules> {
    toml::from_str(MODELS).context("the built-in models table is broken; please report this")
}

/// The user's own models table, if there is one; `file` is the configuration's path. A table that the
/// configuration names must be there.
pub fn own_rules(config: &Config, file: Option<&Path>) -> Result<Option<Rules>> {
    let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let path = match (&config.models, file) {
        (Some(named), _) => folder.join(named),
        (None, Some(_)) => folder.join("models.toml"),
        (None, None) => return Ok(None),
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if config.models.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => {
            return Err(error).with_context(|| {
                format!(
                    "cannot read the models table '{}'; check the path and its permissions",
                    path.display()
                )
            });
        }
    };
    let mut own: Rules = toml::from_str(&text).with_context(|| {
        format!(
            "'{}' is not a models table ctxgauge understands; mend or remove the line it names",
            path.display()
        )
    })?;
    own.sign(&path.display().to_string());
    Ok(Some(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_names_only_tokenizers_it_has() {
        let rules = rules().unwrap();
        for row in &rules.model {
            assert!(
                rules.tokenizer.contains_key(&row.tokenizer),
                "{:?} names the tokenizer {}",
                row.ids,
                row.tokenizer
            );
            assert!(!row.source.is_empty());
        }
    }

    #[test]
    fn every_number_says_where_it_is_from() {
        let rules = rules().unwrap();
        assert!(rules.policy.iter().all(|p| !p.source.is_empty()));
        assert!(rules.tokenizer.values().all(|t| !t.source.is_empty()));
    }

    const OWN: &str = r#"
[[model]]
ids = ["claude-opus-4-5*"]
window = 123_000
tokenizer = "mine"

[tokenizer.mine]
per_token = 1.3
per_item = 10.0
spread = 0.2
spread_floor = 20.0

[[policy]]
agent = "codex"
name = "half"
share = 0.5
"#;

    #[test]
    fn a_table_of_ones_own_stands_before_the_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(folder.path().join("models.toml"), OWN).unwrap();
        let own = own_rules(&Config::default(), Some(&file)).unwrap().unwrap();
        let rules = rules().unwrap().with_own(own).unwrap();
        let model = rules.model("claude-code", "claude-opus-4-5-20251101");
        assert_eq!(model.unwrap().window, 123_000);
        assert!(model.unwrap().source.ends_with("models.toml"));
        let tokenizer = rules.tokenizer("claude-code", Some("claude-opus-4-5-20251101"));
        assert_eq!(tokenizer.per_token, 1.3);
        let codex = rules.policy.iter().find(|p| p.agent == "codex").unwrap();
        assert_eq!(codex.share, Some(0.5));
        assert!(rules.model("claude-code", "claude-opus-4-6").is_some());
    }

    #[test]
    fn a_table_of_ones_own_says_what_is_wrong_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let none = own_rules(&Config::default(), Some(&file)).unwrap();
        assert!(none.is_none());
        let config = Config {
            models: Some("mine.toml".into()),
            ..Config::default()
        };
        let error = own_rules(&config, Some(&file)).unwrap_err();
        assert!(error.to_string().contains("mine.toml"), "{error}");
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, "[[model]]\nidz = 1\n").unwrap();
        let error = format!("{:#}", own_rules(&config, Some(&file)).unwrap_err());
        assert!(error.contains("idz"), "{error}");
        std::fs::write(&path, OWN.replace("\"mine\"", "\"yours\"")).unwrap();
        let own = own_rules(&config, Some(&file)).unwrap().unwrap();
        let error = rules().unwrap().with_own(own).unwrap_err();
        assert!(error.contains("yours"), "{error}");
    }
}
