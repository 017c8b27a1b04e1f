//! How often the screen is drawn. Pure: the clock is handed in.

use std::time::{Duration, Instant};

/// The least time between two frames: 30 frames a second are more than an eye follows in numbers.
const FRAME: Duration = Duration::from_millis(33);

/// Spaces frames out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pacer {
    last: Option<Instant>,
}

impl Pacer {
    /// When the next frame may be drawn: at once after a rest, else a frame after the last.
    pub(super) fn due(&self, now: Instant) -> Instant {
        self.last.map_or(now, |last| now.max(last + FRAME))
    }

    /// A frame was drawn.
    pub(super) fn drawn(&mut self, now: Instant) {
        self.last = Some(now);
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
        pacer.drawn(start);
        let later = start + Duration::from_secs(1);
        assert_eq!(pacer.due(later), later);
    }

    #[test]
    fn a_storm_makes_thirty_frames_a_second() {
        let start = Instant::now();
        let (mut pacer, mut frames) = (Pacer::default(), 0);
        for ms in 0..1_000 {
            let now = start + Duration::from_millis(ms);
            if pacer.due(now) <= now {
                pacer.drawn(now);
                frames += 1;
            }
        }
        assert!((28..=31).contains(&frames), "{frames}");
    }
}
