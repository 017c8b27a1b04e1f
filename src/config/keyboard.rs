//! The section `[keys]`: an action's name and its keys.

use super::Config;
use anyhow::{Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use tui::keymap::Keymap;

/// The user's keys, by the name of an action. The scope may precede it, as in `session.back` or as a table
/// `[keys.session]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Keyboard(BTreeMap<String, Row>);

/// The value of a name.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a key is a string (\"s\"), a list of strings ([\"r\", \"ctrl-r\"]), or [] for none"
)]
enum Row {
    One(String),
    Many(Vec<String>),
    Scope(BTreeMap<String, Row>),
}

impl Keyboard {
    /// Returns the keys by the full names of the actions.
    fn flat(&self) -> BTreeMap<String, Vec<String>> {
        let mut flat = BTreeMap::new();
        for (name, row) in &self.0 {
            row.flatten(name, &mut flat);
        }
        flat
    }
}

impl Row {
    fn flatten(&self, name: &str, flat: &mut BTreeMap<String, Vec<String>>) {
        let keys = match self {
            Row::One(key) => vec![key.clone()],
            Row::Many(keys) => keys.clone(),
            Row::Scope(rows) => {
                for (below, row) in rows {
                    row.flatten(&format!("{name}.{below}"), flat);
                }
                return;
            }
        };
        flat.insert(name.to_owned(), keys);
    }
}

impl Config {
    /// Returns the keys in force.
    ///
    /// # Errors
    ///
    /// If `[keys]` has unknown keys or actions, or one key for two actions: all problems, each with its solution.
    pub fn keymap(&self) -> Result<Keymap> {
        match Keymap::with_custom(&self.keys.flat()) {
            Ok(keymap) => Ok(keymap),
            Err(wrong) => bail!(
                "[keys] in the configuration is invalid:\n  {}",
                wrong.join("\n  ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use tui::keymap::{Action, KeyPress, Scope};

    #[test]
    fn keys_are_read() {
        let config = read(
            r#"
[keys]
sort = "f5"
"session.back" = ["b", "f2"]
overview.back = "v"
help = "f1"
suspend = []
"#,
        );
        let keymap = config.unwrap().keymap().unwrap();
        let key = |scope, action| keymap.key(scope, action);
        assert_eq!(key(Scope::Overview, Action::Sort), Some(KeyPress::F(5)));
        assert_eq!(
            key(Scope::Overview, Action::Back),
            Some(KeyPress::Char('v'))
        );
        assert_eq!(key(Scope::Session, Action::Back), Some(KeyPress::Char('b')));
        assert_eq!(key(Scope::Session, Action::Help), Some(KeyPress::F(1)));
        assert_eq!(key(Scope::Session, Action::Suspend), None);
    }

    #[test]
    fn every_problem_is_named() {
        let config =
            read("[keys]\noverview.sort = \"?\"\nsrot = \"x\"\n[keys.session.back]\nx = \"y\"\n");
        let error = config.unwrap().keymap().unwrap_err().to_string();
        for part in [
            "\n  the key '?' is bound to both 'overview.sort' and 'anywhere.help'",
            "\n  unknown action 'srot'",
            "\n  unknown action 'session.back.x'",
        ] {
            assert!(error.contains(part), "{part} in: {error}");
        }
        let error = format!("{:#}", read("[keys]\nsort = 5\n").unwrap_err());
        assert!(error.contains("[] for none"), "{error}");
    }
}
