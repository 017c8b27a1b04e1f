//! Decides when something is sent next. It is given the time, and chance, so that it is the same for each run of a test.

use std::time::Duration;

/// The pause after a first failure; it doubles with each further one.
pub const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause, but for what the receiver asks for.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause that a receiver can ask for. One that asks for a year would never be tried again.
pub const LONGEST_WISH: Duration = Duration::from_secs(3_600);

/// The times at which one kind of thing is sent. All are times since the program began.
#[derive(Debug)]
pub struct Schedule {
    every: Duration,
    due: Duration,
    failures: u32,
}

impl Schedule {
    /// Returns a schedule by which something is sent from a time on, and then again after each such pause.
    pub fn new(every: Duration, first: Duration) -> Schedule {
        Schedule {
            every,
            due: first,
            failures: 0,
        }
    }

    /// Returns the time from which on it may be sent.
    pub fn due(&self) -> Duration {
        self.due
    }

    /// Returns true if the last one could not be sent.
    pub fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// Notes that it was sent, or will not be. The next time is a whole number of pauses after the one that was due, so that
    /// the time that it takes to send does not add up.
    pub fn done(&mut self, now: Duration) {
        if self.is_failing() {
            self.due = now;
        }
        self.failures = 0;
        self.due += self.every;
        if self.due <= now {
            self.due = now + self.every;
        }
    }

    /// Notes that it could not be sent, and is to be tried again: after the time that the receiver asks for, else after one
    /// that doubles. `chance`, from 0 to 1, keeps many programs from coming back at the same moment.
    pub fn failed(&mut self, now: Duration, wish: Option<Duration>, chance: f64) {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16));
        let pause = match wish {
            // Not before that time, and never at once.
            Some(wish) => {
                let wish = wish.clamp(FIRST_PAUSE, LONGEST_WISH);
                wish + wish.min(LONGEST_PAUSE).mul_f64(chance / 10.0)
            }
            None => doubled.min(LONGEST_PAUSE).mul_f64(0.5 + chance / 2.0),
        };
        self.failures = self.failures.saturating_add(1);
        self.due = now + pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: f64) -> Duration {
        Duration::from_secs_f64(secs)
    }

    #[test]
    fn it_is_sent_in_time_however_long_that_takes() {
        let mut schedule = Schedule::new(secs(10.0), secs(0.0));
        assert_eq!(schedule.due(), secs(0.0));
        schedule.done(secs(3.0));
        assert_eq!(schedule.due(), secs(10.0));
        schedule.done(secs(12.0));
        assert_eq!(schedule.due(), secs(20.0));
        // A machine that slept sends one, not all that it missed.
        schedule.done(secs(500.0));
        assert_eq!(schedule.due(), secs(510.0));
    }

    #[test]
    fn pauses_double_to_a_minute_and_differ_by_chance() {
        for (chance, part) in [(0.0, 0.5), (1.0, 1.0)] {
            let mut schedule = Schedule::new(secs(10.0), secs(0.0));
            for pause in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0] {
                schedule.failed(secs(100.0), None, chance);
                assert_eq!(schedule.due(), secs(100.0 + pause * part));
                assert!(schedule.is_failing());
            }
            for _ in 0..100 {
                schedule.failed(secs(100.0), None, chance);
            }
            assert_eq!(schedule.due(), secs(100.0 + 60.0 * part));
            schedule.done(secs(200.0));
            assert_eq!(schedule.due(), secs(210.0));
            schedule.failed(secs(210.0), None, chance);
            assert_eq!(schedule.due(), secs(210.0 + part));
        }
    }

    #[test]
    fn a_receiver_is_waited_for_as_long_as_it_asks_within_reason() {
        let mut schedule = Schedule::new(secs(10.0), secs(0.0));
        schedule.failed(secs(0.0), Some(secs(120.0)), 0.0);
        assert_eq!(schedule.due(), secs(120.0));
        schedule.failed(secs(0.0), Some(secs(120.0)), 1.0);
        assert_eq!(schedule.due(), secs(126.0));
        // At once would be again and again.
        schedule.failed(secs(0.0), Some(secs(0.0)), 0.0);
        assert_eq!(schedule.due(), secs(1.0));
        schedule.failed(secs(0.0), Some(Duration::MAX), 0.0);
        assert_eq!(schedule.due(), secs(3_600.0));
    }
}
