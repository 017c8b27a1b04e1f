//! Reports that are written to a file that the user names.

use anyhow::{Context, Result};
use files::output::{Existing, NewFile};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file: beside its place, and moved there when it is complete. That it exists already is an error before
/// `write` is called, unless it may be replaced.
///
/// # Errors
///
/// If something is there that must not be replaced, the file cannot be written, or `write` fails.
pub fn to_file(
    path: &Path,
    existing: Existing,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let new = at(NewFile::create(path, existing), path)?;
    let file = at(new.file(), path)?;
    let mut out = BufWriter::new(NamedFile::new(file, path));
    write(&mut out)?;
    out.flush()?;
    at(new.finish(), path)
}

/// Adds the path to an error.
pub(crate) fn at<T>(done: io::Result<T>, path: &Path) -> Result<T> {
    done.with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write '{}'", path.display())
}

/// A file whose errors have its path.
pub(crate) struct NamedFile {
    file: File,
    path: PathBuf,
}

impl NamedFile {
    pub(crate) fn new(file: File, path: &Path) -> NamedFile {
        let path = path.to_path_buf();
        NamedFile { file, path }
    }

    fn named<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let why = format!("{}: {error}", cannot_write(&self.path));
            io::Error::new(error.kind(), why)
        })
    }
}

impl Write for NamedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write(bytes);
        self.named(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.file.flush();
        self.named(done)
    }
}
