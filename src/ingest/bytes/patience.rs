//! Waiting for an agent that writes to what is read.

use std::io::{self, ErrorKind};
use std::thread;
use std::time::Duration;

/// The longest wait in all, and the pause between two tries.
pub const PATIENCE: Duration = Duration::from_secs(2);
const RETRY_PAUSE: Duration = Duration::from_millis(2);

/// The number of looks for a record that an agent is about to write, and the time between two looks. Claude Code writes
/// to its logs every 100 ms, after it has begun to make a call.
const MOMENTS: usize = 12;
const MOMENT: Duration = Duration::from_millis(25);

/// Waits a moment at each step, for as long as an agent may take to write what it already does.
pub fn moments() -> impl Iterator<Item = ()> {
    (0..MOMENTS).map(|_| thread::sleep(MOMENT))
}

/// Returns the error of a log whose agent was at work. Its reader tries again.
pub fn busy() -> io::Error {
    io::Error::new(
        ErrorKind::ResourceBusy,
        "its agent is writing to it; it is tried again",
    )
}

/// Returns true if the agent was at work.
pub fn is_busy(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ResourceBusy | ErrorKind::WouldBlock
    )
}

/// Reads again while the agent is at work.
///
/// # Errors
///
/// As `read`; [`busy`] if the agent was at work for [`PATIENCE`].
pub fn retry_while_busy<T>(mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut waiting = WaitTime::default();
    loop {
        match read() {
            Err(e) if is_busy(&e) => waiting.pause()?,
            read => return read,
        }
    }
}

/// The time that was waited so far.
#[derive(Default)]
pub struct WaitTime {
    so_far: Duration,
}

impl WaitTime {
    /// Waits a moment.
    ///
    /// # Errors
    ///
    /// [`busy`] if it has waited for [`PATIENCE`].
    pub fn pause(&mut self) -> io::Result<()> {
        if self.so_far >= PATIENCE {
            return Err(busy());
        }
        thread::sleep(RETRY_PAUSE);
        self.so_far += RETRY_PAUSE;
        Ok(())
    }
}
