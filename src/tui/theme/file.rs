//! Theme files, and those that are built in.

use super::spec::StyleSpec;
use super::{Fills, Theme};
use crate::paint::Tone;
use model::Role;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The default theme.
pub(super) const DEFAULT: &str = "terminal";
/// The theme without colours.
pub(super) const MONOCHROME: &str = "monochrome";

/// The built-in themes, read once. A test checks that all can be read.
pub(super) static BUILT_IN: LazyLock<Vec<(&str, Theme)>> = LazyLock::new(|| {
    let read = |(name, text): &(&'static str, &str)| {
        let file: ThemeFile = toml::from_str(text).ok()?;
        Some((*name, file.over(Theme::PLAIN)))
    };
    assets::THEMES.iter().filter_map(read).collect()
});

/// The reason for which a file is not a theme.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// It cannot be parsed.
    #[error(transparent)]
    Unreadable(#[from] toml::de::Error),
    /// It inherits from a theme that is not built in.
    #[error("`inherits` names '{0}'; it can name: {1}")]
    Orphan(String, String),
}

/// A theme file. Styles that it leaves out are those of the theme that it inherits from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeFile {
    inherits: Option<String>,
    fills: Option<Fills>,
    #[serde(default)]
    roles: HashMap<Role, StyleSpec>,
    #[serde(default)]
    styles: HashMap<Tone, StyleSpec>,
}

impl Theme {
    /// Reads the file of a theme.
    ///
    /// # Errors
    ///
    /// If it is not one; the message has the line and what is allowed there.
    pub fn read(text: &str) -> Result<Theme, ThemeError> {
        let file: ThemeFile = toml::from_str(text)?;
        let base = file.inherits.as_deref().unwrap_or(DEFAULT);
        let Some((_, known)) = BUILT_IN.iter().find(|(name, _)| *name == base) else {
            let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let named = base.escape_debug().to_string();
            return Err(ThemeError::Orphan(named, names.join(", ")));
        };
        Ok(file.over(*known))
    }

    /// Returns the built-in theme of this name; without styles if there is none.
    pub(super) fn built_in(name: &str) -> Theme {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        found.map_or(Theme::PLAIN, |(_, theme)| *theme)
    }
}

impl ThemeFile {
    fn over(self, base: Theme) -> Theme {
        let mut theme = Theme {
            fills: self.fills.unwrap_or(base.fills),
            ..base
        };
        let roles = self
            .roles
            .into_iter()
            .map(|(role, spec)| (role.into(), spec));
        for (tone, spec) in roles.chain(self.styles) {
            theme.styles[tone as usize] = spec.0;
        }
        theme
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Modifier, Style};
    use strum::IntoEnumIterator;

    #[test]
    fn all_that_are_built_in_can_be_read_and_say_all() {
        let named: Vec<&str> = Tone::iter().map(Into::into).collect();
        let of_file =
            |key: &&&str| !matches!(**key, "plain") && !Role::ALL.iter().any(|r| r.name() == **key);
        for (name, text) in assets::THEMES {
            let file: ThemeFile = toml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(file.inherits.is_none());
            let table: toml::Table = toml::from_str(text).unwrap();
            let styles = table["styles"].as_table().unwrap();
            for key in named.iter().filter(of_file) {
                assert!(styles.contains_key(*key), "{name} leaves out {key}");
            }
            assert_eq!(table["roles"].as_table().unwrap().len(), Role::ALL.len());
        }
        assert_eq!(BUILT_IN.len(), assets::THEMES.len());
    }

    #[test]
    fn a_custom_theme_overrides_what_it_sets() {
        let text = "inherits = \"dark\"\nfills = \"by-role\"\n[roles]\nuser = \"#ffffff\"\n\
            [styles]\nmatch = \"reverse\"\n";
        let (custom, dark) = (Theme::read(text).unwrap(), Theme::built_in("dark"));
        assert_eq!(custom.role_colour(Role::User), Color::Rgb(255, 255, 255));
        assert_eq!(custom.style(Role::Tool), dark.style(Role::Tool));
        assert_eq!(
            custom.style(Tone::Match),
            Style::new().add_modifier(Modifier::REVERSED)
        );
        assert_eq!(custom.style(Tone::Quiet), dark.style(Tone::Quiet));
        assert_eq!(custom.fills, Fills::ByRole);
        assert_eq!(Theme::read("").unwrap(), Theme::default());
    }

    #[test]
    fn a_broken_theme_says_where_and_why() {
        for (text, why) in [
            ("[styles]\nquite = \"dim\"\n", "quite"),
            (
                "[styles]\nquiet = \"dimm\"\n",
                "'dimm' is not part of a style",
            ),
            ("[roles]\ntools = \"red\"\n", "tools"),
            (
                "inherits = \"drak\"\n",
                "'drak'; it can name: terminal, dark",
            ),
            ("fills = \"none\"\n", "by-role"),
            ("[styles\n", "line 1"),
        ] {
            let error = Theme::read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
