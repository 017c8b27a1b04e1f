//! Defines the file systems in which logs are found and read: the files of this machine, or others that can be accessed
//! in the same way.
//!
//! All files are found, stamped and opened through [`FileSystem`]. Another kind of place to read from, such as another
//! machine, is an implementation of it and a [root] in which logs are looked for. Formats, stores, cursors and screens
//! do not depend on the file system of a log.
//!
//! Paths are `PathBuf`s all the same. Formats recognise their logs by the parts of a path, and derive the paths of
//! other files from it; the sessions, the reports and the cache identify a log by its path. So all paths in another file
//! system begin with its name, as `ssh://host/home/ada` does: then no path is in two file systems.
//!
//! Some things are only done on this machine: databases are read, since SQLite opens files by itself; the system is
//! asked for hints, while elsewhere each look finds what is new; hard links are distinguished; and the settings and
//! processes of agents are looked up.
//!
//! [root]: crate::discover::roots::SearchRoot::In

mod rooted;

pub use rooted::Rooted;

use super::{Bytes, Open, Stamp};
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files and folders that can be listed, stamped and opened. Nothing is written to them.
pub trait FileSystem: Send + Sync {
    /// Returns the entries of a folder.
    fn list(&self, folder: &Path) -> io::Result<Entries>;

    /// Returns the facts about the file or folder at a path. Links are followed.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Opens the file at a path, to be read, with its stamp. Links are followed.
    ///
    /// # Errors
    ///
    /// If it is not a file.
    fn open(&self, path: &Path) -> io::Result<(Bytes, Stamp)>;

    /// Returns the stamp of the file at a path. Links are followed.
    ///
    /// # Errors
    ///
    /// If it is not a file.
    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        let stat = self.stat(path)?;
        if stat.kind == Kind::File {
            Ok(stat.stamp)
        } else {
            let what = "it is not a file";
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
    }

    /// Returns the path of what is at a path, without links. By default there are none.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if nothing is there.
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.stat(path).map(|_| path.to_path_buf())
    }

    /// Returns the path at which other libraries open what is at a path.
    ///
    /// # Errors
    ///
    /// If it is not to be opened.
    fn place(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_path_buf())
    }

    /// Opens what is directly in a folder. If it is a link, it must not lead out of the folder.
    fn open_part(&self, folder: &Path, name: &Path) -> io::Result<(Bytes, Stamp)> {
        let real = |path: &Path| self.real(path);
        self.open(&files::real_below(&real, folder, &folder.join(name))?)
    }

    /// Does the same as [`files::below`].
    fn below(&self, folder: &Path, path: &Path) -> io::Result<PathBuf> {
        files::real_below(&|path| self.real(path), folder, path)
    }

    /// Returns true if no link in its folder is followed out of that.
    fn is_confined(&self) -> bool {
        false
    }

    /// Returns true if its files are those of this machine, by the same paths.
    fn is_here(&self) -> bool {
        false
    }
}

impl dyn FileSystem + '_ {
    /// Returns true if there is a file or a folder at a path. A pipe in its place does not count.
    pub fn has(&self, path: &Path) -> bool {
        let stat = self.stat(path);
        stat.is_ok_and(|stat| matches!(stat.kind, Kind::File | Kind::Folder))
    }

    /// Returns the bytes of the file at a path, which must not be more than `most`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::FileTooLarge`] if there are more.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        read_all(self.open(path)?, most)
    }

    /// Does the same as [`files::beside`].
    pub fn beside(&self, log: &Path, path: &Path) -> io::Result<PathBuf> {
        files::real_beside(&|path| self.real(path), log, path)
    }
}

/// Returns the bytes of an opened file, which must not be more than `most`.
///
/// # Errors
///
/// [`io::ErrorKind::FileTooLarge`] if there are more.
pub fn read_all((bytes, stamp): (Bytes, Stamp), most: u64) -> io::Result<Vec<u8>> {
    files::read_at_most(bytes, stamp.len, most)
}

/// The entries of a folder, in any order.
pub type Entries = Box<dyn Iterator<Item = io::Result<Entry>>>;

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// Its kind; links are not followed.
    pub kind: Kind,
}

/// The kind of an entry in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a device, or something unknown.
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Kind {
        if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_symlink() {
            Kind::Link
        } else {
            Kind::Other
        }
    }
}

/// The facts about the file or folder at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its kind.
    pub kind: Kind,
    /// Its stamp.
    pub stamp: Stamp,
    /// True if it is a file of this machine that has other names, by hard links.
    pub has_other_names: bool,
}

impl From<&Metadata> for Stat {
    fn from(meta: &Metadata) -> Stat {
        let kind = Kind::from(meta.file_type());
        Stat {
            kind,
            stamp: Stamp::from(meta),
            has_other_names: kind == Kind::File && files::links(meta) > 1,
        }
    }
}

/// The files of this machine.
pub struct Local;

impl FileSystem for Local {
    fn list(&self, folder: &Path) -> io::Result<Entries> {
        let entries = fs::read_dir(folder)?;
        Ok(Box::new(entries.map(|entry| {
            let entry = entry?;
            Ok(Entry {
                kind: entry.file_type().map_or(Kind::Other, Kind::from),
                name: entry.file_name(),
            })
        })))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::metadata(path).map(|meta| Stat::from(&meta))
    }

    fn open(&self, path: &Path) -> io::Result<(Bytes, Stamp)> {
        opened(files::open(path)?)
    }

    /// Returns the stamp of a file. The error names what is there if it is not a file.
    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        files::look(path).map(|meta| Stamp::from(&meta))
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    /// Looks for a link only where there is one: folders have thousands of parts.
    fn open_part(&self, folder: &Path, name: &Path) -> io::Result<(Bytes, Stamp)> {
        opened(files::open_part(folder, name)?)
    }

    fn is_here(&self) -> bool {
        true
    }
}

fn opened(file: fs::File) -> io::Result<(Bytes, Stamp)> {
    let stamp = Stamp::from(&file.metadata()?);
    Ok((Box::new(file), stamp))
}

/// A path in a file system.
#[derive(Clone)]
pub struct Location {
    /// The file system.
    pub system: Arc<dyn FileSystem>,
    /// The path.
    pub path: Arc<PathBuf>,
}

impl Location {
    /// Returns a path on this machine.
    pub fn here(path: impl Into<PathBuf>) -> Location {
        Location {
            system: Arc::new(Local),
            path: Arc::new(path.into()),
        }
    }

    /// Returns another path in the same file system.
    #[must_use]
    pub fn at(&self, path: impl Into<PathBuf>) -> Location {
        Location {
            system: Arc::clone(&self.system),
            path: Arc::new(path.into()),
        }
    }

    /// Returns the stamp of what is there, also of a folder.
    pub fn stamp_of_any(&self) -> io::Result<Stamp> {
        self.system.stat(&self.path).map(|stat| stat.stamp)
    }
}

impl Open for Location {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        self.system.open(&self.path)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.system.stamp(&self.path)
    }

    fn is_one_file(&self) -> bool {
        true
    }
}

/// Tests read files of this machine.
#[cfg(test)]
impl Open for PathBuf {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        Local.open(self)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        FileSystem::stamp(&Local, self)
    }

    fn is_one_file(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
