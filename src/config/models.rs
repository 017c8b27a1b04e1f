//! The models tables: the built-in one, and the user's.

mod checked;

use super::Config;
use super::files;
use anyhow::{Context, Result, anyhow};
use model::window::{Catalogue, Rules};
use std::path::{Path, PathBuf};
use toml::Table;

/// Reads the built-in models table, with the versions that are proven.
///
/// # Errors
///
/// If it is invalid, which a test rules out.
pub fn rules() -> Result<Rules> {
    let built_in = |text| parse(text).context("a built-in table is invalid; please report this");
    let proven = built_in(assets::PROVEN)?.proven;
    let rules = Rules {
        proven,
        ..built_in(assets::MODELS)?
    };
    Ok(rules.listing(assets::CATALOGUE))
}

/// Returns the path of the table of models by provider that the user has imported, beside the configuration file `file`.
pub fn catalogue_file(file: &Path) -> PathBuf {
    file.with_file_name("catalogue.tsv")
}

/// Reads the table of models by provider that the user has imported, if there is one.
///
/// # Errors
///
/// If it cannot be read.
pub fn catalogue(file: Option<&Path>) -> Result<Option<Catalogue>> {
    let text = file.map(|file| files::read_if_any(&catalogue_file(file)));
    Ok(text.transpose()?.flatten().map(Catalogue::new))
}

/// Reads the user's models table: the one that the configuration names, or `models.toml` next to the configuration file
/// `file`, if there is one.
///
/// # Errors
///
/// If the named table does not exist, or a table cannot be read or is invalid. A row with a number that cannot be true
/// is no error.
pub fn custom_rules(config: &Config, file: Option<&Path>) -> Result<Option<Rules>> {
    let path = models_file(config, file.unwrap_or(Path::new("")));
    let text = match (&config.models, file) {
        (Some(_), _) => Some(files::read(&path)?),
        (None, Some(_)) => files::read_if_any(&path)?,
        (None, None) => None,
    };
    let Some(text) = text else { return Ok(None) };
    let mut rules = read(&text).with_context(|| files::invalid(&path, "models table"))?;
    rules.sign(&path.display().to_string());
    Ok(Some(rules))
}

/// Returns the path of the user's models table, with the configuration file `file`.
pub fn models_file(config: &Config, file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    let named = config.models.as_deref();
    folder.join(named.unwrap_or(Path::new("models.toml")))
}

#[inline(never)]
fn parse(text: &str) -> Result<Rules, toml::de::Error> {
    toml::from_str(text)
}

/// Reads a table. Rows with numbers that cannot be true are left out, and named in [`Rules::refused`].
fn read(text: &str) -> Result<Rules> {
    let mut table: Table = toml::from_str(text)?;
    let refused = checked::refuse(&mut table, text);
    if refused.is_empty() {
        // Its errors name the line.
        return Ok(parse(text)?);
    }
    // The code that reads rules from a table would take a tenth of a megabyte, so the table becomes text again. Its
    // lines are not those of the file: errors must not name them.
    let mut rules = parse(&table.to_string()).map_err(|error| anyhow!("{}", error.message()))?;
    rules.refused = refused;
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_defines_its_tokenizers() {
        let rules = rules().unwrap();
        for row in &rules.model {
            let name = row.tokenizer.as_ref();
            assert!(
                name.is_none_or(|name| rules.tokenizer.contains_key(name)),
                "{:?} names the tokenizer {name:?}",
                row.ids
            );
            assert!(!row.source.is_empty());
        }
    }

    #[test]
    fn every_row_names_its_source() {
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

[proven.codex]
version = "9.0.0"
"#;

    #[test]
    fn the_users_table_precedes_the_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(folder.path().join("models.toml"), OWN).unwrap();
        let own = custom_rules(&Config::default(), Some(&file))
            .unwrap()
            .unwrap();
        let rules = rules().unwrap().with_custom(own).unwrap();
        let model = rules.model("claude-code", "claude-opus-4-5-20251101");
        assert_eq!(model.unwrap().window, 123_000);
        assert!(model.unwrap().source.ends_with("models.toml"));
        let tokenizer = rules.tokenizer("claude-code", Some("claude-opus-4-5-20251101"));
        assert_eq!(tokenizer.per_token, 1.3);
        let codex = rules.policy.iter().find(|p| p.agent == "codex").unwrap();
        assert_eq!(codex.share, Some(0.5));
        assert!(rules.model("claude-code", "claude-opus-4-6").is_some());
        assert_eq!(rules.proven("codex"), Some("9.0.0"));
        assert!(rules.proven("claude-code").is_some());
    }

    #[test]
    fn errors_in_the_users_table_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let none = custom_rules(&Config::default(), Some(&file)).unwrap();
        assert!(none.is_none());
        let config = Config {
            models: Some("mine.toml".into()),
            ..Config::default()
        };
        let error = custom_rules(&config, Some(&file)).unwrap_err();
        assert!(error.to_string().contains("mine.toml"), "{error}");
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, "[[model]]\nidz = 1\n").unwrap();
        let error = format!("{:#}", custom_rules(&config, Some(&file)).unwrap_err());
        assert!(error.contains("idz"), "{error}");
        std::fs::write(&path, OWN.replace("\"mine\"", "\"yours\"")).unwrap();
        let own = custom_rules(&config, Some(&file)).unwrap().unwrap();
        let error = rules().unwrap().with_custom(own).unwrap_err();
        assert!(error.contains("yours"), "{error}");
    }
}
