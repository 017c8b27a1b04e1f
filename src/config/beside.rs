//! Small files of the user's own in folders beside the configuration.

use anyhow::{Context, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file `NAME.toml` in a folder beside the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// Where it is.
    pub path: PathBuf,
    /// Its name without the ending.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// The mappings of formats of the user's own: `agents/NAME.toml` beside the configuration, whose path
/// `file` is.
///
/// # Errors
///
/// Where the folder or a file in it cannot be read.
pub fn mappings(file: Option<&Path>) -> Result<Vec<Beside>> {
    all(file, "agents")
}

/// The mapping at this path; if there is none, the one of this name beside the configuration, whose path
/// `file` is.
///
/// # Errors
///
/// If it cannot be read.
pub fn named_mapping(file: Option<&Path>, path: &Path) -> Result<Beside> {
    let folder = file.and_then(Path::parent);
    let beside = folder.map(|folder| folder.join("agents").join(path).with_extension("toml"));
    match beside {
        Some(beside) if !path.exists() && beside.exists() => read(beside),
        _ => read(path.to_owned()),
    }
}

fn read(path: PathBuf) -> Result<Beside> {
    let text = std::fs::read_to_string(&path).with_context(|| unreadable(&path))?;
    let name = path.file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    Ok(Beside { path, name, text })
}

/// The files `NAME.toml` of a folder beside the configuration, in the order of their names; none where
/// there is no such folder.
pub(super) fn all(file: Option<&Path>, folder: &str) -> Result<Vec<Beside>> {
    match file.and_then(Path::parent) {
        Some(parent) => files(&parent.join(folder))?.into_iter().map(read).collect(),
        None => Ok(Vec::new()),
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| unreadable(folder)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| unreadable(folder))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
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
        assert_eq!(mappings(Some(&file)).unwrap(), []);
        assert_eq!(mappings(None).unwrap(), []);
        let below = folder.path().join("agents");
        std::fs::create_dir(&below).unwrap();
        for (name, text) in [("b.toml", "B"), ("a.toml", "A"), ("notes.md", "")] {
            std::fs::write(below.join(name), text).unwrap();
        }
        let found = mappings(Some(&file)).unwrap();
        let found: Vec<_> = found.iter().map(|f| (&*f.name, &*f.text)).collect();
        assert_eq!(found, [("a", "A"), ("b", "B")]);
    }
}
