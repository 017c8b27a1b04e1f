//! A counter for what no report holds, if there is time to load its vocabulary: that takes 0.1 s.

use model::estimators::Estimator;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokens::Counter;

/// Returns a counter with its vocabulary, or nothing if that is not loaded in this time.
pub(super) fn loaded_within(left: Duration, estimator: Estimator) -> Option<Counter> {
    if left.is_zero() {
        return None;
    }
    let (send, loaded) = mpsc::sync_channel(1);
    let load = move || {
        let counter = Counter::for_estimator(estimator);
        counter.warm_up();
        // If nobody waits any more, the process ends.
        let _ = send.send(counter);
    };
    thread::Builder::new().spawn(load).ok()?;
    loaded.recv_timeout(left).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_loaded_where_no_time_is_left() {
        let loaded = |seconds| loaded_within(Duration::from_secs(seconds), Estimator::default());
        assert!(loaded(0).is_none());
        assert!(loaded(600).is_some());
    }
}
