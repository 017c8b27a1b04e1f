//! The configuration: what its file can set, and the files next to it. Options of the command line override it.
//!
//! [`keys`] is the list of all keys: what describes the configuration is made from it ([`schema`], [`template`], [`values`]).
//! A new key is an entry there, and a field below.

mod files;
mod hooks;
mod keyboard;
pub mod keys;
mod models;
mod problem;
pub mod schema;
mod status_line;
pub mod template;
mod themes;
pub mod values;

pub use files::{UserFile, mappings, named_mapping};
pub use hooks::Hooks;
pub use keyboard::Keyboard;
pub use models::{catalogue, catalogue_file, custom_rules, models_file, rules};

pub use problem::{Problem, problems, valid_part};
pub use status_line::StatusLine;
pub use themes::{UserThemes, themes};

use anyhow::{Result, anyhow};
use model::due::alerts::Alerts;
use model::values::threshold::Threshold;
use model::window::custom::{Custom, CustomPolicy, CustomWindow};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use tui::theme::Fills;

/// The configuration file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Folders to search besides the agents' own.
    pub roots: Vec<PathBuf>,
    /// Other machines whose sessions the list shows.
    pub hosts: Vec<String>,
    /// The user's models table, relative to this file's folder. `None`: `models.toml` next to this file, if
    /// it exists.
    pub models: Option<PathBuf>,
    /// Windows that the user sets; the first row that matches a session applies.
    pub window: Vec<CustomWindow>,
    /// The triggers of sessions. The first row that matches a session applies.
    pub policy: Vec<CustomPolicy>,
    /// The theme's name; `None`: `terminal`.
    pub theme: Option<String>,
    /// The characters that fill bars, in all themes; `None`: as each theme defines them.
    pub fills: Option<Fills>,
    /// Items from this size on are marked as oversized.
    pub oversized: Option<Threshold>,
    /// The user's keys.
    pub keys: Keyboard,
    /// The alerts: when and how the user is notified.
    pub alerts: Alerts,
    /// The format and the colours of status lines.
    pub statusline: StatusLine,
    /// The warnings and reports of hooks.
    pub hooks: Hooks,
    /// Use ASCII characters only.
    pub ascii: bool,
    /// Keep what was read of logs in the user's cache folder, so that unchanged logs are not read again.
    pub cache: bool,
    /// Look at all logs every few seconds, though the system may give notice of what is written.
    pub poll: bool,
    /// Use no colours. `NO_COLOR` in the environment does the same.
    pub no_color: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            roots: Vec::new(),
            hosts: Vec::new(),
            models: None,
            window: Vec::new(),
            policy: Vec::new(),
            theme: None,
            fills: None,
            oversized: None,
            keys: Keyboard::default(),
            alerts: Alerts::default(),
            statusline: StatusLine::default(),
            hooks: Hooks::default(),
            ascii: false,
            cache: true,
            poll: false,
            no_color: false,
        }
    }
}

impl Config {
    /// Returns the user's windows and policies.
    pub fn custom(&self) -> Custom {
        Custom {
            windows: self.window.clone(),
            policies: self.policy.clone(),
        }
    }
}

/// The configuration, and what it was read from.
#[derive(Debug, Clone, Default)]
pub struct LoadedConfig {
    /// The configuration.
    pub config: Config,
    /// The text of the file; `None`: there is none.
    pub text: Option<String>,
}

/// Reads the configuration: the named file, which must exist, or the default one, if it exists.
///
/// # Errors
///
/// If the file cannot be read, or is invalid: all its problems, each with its line.
pub fn load(named: Option<&Path>, default: Option<&Path>) -> Result<LoadedConfig> {
    let text = text(named, default)?;
    let file = text.as_deref().unwrap_or_default();
    let config = toml::from_str(file).map_err(|_| {
        let problems = problems(file);
        let shown: Vec<String> = problems.iter().map(|problem| problem.shown(file)).collect();
        let path = named.or(default).unwrap_or(Path::new(""));
        anyhow!("{}", shown.join("\n")).context(files::invalid(path, "configuration"))
    })?;
    Ok(LoadedConfig { config, text })
}

