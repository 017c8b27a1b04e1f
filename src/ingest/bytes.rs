//! The bytes of a log: those of its file, or of all files of its folder.

use super::discover::LogFile;
use super::folder::Joined;
use super::tail::Stamp;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// A log that was opened.
pub enum Bytes {
    /// One file.
    File(File),
    /// A folder of files.
    Folder(Joined),
}

/// What can be opened as a log.
pub trait Open {
    /// Its bytes, and what the file system tells of them.
    fn open(&self) -> io::Result<(Bytes, Stamp)>;
}

impl<P: AsRef<Path> + ?Sized> Open for P {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let file = File::open(self)?;
        let stamp = Stamp::from(&file.metadata()?);
        Ok((Bytes::File(file), stamp))
    }
}

impl Open for LogFile {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        match &self.folder {
            Some(folder) => {
                let (joined, stamp) = folder.open()?;
                Ok((Bytes::Folder(joined), stamp))
            }
            None => self.facts.path.as_path().open(),
        }
    }
}

impl LogFile {
    /// What the file system tells of it now.
    pub fn stamp(&self) -> io::Result<Stamp> {
        match &self.folder {
            Some(folder) => folder.stamp(),
            None => Stamp::of(&self.facts.path),
        }
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::File(file) => file.read(buffer),
            Bytes::Folder(joined) => joined.read(buffer),
        }
    }
}

impl Seek for Bytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Bytes::File(file) => file.seek(to),
            Bytes::Folder(joined) => joined.seek(to),
        }
    }
}
