//! Lists the folders of messages and parts.

use crate::source::Stamp;
use crate::source::file_system::{Entry, Location};
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Returns the JSON files of a folder with their stamps, in the order of their names; none if there is no such folder.
pub(super) fn json_files(at: &Location, folder: &Path) -> io::Result<Vec<(Entry, Stamp)>> {
    let mut files = match at.system.list_stamped(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    files.retain(|(entry, _)| is_json(&entry.name));
    files.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    Ok(files)
}

/// Returns their names alone.
pub(super) fn names(at: &Location, folder: &Path) -> io::Result<Vec<OsString>> {
    let entries = match at.system.list(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.name);
    }
    names.retain(is_json);
    names.sort();
    Ok(names)
}

fn is_json(name: &OsString) -> bool {
    Path::new(name).extension().is_some_and(|ext| ext == "json")
}