/// Reads the text of the configuration file: the named one, which must exist, or the default one, if it exists.
///
/// # Errors
///
/// If it cannot be read.
pub fn text(named: Option<&Path>, default: Option<&Path>) -> Result<Option<String>> {
    match (named, default) {
        (Some(path), _) => files::read(path).map(Some),
        (None, Some(path)) => files::read_if_any(path),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::due::alerts::Channel;
    use model::window::custom::Rule;

    #[test]
    fn only_a_named_file_must_exist() {
        let missing = Path::new("/nonexistent/ctxgauge.toml");
        let loaded = load(None, Some(missing)).unwrap();
        assert_eq!((loaded.config, loaded.text), (Config::default(), None));
        let error = load(Some(missing), None).unwrap_err();
        assert!(error.to_string().contains("check the path"));
    }

    #[test]
    fn an_unknown_key_is_named() {
        let error = format!("{:#}", read("rootz = []\n").unwrap_err());
        assert!(error.contains("did you mean 'roots'?"), "{error}");
    }

    pub(super) fn read(text: &str) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        Ok(load(Some(&path), None)?.config)
    }

    #[test]
    fn windows_and_policies_are_read() {
        let config = read(
            r#"
[[window]]
model = "claude-opus-4-6*"
tokens = 1_000_000

[[policy]]
session = "3f2a*"
messages = { keep = 20, over = 5 }

[[window]]
tokens = "400k"

[[policy]]
agent = "codex"
tokens = "150k"

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
        let mut own = config.unwrap().custom();
        let windows: Vec<u64> = own.windows.iter().map(|row| row.tokens).collect();
        assert_eq!(windows, [1_000_000, 400_000]);
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
        assert_eq!(own.agents_mut().collect::<Vec<_>>(), ["codex"]);
    }

    #[test]
    fn an_invalid_row_is_explained() {
        for (text, why) in [
            ("[[window]]\nagent = \"pi\"\n", "`tokens`"),
            ("[[window]]\ntokens = 0\n", "above 0"),
            (
                "[[window]]\ntokens = 5\nshare = 0.5\n",
                "the keys here are agent, model, session, tokens",
            ),
            ("[[window]]\ntokens = -5\n", "tokens = -5"),
            ("[[window]]\ntokens = \"400 k\"\n", "\"400k\""),
            ("[[policy]]\ntokens = \"4%\"\n", "\"400k\""),
            ("[[policy]]\nagent = \"pi\"\n", "one rule"),
            ("[[policy]]\nshare = 95\n", "0.8 is 80 %"),
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

    #[test]
    fn looks_sizes_and_alerts() {
        let config = read(
            r#"
theme = "dark"
fills = "by-role"
oversized = "4%"

[alerts]
share = [0.95, 0.8]
requests_left = 5
item = "20k"
notify = ["screen", "bell", "osc9", "osc777", "osc99"]
command = ["notify-send", "ctxgauge"]
"#,
        )
        .unwrap();
        assert_eq!(config.theme.as_deref(), Some("dark"));
        assert_eq!(config.fills, Some(Fills::ByRole));
        assert_eq!(config.oversized, Some(Threshold::Share(0.04)));
        assert_eq!(config.alerts.shares, [0.8, 0.95]);
        assert_eq!(config.alerts.item, Some(Threshold::Tokens(20_000)));
        assert_eq!(config.alerts.notify.len(), 5);
        assert_eq!(config.alerts.command[0], "notify-send");

        let config = read("[alerts]\nshare = 0.9\n").unwrap();
        assert_eq!(config.alerts.shares, [0.9]);
        let config = read("oversized = 8_000\n[alerts]\nrequests_left = 3\n").unwrap();
        assert_eq!(config.oversized, Some(Threshold::Tokens(8_000)));
        assert_eq!(config.alerts.notify, [Channel::Screen]);
        assert!(config.alerts.are_on());
        assert!(!Config::default().alerts.are_on());
    }

    #[test]
    fn errors_name_the_valid_values() {
        for (text, why) in [
            ("fills = \"solids\"\n", "by-role"),
            ("oversized = \"4 percent\"\n", "a share of the window"),
            ("oversized = 0\n", "a share of the window"),
            ("oversized = -1\n", "a share of the window"),
            ("oversized = true\n", "a share of the window"),
            ("[alerts]\nshare = [80]\n", "up to 1"),
            ("[alerts]\nshare = 80\n", "0.8 is 80 %"),
            ("[alerts]\nshare = \"80%\"\n", "0.8 is 80 %"),
            ("[alerts]\nshare = [nan]\n", "up to 1"),
            ("[alerts]\nnotify = [\"bell\"]\n", "sets no alert"),
            ("[alerts]\nitem = \"5k\"\nnotify = [\"osc8\"]\n", "osc99"),
            (
                "[alerts]\nitem = \"5k\"\ncommand = [\" \"]\n",
                "begins with a program",
            ),
            ("[alerts]\nitems = \"5k\"\n", "requests_left"),
        ] {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
