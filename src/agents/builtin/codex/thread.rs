//! The thread that a rollout belongs to, and the lines in it that were copied from its parent.

use jiff::{SignedDuration, Timestamp};
use model::event::Key;

/// Lines of a parent's history have the time at which they were copied into a sub-agent's file, all in
/// a moment; its own first response takes longer than this.
const COPIED_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// The thread of a rollout.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The id of the file's own thread.
    pub(super) id: Option<Box<str>>,
    /// The newest `session_meta`'s id: a fork's file repeats its parent's.
    pub(super) latest: Box<str>,
    pub(super) is_sub_agent: bool,
    /// The ordinal of the own first line of a sub-agent or a fork.
    pub(super) own_from: Option<u64>,
    /// Whether the lines of the rollout that this one continues should follow.
    pub(super) expects_base: bool,
    /// When the parent's lines were copied, if the last `session_meta` was a parent's.
    pub(super) copied_at: Option<Timestamp>,
}

impl Thread {
    /// Whether the rollout that this one continues was not found. True once, at the line after the first.
    pub(super) fn lacks_base(&mut self, ordinal: Option<u64>) -> bool {
        std::mem::take(&mut self.expects_base)
            && self
                .own_from
                .zip(ordinal)
                .is_none_or(|(own, line)| line >= own)
    }

    /// Whether a line is the history of the thread that this one was forked from or started by.
    pub(super) fn is_copied(&self, ordinal: Option<u64>, time: Option<Timestamp>) -> bool {
        match (self.own_from, ordinal) {
            (Some(own_from), Some(ordinal)) => ordinal < own_from,
            _ => match (self.copied_at, time) {
                (Some(copied_at), Some(time)) => time.duration_since(copied_at) <= COPIED_WITHIN,
                _ => false,
            },
        }
    }
}

/// The node that precedes the history and is kept by every compaction.
pub(super) fn prefix_key() -> Key {
    Key::of("codex prefix")
}
