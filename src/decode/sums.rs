//! The usage of sessions whose log has the sums of all requests, and the numbers of the newest one at most.

use jiff::Timestamp;
use model::event::{BilledUsage, EventSink, Key, Place};

/// The part of a session's sums that was emitted.
#[derive(Debug, Default)]
pub struct ReportedSums(BilledUsage);

impl ReportedSums {
    /// Adds the cost of a request that the log has by itself.
    pub fn add(&mut self, billed: BilledUsage) {
        self.0 = self.0.plus(billed);
    }

    /// Returns the cost that these sums have beside the emitted part, which is now emitted too; `None`: they have no more.
    pub fn rest(&mut self, sums: BilledUsage) -> Option<BilledUsage> {
        let rest = sums.saturating_sub(self.0);
        self.add(rest);
        (rest != BilledUsage::default()).then_some(rest)
    }

    /// Returns true if these are the sums of what was emitted.
    pub fn are(&self, sums: BilledUsage) -> bool {
        self.0 == sums
    }

    /// Returns the growth of the sums, all of which are now emitted; `None`: they are the same. Requests that were missed
    /// count, too. Sums that have fallen began again: their growth is `begun_again`.
    pub fn growth(&mut self, sums: BilledUsage, begun_again: BilledUsage) -> Option<BilledUsage> {
        let before = std::mem::replace(&mut self.0, sums);
        (sums != before).then(|| sums.checked_sub(before).unwrap_or(begun_again))
    }
}

/// A response whose usage is logged after its message.
#[derive(Debug, Clone, Copy)]
pub struct PendingResponse {
    /// Its request.
    pub request: Key,
    /// The place of its message.
    pub place: Place,
    at: Option<Timestamp>,
}

impl PendingResponse {
    /// Returns the response whose message is being read.
    pub fn new(request: Key, out: &EventSink<'_>) -> PendingResponse {
        PendingResponse {
            request,
            place: out.place(),
            at: out.time(),
        }
    }

    /// Begins the record of its message again: what is emitted from now on is at its place and time.
    pub fn begin(&self, out: &mut EventSink<'_>) {
        out.begin(self.place);
        out.set_time(self.at);
    }
}
