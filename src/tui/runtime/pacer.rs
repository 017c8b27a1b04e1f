//! Limits how often the screen is drawn. It is pure: callers pass the time.

use std::time::{Duration, Instant};

/// The least time between two frames: 30 frames a second are more than an eye follows in numbers.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

/// Frames may take the whole time divided by this: thousands of sessions take milliseconds to sort, and a monitor
/// should use little CPU.
const TIME_DIVISOR: u32 = 10;

/// The longest time between two frames, however long a frame takes.
const LONGEST_INTERVAL: Duration = Duration::from_millis(250);

/// The time for which the second frame waits for the first sessions: 400 files are found in 3 ms.
const FIRST_SESSIONS: Duration = Duration::from_millis(5);

/// Spaces frames out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pacer {
    next: Option<Instant>,
}

impl Pacer {
    /// Returns the time at which the next frame may be drawn: at once after a rest, else a frame after the last.
    pub(super) fn due(&self, now: Instant) -> Instant {
        self.next.map_or(now, |next| now.max(next))
    }

    /// Makes the next frame due at once: the user waits for it.
    pub(super) fn draw_soon(&mut self) {
        self.next = None;
    }

    /// Delays the next frame by a moment, so that it shows what comes until then.
    pub(super) fn expect(&mut self, now: Instant) {
        self.next = Some(now + FIRST_SESSIONS);
    }

    /// Records that a frame was drawn between these times.
    pub(super) fn drawn(&mut self, from: Instant, to: Instant) {
        let took = to.saturating_duration_since(from);
        self.next = Some(from + (took * TIME_DIVISOR).clamp(FRAME_INTERVAL, LONGEST_INTERVAL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rested_screen_draws_at_once() {
        let start = Instant::now();
        let mut pacer = Pacer::default();
        assert_eq!(pacer.due(start), start);
        pacer.drawn(start, start);
        let later = start + Duration::from_secs(1);
        assert_eq!(pacer.due(later), later);
    }

    #[test]
    fn a_user_does_not_wait_for_the_next_frame() {
        let start = Instant::now();
        let mut pacer = Pacer::default();
        pacer.drawn(start, start + Duration::from_millis(2));
        pacer.draw_soon();
        assert_eq!(pacer.due(start), start);
        pacer.expect(start);
        assert_eq!(pacer.due(start), start + FIRST_SESSIONS);
    }

    #[test]
    fn slow_frames_leave_time_for_others() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let mut pacer = Pacer::default();
        for (took, gap) in [(1, 33), (10, 100), (1_000, 250)] {
            pacer.drawn(start, start + ms(took));
            assert_eq!(pacer.due(start), start + ms(gap));
        }
    }

    #[test]
    fn a_storm_makes_thirty_frames_a_second() {
        let start = Instant::now();
        let (mut pacer, mut frames) = (Pacer::default(), 0);
        for ms in 0..1_000 {
            let now = start + Duration::from_millis(ms);
            if pacer.due(now) <= now {
                pacer.drawn(now, now);
                frames += 1;
            }
        }
        assert!((28..=31).contains(&frames), "{frames}");
    }
}
