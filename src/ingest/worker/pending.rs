//! Defines the worker's pending work: looks to be repeated, files to be read whole, logs that were not found.

use model::lists::sessions::FileId;
use std::path::PathBuf;
use std::time::Instant;

/// A look that is to be repeated.
pub(super) struct Retry {
    /// When.
    pub(super) at: Instant,
    pub(super) what: PendingCheck,
}

/// Something to look at.
pub(super) enum PendingCheck {
    File(FileId),
    Below(PathBuf),
}

/// A file that is to be read whole.
pub(super) struct QueuedFile {
    pub(super) file: FileId,
    /// True if it is read with exact counts rather than estimates by length.
    pub(super) exact: bool,
}
