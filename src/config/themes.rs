//! The user's themes: files in a folder next to the configuration.

use super::files::{self, UserFile, invalid};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use tui::theme::{Theme, Themes};

/// The themes to choose from.
#[derive(Debug)]
pub struct UserThemes {
    /// The built-in ones and the user's.
    pub themes: Themes,
    /// The files that are left out, and why: they cannot be read, or are not themes.
    pub left_out: Vec<(PathBuf, anyhow::Error)>,
}

/// Reads the built-in themes, and the themes in `themes/NAME.toml` next to the configuration file `config`.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn themes(config: Option<&Path>) -> Result<UserThemes> {
    let (mut themes, mut left_out) = (Themes::default(), Vec::new());
    for (path, file) in files::all(config, "themes")? {
        match file.and_then(read) {
            Ok((name, theme)) => themes.add(name, theme),
            Err(error) => left_out.push((path, error)),
        }
    }
    Ok(UserThemes { themes, left_out })
}

impl UserThemes {
    /// Chooses the theme of this name.
    ///
    /// # Errors
    ///
    /// If there is none; the message lists the names. If its file is left out: why.
    pub fn choose(&mut self, name: &str) -> Result<()> {
        let named = |(path, _): &(PathBuf, _)| path.file_stem().is_some_and(|stem| stem == name);
        match self.left_out.iter().position(named) {
            Some(at) => Err(self.left_out.swap_remove(at).1),
            None => Ok(self.themes.choose(name)?),
        }
    }
}

fn read(file: UserFile) -> Result<(String, Theme)> {
    let theme = Theme::read(&file.text).with_context(|| invalid(&file.path, "theme"))?;
    Ok((file.name().into_owned(), theme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beside_the_configuration_are_themes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let built_in = themes(Some(&file)).unwrap().themes.names().count();
        assert_eq!(built_in, themes(None).unwrap().themes.names().count());
        let below = folder.path().join("themes");
        std::fs::create_dir(&below).unwrap();
        std::fs::write(below.join("mine.toml"), "inherits = \"light\"\n").unwrap();
        std::fs::write(below.join("notes.txt"), "none").unwrap();
        let mut all = themes(Some(&file)).unwrap().themes;
        assert_eq!(all.names().count(), built_in + 1);
        all.choose("light").unwrap();
        let light = all.theme();
        all.choose("mine").unwrap();
        assert_eq!(all.theme(), light);
    }

    #[test]
    fn a_broken_one_is_left_out_and_named_and_an_error_only_if_it_is_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let below = folder.path().join("themes");
        std::fs::create_dir(&below).unwrap();
        std::fs::write(below.join("mine.toml"), "[styles]\nquiet = \"dimm\"\n").unwrap();
        std::fs::write(below.join("bytes.toml"), b"\xff\xfe").unwrap();
        std::fs::create_dir(below.join("folder.toml")).unwrap();
        std::fs::write(below.join("other.toml"), "inherits = \"light\"\n").unwrap();
        let mut all = themes(Some(&file)).unwrap();
        let names: Vec<_> = all.left_out.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(
            names,
            ["bytes.toml", "folder.toml", "mine.toml"].map(|name| below.join(name))
        );
        all.choose("other").unwrap();
        let error = format!("{:#}", all.choose("mine").unwrap_err());
        assert!(
            error.contains("mine.toml") && error.contains("dimm"),
            "{error}"
        );
        let error = all.choose("none").unwrap_err().to_string();
        assert!(error.contains("unknown theme 'none'"), "{error}");
    }
}
