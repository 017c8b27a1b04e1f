//! Limits the time that an agent waits for a hook.

use std::time::{Duration, Instant};

/// On a busy machine, a hook may wait this many times as long as it may work.
const LEAST_WAIT: u32 = 5;
/// And this many times, however little it has worked: a folder may be on a server that does not answer.
const MOST_WAIT: u32 = 19;
/// All ends after this many times: the rest is for the note that something was missed.
const MOST: u32 = 20;
/// The pause between two looks at the time that it has worked.
const PAUSE: Duration = Duration::from_millis(10);

/// The end of what a hook may take: so much work, or 5 times as long, whichever is later; at most 19 times as long.
pub(super) struct Deadline {
    work: Duration,
    begun: Instant,
}

impl Deadline {
    /// Begins a deadline now.
    pub(super) fn after(work: Duration) -> Deadline {
        let begun = Instant::now();
        Deadline { work, begun }
    }

    /// Returns the time to wait before the next look.
    pub(super) fn pause(&self) -> Duration {
        let least = self.work.saturating_mul(LEAST_WAIT);
        let left = least.saturating_sub(self.begun.elapsed());
        if self.work.is_zero() {
            Duration::ZERO
        } else {
            left.max(PAUSE)
        }
    }

    /// Returns the time that is left for what must be done once it is over.
    pub(super) fn left(&self) -> Duration {
        let most = self.work.saturating_mul(MOST);
        most.saturating_sub(self.begun.elapsed())
    }

    /// Returns true if it is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_over_after(self.begun.elapsed(), files::cpu_time())
    }

    /// Returns true if it is over after this time, of which the program has worked for `worked`; `None`: not known.
    fn is_over_after(&self, waited: Duration, worked: Option<Duration>) -> bool {
        let is_busy = worked.is_some_and(|worked| worked < self.work);
        let times = if is_busy { MOST_WAIT } else { LEAST_WAIT };
        waited >= self.work.saturating_mul(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_takes_no_time_from_a_hook() {
        let ms = Duration::from_millis;
        let deadline = Deadline::after(ms(50));
        let is_over =
            |waited, worked: Option<u64>| deadline.is_over_after(ms(waited), worked.map(ms));
        // It has worked all the time, half of it, hardly, or nobody has counted.
        assert!(!is_over(249, Some(249)) && is_over(250, Some(250)));
        assert!(!is_over(249, Some(100)) && is_over(250, Some(100)));
        assert!(!is_over(949, Some(49)) && is_over(950, Some(49)));
        assert!(!is_over(249, None) && is_over(250, None));
    }
}
