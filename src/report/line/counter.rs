//! A counter for what no report holds, if there is time to load its vocabulary: that takes 0.1 s.

use model::estimators::Estimator;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokens::Counter;

/// Returns a counter that has its vocabulary within this time, or nothing.
pub(super) fn loaded_within(time: Duration, estimator: Estimator) -> Option<Counter> {
    if time.is_zero() {
        return None;
    }
    let (send, loaded) = mpsc::sync_channel(1);
    let load = move || {
        let counter = Counter::for_estimator(estimator);
        counter.warm_up();
        // If nobody waits any more, the process ends.
        let _ = send.send(counter);
    };
    // What is not loaded in time ends with the process.
    thread::Builder::new().spawn(load).ok()?;
    loaded.recv_timeout(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_loaded_once_the_time_is_over() {
        let estimator = Estimator::default();
        assert!(loaded_within(Duration::ZERO, estimator).is_none());
        assert!(loaded_within(Duration::from_secs(600), estimator).is_some());
    }
}
