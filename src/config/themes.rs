//! The user's themes: files beside the configuration.

use super::files::{self, UserFile, invalid};
use crate::tui::theme::{Theme, Themes};
use anyhow::{Context, Result};
use std::path::Path;

/// The built-in themes, and those in `themes/NAME.toml` beside the configuration file `config`.
///
/// # Errors
///
/// If the folder or a file in it cannot be read, or a file is not a theme.
pub fn themes(config: Option<&Path>) -> Result<Themes> {
    let mut themes = Themes::default();
    for UserFile { path, name, text } in files::all(config, "themes")? {
        let theme = Theme::read(&text).with_context(|| invalid(&path, "theme"))?;
        themes.add(name, theme);
    }
    Ok(themes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beside_the_configuration_are_themes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let built_in = themes(Some(&file)).unwrap().names().count();
        assert_eq!(built_in, themes(None).unwrap().names().count());
        let below = folder.path().join("themes");
        std::fs::create_dir(&below).unwrap();
        std::fs::write(below.join("mine.toml"), "inherits = \"light\"\n").unwrap();
        std::fs::write(below.join("notes.txt"), "none").unwrap();
        let mut all = themes(Some(&file)).unwrap();
        assert_eq!(all.names().count(), built_in + 1);
        all.choose("light").unwrap();
        let light = all.theme();
        all.choose("mine").unwrap();
        assert_eq!(all.theme(), light);
    }

    #[test]
    fn a_broken_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("themes");
        std::fs::create_dir(&below).unwrap();
        std::fs::write(below.join("mine.toml"), "[styles]\nquiet = \"dimm\"\n").unwrap();
        let error = themes(Some(&folder.path().join("config.toml"))).unwrap_err();
        let error = format!("{error:#}");
        assert!(
            error.contains("mine.toml") && error.contains("dimm"),
            "{error}"
        );
    }
}
