//! The files below a folder of this machine that may be somebody else's: no link leads out of it.

use super::{Bytes, Entries, FileSystem, Local, Stamp, Stat, opened};
use files::Root;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The files of this machine, of which those below a folder are reached by no link that leads out of it.
///
/// Formats keep files beside the folder too. These are reached as on this machine.
pub struct Rooted {
    folder: PathBuf,
    /// The folder, once it is there.
    root: OnceLock<Root>,
}

impl Rooted {
    /// Returns the files below a folder. It need not exist yet.
    pub fn new(folder: PathBuf) -> Rooted {
        Rooted {
            folder,
            root: OnceLock::new(),
        }
    }

    /// Returns the folder, if a path is in it.
    fn around(&self, path: &Path) -> io::Result<Option<&Root>> {
        let root = match self.root.get() {
            Some(root) => root,
            None => {
                let root = Root::of(&self.folder)?;
                self.root.get_or_init(|| root)
            }
        };
        Ok(root.below(path).map(|_| root))
    }
}

impl FileSystem for Rooted {
    fn list(&self, folder: &Path) -> io::Result<Entries> {
        Local.list(&self.place(folder)?)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        match self.around(path)? {
            Some(root) => fs::symlink_metadata(root.real(path)?).map(|meta| Stat::from(&meta)),
            None => Local.stat(path),
        }
    }

    fn open(&self, path: &Path) -> io::Result<(Bytes, Stamp)> {
        match self.around(path)? {
            Some(root) => opened(files::open_itself(&root.real(path)?)?),
            None => Local.open(path),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        match self.around(path)? {
            Some(root) => files::look_at_itself(&root.real(path)?).map(|meta| Stamp::from(&meta)),
            None => Local.stamp(path),
        }
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match self.around(path)? {
            Some(root) => root.real(path),
            None => Local.real(path),
        }
    }

    fn place(&self, path: &Path) -> io::Result<PathBuf> {
        match self.around(path)? {
            Some(root) => root.real(path),
            None => Local.place(path),
        }
    }

    fn open_part(&self, folder: &Path, name: &Path) -> io::Result<(Bytes, Stamp)> {
        Local.open_part(&self.place(folder)?, name)
    }

    fn is_confined(&self) -> bool {
        true
    }

    fn is_here(&self) -> bool {
        true
    }
}
