//! Locks and threads.

use std::io;
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The most threads that read at once: more gain little, since the disk is busy.
const MOST_THREADS: usize = 8;

/// Returns the value behind a lock, whether or not a thread has panicked while it held the lock.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Returns the number of threads that read at once.
pub fn threads() -> usize {
    thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(MOST_THREADS)
}
