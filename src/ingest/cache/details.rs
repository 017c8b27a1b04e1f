//! Details that stay in a cache's file until they are asked for.

use model::stored::details::Details;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::xxh3_64;

/// The details of one entry. The file stays open: a cache that takes its place has other entries.
#[derive(Debug, Clone)]
pub(super) struct InFile {
    pub(super) file: Arc<Mutex<File>>,
    /// Where they begin in the file.
    pub(super) at: u64,
    pub(super) len: usize,
    pub(super) checksum: u64,
}

impl Details for InFile {
    fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.len];
        let mut file = crate::sync::lock(&self.file);
        file.seek(SeekFrom::Start(self.at)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        (xxh3_64(&bytes) == self.checksum).then_some(bytes)
    }
}
