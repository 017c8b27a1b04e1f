//! The history of a session: its items, requests and resets, each with when it was there.

pub(crate) mod expectation;
mod item;
pub(crate) mod record_tree;
mod request;

use crate::event::{Cause, CauseSource, Place, count};
use crate::{LeaveReason, Source};
pub(super) use item::PreviousSize;
pub use item::{Absence, Departure, Item};
use jiff::Timestamp;
pub use request::Request;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The part of its log from which a session was rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Coverage {
    /// Nothing was read yet.
    #[default]
    Unread,
    /// The end, enough for the last usage report.
    Tail,
    /// All since the last reset.
    Epoch,
    /// All of it.
    Whole,
}

/// An item's index in [`crate::state::State::items`].
pub type ItemIx = usize;
/// A record's index in the tree, in the order of the log.
pub(crate) type NodeIx = usize;
/// A request's index in [`crate::state::State::requests`].
pub type RequestIx = usize;

/// Returns an index in the 32 bits in which lists of items, requests and nodes keep it. A log has at most two million
/// records.
pub(crate) fn narrow(ix: usize) -> u32 {
    count(ix as u64)
}

/// An item, its tokens, and how they are known.
pub type SizedItem = (ItemIx, u64, Source);

/// The most compactions by which causes and triggers are judged, the newest ones. No conversation has as many; a log
/// of thousands would be read in the square of the time.
pub(crate) const MOST_COMPACTIONS: usize = 500;

/// The preview of an item of which the log shows nothing.
pub(super) const NOT_LOGGED: &str = "(not in the log)";

/// The number in its record of an item of which the log shows nothing.
pub(super) const UNLOGGED: u32 = u32::MAX;

/// An agent's own counts around a compaction, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionCounts {
    /// The agent's count at which it compacted; 0: not known.
    pub at: u64,
    /// The agent's count at the last request before, at which it did not; 0: not known.
    pub not_at: u64,
    /// The count at which it compacted, as counted here by its rule, whatever its log says; `None`: nothing to
    /// count from.
    pub ours: Option<u64>,
}

impl CompactionCounts {
    /// Returns these counts with the tokens that the provider left out of the prompts.
    pub(super) fn with(self, left_out: u64) -> CompactionCounts {
        let with = |count: u64| match count {
            // It is not known.
            0 => 0,
            count => count.saturating_add(left_out),
        };
        CompactionCounts {
            at: with(self.at),
            not_at: with(self.not_at),
            ours: self.ours.map(with),
        }
    }
}

/// A compaction or clear that took place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PastReset {
    /// The place of its record.
    pub place: Place,
    /// When.
    #[serde(with = "crate::values::stored::time")]
    pub at: Option<Timestamp>,
    /// Compaction or clear.
    pub gone: LeaveReason,
    /// The cause of the reset.
    pub cause: Cause,
    /// The way in which the cause is known.
    pub cause_source: CauseSource,
    /// The number of resets when later ones showed its cause; 0: it was known at once.
    pub(super) cause_shown_by: usize,
    /// The model at that time.
    #[serde(with = "crate::values::stored::shared")]
    pub model: Option<Arc<str>>,
    /// The size before.
    pub before: u64,
    /// The way in which `before` is known.
    pub before_source: Source,
    /// True if `before` and `counted` are of all that was in the context. At the end of a log they may be too small.
    pub is_whole: bool,
    /// Our size before, whatever the agent logs: reported plus estimated.
    pub ours: u64,
    /// The agent's own counts, which it compared with its trigger, where its rule is known.
    pub counted: Option<CompactionCounts>,
    /// The tokens that the provider left out of each prompt, though the agent counted them.
    pub left_out: u64,
    /// The size after: the first prompt reported since, or the agent's own number.
    pub after: Option<u64>,
    /// The way in which `after` is known.
    pub after_source: Source,
    /// The first request after it.
    pub request: RequestIx,
    /// Its record, counted from 1.
    pub record: u32,
    /// Tokens that left, by role.
    pub dropped: [u64; 5],
}

impl PastReset {
    /// Returns true if the agent compacted by itself, at its trigger.
    pub fn is_automatic(&self) -> bool {
        self.gone == LeaveReason::Compaction && self.cause.is_by_size()
    }

    /// Returns the size at which it took place: the agent's own count where its rule is known, otherwise the size
    /// before.
    pub(super) fn size(&self) -> u64 {
        self.counted.map_or(self.before, |counted| counted.at)
    }
}
