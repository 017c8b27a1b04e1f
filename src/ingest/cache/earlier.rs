//! The file of what earlier sessions have shown. It is small and written by every program that reads a session whole.

use super::file::replace;
use model::earlier::{Earlier, Facts};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes: a larger one is not ours.
const LARGEST_FILE: u64 = 1 << 20;

fn path(folder: &Path) -> PathBuf {
    folder.join("earlier.json")
}

/// Reads the facts in a folder. There are none if anything is wrong with the file.
pub fn load(folder: &Path) -> Earlier {
    Earlier::new(read(folder))
}

fn read(folder: &Path) -> Facts {
    let bytes = files::read(&path(folder), LARGEST_FILE);
    let all = bytes
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    all.unwrap_or_default()
}

/// Writes those that are new, with those that other programs have written meanwhile.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save(folder: &Path, earlier: &Earlier) -> io::Result<()> {
    if !earlier.has_new() {
        return Ok(());
    }
    let all = earlier.take_new(read(folder));
    let bytes = serde_json::to_vec(&all).map_err(io::Error::other)?;
    replace(&path(folder), |file| file.write_all(&bytes))
}
