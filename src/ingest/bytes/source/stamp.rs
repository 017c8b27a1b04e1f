//! Stamps files: the facts about a file that can be seen without reading it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// File systems keep the time of writing in ticks of up to 10 ms: a second write in the same tick does
/// not change a file's stamp.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// The largest difference between the clocks of a server and of this machine.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(600);

/// The facts about a store that can be seen without reading it. As long as the stamp stays the same and
/// [`is_sure`](Stamp::is_sure), nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// For a file: the device and the file on it, zeros if the system has no such numbers.
    pub(crate) version: (u64, u64),
    pub(crate) len: u64,
    pub(crate) modified: Option<SystemTime>,
    /// The time at which the file itself was changed, in seconds and nanoseconds: written, replaced, or given another
    /// time of writing. Zeros if the system does not keep that.
    pub(super) changed: (i64, i64),
    pub(super) is_exact: bool,
}

impl Stamp {
    /// Returns the stamp of a store that counts its versions: every write changes one of these numbers.
    pub fn exact(version: (u64, u64)) -> Stamp {
        Stamp {
            version,
            len: 0,
            modified: None,
            changed: (0, 0),
            is_exact: true,
        }
    }

    /// Returns the stamp of a file that exists in a test only.
    #[cfg(test)]
    pub(crate) fn made(len: u64, writes: u64) -> Stamp {
        Stamp {
            len,
            ..Stamp::exact((0, 0))
                .at(SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(writes)))
        }
    }

    /// Returns the stamp of a file that was written then, as far as can be seen.
    #[cfg(test)]
    pub(crate) fn dated(self, modified: SystemTime) -> Stamp {
        Stamp {
            is_exact: false,
            modified: Some(modified),
            ..self
        }
    }

    /// Returns true if the file of this stamp was changed later than the other one.
    #[cfg(test)]
    pub(crate) fn is_changed_after(&self, other: Stamp) -> bool {
        self.changed > other.changed || self.modified > other.modified
    }

    /// Returns this stamp with another time of the last write.
    #[must_use]
    pub fn at(self, modified: Option<SystemTime>) -> Stamp {
        Stamp { modified, ..self }
    }

    /// Returns the stamp of the file at a path; symbolic links are followed.
    pub fn of(path: &Path) -> io::Result<Stamp> {
        std::fs::metadata(path).map(|meta| Stamp::from(&meta))
    }

    /// Returns the time at which it was last written.
    pub fn modified(&self) -> Option<Timestamp> {
        Timestamp::try_from(self.modified?).ok()
    }

    /// Returns true if both are stamps of the same file.
    pub fn is_same_file(&self, other: Stamp) -> bool {
        self.version == other.version
    }

    /// Returns true if both are stamps of the same file since the same write. Their lengths may differ: one may count
    /// the bytes that the file becomes.
    pub fn is_same_write(&self, other: Stamp) -> bool {
        let of = |stamp: &Stamp| Stamp { len: 0, ..*stamp };
        of(self) == of(&other)
    }

    /// Returns the time for which nothing was written; zero if that is not known.
    ///
    /// A file may be dated in the future: by hand, by a clock that was set back since, or by a server whose clock is
    /// ahead. Then the time at which the file itself was changed counts, which nobody can set; if that is in the
    /// future too, the file counts as just written if the clocks may differ by that much, and else as written long ago.
    pub fn age(&self) -> Duration {
        let Some(modified) = self.modified else {
            return Duration::ZERO;
        };
        let now = SystemTime::now();
        let past = |at: SystemTime| now.duration_since(at).ok();
        let is_ahead = || modified > now + CLOCK_DIFFERENCE;
        past(modified)
            .or_else(|| past(self.changed_at()?))
            .unwrap_or_else(|| {
                if is_ahead() {
                    Duration::MAX
                } else {
                    Duration::ZERO
                }
            })
    }

    /// Returns the time at which the file itself was changed; `None`: not known.
    fn changed_at(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.changed;
        let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
        let nanoseconds = u32::try_from(nanoseconds).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
    }

    /// Returns true if a later write is sure to change the stamp.
    pub fn is_sure(&self) -> bool {
        self.is_exact || self.age() >= CLOCK_TICK
    }
}

impl From<&Metadata> for Stamp {
    fn from(meta: &Metadata) -> Stamp {
        Stamp {
            version: files::file_number(meta),
            len: meta.len(),
            modified: meta.modified().ok(),
            changed: files::change_time(meta),
            is_exact: false,
        }
    }
}
