//! A private copy of a database: only a writer can roll back the journal of a writer that is gone.

use super::version::{Files, JOURNAL_MAGIC, JOURNAL_SUFFIX, WAL_SUFFIX, beside};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The size of the largest database that is copied, its log included, in bytes.
const LARGEST_DATABASE: u64 = 256 << 20;
const COPY_NAME: &str = "database";

/// Returns a copy of the files in a folder of its own, and where the database is in it.
pub fn copy(path: &Path, files: Files) -> io::Result<(TempDir, PathBuf)> {
    if files.bytes() > LARGEST_DATABASE {
        return Err(io::Error::other(format!(
            "its journal can only be read from a copy, and {} MiB are too many for one: start the agent \
             once, it takes the journal in",
            files.bytes() >> 20
        )));
    }
    let folder = tempfile::tempdir()?;
    let to = folder.path().join(COPY_NAME);
    let mut left = LARGEST_DATABASE - files::copy(path, &to, LARGEST_DATABASE)?;
    for suffix in [WAL_SUFFIX, JOURNAL_SUFFIX] {
        let copy = beside(&to, suffix);
        match files::copy(&beside(path, suffix), &copy, left) {
            Ok(copied) => left -= copied,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        }
        if suffix == JOURNAL_SUFFIX && names_another(&copy)? {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "its journal is of a transaction that changed other databases too: start the agent once, \
                 it takes the journal in",
            ));
        }
    }
    if Files::of(path)? == files {
        Ok((folder, to))
    } else {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// Returns true if a journal ends with the path of another one, of a transaction in several databases. SQLite would
/// open that path, and delete the file there when it has rolled the journal back
/// (<https://www.sqlite.org/tempfiles.html>, 2.5). The path is followed by its length, its checksum and the magic
/// number of a journal (<https://www.sqlite.org/fileformat2.html>, 3).
pub fn names_another(journal: &Path) -> io::Result<bool> {
    let mut file = files::open(journal)?;
    if file.metadata()?.len() < JOURNAL_MAGIC.len() as u64 {
        return Ok(false);
    }
    let mut end = [0; JOURNAL_MAGIC.len()];
    file.seek(SeekFrom::End(-(end.len() as i64)))?;
    file.read_exact(&mut end)?;
    Ok(end == JOURNAL_MAGIC)
}
