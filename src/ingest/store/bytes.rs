//! The bytes of a log that is kept in files.

use super::Stamp;
use super::zst::{self, Zst};
use crate::files;
use crate::ingest::discover::HEAD;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes that can be read from any place.
pub trait Source: Read + Seek + Send {}

impl<S: Read + Seek + Send> Source for S {}

/// An opened log.
pub type Bytes = Box<dyn Source>;

/// What can be opened as one file of bytes.
pub trait Open: Send + Sync {
    /// Its bytes, and its stamp when they were opened.
    fn open(&self) -> io::Result<(Bytes, Stamp)>;

    /// Its stamp now.
    fn stamp(&self) -> io::Result<Stamp>;

    /// Whether its bytes are those of one file, once they have been read.
    fn is_one_file(&self) -> bool {
        false
    }
}

impl Open for PathBuf {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let file = files::open(self)?;
        let stamp = Stamp::from(&file.metadata()?);
        Ok((Box::new(file), stamp))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        files::look(self).map(|meta| Stamp::from(&meta))
    }

    fn is_one_file(&self) -> bool {
        true
    }
}

/// The file at a path, as it is.
pub fn plain(path: &Arc<PathBuf>) -> Arc<dyn Open> {
    Arc::<PathBuf>::clone(path)
}

/// The file at a path, decompressed if need be.
pub fn file(path: &Arc<PathBuf>) -> Arc<dyn Open> {
    match zst::is_compressed(path) {
        true => Arc::new(Zst::new(path)),
        false => plain(path),
    }
}

/// Where a seek leads from `at`, in `len` bytes. It may lead past the end, but not before the beginning.
pub fn sought(to: SeekFrom, at: u64, len: u64) -> io::Result<u64> {
    let sought = match to {
        SeekFrom::Start(at) => Some(at),
        SeekFrom::End(by) => len.checked_add_signed(by),
        SeekFrom::Current(by) => at.checked_add_signed(by),
    };
    Ok(sought.ok_or(io::ErrorKind::InvalidInput)?)
}

/// The first bytes, enough to recognise a format, without a byte order mark.
pub fn head(source: &dyn Open) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let (bytes, _) = source.open()?;
    bytes.take(HEAD as u64).read_to_end(&mut head)?;
    if head.starts_with(BOM) {
        head.drain(..BOM.len());
    }
    Ok(head)
}

/// A byte order mark, with which some editors begin a file of UTF-8. It is not part of the text.
pub const BOM: &[u8] = b"\xef\xbb\xbf";
