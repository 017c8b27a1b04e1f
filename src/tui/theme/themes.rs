//! The themes to choose from, and the chosen one.

use super::{Charset, ColourDepth, Fills, Theme, file};

/// The themes to choose from, and the chosen one.
#[derive(Debug, Clone)]
pub struct Themes {
    all: Vec<(String, Theme)>,
    at: usize,
}

/// No theme has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown theme '{name}'; choose one of: {known}")]
pub struct UnknownTheme {
    name: String,
    known: String,
}

impl Default for Themes {
    /// Returns the built-in themes; the first is chosen.
    fn default() -> Themes {
        let owned = |(name, theme): &(&str, Theme)| ((*name).to_owned(), *theme);
        Themes {
            all: file::BUILT_IN.iter().map(owned).collect(),
            at: 0,
        }
    }
}

impl Themes {
    /// Returns only the theme without colours.
    pub fn monochrome() -> Themes {
        Themes {
            all: vec![(file::MONOCHROME.to_owned(), Theme::monochrome())],
            at: 0,
        }
    }

    /// Adds a theme; it replaces one of the same name.
    pub fn add(&mut self, name: String, theme: Theme) {
        match self.all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = theme,
            None => self.all.push((name, theme)),
        }
    }

    /// Chooses the theme of this name.
    ///
    /// # Errors
    ///
    /// If there is none; the message lists the names.
    pub fn choose(&mut self, name: &str) -> Result<(), UnknownTheme> {
        let at = self.all.iter().position(|(known, _)| known == name);
        self.at = at.ok_or_else(|| UnknownTheme {
            name: name.escape_debug().to_string(),
            known: self.names().collect::<Vec<_>>().join(", "),
        })?;
        Ok(())
    }

    /// Chooses the next theme; after the last, the first.
    pub fn next(&mut self) {
        self.at = (self.at + 1) % self.all.len().max(1);
    }

    /// Returns the name of the chosen theme.
    pub fn name(&self) -> &str {
        self.all.get(self.at).map_or("", |(name, _)| name)
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the chosen theme.
    pub fn theme(&self) -> Theme {
        let found = self.all.get(self.at);
        found.map_or_else(Theme::default, |(_, theme)| *theme)
    }

    /// Restricts all themes to what the terminal and the user allow. Without `fills` each theme keeps its own.
    pub fn adapt(&mut self, depth: ColourDepth, charset: Charset, fills: Option<Fills>) {
        for (_, theme) in &mut self.all {
            *theme = theme.at(depth);
            theme.charset = charset;
            theme.fills = fills.unwrap_or(theme.fills);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Color;

    #[test]
    fn the_next_leads_around() {
        let mut themes = Themes::default();
        let names: Vec<String> = themes.names().map(str::to_owned).collect();
        for name in &names {
            assert_eq!(themes.name(), name);
            themes.next();
        }
        assert_eq!(themes.name(), "terminal");
        let mut one = Themes::monochrome();
        one.next();
        assert_eq!(one.theme(), Theme::monochrome());
    }

    #[test]
    fn themes_have_names() {
        let mut themes = Themes::default();
        themes.choose("light").unwrap();
        assert_ne!(themes.theme(), Theme::default());
        let error = themes.choose("lihgt").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown theme 'lihgt'; choose one of: terminal, dark, light, colour-blind, monochrome"
        );
        themes.add("light".to_owned(), Theme::default());
        assert_eq!(themes.theme(), Theme::default());
        themes.add("mine".to_owned(), Theme::monochrome());
        themes.choose("mine").unwrap();
        assert_eq!(themes.theme(), Theme::monochrome());
    }

    #[test]
    fn a_terminal_of_256_colours_gets_no_others() {
        let mut themes = Themes::default();
        themes.adapt(ColourDepth::Indexed, Charset::Unicode, None);
        for _ in 0..themes.all.len() {
            let theme = themes.theme();
            for style in theme.styles {
                for colour in [style.fg, style.bg] {
                    assert!(!matches!(colour, Some(Color::Rgb(..))), "{style:?}");
                }
            }
            themes.next();
        }
    }
}
