//! The time that decides when something is looked at again.

#[cfg(test)]
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
#[cfg(test)]
use std::time::Duration;
use std::time::Instant;

/// The system's clock, or one that a test moves.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    #[cfg(test)]
    stopped: Option<Stopped>,
}

impl Clock {
    /// Returns the time.
    pub fn now(&self) -> Instant {
        #[cfg(test)]
        if let Some(stopped) = &self.stopped {
            return stopped.now();
        }
        Instant::now()
    }
}

/// A clock that stands still until it is moved.
#[cfg(test)]
#[derive(Debug, Clone)]
struct Stopped {
    at: Instant,
    /// How far it was moved, in milliseconds.
    moved: Arc<AtomicU64>,
}

#[cfg(test)]
impl Stopped {
    fn now(&self) -> Instant {
        self.at + Duration::from_millis(self.moved.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
impl Clock {
    /// Returns a clock that stands still. Its clones are the same clock.
    pub fn stopped() -> Clock {
        Clock {
            stopped: Some(Stopped {
                at: crate::testing::some_time(),
                moved: Arc::default(),
            }),
        }
    }

    /// Moves a clock that stands still.
    pub fn pass(&self, time: Duration) {
        let moved = &self.stopped.as_ref().expect("a stopped clock").moved;
        let ms = u64::try_from(time.as_millis()).expect("some time");
        moved.fetch_add(ms, Ordering::Relaxed);
    }
}
