//! The pauses between two attempts to reach a machine: longer each time, and not the same for all machines.

use std::time::Duration;

/// The first pause.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(60);

/// The pauses for one machine.
#[derive(Debug)]
pub struct Backoff {
    next: Duration,
    /// The state of the jitter: any number.
    seed: u64,
}

impl Backoff {
    /// Returns the pauses of a machine; `seed` differs between machines and programs.
    pub fn new(seed: u64) -> Backoff {
        Backoff { next: FIRST, seed }
    }

    /// Returns the next pause: from 1 s to 60 s, doubled each time, less up to a third. A hundred machines behind one
    /// gateway are not asked at the same moment.
    pub fn pause(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(LONGEST);
        // Any step between numbers is random enough for it.
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let part = (self.seed >> 40) as u32 & 0xff;
        (whole - whole * part / (3 * 255)).max(FIRST)
    }

    /// The machine has answered.
    pub fn reset(&mut self) {
        self.next = FIRST;
    }

    /// Nothing will change soon.
    pub fn rest(&mut self) {
        self.next = LONGEST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_a_second_to_a_minute_and_differ_between_machines() {
        let pauses = |seed| {
            let mut backoff = Backoff::new(seed);
            (0..12).map(|_| backoff.pause()).collect::<Vec<_>>()
        };
        for seed in 0..200 {
            let all = pauses(seed);
            for (at, pause) in all.iter().enumerate() {
                let whole = Duration::from_secs(1 << at.min(6)).min(LONGEST);
                assert!(
                    *pause >= FIRST && *pause <= whole && *pause >= whole * 2 / 3 - FIRST / 100
                );
            }
        }
        assert_ne!(pauses(1), pauses(2));
        let mut backoff = Backoff::new(7);
        backoff.rest();
        assert!(backoff.pause() >= Duration::from_secs(40));
        backoff.reset();
        assert_eq!(backoff.pause(), FIRST);
    }
}
