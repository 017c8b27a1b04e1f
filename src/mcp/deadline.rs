//! The deadline of a call. Logs may be on a disk that does not answer, so a thread of its own reads them. One that is late
//! goes on: a later call has its logs.

use super::logs::Logs;
use serde_json::Value;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The logs, after an answer from them.
type Answered = (Logs, Result<Value, String>);

/// The logs, for calls that have a deadline.
pub(crate) struct Answers {
    longest: Duration,
    /// Has the logs when no thread reads them.
    last: Receiver<Answered>,
}

impl Answers {
    /// Returns answers from these logs. A call takes no longer than `longest`.
    pub(crate) fn new(logs: Logs, longest: Duration) -> Answers {
        let last = kept(logs);
        Answers { longest, last }
    }

    /// Answers a call.
    ///
    /// # Errors
    ///
    /// If there is no answer, or none in time: the reason, for the model to read.
    pub(crate) fn answer(
        &mut self,
        call: impl FnOnce(&mut Logs) -> Result<Value, String> + Send + 'static,
    ) -> Result<Value, String> {
        let begun = Instant::now();
        let (mut logs, _) = self.next(self.longest)?;
        let (send, answered) = sync_channel(1);
        self.last = answered;
        let work = move || {
            let answer = call(&mut logs);
            // The server may have ended.
            let _ = send.send((logs, answer));
        };
        let started = thread::Builder::new().spawn(work);
        started.map_err(|error| format!("no thread can be started: {error}"))?;
        let (logs, answer) = self.next(self.longest.saturating_sub(begun.elapsed()))?;
        self.last = kept(logs);
        answer
    }

    /// Returns the last answer, and the logs.
    fn next(&self, longest: Duration) -> Result<Answered, String> {
        let longest_of_all = self.longest.as_secs_f64();
        self.last.recv_timeout(longest).map_err(|_| {
            format!("the logs could not be read within {longest_of_all} s: the disk may be slow, so ask later")
        })
    }
}

/// Keeps logs for the next call.
fn kept(logs: Logs) -> Receiver<Answered> {
    let (send, last) = sync_channel(1);
    // There is room for one, and somebody who takes it.
    let _ = send.send((logs, Ok(Value::Null)));
    last
}
