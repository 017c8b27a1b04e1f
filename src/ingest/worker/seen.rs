//! What the stamp of a log says about it.

use super::Known;
use crate::ingest::discover::{LogFile, file_id};
use crate::ingest::reader::SETTLED;
use crate::ingest::store::Stamp;
use std::time::Duration;

/// So many bytes more of a log take as long as [`SETTLED`] to settle.
const SETTLING: u64 = 16 << 20;

impl Known {
    /// Whether this stamp may be that of another file: by its number, or because it differs though nothing was written.
    pub(super) fn is_of_other(&self, stamp: Stamp) -> bool {
        let facts = |stamp: Stamp| (stamp.bytes(), stamp.written());
        self.stamp.is_some_and(|seen| {
            let is_written = facts(seen) != facts(stamp);
            seen != stamp && !(seen.is_same_file(stamp) && is_written)
        })
    }
}

/// Whether the path of a log is that of another file now: a link was put in its place.
pub(super) fn leads_elsewhere(log: &LogFile) -> bool {
    let facts = &log.facts;
    !log.is_one_of_several() && facts.path.exists() && file_id(&facts.path) != facts.file
}

/// After how long an incomplete record at the end of a log of so many bytes counts as it is. If more comes of it, the
/// log is read again: a long one must not be so every few seconds.
pub(super) fn settles_after(len: u64) -> Duration {
    SETTLED * u32::try_from(1 + len / SETTLING).unwrap_or(u32::MAX)
}
