//! A log that was found, and how its file is named.

use crate::agents::format::Format;
use crate::ingest::sidecar::SidecarStore;
use crate::ingest::store::Store;
use crate::model::fleet::{FileFacts, FileId};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// A log that was found.
#[derive(Clone)]
pub struct LogFile {
    /// What is known from the file system and the path.
    pub facts: FileFacts,
    /// Its format.
    pub format: &'static Format,
    /// What it is kept in.
    pub store: Arc<dyn Store>,
    /// The sidecar files of its agent, if there can be any.
    pub sidecar: Option<Arc<SidecarStore>>,
}

impl LogFile {
    /// Whether it is a session of a database, so that its path is the path of others too.
    pub fn is_one_of_several(&self) -> bool {
        self.store.is_one_of_several()
    }
}

/// The id of the file at a path, the same by whatever links it is reached.
pub fn file_id(path: &Path) -> FileId {
    let real = fs::canonicalize(path);
    id_of_real(real.as_deref().unwrap_or(path))
}

/// The same for a path without links.
pub(super) fn id_of_real(path: &Path) -> FileId {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    FileId(hasher.finish())
}
