//! Bytes that are read by their offset, as a [`Source`](super::Source).

use std::io::{self, Read, Seek, SeekFrom};

/// Bytes that can be read from any offset.
pub trait ReadAt {
    /// Returns the number of bytes.
    fn size(&self) -> u64;

    /// Reads from an offset on. Returns the number of bytes; 0: there are no more.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// Bytes with the offset at which they are read next.
pub struct Positioned<B> {
    bytes: B,
    offset: u64,
}

impl<B: ReadAt> Positioned<B> {
    /// Returns the bytes, from their beginning.
    pub fn new(bytes: B) -> Positioned<B> {
        Positioned { bytes, offset: 0 }
    }
}

impl<B: ReadAt> Read for Positioned<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl<B: ReadAt> Seek for Positioned<B> {
    /// Moves to an offset. It may be past the end, but not before the beginning.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.bytes.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.offset.checked_add_signed(by),
        };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}
