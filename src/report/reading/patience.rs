//! Waits for databases that their agents write to.
//!
//! A reader that a writer locks out tries again: there is soon a gap between two commits.

use ingest::bytes::patience::{PATIENCE, is_busy};
use ingest::discover::{ScanResult, Scanner};
use ingest::log::LogFile;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two tries.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The problem of a database that was locked all the time.
pub const BUSY: &str = "its agent is writing to it, and did not let it be read for 2 s; try again";

/// The time that a command has waited.
#[derive(Debug, Default)]
pub struct Patience {
    milliseconds: AtomicU64,
}

impl Patience {
    /// Looks for logs; looks again while a database is locked.
    pub(crate) fn look(&self, scanner: &mut Scanner) -> ScanResult {
        loop {
            let found = scanner.look();
            let due = found.locked.iter().map(|(_, due)| *due).min();
            let Some(due) = due else { return found };
            let pause = due.saturating_duration_since(Instant::now());
            if !self.wait(pause.max(RETRY_INTERVAL)) {
                return found;
            }
        }
    }

    /// Reads a log; tries again while its database is locked.
    ///
    /// # Errors
    ///
    /// As `read`; [`ErrorKind::ResourceBusy`] if it was locked all the time.
    pub(crate) fn read<T>(
        &self,
        log: &LogFile,
        mut read: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match read() {
                Err(e) if log.is_one_of_several() && is_busy(&e) => {
                    // The reader of the database waits too, and reports it as busy when it has waited long enough.
                    if e.kind() == ErrorKind::ResourceBusy || !self.wait(RETRY_INTERVAL) {
                        return Err(io::Error::new(ErrorKind::ResourceBusy, BUSY));
                    }
                }
                read => return read,
            }
        }
    }

    /// Waits, unless the command has waited long enough. Returns true if it has waited.
    fn wait(&self, pause: Duration) -> bool {
        let ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let waited = self.milliseconds.fetch_add(ms, Ordering::Relaxed);
        let is_early = u128::from(waited) < PATIENCE.as_millis();
        if is_early {
            thread::sleep(pause);
        }
        is_early
    }
}
