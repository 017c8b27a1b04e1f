//! Files of settings: read, replaced as a whole, and kept beside as they were.

use super::{Refusal, unclear};
use ::files::own;
use ::files::swap::{SwapOutcome, remove_left, swap, write_like};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
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
    /// True if something of ours is in it after the change, so that its original is kept.
    pub has_ours: bool,
    /// A folder around it that stays: empty ones in it go with the file.
    pub within: PathBuf,
}

impl Change {
    /// Returns true if it changes anything.
    pub fn is_some(&self) -> bool {
        self.before != self.after
    }
}

/// The original of a file that we changed. Its name has a hash of what we wrote, so that it is known whether anybody has
/// changed the file since.
#[derive(Debug)]
pub struct Backup(PathBuf);

impl Backup {
    /// Returns the original of the file with this text, which is what we wrote.
    pub(super) fn of(path: &Path, text: &str) -> Option<Backup> {
        let backup = Backup::named(path, text);
        backup.0.is_file().then_some(backup)
    }

    /// Returns the path of the original once this is written.
    fn named(path: &Path, written: &str) -> Backup {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hash = xxh3_64(written.as_bytes());
        Backup(path.with_file_name(format!("{name}{MIDDLE}{hash:016x}{END}")))
    }

    /// Returns true if any original of a file is kept, whatever we wrote into it.
    pub(super) fn exists(path: &Path) -> bool {
        !Backup::all(path).is_empty()
    }

    /// Returns all originals of a file, of whatever we wrote.
    fn all(path: &Path) -> Vec<Backup> {
        let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
        let entries = entries.into_iter().flatten().flatten();
        let paths = entries.map(|entry| path.with_file_name(entry.file_name()));
        let paths = paths.filter(|beside| Backup::is_of(path, beside));
        paths.map(Backup).collect()
    }

    /// Returns true if a file beside another one is an original of that, by its name. A file of the user may have a similar
    /// one.
    fn is_of(path: &Path, beside: &Path) -> bool {
        let [of, name] = [path, beside].map(|path| path.file_name().unwrap_or_default());
        let (of, name) = (of.to_string_lossy(), name.to_string_lossy());
        let hash = name.strip_prefix(&*of);
        let hash = hash.and_then(|rest| rest.strip_prefix(MIDDLE)?.strip_suffix(END));
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(is_digit))
    }

    pub(super) fn read(&self) -> Option<String> {
        own::read_text(&self.0, LARGEST).ok()
    }
}

/// The parts of a backup's name around the hash.
const MIDDLE: &str = ".ctxgauge-";
const END: &str = ".bak";

/// Removes what a program that was killed has left of a change to this file.
pub fn sweep(path: &Path) {
    let real = files::target(path).unwrap_or_default();
    for path in [path, &real] {
        remove_left(path, |of| *of == *path || Backup::is_of(path, of));
    }
}

/// Returns the text of a file of settings; `None`: there is none.
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
    let beside = &change.path;
    let path = &files::target(beside).map_err(|error| failed("write", beside, error))?;
    if fs::metadata(path).is_ok_and(|meta| meta.permissions().readonly()) {
        return Err(unclear(path, "it is read-only".to_owned()));
    }
    let known = change
        .before
        .as_deref()
        .and_then(|text| Backup::of(beside, text));
    let original = known.as_ref().and_then(Backup::read);
    let kept = match (&change.before, &change.after) {
        // It is as it was.
        (_, after) if known.is_some() && *after == original => None,
        (Some(before), Some(after)) if change.has_ours => {
            let backup = Backup::named(beside, after);
            let original = original.as_ref().unwrap_or(before);
            // With the permissions and the owner of the file.
            let kept = write_like(&backup.0, original.as_bytes(), path);
            kept.map_err(|error| failed("write", &backup.0, error))?;
            Some(backup)
        }
        _ => None,
    };
    let made = put(path, change.before.as_deref(), change.after.as_deref());
    if let (Err(_), Some(Backup(kept))) = (&made, &kept) {
        // Nothing was changed, so it is the original of nothing.
        fs::remove_file(kept).map_err(|error| failed("remove", kept, error))?;
    }
    made?;
    // There is one original of a file.
    for Backup(old) in Backup::all(beside) {
        if kept.as_ref().is_none_or(|kept| kept.0 != old) {
            fs::remove_file(&old).map_err(|error| failed("remove", &old, error))?;
        }
    }
    if change.after.is_none() {
        let inside =
            |folder: &&Path| folder.starts_with(&change.within) && **folder != change.within;
        let folders = path.ancestors().skip(1).take_while(inside);
        // One that is not empty ends it.
        let _ = folders
            .map(fs::remove_dir)
            .take_while(Result::is_ok)
            .count();
    }
    Ok(kept.map(|backup| backup.0))
}

/// Replaces a file that is as it was.
fn put(path: &Path, before: Option<&str>, after: Option<&str>) -> Result<(), Refusal> {
    if let (Some(folder), Some(_)) = (path.parent(), after) {
        fs::create_dir_all(folder).map_err(|error| failed("write", path, error))?;
    }
    let [before, after] = [before, after].map(|text| text.map(str::as_bytes));
    match swap(path, before, after) {
        Ok(SwapOutcome::Done) => Ok(()),
        Ok(SwapOutcome::Changed) => {
            let why = "somebody else has just changed it; try again";
            Err(unclear(path, why.to_owned()))
        }
        Err(error) => Err(failed("write", path, error)),
    }
}

fn failed(doing: &'static str, path: &Path, error: io::Error) -> Refusal {
    Refusal::Io {
        doing,
        path: path.to_path_buf(),
        error,
    }
}
