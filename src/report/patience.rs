//! Waits for databases that their agents write to.
//!
//! A reader that a writer locks out for a moment tries again: where commits follow each other, a gap comes soon.

use ingest::discover::{Found, Scanner};
use ingest::log::LogFile;
use ingest::patience::{PATIENCE, is_busy};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// What is said of a database that was locked all the time.
pub const BUSY: &str = "its agent is writing to it, and did not let it be read for 2 s; try again";

/// How long a command has waited.
#[derive(Debug, Default)]
pub struct Patience {
    milliseconds: AtomicU64,
}

impl Patience {
    /// Looks for logs, again while a database is locked.
    pub(super) fn look(&self, scanner: &mut Scanner) -> Found {
        loop {
            let found = scanner.look();
            let due = found.locked.iter().map(|(_, due)| *due).min();
            let Some(due) = due else { return found };
            let pause = due.saturating_duration_since(Instant::now());
            if !self.wait(pause.max(PAUSE)) {
                return found;
            }
        }
    }

    /// Reads a log, again while its database is locked.
    ///
    /// # Errors
    ///
    /// As `read`; [`ErrorKind::ResourceBusy`] if it was locked all the time.
    pub(super) fn read<T>(
        &self,
        log: &LogFile,
        mut read: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match read() {
                Err(e) if log.is_one_of_several() && is_busy(&e) => {
                    // What is read waits too, and says so when that was long enough.
                    if e.kind() == ErrorKind::ResourceBusy || !self.wait(PAUSE) {
                        return Err(io::Error::new(ErrorKind::ResourceBusy, BUSY));
                    }
                }
                read => return read,
            }
        }
    }

    /// Waits, unless it was long enough.
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
