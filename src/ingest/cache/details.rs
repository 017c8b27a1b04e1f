//! Details that stay in a cache's file until they are asked for.

use crate::sync::lock;
use model::stored::details::Details;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::xxh3_64;

/// Where the details of an entry are in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) at: u64,
    pub(super) len: usize,
    pub(super) checksum: u64,
}

/// The details of an entry. The file stays open: a cache that takes its place has other entries.
#[derive(Debug, Clone)]
pub(super) struct InFile {
    pub(super) file: Arc<Mutex<File>>,
    pub(super) span: Span,
}

impl Details for InFile {
    fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.span.len];
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(self.span.at)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        (xxh3_64(&bytes) == self.span.checksum).then_some(bytes)
    }
}
