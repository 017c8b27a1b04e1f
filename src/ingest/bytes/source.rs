//! The bytes of logs that are kept in files: plain, compressed, in a chain, in a folder. Nothing here refers to
//! formats or sessions.

pub mod chain;
pub mod file_system;
pub mod folder;
mod read_at;
mod stamp;
pub mod zst;

pub use read_at::{Positioned, ReadAt};
pub use stamp::Stamp;

use crate::bytes::sync::lock;
use file_system::Location;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zst::Zst;

/// Bytes of a file by which it is recognised.
pub const HEAD: usize = 64 << 10;
/// Bytes read at once. Larger buffers gain nothing (measured).
pub const CHUNK: usize = 256 << 10;
/// The time for which nothing must have been written before an incomplete record at the end of a log counts as final.
pub const SETTLED: Duration = Duration::from_secs(2);
/// The largest document that is read, in bytes.
pub const LARGEST: u64 = 64 << 20;
/// The time after a write in which a document may still be incomplete.
pub const TORN: Duration = Duration::from_secs(1);

/// Bytes that can be read from any place.
pub trait Source: Read + Seek + Send {}

impl<S: Read + Seek + Send> Source for S {}

/// An opened log.
pub type Bytes = Box<dyn Source>;

/// A source that can be opened as one file of bytes.
pub trait Open: Send + Sync {
    /// Returns its bytes, and its stamp when they were opened.
    fn open(&self) -> io::Result<(Bytes, Stamp)>;

    /// Returns its stamp now.
    fn stamp(&self) -> io::Result<Stamp>;

    /// Returns true if its bytes are those of one file. The result holds only after they have been read.
    fn is_one_file(&self) -> bool {
        false
    }

    /// Returns true if reading from a place takes as long as reading all before it, unless reading ended there. The
    /// result holds only after it has been opened: its content may refer to others.
    fn is_streamed(&self) -> bool {
        false
    }
}

/// Keeps a streamed source open between readings, so that each goes on where the last one ended.
pub struct StreamCache {
    source: Arc<dyn Open>,
    kept: Mutex<Option<CachedStream>>,
}

struct CachedStream {
    /// The stamp of the source when it was opened.
    seen: Stamp,
    /// The stamp of the bytes.
    stamp: Stamp,
    bytes: SharedBytes,
}

impl StreamCache {
    /// Returns a source that is not open yet.
    pub fn new(source: Arc<dyn Open>) -> StreamCache {
        StreamCache {
            source,
            kept: Mutex::default(),
        }
    }

    /// Lets the source go.
    pub fn close(&self) {
        *lock(&self.kept) = None;
    }
}

impl Open for StreamCache {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let mut held = lock(&self.kept);
        if let Some(kept) = &*held
            && self.source.stamp()? == kept.seen
        {
            return Ok((Box::new(kept.bytes.clone()), kept.stamp));
        }
        *held = None;
        let (bytes, stamp) = self.source.open()?;
        if !self.source.is_streamed() {
            return Ok((bytes, stamp));
        }
        let seen = self.source.stamp()?;
        if !seen.is_sure() || !seen.is_same_write(stamp) {
            return Ok((bytes, stamp));
        }
        let bytes = SharedBytes(Arc::new(Mutex::new(bytes)));
        *held = Some(CachedStream {
            seen,
            stamp,
            bytes: bytes.clone(),
        });
        Ok((Box::new(bytes), stamp))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.source.stamp()
    }
}

/// Opened bytes that are kept.
#[derive(Clone)]
struct SharedBytes(Arc<Mutex<Bytes>>);

impl Read for SharedBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        lock(&self.0).read(buffer)
    }
}

impl Seek for SharedBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        lock(&self.0).seek(to)
    }
}

/// Returns the file at a path, decompressed if need be.
pub fn file(at: &Location) -> Arc<dyn Open> {
    if zst::is_compressed(&at.path) {
        Arc::new(Zst::new(at))
    } else {
        plain(at)
    }
}

/// Returns the file at a path, as it is.
pub fn plain(at: &Location) -> Arc<dyn Open> {
    Arc::new(at.clone())
}

/// Returns the first bytes, enough to recognise a format, without a byte order mark.
pub fn head(source: &dyn Open) -> io::Result<Vec<u8>> {
    beginning(source, HEAD as u64)
}

/// Returns at most this many of the first bytes, without a byte order mark.
pub fn beginning(source: &dyn Open, most: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let (bytes, _) = source.open()?;
    bytes.take(most).read_to_end(&mut head)?;
    if head.starts_with(BOM) {
        head.drain(..BOM.len());
    }
    Ok(head)
}

/// A byte order mark, with which some editors begin a file of UTF-8. It is not part of the text.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads once, again where that was interrupted. Returns the number of bytes; 0: there are no more.
pub fn read_some(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Returns the error of a file that vanished or was cut short after it was listed: WouldBlock, since the next listing
/// is right.
pub fn retry_if_gone(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::ErrorKind::WouldBlock.into(),
        _ => error,
    }
}
