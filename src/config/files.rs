//! Reads the user's files: the configuration, and small files in folders next to it.

use anyhow::{Context, Result};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes: configurations, mappings, themes and models tables have kilobytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// A file `NAME.toml` in a folder next to the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

impl UserFile {
    /// Returns its name without the extension.
    pub fn name(&self) -> Cow<'_, str> {
        self.path.file_stem().unwrap_or_default().to_string_lossy()
    }
}

/// Reads the user's mappings of log formats: `agents/NAME.toml` next to the configuration file `config`. A file that
/// cannot be read is an error in the list.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn mappings(config: Option<&Path>) -> Result<Vec<(PathBuf, Result<UserFile>)>> {
    all(config, "agents")
}

/// Reads the mapping at this path or, if there is none, the one of this name next to the configuration file `config`.
///
/// # Errors
///
/// If it cannot be read.
pub fn named_mapping(config: Option<&Path>, path: &Path) -> Result<UserFile> {
    let folder = config.and_then(Path::parent);
    let named = folder.map(|folder| folder.join("agents").join(path).with_extension("toml"));
    match named {
        Some(named) if !path.exists() && named.exists() => user_file(named),
        _ => Ok(UserFile {
            text: read(path)?,
            path: path.to_owned(),
        }),
    }
}

/// Reads the files `NAME.toml` of a folder next to the configuration, ordered by name; none if there is no such folder.
/// A file that cannot be read is an error in the list.
pub(super) fn all(config: Option<&Path>, folder: &str) -> Result<Vec<(PathBuf, Result<UserFile>)>> {
    let Some(parent) = config.and_then(Path::parent) else {
        return Ok(Vec::new());
    };
    let folder = parent.join(folder);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if files::is_absent(&error) => return Ok(Vec::new()),
        entries => entries.with_context(|| unreadable(&folder))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(|| unreadable(&folder))?.path());
    }
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort();
    let files = paths.into_iter();
    Ok(files.map(|path| (path.clone(), user_file(path))).collect())
}

fn user_file(path: PathBuf) -> Result<UserFile> {
    let text = files::read_text(&path, MAX_FILE_BYTES).with_context(|| unreadable(&path))?;
    Ok(UserFile { path, text })
}

/// Reads a file that the user has named.
pub(super) fn read(path: &Path) -> Result<String> {
    files::read_named(path, MAX_FILE_BYTES).with_context(|| unreadable(path))
}

/// Reads a file, if it exists.
pub(super) fn read_if_any(path: &Path) -> Result<Option<String>> {
    match files::read_text(path, MAX_FILE_BYTES) {
        Err(error) if files::is_absent(&error) => Ok(None),
        text => Ok(Some(text.with_context(|| unreadable(path))?)),
    }
}

/// Returns the message for a file that is not valid.
pub(super) fn invalid(path: &Path, what: &str) -> String {
    format!(
        "'{}' is not a valid {what}; correct or remove the line that is named here",
        path.display()
    )
}

fn unreadable(path: &Path) -> String {
    format!(
        "cannot read '{}'; check the path and its permissions",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_their_names_and_none_without_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert!(mappings(Some(&file)).unwrap().is_empty());
        assert!(mappings(None).unwrap().is_empty());
        let below = folder.path().join("agents");
        std::fs::create_dir(&below).unwrap();
        for (name, text) in [("b.toml", "B"), ("a.toml", "A"), ("notes.md", "")] {
            std::fs::write(below.join(name), text).unwrap();
        }
        let found = mappings(Some(&file)).unwrap();
        let found = found.iter().map(|(_, file)| file.as_ref().unwrap());
        let found: Vec<_> = found.map(|f| (f.name(), &*f.text)).collect();
        assert_eq!(found, [("a".into(), "A"), ("b".into(), "B")]);
    }
}
