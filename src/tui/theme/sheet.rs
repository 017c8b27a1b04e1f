//! The file of a theme, and those that are built in.

use super::look::Look;
use super::{Fills, GivenStyles, Theme};
use crate::model::Role;
use ratatui::style::Style;
use serde::Deserialize;
use std::sync::LazyLock;

/// The theme that holds where nothing is said.
pub(super) const DEFAULT: &str = "terminal";
/// The theme without colours.
pub(super) const MONOCHROME: &str = "monochrome";

/// The files that are built in, in the order in which they follow each other on screen. A theme may
/// stand on one above it.
const FILES: [(&str, &str); 5] = [
    (
        DEFAULT,
        include_str!("../../../assets/themes/terminal.toml"),
    ),
    ("dark", include_str!("../../../assets/themes/dark.toml")),
    ("light", include_str!("../../../assets/themes/light.toml")),
    (
        "colour-blind",
        include_str!("../../../assets/themes/colour-blind.toml"),
    ),
    (
        MONOCHROME,
        include_str!("../../../assets/themes/monochrome.toml"),
    ),
];

/// The themes that are built in, read once. That all can be read is tested.
pub(super) static BUILT_IN: LazyLock<Vec<(&str, Theme)>> = LazyLock::new(|| {
    let read = |(name, text): &(&'static str, &str)| {
        let sheet: Sheet = toml::from_str(text).ok()?;
        Some((*name, sheet.over(Theme::PLAIN)))
    };
    FILES.iter().filter_map(read).collect()
});

/// Why a file is no theme.
#[derive(Debug, thiserror::Error)]
pub enum BrokenTheme {
    /// It cannot be read as one.
    #[error(transparent)]
    Unreadable(#[from] toml::de::Error),
    /// It stands on a theme that is not built in.
    #[error("`inherits` names '{0}'; it can name: {1}")]
    Orphan(String, String),
}

/// The file of a theme. What it does not give is as in the theme that it inherits from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    inherits: Option<String>,
    fills: Option<Fills>,
    #[serde(default)]
    roles: Roles,
    #[serde(default)]
    styles: GivenStyles,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Roles {
    system: Option<Look>,
    container: Option<Look>,
    user: Option<Look>,
    assistant: Option<Look>,
    tool: Option<Look>,
}

impl Theme {
    /// Reads the file of a theme.
    ///
    /// # Errors
    ///
    /// Where it is not one; the message has the line, and what could stand there.
    pub fn read(text: &str) -> Result<Theme, BrokenTheme> {
        let sheet: Sheet = toml::from_str(text)?;
        let below = sheet.inherits.as_deref().unwrap_or(DEFAULT);
        let known = BUILT_IN.iter().find(|(name, _)| *name == below);
        match known {
            Some((_, below)) => Ok(sheet.over(*below)),
            None => {
                let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
                let named = below.escape_debug().to_string();
                Err(BrokenTheme::Orphan(named, names.join(", ")))
            }
        }
    }

    /// A theme that is built in; one without styles where there is none of that name.
    pub(super) fn built_in(name: &str) -> Theme {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        found.map_or(Theme::PLAIN, |(_, theme)| *theme)
    }
}

impl Sheet {
    fn over(&self, below: Theme) -> Theme {
        let role = |role: Role| {
            let given = match role {
                Role::System => self.roles.system,
                Role::Container => self.roles.container,
                Role::User => self.roles.user,
                Role::Assistant => self.roles.assistant,
                Role::Tool => self.roles.tool,
            };
            given.map_or(below.role(role), Style::from)
        };
        Theme {
            glyphs: below.glyphs,
            fills: self.fills.unwrap_or(below.fills),
            roles: Role::ALL.map(role),
            styles: below.styles.with(&self.styles),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Modifier};

    #[test]
    fn all_that_are_built_in_can_be_read_and_say_all() {
        let named = Theme::PLAIN.styles.named();
        for (name, text) in FILES {
            let sheet: Sheet = toml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(sheet.inherits.is_none());
            let table: toml::Table = toml::from_str(text).unwrap();
            let styles = table["styles"].as_table().unwrap();
            for (key, _) in &named {
                assert!(styles.contains_key(*key), "{name} leaves out {key}");
            }
            assert_eq!(table["roles"].as_table().unwrap().len(), Role::ALL.len());
        }
        assert_eq!(BUILT_IN.len(), FILES.len());
    }

    #[test]
    fn a_theme_of_ones_own_changes_what_it_gives() {
        let text = "inherits = \"dark\"\nfills = \"by-role\"\n[roles]\nuser = \"#ffffff\"\n\
            [styles]\nmatch = \"reverse\"\n";
        let (own, dark) = (Theme::read(text).unwrap(), Theme::built_in("dark"));
        assert_eq!(own.role_colour(Role::User), Color::Rgb(255, 255, 255));
        assert_eq!(own.role(Role::Tool), dark.role(Role::Tool));
        assert_eq!(own.match_(), Style::new().add_modifier(Modifier::REVERSED));
        assert_eq!(own.quiet(), dark.quiet());
        assert_eq!(own.fills, Fills::ByRole);
        assert_eq!(Theme::read("").unwrap(), Theme::default());
    }

    #[test]
    fn a_broken_theme_says_where_and_why() {
        for (text, why) in [
            ("[styles]\nquite = \"dim\"\n", "quite"),
            ("[styles]\nquiet = \"dimm\"\n", "'dimm' has no place"),
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
