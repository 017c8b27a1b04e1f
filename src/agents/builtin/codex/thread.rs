//! The thread that a rollout belongs to, and the lines in it that repeat another thread's history.
//!
//! A sub-agent's or a fork's rollout may begin with the history of the thread that it was started from: that thread's
//! `session_meta`, then its lines, with their own times or with the time at which they were copied. Only newer files
//! number the first own line.

use jiff::{SignedDuration, Timestamp};
use model::event::Key;

/// A history is copied in a moment; the first own response takes longer than this.
const COPIED_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// The thread of a rollout.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The id of the file's own thread.
    pub(super) id: Option<Box<str>>,
    pub(super) is_sub_agent: bool,
    /// The ordinal of the own first line of a sub-agent or a fork.
    pub(super) own_from: Option<u64>,
    /// True if the lines of the rollout that this one continues should follow.
    pub(super) expects_base: bool,
    /// True if the rollout continues another one.
    pub(super) has_base: bool,
    /// The time at which the file's first line was written.
    pub(super) began: Option<Timestamp>,
    /// The thread whose history the lines repeat; `None`: they are the thread's own.
    pub(super) repeated: Option<Box<str>>,
    /// True if the log has the times at which turns began, so that the times of lines are not needed.
    turns_have_times: bool,
}

impl Thread {
    /// Takes in the time of a line and its number.
    pub(super) fn reads(&mut self, ordinal: Option<u64>, time: Option<Timestamp>) {
        if self.repeated.is_none() {
            return;
        }
        let is_own = match (self.own_from, ordinal) {
            (Some(own_from), Some(ordinal)) => ordinal >= own_from,
            _ => !self.turns_have_times && self.is_after(time, COPIED_WITHIN),
        };
        if is_own {
            self.repeated = None;
        }
    }

    /// Takes in a turn that began at this moment, to the second.
    pub(super) fn turn_began(&mut self, at: Timestamp) {
        self.turns_have_times = true;
        if self.is_after(Some(at), -COPIED_WITHIN) {
            self.repeated = None;
        }
    }

    /// Returns true if the line with this number begins an earlier rollout of the thread, which the file continues.
    pub(super) fn continues(&self, ordinal: Option<u64>) -> bool {
        let pair = self.own_from.zip(ordinal);
        pair.is_some_and(|(own_from, line)| line < own_from)
    }

    /// Returns true if a moment is more than `by` after the first line was written.
    fn is_after(&self, time: Option<Timestamp>, by: SignedDuration) -> bool {
        let pair = self.began.zip(time);
        pair.is_some_and(|(began, time)| time.duration_since(began) > by)
    }

    /// Returns the id of the thread that the line belongs to; empty: not known.
    pub(super) fn of_line(&self) -> &str {
        let id = self.repeated.as_deref().or(self.id.as_deref());
        id.unwrap_or_default()
    }

    /// Returns true if the rollout that this one continues was not found. It does so once, at the line after the first.
    pub(super) fn lacks_base(&mut self, ordinal: Option<u64>) -> bool {
        std::mem::take(&mut self.expects_base) && !self.continues(ordinal)
    }

    /// Returns true if a line with this number is of another thread that has a log of its own, where its responses are
    /// billed. A fork without numbers may be all that is left of the thread that it repeats.
    pub(super) fn is_copied(&self, ordinal: Option<u64>) -> bool {
        match (self.own_from, ordinal) {
            (Some(own_from), Some(ordinal)) => ordinal < own_from,
            _ => self.is_sub_agent && self.repeated.is_some(),
        }
    }
}

/// Returns the node that precedes the history and is kept by every compaction.
pub(super) fn prefix_key() -> Key {
    Key::of("codex prefix")
}
