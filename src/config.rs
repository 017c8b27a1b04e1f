//! What the user can set: the file's schema, the models table, and how flags, environment, file and
//! defaults layer.

use crate::model::window::Rules;
use crate::model::window::own::{Own, OwnPolicy, OwnWindow};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The models table that is built in.
const MODELS: &str = include_str!("../assets/models.toml");

/// The configuration file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Folders to look for logs in, beside the agents' own.
    pub roots: Vec<PathBuf>,
    /// A models table of one's own, seen from this file's folder. None: `models.toml` beside this file,
    /// where there is one.
    pub models: Option<PathBuf>,
    /// Windows that the user knows better; the first that matches a session holds.
    pub window: Vec<OwnWindow>,
    /// When sessions compact, as the user says it; the first that matches a session holds.
    pub policy: Vec<OwnPolicy>,
    /// Draw with ASCII characters only.
    pub ascii: bool,
    /// Draw without colours. `NO_COLOR` in the environment does the same.
    pub no_color: bool,
}

impl Config {
    /// The user's windows and policies.
    pub fn own(&self) -> Own {
        Own {
            windows: self.window.clone(),
            policies: self.policy.clone(),
        }
    }
}

/// Where the configuration file is: `$XDG_CONFIG_HOME/ctxgauge/config.toml`, or below `~/.config`.
pub fn default_path(env: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let folder = env("XDG_CONFIG_HOME")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env("HOME")?).join(".config")))?;
    Some(folder.join("ctxgauge").join("config.toml"))
}

/// Reads the configuration. A file that was named must be there; the default one need not.
pub fn load(named: Option<&Path>, default: Option<&Path>) -> Result<Config> {
    let (path, must) = match (named, default) {
        (Some(path), _) => (path, true),
        (None, Some(path)) => (path, false),
        (None, None) => return Ok(Config::default()),
    };
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str(&text).with_context(|| {
            format!(
                "'{}' is not a configuration ctxgauge understands; mend or remove the line it names",
                path.display()
            )
        }),
        Err(error) if !must && error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Config::default())
        }
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot read the configuration '{}'; check the path and its permissions",
                path.display()
            )
        }),
    }
}

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
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;
    use crate::model::window::own::Rule;

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

    #[test]
    fn a_missing_default_file_is_no_error_but_a_named_one_is() {
        let missing = Path::new("/nonexistent/ctxgauge.toml");
        assert_eq!(load(None, Some(missing)).unwrap(), Config::default());
        let error = load(Some(missing), None).unwrap_err();
        assert!(error.to_string().contains("check the path"));
    }

    #[test]
    fn an_unknown_key_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "rootz = []\n").unwrap();
        let error = format!("{:#}", load(Some(&path), None).unwrap_err());
        assert!(error.contains("rootz"), "{error}");
    }

    fn read(text: &str) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        load(Some(&path), None)
    }

    #[test]
    fn windows_and_policies_of_ones_own() {
        let config = read(
            r#"
[[window]]
model = "claude-opus-4-6*"
tokens = 1_000_000

[[policy]]
session = "3f2a*"
messages = { keep = 20, over = 5 }

[[policy]]
agent = "codex"
tokens = 150_000

[[policy]]
model = "local-*"
drop_oldest = true

[[policy]]
agent = "p*"
never = true

[[policy]]
share = 0.95
"#,
        );
        let own = config.unwrap().own();
        assert_eq!(own.windows[0].tokens, 1_000_000);
        let rules: Vec<Rule> = own.policies.iter().map(|row| row.rule).collect();
        assert_eq!(
            rules,
            [
                Rule::Messages { keep: 20, over: 5 },
                Rule::Budget(150_000),
                Rule::DropOldest(None),
                Rule::Never,
                Rule::Share(0.95),
            ]
        );
        assert_eq!(own.policies[0].which.session.as_deref(), Some("3f2a*"));
        assert_eq!(own.agents().collect::<Vec<_>>(), ["codex"]);
    }

    #[test]
    fn a_row_that_makes_no_sense_says_why() {
        for (text, why) in [
            ("[[window]]\nagent = \"pi\"\n", "`tokens`"),
            ("[[window]]\ntokens = 0\n", "above 0"),
            ("[[window]]\ntokens = 5\nshare = 0.5\n", "beside it only"),
            ("[[window]]\ntokens = -5\n", "tokens = -5"),
            ("[[policy]]\nagent = \"pi\"\n", "one rule"),
            ("[[policy]]\nshare = 95\n", "up to 1"),
            ("[[policy]]\nshare = nan\n", "up to 1"),
            ("[[policy]]\ntokens = 0\n", "above 0"),
            ("[[policy]]\nshare = 0.5\ntokens = 7\n", "one rule"),
            ("[[policy]]\nmessages = { keep = 20 }\n", "over"),
            ("[[policy]]\nshares = 0.5\n", "shares"),
        ] {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains(why), "{text}: {error}");
        }
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
