//! How often the screen is drawn. Pure: callers pass the time.

use std::time::{Duration, Instant};

/// The least time between two frames: 30 frames a second are more than an eye follows in numbers.
const FRAME: Duration = Duration::from_millis(33);

/// A frame may take this part of the time there is: thousands of sessions take milliseconds to sort,
/// and a monitor should use little CPU.
const PART: u32 = 10;

/// The longest between two frames, however long they take.
const SLOWEST: Duration = Duration::from_millis(250);

/// How long the sessions take that the first frame waits for: 400 files are found in 3 ms.
const MOMENT: Duration = Duration::from_millis(5);

/// Spaces frames out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pacer {
    next: Option<Instant>,
}

impl Pacer {
    /// When the next frame may be drawn: at once after a rest, else a frame after the last.
    pub(super) fn due(&self, now: Instant) -> Instant {
        self.next.map_or(now, |next| now.max(next))
    }

    /// The next frame is due at once: the user waits for it.
    pub(super) fn hurry(&mut self) {
        self.next = None;
    }

    /// The next frame shows what will have come a moment later.
    pub(super) fn expect(&mut self, now: Instant) {
        self.next = Some(now + MOMENT);
    }

    /// A frame was drawn, from then to then.
    pub(super) fn drawn(&mut self, from: Instant, to: Instant) {
        let took = to.saturating_duration_since(from);
        self.next = Some(from + (took * PART).clamp(FRAME, SLOWEST));
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
        pacer.hurry();
        assert_eq!(pacer.due(start), start);
        pacer.expect(start);
        assert_eq!(pacer.due(start), start + MOMENT);
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
