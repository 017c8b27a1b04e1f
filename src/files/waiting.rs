//! Waiting in tests: for a condition, with one deadline for all. The tests of all crates use it.

use std::fmt::Display;
use std::time::{Duration, Instant};

/// A test that waits longer has failed. No machine is so slow: the slowest condition takes 2 s on an idle one.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// The time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// Looks until there is what the test awaits; returns that.
///
/// # Panics
///
/// After [`DEADLINE`], with what was awaited and what was there: the error of the last look.
#[track_caller]
pub fn wait_for<T, E: Display>(awaited: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(was) => assert!(Instant::now() < end, "no {awaited}; there was: {was}"),
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
}
