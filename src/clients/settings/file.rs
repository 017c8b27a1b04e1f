//! Files of settings: read, replaced as a whole, and kept beside as they were.

use super::Refusal;
use super::places::PLUGIN;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

/// The largest file of settings that is changed, in bytes.
const LARGEST: u64 = 4 << 20;

/// A change to a file, worked out and not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its text; `None`: there is no such file.
    pub before: Option<String>,
    /// Its text after the change; `None`: it is removed.
    pub after: Option<String>,
}

impl Change {
    /// Whether it changes anything.
    pub fn is_some(&self) -> bool {
        self.before != self.after
    }
}

/// The original of a file that we changed. Its name has a hash of what we wrote, so that it is known whether anybody has
/// changed the file since.
#[derive(Debug)]
pub struct Backup(PathBuf);

impl Backup {
    /// The original of the file with this text, which is what we wrote.
    pub(super) fn of(path: &Path, text: &str) -> Option<Backup> {
        let backup = Backup::named(path, text);
        backup.0.is_file().then_some(backup)
    }

    /// The path of the original once this is written.
    fn named(path: &Path, written: &str) -> Backup {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hash = xxh3_64(written.as_bytes());
        Backup(path.with_file_name(format!("{name}{MIDDLE}{hash:016x}{END}")))
    }

    /// Whether there is any original of a file, of whatever we wrote.
    pub(super) fn exists(path: &Path) -> bool {
        let beginning = format!(
            "{}{MIDDLE}",
            path.file_name().unwrap_or_default().to_string_lossy()
        );
        let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
        let names = entries.into_iter().flatten().flatten();
        let mut names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.any(|name| name.starts_with(&beginning) && name.ends_with(END))
    }

    pub(super) fn read(&self) -> Option<String> {
        read(&self.0).ok().flatten()
    }
}

/// The parts of a backup's name around the hash.
const MIDDLE: &str = ".ctxgauge-";
const END: &str = ".bak";

/// The text of a file of settings; `None`: there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, Refusal> {
    match files::read_text(path, LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, error)),
    }
}

/// Makes a change. Returns where the original is kept; `None`: nothing is kept, since there was no file or it is as before
/// again.
///
/// # Errors
///
/// If the file was changed meanwhile, or cannot be written.
pub fn write(change: &Change) -> Result<Option<PathBuf>, Refusal> {
    if !change.is_some() {
        return Ok(None);
    }
    // Settings may be kept elsewhere and linked.
    let path = &fs::canonicalize(&change.path).unwrap_or_else(|_| change.path.clone());
    if read(path)? != change.before {
        let why = "somebody else has just changed it; try again".to_owned();
        return Err(Refusal::Unclear {
            path: path.clone(),
            why,
        });
    }
    let beside = &change.path;
    let known = change
        .before
        .as_deref()
        .and_then(|text| Backup::of(beside, text));
    let original = known.as_ref().and_then(Backup::read);
    let kept = match (&change.before, &change.after) {
        // It is as it was.
        (_, after) if known.is_some() && *after == original => None,
        (Some(before), Some(after)) => {
            let backup = Backup::named(beside, after).0;
            put(&backup, original.as_ref().unwrap_or(before), path)?;
            Some(backup)
        }
        _ => None,
    };
    match &change.after {
        Some(after) => put(path, after, path)?,
        None => {
            fs::remove_file(path).map_err(|error| failed("remove", path, error))?;
            remove_own_folders(path);
        }
    }
    if let Some(Backup(old)) = known
        && kept.as_ref() != Some(&old)
    {
        fs::remove_file(&old).map_err(|error| failed("remove", &old, error))?;
    }
    Ok(kept)
}

/// Removes the folders around a file that is gone which are our own, and empty.
fn remove_own_folders(path: &Path) {
    let mut folders = path.ancestors().skip(1);
    let is_own = |folder: &&Path| folder.ancestors().any(|above| above.ends_with(PLUGIN));
    while let Some(folder) = folders.next().filter(is_own) {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Writes a file as a whole, with the permissions of another one, else for the user alone.
fn put(path: &Path, text: &str, like: &Path) -> Result<(), Refusal> {
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        if let Ok(meta) = fs::metadata(like) {
            file.as_file().set_permissions(meta.permissions())?;
        }
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| failed("write", path, error))
}

fn failed(doing: &'static str, path: &Path, error: io::Error) -> Refusal {
    Refusal::Io {
        doing,
        path: path.to_path_buf(),
        error,
    }
}
