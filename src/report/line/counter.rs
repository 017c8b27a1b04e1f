//! A counter for what no report holds, if there is time to load its vocabulary: that takes 0.1 s.

use model::estimators::Estimator;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;
use tokens::Counter;

/// Returns a counter that has its vocabulary by then, or nothing.
pub(super) fn loaded_by(then: Instant, estimator: Estimator) -> Option<Counter> {
    let left = then.checked_duration_since(Instant::now())?;
    let (send, loaded) = mpsc::sync_channel(1);
    let load = move || {
        let counter = Counter::for_estimator(estimator);
        counter.warm_up();
        send.send(counter)
    };
    // What is not loaded by then ends with the process.
    thread::Builder::new().spawn(load).ok()?;
    loaded.recv_timeout(left).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn nothing_is_loaded_once_the_time_is_over() {
        let now = Instant::now();
        assert!(loaded_by(now - Duration::from_millis(1), Estimator::default()).is_none());
        assert!(loaded_by(now + Duration::from_secs(600), Estimator::default()).is_some());
    }
}
